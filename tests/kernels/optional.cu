// NVRTC 13.0, --gpu-architecture=compute_80

#define AT const unsigned i = blockIdx.x * blockDim.x + threadIdx.x

// Adds a bias, if there is one.
extern "C" __global__ void biased(const float *x, const float *bias, float *out, unsigned n) {
    AT;
    if (i < n) out[i] = bias ? x[i] + bias[i] : x[i];
}

// In place, if there is no input.
extern "C" __global__ void doubled(const float *input, float *out, unsigned n) {
    AT;
    if (i < n) out[i] = 2.0f * (input ? input[i] : out[i]);
}

// Keeps the sums before the square, if they are wanted.
extern "C" __global__ void squared(const float *x, float *kept, float *out, unsigned n) {
    AT;
    if (i >= n) return;
    const float sum = x[i] + 1.0f;
    if (kept) kept[i] = sum;
    out[i] = sum * sum;
}

// Rows of a table whose number of rows the kernel does not know.
extern "C" __global__ void looked_up(const unsigned *ids, const float *rows, float *out, unsigned width, unsigned n) {
    AT;
    if (i < n * width) out[i] = rows[ids[i / width] * width + i % width];
}

// out[i] = x[i], or of every `strides[0]`-th element.
extern "C" __global__ void strided(const unsigned* strides, const float* x, float* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = x[strides ? i * strides[0] : i];
}
