// Conjugate gradients on a square grid of `side` * `side` points: A has `diagonal` on its diagonal and -1 for each of the up to
// four neighbours. Sums are made in two steps: each block of 256 threads writes its part, and whoever needs the sum adds the parts
// of the `blocks` blocks, in one order.

// The sum over the block, in all of its threads.
static __device__ float block_sum(float own) {
    __shared__ float part[256];
    unsigned t = threadIdx.x;
    __syncthreads();
    part[t] = own;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    return part[0];
}

static __device__ float sum_of(const float *parts, unsigned blocks) {
    float own = 0.0f;
    for (unsigned i = threadIdx.x; i < blocks; i += 256) own += parts[i];
    return block_sum(own);
}

// x = 0; r = b; p = b; parts = b . b
extern "C" __global__ void cg_start(const float *b, float *x, float *r, float *p, float *parts, unsigned n, unsigned blocks) {
    float own = 0.0f;
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += blocks * 256) {
        float v = b[i];
        x[i] = 0.0f;
        r[i] = v;
        p[i] = v;
        own += v * v;
    }
    own = block_sum(own);
    if (threadIdx.x == 0) parts[blockIdx.x] = own;
}

// rr = the sum of the parts; go = rr > limit; turns = 0, by one block.
extern "C" __global__ void cg_first(const float *parts, float *rr, unsigned *go, unsigned *turns, float limit, unsigned blocks) {
    float sum = sum_of(parts, blocks);
    if (threadIdx.x == 0) {
        *rr = sum;
        *go = sum > limit;
        *turns = 0;
    }
}

// q = A p; parts = p . q
extern "C" __global__ void cg_apply(const float *p, float *q, float *parts, float diagonal, unsigned side, unsigned n, unsigned blocks) {
    float own = 0.0f;
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += blocks * 256) {
        unsigned column = i % side;
        float at = p[i];
        float v = diagonal * at;
        if (column > 0) v -= p[i - 1];
        if (column + 1 < side) v -= p[i + 1];
        if (i >= side) v -= p[i - side];
        if (i + side < n) v -= p[i + side];
        q[i] = v;
        own += at * v;
    }
    own = block_sum(own);
    if (threadIdx.x == 0) parts[blockIdx.x] = own;
}

// x += alpha p; r -= alpha q, where alpha = rr / pq; parts = r . r
extern "C" __global__ void cg_advance(float *x, float *r, const float *p, const float *q, const float *rr, const float *pq, float *parts, unsigned n, unsigned blocks) {
    float alpha = *rr / sum_of(pq, blocks);
    float own = 0.0f;
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += blocks * 256) {
        x[i] += alpha * p[i];
        float v = r[i] - alpha * q[i];
        r[i] = v;
        own += v * v;
    }
    own = block_sum(own);
    if (threadIdx.x == 0) parts[blockIdx.x] = own;
}

// p = r + beta p, where beta = next / rr
extern "C" __global__ void cg_direction(float *p, const float *r, const float *rr, const float *next, unsigned n, unsigned blocks) {
    float beta = sum_of(next, blocks) / *rr;
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += blocks * 256) p[i] = r[i] + beta * p[i];
}

// rr = next; go = next > limit; turns += 1, by one block.
extern "C" __global__ void cg_decide(const float *next, float *rr, unsigned *go, unsigned *turns, float limit, unsigned blocks) {
    float sum = sum_of(next, blocks);
    if (threadIdx.x == 0) {
        *rr = sum;
        *go = sum > limit;
        *turns += 1;
    }
}

// x = x * 31 + by
extern "C" __global__ void tick(unsigned *x, unsigned by, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = x[i] * 31u + by;
}
