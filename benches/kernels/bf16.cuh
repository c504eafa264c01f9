// bf16 elements as bits.

#pragma once

#include "warp.cuh"

struct BF16 { unsigned short bits; };

__device__ inline float low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ inline float high(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }
__device__ inline float one(BF16 v) { return __uint_as_float((unsigned)v.bits << 16); }
__device__ inline unsigned pair(float first, float second) {
    unsigned bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
    return bits;
}
__device__ inline BF16 rounded(float v) { return {(unsigned short)pair(v, 0.0f)}; }

// Eight elements of 16 bytes.
struct Eight { float v[8]; };
__device__ inline Eight eight(uint4 bits) {
    return {{low(bits.x), high(bits.x), low(bits.y), high(bits.y), low(bits.z), high(bits.z), low(bits.w), high(bits.w)}};
}
__device__ inline Eight eight(const BF16* p) { return eight(*(const uint4*)p); }
__device__ inline uint4 bits_of(const Eight& e) {
    return make_uint4(pair(e.v[0], e.v[1]), pair(e.v[2], e.v[3]), pair(e.v[4], e.v[5]), pair(e.v[6], e.v[7]));
}
__device__ inline void store(BF16* p, const Eight& e) { *(uint4*)p = bits_of(e); }

__device__ inline float silu(float v) { return __fdividef(v, 1.0f + __expf(-v)); }
