// One explicit Euler step of the heat equation on an n x n grid whose border stays at 0.

// next = u + r * (the sum of the four neighbours - 4 u), r = dt / h^2.
extern "C" __global__ void heat_step(const float *u, float *next, float r, unsigned n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    size_t i = (size_t)y * n + x;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1) {
        next[i] = 0.0f;
        return;
    }
    float centre = u[i];
    float around = u[i - 1] + u[i + 1] + u[i - n] + u[i + n];
    next[i] = centre + r * (around - 4.0f * centre);
}
