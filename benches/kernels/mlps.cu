// A layer of a perceptron in f32: relu(x w + bias).
//
// nvcc -O3 -arch=compute_80 -ptx mlps.cu

// The numbers that come in are a multiple of 64, and 256 at most. Each of eight warps sums over an eighth of them, in steps of STEP, of
// which it has PAIR in shared memory at a time.
constexpr unsigned WARPS = 8, MOST = 256, STEP = 8, STEPS = MOST / WARPS / STEP, PAIR = 2;
// The results of a block: so many rows and columns.
constexpr unsigned TILE = 32;

// out = relu(x w + bias) of `rows` rows of k, with w as k rows of n.
extern "C" __global__ void __launch_bounds__(WARPS * 32, 2)
linear_relu(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ out,
            unsigned rows, unsigned n, unsigned k) {
    // Of each warp x and w, a row of both for each number that comes in; then its sums.
    __shared__ __align__(16) float shared[WARPS][2 * PAIR * STEP * TILE];
    if (k > MOST || k % (WARPS * STEP) != 0 || n % TILE != 0) return;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned column = blockIdx.x * TILE, row = blockIdx.y * TILE, part = k / WARPS, first = warp * part;
    const float4 zero = make_float4(0, 0, 0, 0);

    // All loads of a thread are under way at once: of x its own row, of w four columns of every fourth row.
    float4 xs[STEPS][2], ws[STEPS][2];
#pragma unroll
    for (unsigned i = 0; i < STEPS; i++) {
        const bool inside = i * STEP < part;
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            const unsigned from = first + i * STEP + 4 * half;
            ws[i][half] = inside ? *(const float4*)(w + (from + lane / 8) * n + column + lane % 8 * 4) : zero;
            xs[i][half] = inside && row + lane < rows ? *(const float4*)(x + (row + lane) * k + from) : zero;
        }
    }

    // A lane has eight rows and four columns.
    const unsigned eight = lane / 8 * 8, four = lane % 8 * 4;
    float* const own = shared[warp];
    float sums[8][4] = {};
#pragma unroll
    for (unsigned i = 0; i < STEPS; i += PAIR) {
        if (i * STEP >= part) break;
        __syncwarp();
#pragma unroll
        for (unsigned j = 0; j < PAIR; j++) {
#pragma unroll
            for (unsigned half = 0; half < 2; half++) {
                const unsigned at = (j * STEP + 4 * half) * TILE;
                const float4 v = xs[i + j][half];
                own[at + lane] = v.x;
                own[at + TILE + lane] = v.y;
                own[at + 2 * TILE + lane] = v.z;
                own[at + 3 * TILE + lane] = v.w;
                *(float4*)(own + PAIR * STEP * TILE + at + lane * 4) = ws[i + j][half];
            }
        }
        __syncwarp();
#pragma unroll
        for (unsigned depth = 0; depth < PAIR * STEP; depth++) {
            float a[8], b[4];
            *(float4*)a = *(const float4*)(own + depth * TILE + eight);
            *(float4*)(a + 4) = *(const float4*)(own + depth * TILE + eight + 4);
            *(float4*)b = *(const float4*)(own + (PAIR * STEP + depth) * TILE + four);
#pragma unroll
            for (unsigned r = 0; r < 8; r++) {
#pragma unroll
                for (unsigned c = 0; c < 4; c++) sums[r][c] = fmaf(a[r], b[c], sums[r][c]);
            }
        }
    }
    __syncwarp();
#pragma unroll
    for (unsigned r = 0; r < 8; r++) *(float4*)(own + (eight + r) * TILE + four) = *(float4*)sums[r];
    __syncthreads();
    const unsigned mine = threadIdx.x * 4, to = row + mine / TILE;
    float4 total = *(const float4*)(bias + column + mine % TILE);
#pragma unroll
    for (unsigned i = 0; i < WARPS; i++) {
        const float4 v = *(const float4*)(shared[i] + mine);
        total = make_float4(total.x + v.x, total.y + v.y, total.z + v.z, total.w + v.w);
    }
    if (to < rows) {
        *(float4*)(out + to * n + column + mine % TILE) =
            make_float4(fmaxf(total.x, 0.0f), fmaxf(total.y, 0.0f), fmaxf(total.z, 0.0f), fmaxf(total.w, 0.0f));
    }
}
