// A Jacobi iteration on a grid whose border stays, until it stands still.

// v = one step from u
extern "C" __global__ void jacobi(const float *u, float *v, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    int i = y * nx + x;
    bool border = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
    v[i] = border ? u[i] : (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx]) / 4.0f;
}

// partial[b] = the largest change in block b, whose number of threads is a power of two
extern "C" __global__ void change(const float *u, const float *v, float *partial, int n) {
    extern __shared__ float most[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    most[threadIdx.x] = i < n ? fabsf(u[i] - v[i]) : 0.0f;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) most[threadIdx.x] = fmaxf(most[threadIdx.x], most[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = most[0];
}

// go = 1 as long as one of them is above the tolerance
extern "C" __global__ void decide(const float *partial, int blocks, float tolerance, unsigned *go) {
    float most = 0.0f;
    for (int b = 0; b < blocks; b++) most = fmaxf(most, partial[b]);
    *go = most > tolerance;
}
