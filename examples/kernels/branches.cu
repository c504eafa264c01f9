// Small steps for many independent branches, and the join of their results.

// x[i] = first + i, so that every branch starts with values of its own.
extern "C" __global__ void ramp(float *x, float first, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = first + (float)i;
}

// x = x * a + b. Two steps with different a and b do not commute: a lost order shows in the result.
extern "C" __global__ void affine(float *x, float a, float b, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * a + b;
}

// out[i] = sum over the rows of rows[r * n + i], row by row.
extern "C" __global__ void sum_rows(const float *rows, float *out, unsigned count, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (unsigned r = 0; r < count; ++r) sum += rows[(size_t)r * n + i];
    out[i] = sum;
}
