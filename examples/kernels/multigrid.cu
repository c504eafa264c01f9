// Poisson's equation on a square of n x n inner points, 0 outside: 4 u - (the sum of the four neighbours) = h2 f.

__device__ float at(const float* u, unsigned x, unsigned y, unsigned n) {
    return x < n && y < n ? u[y * n + x] : 0.0f;  // 0 - 1 is not below n
}

__device__ float neighbours(const float* u, unsigned x, unsigned y, unsigned n) {
    return at(u, x - 1, y, n) + at(u, x + 1, y, n) + at(u, x, y - 1, n) + at(u, x, y + 1, n);
}

// A sweep of damped Jacobi.
extern "C" __global__ void smooth(const float* u, const float* f, float* next, float h2, unsigned n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) {
        float exact = 0.25f * (neighbours(u, x, y, n) + h2 * f[y * n + x]);
        next[y * n + x] = u[y * n + x] + 0.8f * (exact - u[y * n + x]);
    }
}

// r = f - (4 u - the sum of the neighbours) / h2
extern "C" __global__ void residual(const float* u, const float* f, float* r, float h2, unsigned n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) r[y * n + x] = f[y * n + x] - (4.0f * u[y * n + x] - neighbours(u, x, y, n)) / h2;
}

// Full weighting: the coarse point (x, y) lies at (2 x + 1, 2 y + 1) of the fine ones.
extern "C" __global__ void coarsen(const float* fine, float* coarse, unsigned n, unsigned half) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= half || y >= half) return;
    float sum = 0.0f;
    for (unsigned j = 0; j < 3; j++)
        for (unsigned i = 0; i < 3; i++)
            sum += (i == 1 ? 2.0f : 1.0f) * (j == 1 ? 2.0f : 1.0f) * at(fine, 2 * x + i, 2 * y + j, n);
    coarse[y * half + x] = sum / 16.0f;
}

// u += the coarse correction, interpolated bilinearly.
extern "C" __global__ void correct(const float* coarse, float* u, unsigned half, unsigned n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    unsigned left = (x + 1) / 2 - 1, right = x / 2, above = (y + 1) / 2 - 1, below = y / 2;
    u[y * n + x] += 0.25f * (at(coarse, left, above, half) + at(coarse, right, above, half)
                             + at(coarse, left, below, half) + at(coarse, right, below, half));
}
