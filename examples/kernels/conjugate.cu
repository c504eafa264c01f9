// Conjugate gradients on a chain: A has `diagonal` on its diagonal and -1 beside it.

// q = A p
extern "C" __global__ void apply(const float *p, float *q, float diagonal, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i > 0 ? p[i - 1] : 0.0f;
    float right = i + 1 < n ? p[i + 1] : 0.0f;
    q[i] = diagonal * p[i] - left - right;
}

// sum = a . b, by one block of 256 threads.
extern "C" __global__ void inner(const float *a, const float *b, float *sum, unsigned n) {
    __shared__ float part[256];
    unsigned t = threadIdx.x;
    float own = 0.0f;
    for (unsigned i = t; i < n; i += 256) own += a[i] * b[i];
    part[t] = own;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0 && blockIdx.x == 0) *sum = part[0];
}

// x += alpha p; r -= alpha q, where alpha = rr / pq
extern "C" __global__ void advance(float *x, float *r, const float *p, const float *q, const float *rr, const float *pq, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float alpha = *rr / *pq;
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
}

// p = r + beta p, where beta = next / rr
extern "C" __global__ void direction(float *p, const float *r, const float *rr, const float *next, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i] = r[i] + *next / *rr * p[i];
}

// rr = next; go = next > limit; turns += 1, by one thread.
extern "C" __global__ void decide(const float *next, float *rr, unsigned *go, unsigned *turns, float limit) {
    if (threadIdx.x > 0 || blockIdx.x > 0) return;
    *rr = *next;
    *go = *next > limit;
    *turns += 1;
}
