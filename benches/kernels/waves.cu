// The members of batches of several waves: their blocks stream memory, touch it briefly, or compute.

// t = t / 2 + the sum of the row's weights and the scalar: a warp a row, rows of k weights.
extern "C" __global__ void weighted(const float *w, const float *x, float *t, unsigned k, unsigned n) {
    unsigned row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float sum = 0.0f;
#pragma unroll 8
    for (unsigned i = lane; i < k; i += 32) sum += w[(size_t)row * k + i];
    for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) t[row] = 0.5f * t[row] + sum / k + x[0];
}

// t = t / 2 + x
extern "C" __global__ void brief(const float *x, float *t, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] = 0.5f * t[i] + x[0];
}

// t = t / 2 + x, so many times.
extern "C" __global__ void looped(const float *x, float *t, unsigned count, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = t[i], add = x[0];
    for (unsigned turn = 0; turn < count; ++turn) value = 0.5f * value + add;
    t[i] = value;
}

// x = x / 2 + a quarter of the mean of the first elements of m buffers of n: one thread.
extern "C" __global__ void gathered(const float *ts, float *x, unsigned m, unsigned n) {
    if (threadIdx.x > 0) return;
    float sum = 0.0f;
    for (unsigned j = 0; j < m; ++j) sum += ts[(size_t)j * n];
    x[0] = 0.5f * x[0] + 0.25f * sum / m;
}
