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

// c = c / 2 + a * b / k, for tiles of 8 x 8 a thread: many registers. A block makes 64 x 64 elements of its own.
extern "C" __global__ void tiled(const float *a, const float *b, float *c, unsigned k) {
    unsigned x = threadIdx.x % 8, y = threadIdx.x / 8;
    float sums[8][8] = {};
    for (unsigned at = 0; at < k; ++at) {
        float left[8], right[8];
        for (unsigned i = 0; i < 8; ++i) left[i] = a[at * 64 + y * 8 + i];
        for (unsigned i = 0; i < 8; ++i) right[i] = b[at * 64 + x * 8 + i];
        for (unsigned i = 0; i < 8; ++i)
            for (unsigned j = 0; j < 8; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
    }
    float *out = c + (size_t)blockIdx.x * 4096 + y * 512 + x * 8;
    for (unsigned i = 0; i < 8; ++i)
        for (unsigned j = 0; j < 8; ++j) out[i * 64 + j] = 0.5f * out[i * 64 + j] + sums[i][j] / k;
}

// t = t / 2 + the sum of 48 values that are all loaded first: many registers, much memory.
extern "C" __global__ void spread(const float *w, float *t, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float values[48];
#pragma unroll
    for (unsigned j = 0; j < 48; ++j) values[j] = w[(size_t)j * n + i];
    float sum = 0.0f;
#pragma unroll
    for (unsigned j = 0; j < 48; ++j) sum = fmaf(values[j], values[47 - j], sum);
    t[i] = 0.5f * t[i] + sum;
}
