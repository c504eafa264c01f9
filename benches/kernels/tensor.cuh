// Products of bf16 by tensor cores, for rows that are found by a function. Sums are in f32.

#pragma once

#include "bf16.cuh"

__device__ inline void multiply(float4& c, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// x wᵀ + bias of m rows of 32 * steps, with w as n rows. A block has 16 * MT rows and 8 * NT * WIDE columns. A warp has 8 * NT of the
// columns and each SPLIT-th step, of which it loads AHEAD at once: a lane loads 16 bytes of a row of x or of w, and which of them meet in a
// product is the same for both, so that they are multiplied as they lie. `prepare` is called behind the first loads of w, and `of_row` finds 32
// elements of x by row and step, or none, which are zeros; both may use `shared`. All lanes of a warp give `finish` a row, a column, and the
// results of this row and the one eight behind it, two columns each.
template <unsigned MT, unsigned NT, unsigned WIDE, unsigned SPLIT> using Shared = float4[SPLIT][WIDE][MT][NT][32];
template <unsigned AHEAD, unsigned MT, unsigned NT, unsigned WIDE, unsigned SPLIT, typename Prepare, typename Of, typename Finish>
__device__ inline void rows_times(
    Shared<MT, NT, WIDE, SPLIT>& shared, Prepare prepare, Of of_row, const BF16* __restrict__ w, const BF16* __restrict__ bias, unsigned m,
    unsigned n, unsigned steps, Finish finish) {
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, at = lane % 4 * 8, k = 32 * steps;
    const unsigned wide = warp % WIDE, split = warp / WIDE;
    const unsigned row = blockIdx.y * (16 * MT) + group, column = blockIdx.x * (8 * NT * WIDE) + wide * (8 * NT) + group;
    const uint4 zero = make_uint4(0, 0, 0, 0);
    float4 c[MT][NT] = {};
    uint4 b[AHEAD][NT];
    auto load_weights = [&](unsigned first) {
#pragma unroll
        for (unsigned l = 0; l < AHEAD; l++) {
#pragma unroll
            for (unsigned i = 0; i < NT; i++) {
                const unsigned step = first + SPLIT * l, j = column + 8 * i;
                b[l][i] = step < steps && j < n ? __ldg((const uint4*)(w + j * k + 32 * step + at)) : zero;
            }
        }
    };
    load_weights(split);
    prepare();
#pragma unroll 1
    for (unsigned first = split; first < steps; first += SPLIT * AHEAD) {
        if (first > split) load_weights(first);
        uint4 a[AHEAD][MT][2];
#pragma unroll
        for (unsigned l = 0; l < AHEAD; l++) {
#pragma unroll
            for (unsigned i = 0; i < MT; i++) {
#pragma unroll
                for (unsigned half = 0; half < 2; half++) {
                    const unsigned step = first + SPLIT * l, j = row + 16 * i + 8 * half;
                    const BF16* from = step < steps && j < m ? of_row(j, step) : nullptr;
                    a[l][i][half] = from ? *(const uint4*)(from + at) : zero;
                }
            }
        }
#pragma unroll
        for (unsigned l = 0; l < AHEAD; l++) {
#pragma unroll
            for (unsigned i = 0; i < MT; i++) {
#pragma unroll
                for (unsigned j = 0; j < NT; j++) {
                    multiply(c[i][j], a[l][i][0].x, a[l][i][1].x, a[l][i][0].y, a[l][i][1].y, b[l][j].x, b[l][j].y);
                    multiply(c[i][j], a[l][i][0].z, a[l][i][1].z, a[l][i][0].w, a[l][i][1].w, b[l][j].z, b[l][j].w);
                }
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < MT; i++) {
#pragma unroll
        for (unsigned j = 0; j < NT; j++) shared[split][wide][i][j][lane] = c[i][j];
    }
    __syncthreads();
    for (unsigned of = threadIdx.x / 32; of < WIDE * MT * NT; of += WIDE * SPLIT) {
        const unsigned i = of / NT % MT, j = of % NT, from = of / (NT * MT);
        float4 total = make_float4(0, 0, 0, 0);
#pragma unroll
        for (unsigned s = 0; s < SPLIT; s++) {
            float4 part = shared[s][from][i][j][lane];
            total = make_float4(total.x + part.x, total.y + part.y, total.z + part.z, total.w + part.w);
        }
        const unsigned first = blockIdx.x * (8 * NT * WIDE) + from * (8 * NT) + 8 * j + lane % 4 * 2;
        const unsigned shifts = first + 1 < n ? *(const unsigned*)(bias + first) : 0;
        total = make_float4(total.x + low(shifts), total.y + high(shifts), total.z + low(shifts), total.w + high(shifts));
        finish(row + 16 * i, first, total);
    }
}
