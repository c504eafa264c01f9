// Kernels that share a module-level variable: order that no argument shows.

__device__ unsigned counter;
__device__ const unsigned odd[4] = {1, 3, 5, 7};

// counter = value
extern "C" __global__ void state_set(unsigned value) {
    if (blockIdx.x == 0 && threadIdx.x == 0) counter = value;
}

// counter = counter * 3 + 1
extern "C" __global__ void state_step() {
    if (blockIdx.x == 0 && threadIdx.x == 0) counter = counter * 3u + 1u;
}

// out[0] = counter
extern "C" __global__ void state_get(unsigned *out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = counter;
}

// out[i] = odd[i % 4]: reads what nothing writes, which orders nothing.
extern "C" __global__ void odd_numbers(unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = odd[i % 4];
}
