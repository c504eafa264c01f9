// A layer of a perceptron in f32: relu(x w + bias).
//
// nvcc -O3 -arch=compute_80 -ptx mlps.cu

// The numbers that come in are a multiple of DEPTH, and MOST at most.
constexpr unsigned DEPTH = 64, MOST = 256;
// The results of a block: so many rows and columns. Each of eight warps sums over an eighth of the depth.
constexpr unsigned ROWS = 16, COLUMNS = 16, WARPS = 8;
// The floats from a row of x to the next in shared memory: loads of 16 bytes of eight rows meet no bank conflict.
constexpr unsigned PITCH = MOST + 4;

// out = relu(x w + bias) of `rows` rows of k, with w as k rows of n.
extern "C" __global__ void __launch_bounds__(WARPS * 32, 4)
linear_relu(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ out,
            unsigned rows, unsigned n, unsigned k) {
    __shared__ __align__(16) float xs[ROWS * PITCH];
    __shared__ __align__(16) float ws[MOST * COLUMNS];
    if (k > MOST || k % DEPTH != 0 || n % COLUMNS != 0) return;
    const unsigned column = blockIdx.x * COLUMNS, row = blockIdx.y * ROWS;
    const float4 zero = make_float4(0, 0, 0, 0);

    // All loads of a thread are under way at once.
    const unsigned depth = threadIdx.x / 4, across = threadIdx.x % 4 * 4;
    const unsigned of = threadIdx.x / 16, along = threadIdx.x % 16 * 4;
    float4 loaded[2][MOST / DEPTH];
#pragma unroll
    for (unsigned i = 0; i < MOST / DEPTH; i++) {
        bool inside = i * DEPTH < k;
        loaded[0][i] = inside ? *(const float4*)(w + (i * DEPTH + depth) * n + column + across) : zero;
        loaded[1][i] = inside && row + of < rows ? *(const float4*)(x + (row + of) * k + i * DEPTH + along) : zero;
    }
    const float shift = bias[column + threadIdx.x % COLUMNS];
#pragma unroll
    for (unsigned i = 0; i < MOST / DEPTH; i++) {
        *(float4*)(ws + (i * DEPTH + depth) * COLUMNS + across) = loaded[0][i];
        *(float4*)(xs + of * PITCH + i * DEPTH + along) = loaded[1][i];
    }
    __syncthreads();

    // A lane has two rows, eight apart, and four columns.
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned mine = lane / 4, four = lane % 4 * 4;
    float sums[2][4] = {};
    const unsigned part = k / WARPS;
#pragma unroll 2
    for (unsigned depth = warp * part; depth < (warp + 1) * part; depth += 4) {
        float a[2][4], b[4][4];
#pragma unroll
        for (unsigned r = 0; r < 2; r++) *(float4*)a[r] = *(const float4*)(xs + (mine + 8 * r) * PITCH + depth);
#pragma unroll
        for (unsigned d = 0; d < 4; d++) *(float4*)b[d] = *(const float4*)(ws + (depth + d) * COLUMNS + four);
#pragma unroll
        for (unsigned d = 0; d < 4; d++) {
#pragma unroll
            for (unsigned r = 0; r < 2; r++) {
#pragma unroll
                for (unsigned c = 0; c < 4; c++) sums[r][c] = fmaf(a[r][d], b[d][c], sums[r][c]);
            }
        }
    }
    __syncthreads();
    // The sums of the warps, in the memory of x.
#pragma unroll
    for (unsigned r = 0; r < 2; r++) {
        *(float4*)(xs + warp * (ROWS * COLUMNS) + (mine + 8 * r) * COLUMNS + four) = *(float4*)sums[r];
    }
    __syncthreads();
    float total = shift;
#pragma unroll
    for (unsigned i = 0; i < WARPS; i++) total += xs[i * (ROWS * COLUMNS) + threadIdx.x];
    const unsigned result = row + threadIdx.x / COLUMNS;
    if (result < rows) out[result * n + column + threadIdx.x % COLUMNS] = fmaxf(total, 0.0f);
}
