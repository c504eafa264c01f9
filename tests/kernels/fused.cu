// Kernels whose blocks keep to themselves, and some whose blocks do not: for tests of fused launches.

// x = x * a + b, an element a thread
extern "C" __global__ void linear(unsigned *x, unsigned a, unsigned b, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * a + b;
}

// out = a ^ (b + 1)
extern "C" __global__ void mixed(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = a[i] ^ (b[i] + 1);
}

// As `linear`, over a grid of any size.
extern "C" __global__ void strided(unsigned *x, unsigned a, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = x[i] + a * i;
}

// Odd elements of x add to y.
extern "C" __global__ void odd(const unsigned *x, unsigned *y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (x[i] & 1)) y[i] += x[i];
}

// Each block adds the sum of its elements to each of them.
extern "C" __global__ void sums(unsigned *x, unsigned n) {
    __shared__ unsigned part[64];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (blockIdx.x * blockDim.x >= n) return;
    part[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (i < n) x[i] += part[0];
}

// Each block turns its elements round, by way of dynamic shared memory.
extern "C" __global__ void turned(const unsigned *x, unsigned *y, unsigned n) {
    extern __shared__ unsigned staged[];
    unsigned t = threadIdx.x, first = blockIdx.x * blockDim.x;
    staged[t] = first + t < n ? x[first + t] : 0;
    __syncthreads();
    unsigned from = blockDim.x - 1 - t;
    if (first + t < n && first + from < n) y[first + t] = staged[from];
}

// A row of n / rows elements for each block: the largest one is added to all.
extern "C" __global__ void rows(unsigned *x, unsigned width, unsigned rows) {
    __shared__ unsigned most[64];
    unsigned t = threadIdx.x, row = blockIdx.x;
    if (row >= rows) return;
    unsigned own = 0;
    for (unsigned i = t; i < width; i += blockDim.x) own = own < x[row * width + i] ? x[row * width + i] : own;
    most[t] = own;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) most[t] = most[t] < most[t + half] ? most[t + half] : most[t];
        __syncthreads();
    }
    for (unsigned i = t; i < width; i += blockDim.x) x[row * width + i] += most[0];
}

// y[i] = x[n - 1 - i]: blocks read what others write.
extern "C" __global__ void mirrored(const unsigned *x, unsigned *y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[n - 1 - i] + 1;
}

// y[i] += x[(i + k) % n]
extern "C" __global__ void shifted(const unsigned *x, unsigned *y, unsigned k, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[(i + k) % n];
}

// y[i] = x[at[i] % n]: the elements that a block reads are not known before it runs.
extern "C" __global__ void gathered(const unsigned *x, const unsigned *at, unsigned *y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[at[i] % n];
}
