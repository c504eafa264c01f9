// Kernels of every day: element-wise work, reductions, matrix products, histograms.
#define INFINITY __int_as_float(0x7f800000)
extern "C" __global__ void saxpy(float a, const float* x, float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void stride_scale(float* x, float by, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= by;
}

extern "C" __global__ void copy4(const float4* a, float4* b, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = a[i];
        v.x += 1.0f;
        v.w = -v.w;
        b[i] = v;
    }
}

template <int TILE> __device__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (n + TILE - 1) / TILE; t++) {
        int k = t * TILE;
        ta[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0.0f;
        tb[threadIdx.y][threadIdx.x] = col < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}
extern "C" __global__ void matmul16(const float* a, const float* b, float* c, int n) { matmul<16>(a, b, c, n); }
extern "C" __global__ void matmul8(const float* a, const float* b, float* c, int n) { matmul<8>(a, b, c, n); }

__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}
__device__ float warp_max(float v) {
    for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_down_sync(0xffffffff, v, d));
    return __shfl_sync(0xffffffff, v, 0);
}
__device__ float block_reduce(float v, float (*warp)(float), float none) {
    __shared__ float part[32];
    v = warp(v);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x] : none;
    if (threadIdx.x < 32) v = warp(v);
    if (threadIdx.x == 0) part[0] = v;
    __syncthreads();
    v = part[0];
    __syncthreads();
    return v;
}

extern "C" __global__ void sum(const float* x, float* out, int n) {
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    v = block_reduce(v, warp_sum, 0.0f);
    if (threadIdx.x == 0) atomicAdd(out, v);
}

extern "C" __global__ void softmax(const float* x, float* y, int columns) {
    const float* row = x + (size_t)blockIdx.x * columns;
    float* out = y + (size_t)blockIdx.x * columns;
    float top = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) top = fmaxf(top, row[i]);
    top = block_reduce(top, warp_max, -INFINITY);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        float e = expf(row[i] - top);
        out[i] = e;
        sum += e;
    }
    sum = block_reduce(sum, warp_sum, 0.0f);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] /= sum;
}

extern "C" __global__ void layer_norm(const float* x, const float* gain, const float* bias, float* y, int columns, float eps) {
    const float* row = x + (size_t)blockIdx.x * columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        sum += row[i];
        squares += row[i] * row[i];
    }
    float mean = block_reduce(sum, warp_sum, 0.0f) / columns;
    float variance = block_reduce(squares, warp_sum, 0.0f) / columns - mean * mean;
    float scale = rsqrtf(variance + eps);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[(size_t)blockIdx.x * columns + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}

extern "C" __global__ void histogram(const unsigned char* data, unsigned* bins, int n) {
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) if (local[i]) atomicAdd(&bins[i], local[i]);
}

extern "C" __global__ void scan(const int* in, int* out, int n) {
    extern __shared__ int both[];
    int t = threadIdx.x, from = 0;
    both[t] = t < n ? in[t] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int to = 1 - from;
        both[to * blockDim.x + t] = both[from * blockDim.x + t] + (t >= d ? both[from * blockDim.x + t - d] : 0);
        from = to;
        __syncthreads();
    }
    if (t < n) out[t] = both[from * blockDim.x + t];
}

extern "C" __global__ void transpose(const double* a, double* b, int rows, int columns) {
    __shared__ double tile[16][17];
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    if (r < rows && c < columns) tile[threadIdx.y][threadIdx.x] = a[r * columns + c];
    __syncthreads();
    r = blockIdx.x * 16 + threadIdx.y;
    c = blockIdx.y * 16 + threadIdx.x;
    if (r < columns && c < rows) b[r * rows + c] = tile[threadIdx.x][threadIdx.y];
}

__constant__ float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
__device__ unsigned calls = 7;
extern "C" __global__ void stencil(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) atomicAdd(&calls, 1u);
    if (i >= n) return;
    float sum = 0.0f;
    for (int d = -2; d <= 2; d++) {
        int j = min(max(i + d, 0), n - 1);
        sum += weights[d + 2] * x[j];
    }
    y[i] = sum;
}

// Every thread takes a way of its own, meets the others and adds up what it did.
extern "C" __global__ void diverge(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i], steps = 0;
    while (v > 1) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        steps++;
    }
    switch (x[i] % 5) {
        case 0: steps *= 3; break;
        case 1: steps += 1000; break;
        case 2: steps = -steps; break;
        case 3: steps ^= 0x55; break;
        default: steps <<= 2;
    }
    y[i] = steps;
}
