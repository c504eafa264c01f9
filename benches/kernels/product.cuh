// Products of f32 matrices by tensor cores. An element is the sum of two tf32, and a product of two elements three products of these: the
// error is near that of f32.

#pragma once

// The results of a block: so many rows and columns. Each of its warps, WARPS or for a large depth twice as many, has every so many-th part
// of the depth, DEPTH deep.
constexpr unsigned TILE = 32, DEPTH = 32, WARPS = 8, THREADS = 32 * WARPS;
// The floats from one row of sums to the next in shared memory: most warps' stores meet few bank conflicts.
constexpr unsigned PITCH = TILE + 1;

// A matrix of rows, or of columns where TURNED.
template <bool TURNED> struct Matrix {
    const float* at;
    unsigned rows, columns, pitch;
    // True if elements of a line (a row, or a column where TURNED) can be loaded by fours.
    __device__ bool by_fours() const {
        return ((unsigned long long)at / 4 | pitch | (TURNED ? rows : columns)) % 4 == 0;
    }
    // Four elements of a line from place `first` of it on, with zeros outside.
    template <bool FOURS> __device__ float4 four(unsigned line, unsigned first) const {
        const unsigned lines = TURNED ? columns : rows, end = TURNED ? rows : columns;
        float4 v = make_float4(0, 0, 0, 0);
        if (line >= lines) return v;
        const float* from = at + line * pitch + first;
        if (FOURS) {
            if (first < end) v = *(const float4*)from;
        } else {
            if (first < end) v.x = from[0];
            if (first + 1 < end) v.y = from[1];
            if (first + 2 < end) v.z = from[2];
            if (first + 3 < end) v.w = from[3];
        }
        return v;
    }
};

__device__ inline float element(const float4& v, unsigned i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// The two tf32 of an element: itself, rounded, and the rest, of which a product ignores the lowest bits.
struct Split {
    unsigned high, low;
    __device__ Split() {}
    __device__ Split(float v) {
        high = (__float_as_uint(v) + 0x1000u) & 0xffffe000u;
        low = __float_as_uint(v - __uint_as_float(high));
    }
};

__device__ inline void multiply(
    float4& c, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// The sums of a warp over its parts of the depth. Of a matrix that lies along the depth a lane loads four places of the depth, otherwise four
// rows (of a) or columns (of b): which rows, columns and places meet in a product is the compiler's choice, so that both are multiplied
// as they lie.
template <bool FOURS, bool A, bool B>
__device__ inline void part_product(const Matrix<A>& a, const Matrix<B>& b, unsigned row, unsigned column, float4 (&sums)[2][4]) {
    const unsigned lane = threadIdx.x % 32, group = lane / 4, four = lane % 4 * 4;
#pragma unroll 1
    for (unsigned depth = threadIdx.x / 32 * DEPTH; depth < a.columns; depth += blockDim.x / 32 * DEPTH) {
        // Along the depth: line and half; across it: step and which of its two places.
        float4 as[4][2], bs[4][2];
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
#pragma unroll
            for (unsigned j = 0; j < 2; j++) {
                const unsigned along = depth + 16 * j + four, across = depth + 16 * (i / 2) + four + 2 * (i % 2) + j;
                as[i][j] = A ? a.template four<FOURS>(across, row + 4 * group) : a.template four<FOURS>(row + 8 * i + group, along);
                bs[i][j] = B ? b.template four<FOURS>(column + 8 * i + group, along) : b.template four<FOURS>(across, column + 4 * group);
            }
        }
#pragma unroll
        for (unsigned step = 0; step < DEPTH / 8; step++) {
            const unsigned half = step / 2, at = step % 2 * 2;
            // Four rows, or columns, at two places of the depth.
            Split as_of[4][2], bs_of[4][2];
#pragma unroll
            for (unsigned i = 0; i < 4; i++) {
#pragma unroll
                for (unsigned j = 0; j < 2; j++) {
                    as_of[i][j] = A ? element(as[step][j], i) : element(as[i][half], at + j);
                    bs_of[i][j] = B ? element(bs[i][half], at + j) : element(bs[step][j], i);
                }
            }
            // The smallest products first; of each kind those of all results, none of which depends on another.
#pragma unroll
            for (unsigned kind = 0; kind < 3; kind++) {
                auto of_a = [&](const Split& v) { return kind == 0 ? v.low : v.high; };
                auto of_b = [&](const Split& v) { return kind == 1 ? v.low : v.high; };
#pragma unroll
                for (unsigned i = 0; i < 2; i++) {
                    const Split(&first)[2] = as_of[2 * i], (&last)[2] = as_of[2 * i + 1];
#pragma unroll
                    for (unsigned j = 0; j < 4; j++) {
                        multiply(sums[i][j], of_a(first[0]), of_a(last[0]), of_a(first[1]), of_a(last[1]), of_b(bs_of[j][0]), of_b(bs_of[j][1]));
                    }
                }
            }
        }
    }
}

// The sums of warps over parts of the depth, for the tile blockIdx.y, blockIdx.x of the result.
struct Sums {
    float (&shared)[WARPS][TILE][PITCH];
    float4 of[2][4] = {};

    template <bool FOURS, bool A, bool B> __device__ void add(const Matrix<A>& a, const Matrix<B>& b) {
        const unsigned row = blockIdx.y * TILE, column = blockIdx.x * TILE;
        if (FOURS || (a.by_fours() && b.by_fours())) part_product<true>(a, b, row, column, of);
        else part_product<false>(a, b, row, column, of);
    }
    // Gives `finish` row, column and sum for each result within so many rows and columns: four of a thread, and neighbours of a warp.
    template <bool A, bool B, typename F> __device__ void finish(unsigned rows, unsigned columns, F finish) {
        const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, two = lane % 4 * 2;
        auto each = [&](auto act) {
#pragma unroll
            for (unsigned i = 0; i < 2; i++) {
#pragma unroll
                for (unsigned j = 0; j < 4; j++) {
                    // The places of the first result, and of that to the right of it and the one below.
                    const unsigned row = A ? 4 * group + 2 * i : 16 * i + group, below = A ? 1 : 8;
                    const unsigned column = B ? 8 * j + two : 4 * two + j, right = B ? 1 : 4;
                    float(&to)[TILE][PITCH] = shared[warp % WARPS];
                    act(to[row][column], of[i][j].x);
                    act(to[row][column + right], of[i][j].y);
                    act(to[row + below][column], of[i][j].z);
                    act(to[row + below][column + right], of[i][j].w);
                }
            }
        };
        if (warp < WARPS) each([](float& to, float v) { to = v; });
        if (blockDim.x > THREADS) {
            __syncthreads();
            if (warp >= WARPS) each([](float& to, float v) { to += v; });
        }
        __syncthreads();
        const unsigned column = blockIdx.x * TILE + lane;
#pragma unroll
        for (unsigned i = 0; i < TILE; i += WARPS) {
            const unsigned row = blockIdx.y * TILE + i + warp;
            if (warp >= WARPS) break;
            float total = 0.0f;
#pragma unroll
            for (unsigned part = 0; part < WARPS; part++) total += shared[part][i + warp][lane];
            if (row < rows && column < columns) finish(row, column, total);
        }
    }
};

// c = a b, of which `finish` is given row, column and sum. With FOURS the pitches and lines of both are multiples of 4.
template <bool FOURS, bool A, bool B, typename F>
__device__ inline void product(const Matrix<A>& a, const Matrix<B>& b, F finish) {
    __shared__ float shared[WARPS][TILE][PITCH];
    Sums sums{shared};
    sums.add<FOURS>(a, b);
    sums.finish<A, B>(a.rows, b.columns, finish);
}
