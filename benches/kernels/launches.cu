// Ten kernels as users have them, small and not so small: for the benchmarks of batched and overlapped launches, and
// for the time that the driver takes to compile a file. None lets its values grow.

// y = x / 2 + w * x / n + the first column of w: a warp a row.
extern "C" __global__ void matvec(const float *w, const float *x, float *y, unsigned n) {
    unsigned row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float sum = 0.0f;
    for (unsigned i = lane; i < n; i += 32) sum += w[(size_t)row * n + i] * x[i];
    for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) y[row] = 0.5f * x[row] + sum / n + w[(size_t)row * n];
}

// x = x / 2 + (the block's elements in reverse) / 4, by way of the workspace t.
extern "C" __global__ void workspace(float *x, float *t, unsigned n) {
    unsigned first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
    if (i < n) t[i] = x[i];
    __syncthreads();
    unsigned last = min(first + blockDim.x, n) - 1;
    if (i < n) x[i] = 0.5f * x[i] + 0.25f * t[last - threadIdx.x];
}

// A step of gradient descent with momentum.
extern "C" __global__ void momentum(float *p, float *m, const float *g, float rate, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float next = 0.9f * m[i] + 0.1f * g[i];
    m[i] = next;
    p[i] -= rate * next;
}

// x = x / 2 + 1, so many times.
extern "C" __global__ void turns(float *x, unsigned count, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    for (unsigned turn = 0; turn < count; ++turn) value = 0.5f * value + 1.0f;
    x[i] = value;
}

// The same, but how many times stands in memory, as a float.
extern "C" __global__ void turns_from(float *x, const float *count, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    unsigned turns = (unsigned)count[0];
    for (unsigned turn = 0; turn < turns; ++turn) value = 0.5f * value + 1.0f;
    x[i] = value;
}

// A step of diffusion in a box of side n, blocks of 8 x 8 x 4.
extern "C" __global__ void diffuse(const float *u, float *v, unsigned n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= n || y >= n || z >= n) return;
    unsigned i = (z * n + y) * n + x;
    if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) {
        v[i] = u[i];
        return;
    }
    float around = u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + u[i - n * n] + u[i + n * n];
    v[i] = 0.4f * u[i] + 0.1f * around;
}

// The softmax of each row, a block a row, in place; `width` floats of dynamic shared memory.
extern "C" __global__ void softmax(float *x, unsigned rows, unsigned width) {
    extern __shared__ float values[];
    __shared__ float parts[32];
    unsigned thread = threadIdx.x, threads = blockDim.x, warps = threads / 32;
    float *row = x + (size_t)blockIdx.x * width;
    float most = -3.4e38f;
    for (unsigned i = thread; i < width; i += threads) {
        values[i] = row[i];
        most = fmaxf(most, values[i]);
    }
    for (unsigned step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
    if (thread % 32 == 0) parts[thread / 32] = most;
    __syncthreads();
    for (unsigned warp = 0; warp < warps; ++warp) most = fmaxf(most, parts[warp]);
    __syncthreads();
    float sum = 0.0f;
    for (unsigned i = thread; i < width; i += threads) {
        values[i] = __expf(values[i] - most);
        sum += values[i];
    }
    for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (thread % 32 == 0) parts[thread / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (unsigned warp = 0; warp < warps; ++warp) sum += parts[warp];
    for (unsigned i = thread; i < width; i += threads) row[i] = values[i] / sum;
}

// c = a / 2 + a * b / n for n x n matrices, in tiles of 16 x 16 in shared memory.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, unsigned n) {
    __shared__ float left[16][16], right[16][16];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned column = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
    float sum = 0.0f;
    for (unsigned tile = 0; tile < n; tile += 16) {
        left[ty][tx] = row < n && tile + tx < n ? a[row * n + tile + tx] : 0.0f;
        right[ty][tx] = column < n && tile + ty < n ? b[(tile + ty) * n + column] : 0.0f;
        __syncthreads();
        for (unsigned k = 0; k < 16; ++k) sum += left[ty][k] * right[k][tx];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = 0.5f * a[row * n + column] + sum / n;
}

// x = gelu(x), by its tanh.
extern "C" __global__ void gelu(float *x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i], inner = 0.7978845608f * (value + 0.044715f * value * value * value);
    x[i] = 0.5f * value * (1.0f + tanhf(inner));
}

// out = (a + b) / 2
extern "C" __global__ void mean(const float *a, const float *b, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.5f * (a[i] + b[i]);
}
