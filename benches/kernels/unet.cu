// The kernels of a U-Net in bf16, channels last: convolutions by tensor cores with the sums of group norms, and these norms.
//
// nvcc -O3 -arch=compute_80 -ptx unet.cu

#include "tensor.cuh"

constexpr unsigned THREADS = 256, PRODUCTS = 288;
// The channels of a group, the pixels of a part of the group's sums, and the most groups.
constexpr unsigned GROUP = 8, PART = 16, MOST = 32;

// out = the 3 x 3 convolution of x and w, with zeros around, of every `stride`-th pixel; with `up` 1 of x with each pixel four times; plus what
// is in `add`, if any. Of the results sums and sums of squares of each group in parts of 16 pixels. w has for each of 8 * groups results nine
// times the 32 * chunks channels, which are those of x, or with TWO those of x and then those of y. A block has 16 pixels and 32 results, a
// warp about a ninth of the depth.
template <bool TWO, bool ADD>
__device__ inline void convolution(
    const BF16* __restrict__ x, const BF16* __restrict__ y, const BF16* __restrict__ w, const BF16* __restrict__ bias,
    const BF16* __restrict__ add, BF16* __restrict__ out, float* __restrict__ sums, unsigned height, unsigned width,
    unsigned groups, unsigned chunks, unsigned from_height, unsigned from_width, unsigned stride, unsigned up) {
    const unsigned pixels = height * width, n = GROUP * groups, own = TWO ? chunks / 2 : chunks;
    auto row = [&](unsigned j, unsigned step) -> const BF16* {
        const unsigned tap = step / chunks, chunk = step % chunks;
        const unsigned down = j / width * stride + tap / 3, along = j % width * stride + tap % 3;
        if (down < 1 || along < 1 || down - 1 >= from_height << up || along - 1 >= from_width << up) return nullptr;
        const unsigned pixel = ((down - 1) >> up) * from_width + ((along - 1) >> up);
        return TWO && chunk >= own ? y + (pixel * own + chunk - own) * 32 : x + (pixel * own + chunk) * 32;
    };
    rows_times<1, 4, 1, 9, 2>(row, w, bias, pixels, n, 9 * chunks, [&](unsigned r, unsigned column, float4 v) {
        float total = 0.0f, squares = 0.0f;
        auto put = [&](unsigned pixel, float a, float b) {
            if (pixel >= pixels || column >= n) return;
            unsigned* to = (unsigned*)(out + pixel * n + column);
            if (ADD) {
                const unsigned more = *(const unsigned*)(add + pixel * n + column);
                a += low(more);
                b += high(more);
            }
            const unsigned bits = pair(a, b);
            *to = bits;
            a = low(bits);
            b = high(bits);
            total += a + b;
            squares = fmaf(a, a, fmaf(b, b, squares));
        };
        put(r, v.x, v.y);
        put(r + 8, v.z, v.w);
        // The lanes of a warp have all columns of a group.
        total = sum(total);
        squares = sum(squares);
        if (threadIdx.x % 32 == 0 && column < n) {
            float* of = sums + 2 * (blockIdx.y * groups + column / GROUP);
            of[0] = total;
            of[1] = squares;
        }
    });
}
extern "C" __global__ void __launch_bounds__(PRODUCTS)
convolve(const BF16* x, const BF16* w, const BF16* bias, BF16* out, float* sums, unsigned height, unsigned width, unsigned groups,
         unsigned chunks, unsigned from_height, unsigned from_width, unsigned stride, unsigned up, unsigned parts) {
    if (blockIdx.y >= parts) return;
    convolution<false, false>(x, x, w, bias, x, out, sums, height, width, groups, chunks, from_height, from_width, stride, up);
}
extern "C" __global__ void __launch_bounds__(PRODUCTS)
convolve_add(const BF16* x, const BF16* w, const BF16* bias, const BF16* add, BF16* out, float* sums, unsigned height,
             unsigned width, unsigned groups, unsigned chunks, unsigned parts) {
    if (blockIdx.y >= parts) return;
    convolution<false, true>(x, x, w, bias, add, out, sums, height, width, groups, chunks, height, width, 1, 0);
}
extern "C" __global__ void __launch_bounds__(PRODUCTS)
convolve_two(const BF16* x, const BF16* y, const BF16* w, const BF16* bias, BF16* out, float* sums, unsigned height,
             unsigned width, unsigned groups, unsigned halves, unsigned parts) {
    if (blockIdx.y >= parts) return;
    convolution<true, false>(x, y, w, bias, x, out, sums, height, width, groups, 2 * halves, height, width, 1, 0);
}

// The sums of an image that no convolution made.
extern "C" __global__ void __launch_bounds__(THREADS)
group_sums(const BF16* x, float* sums, unsigned pixels, unsigned groups, unsigned parts) {
    const unsigned at = blockIdx.x * THREADS + threadIdx.x, group = at % groups, part = at / groups;
    if (part >= parts) return;
    float total = 0.0f, squares = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < PART; i++) {
        const unsigned pixel = part * PART + i;
        if (pixel >= pixels) break;
        Eight v = eight(x + (pixel * groups + group) * GROUP);
#pragma unroll
        for (unsigned j = 0; j < GROUP; j++) {
            total += v.v[j];
            squares = fmaf(v.v[j], v.v[j], squares);
        }
    }
    sums[2 * at] = total;
    sums[2 * at + 1] = squares;
}

// y = silu(GroupNorm(x) * gain + shift)
extern "C" __global__ void __launch_bounds__(THREADS)
norm_silu(const BF16* x, const float* sums, const BF16* gain, const BF16* shift, BF16* y, unsigned pixels, unsigned groups,
          unsigned parts, float epsilon) {
    __shared__ float shared[THREADS], all[2 * MOST];
    if (groups > MOST) return;
    const unsigned of = 2 * groups, each = THREADS / of, mine = threadIdx.x % of;
    float total = 0.0f;
    if (threadIdx.x < each * of) {
#pragma unroll 8
        for (unsigned part = threadIdx.x / of; part < parts; part += each) total += sums[part * of + mine];
    }
    shared[threadIdx.x] = total;
    __syncthreads();
    if (threadIdx.x < of) {
        for (unsigned i = 1; i < each; i++) total += shared[i * of + mine];
        all[threadIdx.x] = total / (float)(pixels * GROUP);
    }
    __syncthreads();
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= pixels * groups) return;
    const unsigned group = i % groups;
    const float mean = all[2 * group], over = rsqrtf(fmaxf(all[2 * group + 1] - mean * mean, 0.0f) + epsilon);
    Eight v = eight(x + i * GROUP), g = eight(gain + group * GROUP), s = eight(shift + group * GROUP);
#pragma unroll
    for (unsigned j = 0; j < GROUP; j++) v.v[j] = silu(fmaf((v.v[j] - mean) * over, g.v[j], s.v[j]));
    store(y + i * GROUP, v);
}
