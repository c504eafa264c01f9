// Kernels that set the conditions of the nodes after or around them.

// x -= 1; the condition is set to x.
extern "C" __global__ void count_down_by(unsigned *x, unsigned by, cudaGraphConditionalHandle go) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        unsigned left = *x > by ? *x - by : 0;
        *x = left;
        cudaGraphSetConditional(go, left);
    }
}

// The condition is set to x.
extern "C" __global__ void decide_by(const unsigned *x, cudaGraphConditionalHandle go) {
    if (blockIdx.x == 0 && threadIdx.x == 0) cudaGraphSetConditional(go, *x);
}

// x[i] = 31 * x[i] + by for all i below n; the condition is set to limit > 0, and limit -= 1.
extern "C" __global__ void mix_until(unsigned *x, unsigned *limit, unsigned by, unsigned n,
                                     cudaGraphConditionalHandle go) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 31 * x[i] + by;
    if (i == 0) {
        unsigned left = *limit - 1;
        *limit = left;
        cudaGraphSetConditional(go, left > 0);
    }
}

// y = 0, without a condition.
extern "C" __global__ void forget(unsigned *y, cudaGraphConditionalHandle go) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *y = 0;
}
