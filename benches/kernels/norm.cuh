// LayerNorm of a row by a warp, of f32 or bf16.

#pragma once

#include "bf16.cuh"

// Four elements.
__device__ inline float4 load(const float* p) { return *(const float4*)p; }
__device__ inline float4 load(const BF16* p) {
    uint2 bits = *(const uint2*)p;
    return make_float4(low(bits.x), high(bits.x), low(bits.y), high(bits.y));
}
__device__ inline void store(float* p, float4 v) { *(float4*)p = v; }
__device__ inline void store(BF16* p, float4 v) { *(uint2*)p = make_uint2(pair(v.x, v.y), pair(v.z, v.w)); }

__device__ inline float dot(float4 a, float4 b, float c) {
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, c))));
}

// LayerNorm(x + residual) * gain + bias, for a row of 4 * fours elements, 128 * GROUPS at most: `put` is given four of them and their place.
template <unsigned GROUPS, typename T, typename Put>
__device__ inline void normalize(
    const T* x, const T* residual, const T* gain, const T* bias, unsigned fours, float epsilon, Put put) {
    const unsigned lane = threadIdx.x % 32;
    float4 v[GROUPS] = {}, g[GROUPS] = {}, b[GROUPS] = {};
    float total = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < GROUPS; i++) {
        unsigned four = i * 32 + lane, at = 4 * four;
        if (four < fours) {
            float4 one = load(x + at), two = load(residual + at);
            g[i] = load(gain + at);
            b[i] = load(bias + at);
            v[i] = make_float4(one.x + two.x, one.y + two.y, one.z + two.z, one.w + two.w);
        }
    }
#pragma unroll
    for (unsigned i = 0; i < GROUPS; i++) total += v[i].x + v[i].y + v[i].z + v[i].w;
    const float mean = sum(total) / (float)(4 * fours);
    float squares = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < GROUPS; i++) {
        if (i * 32 + lane < fours) {
            v[i] = make_float4(v[i].x - mean, v[i].y - mean, v[i].z - mean, v[i].w - mean);
            squares = dot(v[i], v[i], squares);
        }
    }
    const float over = rsqrtf(sum(squares) / (float)(4 * fours) + epsilon);
#pragma unroll
    for (unsigned i = 0; i < GROUPS; i++) {
        unsigned four = i * 32 + lane;
        if (four < fours) {
            put(4 * four, make_float4(fmaf(v[i].x * over, g[i].x, b[i].x), fmaf(v[i].y * over, g[i].y, b[i].y),
                                      fmaf(v[i].z * over, g[i].z, b[i].z), fmaf(v[i].w * over, g[i].w, b[i].w)));
        }
    }
}
