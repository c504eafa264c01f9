// The kernels of a residual block: matrix-vector product, activation, sum.

// y = w * x for a square row-major w, one thread per row.
extern "C" __global__ void matvec(const float *w, const float *x, float *y, unsigned n) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0.0f;
    for (unsigned col = 0; col < n; ++col) sum += w[(size_t)row * n + col] * x[col];
    y[row] = sum;
}

// x = max(x, 0)
extern "C" __global__ void relu(float *x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = fmaxf(x[i], 0.0f);
}

// out = a + b
extern "C" __global__ void add(const float *a, const float *b, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
