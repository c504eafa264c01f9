// Kernels whose buffers are allocated, kept and freed by graphs.

// out = -(x * x)
extern "C" __global__ void neg_square(const int *x, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = -(x[i] * x[i]);
}

// x = x + by
extern "C" __global__ void shift(int *x, int by, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += by;
}
