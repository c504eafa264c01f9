// Variables of the module with and without an initialiser, and blocks of one size.

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

// Zero, by CUDA and by PTX.
__device__ unsigned tickets;
__device__ float sums[32];
__device__ int levels[2][4] = {{1, 2}, {3}};
__constant__ float offsets[8];
__constant__ double factors[4] = {2.0};

// Each block draws a number.
extern "C" __global__ void draw(unsigned *out) {
    if (threadIdx.x == 0) out[blockIdx.x] = atomicAdd(&tickets, 1u);
}

extern "C" __global__ void accumulate(const float *x, float *out, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[i] = atomicAdd(&sums[i % 32], x[i]) + offsets[i % 8];
}

extern "C" __global__ void level(int *out, int row, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[i] = levels[row & 1][i & 3];
}

extern "C" __global__ void factor(const double *x, double *out, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[i] = x[i] * factors[i & 3];
}

// One size of blocks, and shared memory that the launch gives.
extern "C" __global__ void __launch_bounds__(128, 2) reverse_tile(const float *x, float *out, unsigned n) {
    extern __shared__ float tile[];
    unsigned i = INDEX;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = tile[blockDim.x - 1 - threadIdx.x];
}
