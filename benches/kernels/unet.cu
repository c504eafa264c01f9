// The kernels of a U-Net in bf16, channels last: convolutions by tensor cores, with the norm and activation of their input and the sums of
// group norms of their results.
//
// nvcc -O3 -arch=compute_80 -ptx unet.cu

#include "tensor.cuh"

// A block has a square of SIDE x SIDE pixels and COLUMNS of the results of each; each of its warps has one of the nine taps.
constexpr unsigned SIDE = 4, TILES = 4, COLUMNS = 8 * TILES, TAPS = 9, THREADS = 32 * TAPS;
// The channels of a group, and the most groups.
constexpr unsigned GROUP = 8, MOST = 64;
// The chunks of 32 channels that are in shared memory at once, and those of them whose weights are loaded first.
constexpr unsigned SLAB = 4, AHEAD = 2;
// The bytes from a pixel to the next in shared memory: loads of 16 bytes meet no bank conflict.
constexpr unsigned PITCH = 64 * SLAB + 64;

// An image that is read: its size, and with TWO the two images whose channels it has side by side.
struct From {
    const BF16 *x, *y;
    unsigned height, width, stride, up;
};
// A group norm: sums and sums of squares of each group in `parts`.
struct Norm {
    const float* sums;
    const BF16 *gain, *shift;
    float epsilon;
};

// out = the 3 x 3 convolution of an image and w, with zeros around, of every `stride`-th pixel; with `up` 1 of the image with each pixel four
// times; with NORM of silu(GroupNorm(image)); plus what is in `add`, with ADD. Of the results sums and sums of squares of each group in each
// square of pixels. STRIDE is the largest stride. w has for each of 8 * groups results nine times the 32 * chunks channels.
template <unsigned STRIDE, bool NORM, bool TWO, bool ADD>
__device__ inline void convolution(
    const From from, const Norm norm, const BF16* __restrict__ w, const BF16* __restrict__ bias, const BF16* __restrict__ add,
    BF16* __restrict__ out, float* __restrict__ sums, unsigned height, unsigned width, unsigned groups, unsigned chunks, unsigned parts) {
    // The most pixels that a block reads, and the loads of 16 bytes of a thread that fill a slab of them.
    constexpr unsigned PIXELS = ((SIDE - 1) * STRIDE + 3) * ((SIDE - 1) * STRIDE + 3);
    constexpr unsigned LOADS = (PIXELS * SLAB * 4 + THREADS - 1) / THREADS;
    __shared__ __align__(16) unsigned char image[PIXELS * PITCH];
    __shared__ float4 results[TAPS][TILES][32];
    __shared__ float2 stats[MOST];
    const unsigned tap = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane / 4, at = lane % 4 * 8, n = GROUP * groups;
    const unsigned across = (width + SIDE - 1) / SIDE, left = blockIdx.y % across * SIDE, top = blockIdx.y / across * SIDE;
    const unsigned column = blockIdx.x * COLUMNS;
    const uint4 zero = make_uint4(0, 0, 0, 0);

    // Weights do not depend on the image.
    uint4 b[AHEAD][TILES];
    auto load_weights = [&](unsigned chunk, unsigned i) {
#pragma unroll
        for (unsigned tile = 0; tile < TILES; tile++) {
            const unsigned j = column + 8 * tile + row;
            b[i][tile] = chunk < chunks && j < n ? *(const uint4*)(w + ((j * TAPS + tap) * chunks + chunk) * 32 + at) : zero;
        }
    };
#pragma unroll
    for (unsigned i = 0; i < AHEAD; i++) load_weights(i, i);

    // The pixels of the image from the first row and column on, which may be -1.
    const int first_row = ((int)(top * from.stride) - 1) >> from.up, first_column = ((int)(left * from.stride) - 1) >> from.up;
    const unsigned side = (((SIDE - 1) * from.stride + 1) >> from.up) - ((0 - 1) >> (int)from.up) + 1;
    // This lane's two pixels in shared memory, for its tap.
    const unsigned char* pixels[2];
#pragma unroll
    for (unsigned i = 0; i < 2; i++) {
        const unsigned pixel = row + 8 * i;
        const int down = (int)((top + pixel / SIDE) * from.stride + tap / 3) - 1, along = (int)((left + pixel % SIDE) * from.stride + tap % 3) - 1;
        pixels[i] = image + (((down >> from.up) - first_row) * side + ((along >> from.up) - first_column)) * PITCH + 2 * at;
    }
    // The results of a warp: a group of eight columns.
    const unsigned group = column / GROUP + tap, to_column = group * GROUP + lane % 4 * 2;
    auto place = [&](unsigned half) {
        const unsigned pixel = row + 8 * half, y = top + pixel / SIDE, x = left + pixel % SIDE;
        return y < height && x < width ? (int)((y * width + x) * n + to_column) : -1;
    };
    unsigned more[2] = {0, 0}, shifts = 0;
    if (tap < TILES && group < groups) {
        shifts = *(const unsigned*)(bias + to_column);
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            if (ADD && place(half) >= 0) more[half] = *(const unsigned*)(add + place(half));
        }
    }

    float4 c[TILES] = {};
    for (unsigned slab = 0; slab < chunks; slab += SLAB) {
        const unsigned count = min(chunks - slab, SLAB), lines = 4 * count, pieces = side * side * lines;
        // All loads of a thread are of one group, as THREADS is a multiple of `lines`.
        const unsigned line = threadIdx.x % lines, own = TWO ? chunks / 2 : chunks;
        const unsigned chunk = slab + line / 4;
        const BF16* of = (TWO && chunk >= own ? from.y + (chunk - own) * 32 : from.x + chunk * 32) + line % 4 * 8;
        uint4 raw[LOADS];
        bool inside[LOADS];
#pragma unroll
        for (unsigned i = 0; i < LOADS; i++) {
            const unsigned piece = i * THREADS + threadIdx.x, pixel = piece / lines;
            const unsigned y = first_row + pixel / side, x = first_column + pixel % side;
            inside[i] = piece < pieces && y < from.height && x < from.width;
            raw[i] = inside[i] ? *(const uint4*)(of + (y * from.width + x) * own * 32) : zero;
        }
        if (NORM) {
            const unsigned mine = slab * 4 + line;
            const Eight gains = eight(norm.gain + mine * GROUP), moves = eight(norm.shift + mine * GROUP);
            if (slab == 0) {
                for (unsigned g = tap; g < 4 * chunks; g += TAPS) {
                    float total = 0.0f, squares = 0.0f;
#pragma unroll 8
                    for (unsigned part = lane; part < parts; part += 32) {
                        const float2 v = *(const float2*)(norm.sums + 2 * (g * parts + part));
                        total += v.x;
                        squares += v.y;
                    }
                    const float over = 1.0f / (float)(height * width * GROUP), mean = sum(total) * over;
                    const float variance = fmaxf(sum(squares) * over - mean * mean, 0.0f);
                    if (lane == 0) stats[g] = make_float2(mean, rsqrtf(variance + norm.epsilon));
                }
                __syncthreads();
            }
            const float2 of_group = stats[mine];
#pragma unroll
            for (unsigned i = 0; i < LOADS; i++) {
                Eight v = eight(raw[i]);
#pragma unroll
                for (unsigned j = 0; j < GROUP; j++) v.v[j] = silu(fmaf((v.v[j] - of_group.x) * of_group.y, gains.v[j], moves.v[j]));
                if (inside[i]) raw[i] = bits_of(v);
            }
        }
        if (slab > 0) __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < LOADS; i++) {
            const unsigned piece = i * THREADS + threadIdx.x;
            if (piece < pieces) *(uint4*)(image + piece / lines * PITCH + line * 16) = raw[i];
        }
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < SLAB; i++) {
            if (i >= count) break;
            const uint4 first = *(const uint4*)(pixels[0] + 64 * i), last = *(const uint4*)(pixels[1] + 64 * i);
#pragma unroll
            for (unsigned tile = 0; tile < TILES; tile++) {
                const uint4 weights = b[i % AHEAD][tile];
                multiply(c[tile], first.x, last.x, first.y, last.y, weights.x, weights.y);
                multiply(c[tile], first.z, last.z, first.w, last.w, weights.z, weights.w);
            }
            load_weights(slab + i + AHEAD, i % AHEAD);
        }
    }
#pragma unroll
    for (unsigned tile = 0; tile < TILES; tile++) results[tap][tile][lane] = c[tile];
    __syncthreads();
    if (tap >= TILES || group >= groups) return;
    float4 v = make_float4(low(shifts), high(shifts), low(shifts), high(shifts));
#pragma unroll
    for (unsigned i = 0; i < TAPS; i++) {
        const float4 part = results[i][tap][lane];
        v = make_float4(v.x + part.x, v.y + part.y, v.z + part.z, v.w + part.w);
    }
    float total = 0.0f, squares = 0.0f;
    auto put = [&](unsigned half, float first, float second) {
        if (place(half) < 0) return;
        first += low(more[half]);
        second += high(more[half]);
        const unsigned bits = pair(first, second);
        *(unsigned*)(out + place(half)) = bits;
        first = low(bits);
        second = high(bits);
        total += first + second;
        squares = fmaf(first, first, fmaf(second, second, squares));
    };
    put(0, v.x, v.y);
    put(1, v.z, v.w);
    total = sum(total);
    squares = sum(squares);
    if (lane == 0) *(float2*)(sums + 2 * (group * parts + blockIdx.y)) = make_float2(total, squares);
}
extern "C" __global__ void __launch_bounds__(THREADS, 2)
convolve(const BF16* x, const BF16* w, const BF16* bias, BF16* out, float* sums, unsigned height, unsigned width, unsigned groups,
         unsigned chunks, unsigned from_height, unsigned from_width, unsigned stride, unsigned up, unsigned parts) {
    if (blockIdx.y >= parts || stride > 2 || up > 1) return;
    convolution<2, false, false, false>({x, x, from_height, from_width, stride, up}, {}, w, bias, x, out, sums, height, width, groups, chunks,
                                     parts);
}
extern "C" __global__ void __launch_bounds__(THREADS, 2)
norm_convolve(const BF16* x, const float* x_sums, const BF16* gain, const BF16* shift, const BF16* w, const BF16* bias, BF16* out,
              float* sums, unsigned height, unsigned width, unsigned groups, unsigned chunks, unsigned parts, float epsilon) {
    if (blockIdx.y >= parts || 4 * chunks > MOST) return;
    convolution<1, true, false, false>({x, x, height, width, 1, 0}, {x_sums, gain, shift, epsilon}, w, bias, x, out, sums, height, width,
                                    groups, chunks, parts);
}
extern "C" __global__ void __launch_bounds__(THREADS, 2)
norm_convolve_add(const BF16* x, const float* x_sums, const BF16* gain, const BF16* shift, const BF16* w, const BF16* bias,
                  const BF16* add, BF16* out, float* sums, unsigned height, unsigned width, unsigned groups, unsigned chunks,
                  unsigned parts, float epsilon) {
    if (blockIdx.y >= parts || 4 * chunks > MOST) return;
    convolution<1, true, false, true>({x, x, height, width, 1, 0}, {x_sums, gain, shift, epsilon}, w, bias, add, out, sums, height, width,
                                   groups, chunks, parts);
}
extern "C" __global__ void __launch_bounds__(THREADS, 2)
convolve_two(const BF16* x, const BF16* y, const BF16* w, const BF16* bias, BF16* out, float* sums, unsigned height,
             unsigned width, unsigned groups, unsigned halves, unsigned parts) {
    if (blockIdx.y >= parts) return;
    convolution<1, false, true, false>({x, y, height, width, 1, 0}, {}, w, bias, x, out, sums, height, width, groups, 2 * halves, parts);
}

// The sums of an image that no convolution made, in parts of SIDE * SIDE pixels.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
group_sums(const BF16* x, float* sums, unsigned pixels, unsigned groups, unsigned parts) {
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x, group = at % groups, part = at / groups;
    if (part >= parts) return;
    float total = 0.0f, squares = 0.0f;
    uint4 raw[SIDE * SIDE];
#pragma unroll
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        const unsigned pixel = part * SIDE * SIDE + i;
        raw[i] = pixel < pixels ? *(const uint4*)(x + (pixel * groups + group) * GROUP) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        const Eight v = eight(raw[i]);
#pragma unroll
        for (unsigned j = 0; j < GROUP; j++) {
            total += v.v[j];
            squares = fmaf(v.v[j], v.v[j], squares);
        }
    }
    *(float2*)(sums + 2 * (group * parts + part)) = make_float2(total, squares);
}
