// Sums and maxima over a warp.

#pragma once

__device__ inline float sum(float v) {
    for (unsigned step = 16; step; step /= 2) v += __shfl_xor_sync(~0u, v, step);
    return v;
}
__device__ inline float most(float v) {
    for (unsigned step = 16; step; step /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, step));
    return v;
}
