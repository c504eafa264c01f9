// The kernels of the benchmarks: as little work as the order and the memory that they stand for need.

// Nothing: a node of a chain.
extern "C" __global__ void touch(unsigned *x) {}

// Nothing: a node that comes after all that wrote `before`.
extern "C" __global__ void after_all(const unsigned *before, unsigned *own, unsigned w) {}

// Nothing, of no memory: the hub of a join made by hand.
extern "C" __global__ void hub() {}

// t = x + 1
extern "C" __global__ void produce(const float *x, float *t, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] = x[i] + 1.0f;
}

// x = x / 2 + t / 4
extern "C" __global__ void consume(const float *t, float *x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0.5f * x[i] + 0.25f * t[i];
}

// x = x / 2 + 1, in place
extern "C" __global__ void tiny(float *x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0.5f * x[i] + 1.0f;
}

// t = x * a + 1
extern "C" __global__ void fork(const float *x, float *t, float a, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] = x[i] * a + 1.0f;
}

// x = the mean of 16 buffers
extern "C" __global__ void join(
    const float *t0, const float *t1, const float *t2, const float *t3, const float *t4, const float *t5,
    const float *t6, const float *t7, const float *t8, const float *t9, const float *t10, const float *t11,
    const float *t12, const float *t13, const float *t14, const float *t15, float *x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = t0[i] + t1[i] + t2[i] + t3[i] + t4[i] + t5[i] + t6[i] + t7[i];
    sum += t8[i] + t9[i] + t10[i] + t11[i] + t12[i] + t13[i] + t14[i] + t15[i];
    x[i] = sum / 16.0f;
}
