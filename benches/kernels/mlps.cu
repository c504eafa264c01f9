// A layer of a perceptron in f32: relu(x w + bias).
//
// nvcc -O3 -arch=compute_80 -ptx mlps.cu

// The numbers that come in are a multiple of DEPTH, and MOST at most.
constexpr unsigned DEPTH = 64, MOST = 256;
// The results of a block: so many rows and columns. Each of four warps sums over a quarter of the depth.
constexpr unsigned ROWS = 16, COLUMNS = 16, WARPS = 4;
// The floats from a row of x to the next in shared memory: rows two apart are in different banks for loads of 16 bytes.
constexpr unsigned PITCH = MOST + 4;

// out = relu(x w + bias) of `rows` rows of k, with w as k rows of n.
extern "C" __global__ void __launch_bounds__(WARPS * 32)
linear_relu(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ out,
            unsigned rows, unsigned n, unsigned k) {
    __shared__ __align__(16) float xs[ROWS * PITCH];
    __shared__ __align__(16) float ws[MOST * COLUMNS];
    if (k > MOST || k % DEPTH != 0 || n % COLUMNS != 0) return;
    const unsigned column = blockIdx.x * COLUMNS, row = blockIdx.y * ROWS, fours = k / 4;
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < k * (COLUMNS / 4); i += WARPS * 32) {
        unsigned depth = i / (COLUMNS / 4), at = i % (COLUMNS / 4) * 4;
        *(float4*)(ws + depth * COLUMNS + at) = *(const float4*)(w + depth * n + column + at);
    }
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < ROWS * fours; i += WARPS * 32) {
        unsigned r = i / fours, at = i % fours * 4;
        float4 v = make_float4(0, 0, 0, 0);
        if (row + r < rows) v = *(const float4*)(x + (row + r) * k + at);
        *(float4*)(xs + r * PITCH + at) = v;
    }
    __syncthreads();

    // A lane has two rows, eight apart, and four columns.
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned mine = lane / 4, four = lane % 4 * 4;
    float sums[2][4] = {};
    const unsigned quarter = k / WARPS;
#pragma unroll 4
    for (unsigned depth = warp * quarter; depth < (warp + 1) * quarter; depth += 4) {
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
    const unsigned at = 2 * threadIdx.x, r = at / COLUMNS, c = at % COLUMNS;
    float2 total = *(const float2*)(bias + column + c);
#pragma unroll
    for (unsigned i = 0; i < WARPS; i++) {
        float2 part = *(const float2*)(xs + i * (ROWS * COLUMNS) + at);
        total.x += part.x;
        total.y += part.y;
    }
    if (row + r < rows) {
        *(float2*)(out + (row + r) * n + column + c) = make_float2(fmaxf(total.x, 0.0f), fmaxf(total.y, 0.0f));
    }
}
