// NVRTC 13.0, --gpu-architecture=compute_75

// A template and an overload: the names of their kernels are those that C++ makes.

template <typename T>
__global__ void axpy(T a, const T *x, T *y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

template __global__ void axpy<float>(float a, const float *x, float *y, unsigned n);
template __global__ void axpy<double>(double a, const double *x, double *y, unsigned n);

namespace tools {
__global__ void negate(const float *x, float *y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = -x[i];
}
}
