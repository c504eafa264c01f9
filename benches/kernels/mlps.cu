// A layer of a perceptron in f32: relu(x w + bias).
//
// nvcc -O3 -arch=compute_80 -ptx mlps.cu

#include "product.cuh"

// out = relu(x w + bias) of `rows` rows of k, with w as k rows of n. Both are multiples of 4.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
linear_relu(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ out,
            unsigned rows, unsigned n, unsigned k) {
    if ((n | k) % 4 != 0) return;
    product<true>(Matrix<false>{x, rows, k, k}, Matrix<false>{w, k, n, n}, [&](unsigned row, unsigned column, float v) {
        out[row * n + column] = fmaxf(v + bias[column], 0.0f);
    });
}
