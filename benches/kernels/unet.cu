// The kernels of a U-Net in bf16, channels last: convolutions by tensor cores, group norms, sums.
//
// nvcc -O3 -arch=compute_80 -ptx unet.cu

#include "tensor.cuh"

constexpr unsigned THREADS = 256;
// The channels of a group, the parts of which a group's sums are made, and the most groups.
constexpr unsigned GROUP = 8, PARTS = 32, MOST = 32;

// out = the 3 x 3 convolution of x and w, with zeros around, of every `stride`-th pixel; with `up` 1 of x with each pixel four times.
// w has for each of n results nine times the 32 * chunks channels. A block has 16 pixels and 32 results, a warp about a ninth of the depth.
extern "C" __global__ void __launch_bounds__(288)
convolve(const BF16* __restrict__ x, const BF16* w, const BF16* bias, BF16* out, unsigned height, unsigned width, unsigned n,
         unsigned chunks, unsigned from_height, unsigned from_width, unsigned stride, unsigned up) {
    auto row = [&](unsigned j, unsigned step) -> const BF16* {
        const unsigned tap = step / chunks, chunk = step % chunks;
        const unsigned y = j / width * stride + tap / 3, at = j % width * stride + tap % 3;
        if (y < 1 || at < 1 || y - 1 >= from_height << up || at - 1 >= from_width << up) return nullptr;
        return x + ((((y - 1) >> up) * from_width + ((at - 1) >> up)) * chunks + chunk) * 32;
    };
    rows_times<1, 4, 1, 9, 2>(row, w, bias, out, height * width, n, 9 * chunks, [](float v) { return v; });
}

// Sums and sums of squares of each group in PARTS parts of the pixels.
extern "C" __global__ void __launch_bounds__(THREADS)
group_sums(const BF16* x, float* sums, unsigned pixels, unsigned groups) {
    __shared__ float shared[THREADS][2];
    if (blockIdx.x >= PARTS || groups > MOST) return;
    const unsigned group = threadIdx.x % groups, each = THREADS / groups;
    float total = 0.0f, squares = 0.0f;
    if (threadIdx.x / groups < each) {
#pragma unroll 4
        for (unsigned pixel = blockIdx.x + PARTS * (threadIdx.x / groups); pixel < pixels; pixel += PARTS * each) {
            Eight v = eight(x + (pixel * groups + group) * GROUP);
#pragma unroll
            for (unsigned i = 0; i < GROUP; i++) {
                total += v.v[i];
                squares = fmaf(v.v[i], v.v[i], squares);
            }
        }
    }
    shared[threadIdx.x][0] = total;
    shared[threadIdx.x][1] = squares;
    __syncthreads();
    if (threadIdx.x < 2 * groups) {
        const unsigned of = threadIdx.x / 2, which = threadIdx.x % 2;
        float all = 0.0f;
        for (unsigned i = 0; i < each; i++) all += shared[i * groups + of][which];
        sums[blockIdx.x * 2 * groups + threadIdx.x] = all;
    }
}

// y = silu(GroupNorm(x) * gain + shift)
extern "C" __global__ void __launch_bounds__(THREADS)
norm_silu(const BF16* x, const float* sums, const BF16* gain, const BF16* shift, BF16* y, unsigned pixels, unsigned groups,
          float epsilon) {
    __shared__ float all[2 * MOST];
    if (groups > MOST) return;
    if (threadIdx.x < 2 * groups) {
        float total = 0.0f;
#pragma unroll
        for (unsigned i = 0; i < PARTS; i++) total += sums[i * 2 * groups + threadIdx.x];
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

// out = a + b, eight at a time.
extern "C" __global__ void __launch_bounds__(THREADS) add_eights(const BF16* a, const BF16* b, BF16* out, unsigned eights) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= eights) return;
    Eight v = eight(a + 8 * i), w = eight(b + 8 * i);
#pragma unroll
    for (unsigned j = 0; j < 8; j++) v.v[j] += w.v[j];
    store(out + 8 * i, v);
}

// out = of each pixel the channels of a, then those of b; both have as many.
extern "C" __global__ void __launch_bounds__(THREADS)
concatenate(const BF16* a, const BF16* b, BF16* out, unsigned pixels, unsigned groups) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= pixels * (2 * groups)) return;
    const unsigned pixel = i / (2 * groups), group = i % (2 * groups);
    const BF16* from = group < groups ? a + (pixel * groups + group) * GROUP : b + (pixel * groups + group - groups) * GROUP;
    *(uint4*)(out + i * GROUP) = *(const uint4*)from;
}
