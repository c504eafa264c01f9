// Steps of programs that the device decides about.

// x[i] = 31 * x[i] + by
extern "C" __global__ void mix(unsigned *x, unsigned by, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 31 * x[i] + by;
}

// y[i] = 31 * x[i] + by
extern "C" __global__ void mixed(const unsigned *x, unsigned *y, unsigned by, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 31 * x[i] + by;
}

// x -= 1, by one thread.
extern "C" __global__ void count_down(unsigned *x) {
    if (threadIdx.x == 0 && blockIdx.x == 0) *x -= 1;
}

// y = x[0] / 16 % by, by one thread.
extern "C" __global__ void modulo(const unsigned *x, unsigned *y, unsigned by) {
    if (threadIdx.x == 0 && blockIdx.x == 0) *y = x[0] / 16 % by;
}
