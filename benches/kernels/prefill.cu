// The kernels of a Llama's prefill between its products, in bf16 with heads of 64 elements: norms, rotations into the caches, causal
// attention by tensor cores, and activations.
//
// nvcc -O3 -arch=compute_80 -ptx prefill.cu

#include "tensor.cuh"

constexpr unsigned HEAD = 64, TILE = 64, STRIDE = HEAD + 8;
constexpr float LOG2_E = 1.44269504f;

// out = x / sqrt(mean(x^2) + epsilon) * gain for each row of 8 * eights elements. A block has one row.
extern "C" __global__ void __launch_bounds__(256) norm_rows(
    const BF16* __restrict__ x, const BF16* __restrict__ gain, BF16* __restrict__ out, unsigned rows, unsigned eights, float epsilon) {
    __shared__ float parts[8];
    const unsigned row = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (row >= rows) return;
    const size_t first = (size_t)row * eights;
    float squares = 0.0f;
    for (unsigned at = threadIdx.x; at < eights; at += 256) {
        Eight e = eight(x + 8 * (first + at));
        for (float v : e.v) squares = fmaf(v, v, squares);
    }
    squares = sum(squares);
    if (lane == 0) parts[warp] = squares;
    __syncthreads();
    squares = sum(lane < 8 ? parts[lane] : 0.0f);
    const float over = rsqrtf(squares / (float)(8 * eights) + epsilon);
    for (unsigned at = threadIdx.x; at < eights; at += 256) {
        Eight e = eight(x + 8 * (first + at)), g = eight(gain + 8 * at);
        for (unsigned i = 0; i < 8; i++) e.v[i] *= over * g.v[i];
        store(out + 8 * (first + at), e);
    }
}

// Rotates the queries and keys of each row of queries, keys and values by the angles of its position. Keys and values go into the caches. A
// block has one row.
extern "C" __global__ void __launch_bounds__(256) rotate_rows(
    BF16* __restrict__ qkv, const float* __restrict__ cosines, const float* __restrict__ sines, BF16* __restrict__ keys,
    BF16* __restrict__ values, unsigned rows, unsigned heads, unsigned kv_heads) {
    const unsigned row = blockIdx.x;
    if (row >= rows) return;
    BF16* own = qkv + (size_t)row * ((heads + 2 * kv_heads) * HEAD);
    const size_t cached = (size_t)row * (kv_heads * HEAD);
    for (unsigned at = threadIdx.x; at < (heads + kv_heads) * (HEAD / 2); at += 256) {
        const unsigned head = at / (HEAD / 2), i = at % (HEAD / 2);
        const float c = cosines[row * (HEAD / 2) + i], s = sines[row * (HEAD / 2) + i];
        const float a = one(own[head * HEAD + i]), b = one(own[head * HEAD + HEAD / 2 + i]);
        BF16* to = head < heads ? own + head * HEAD : keys + cached + (head - heads) * HEAD;
        to[i] = rounded(a * c - b * s);
        to[HEAD / 2 + i] = rounded(b * c + a * s);
    }
    const BF16* from = own + (heads + kv_heads) * HEAD;
    for (unsigned at = threadIdx.x; at < kv_heads * HEAD; at += 256) values[cached + at] = from[at];
}

__device__ inline void copy_async(BF16* to, const BF16* from, bool inside) {
    const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    if (inside) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
    else *(uint4*)to = make_uint4(0, 0, 0, 0);
}

// out = softmax(scale * q * k^T, of the keys up to the query) * v for each head. A block has 64 queries of a head, a warp 16 of them.
extern "C" __global__ void __launch_bounds__(128) causal_attention(
    const BF16* __restrict__ qkv, const BF16* __restrict__ keys, const BF16* __restrict__ values, BF16* __restrict__ out, unsigned rows,
    unsigned heads, unsigned kv_heads, float scale) {
    __shared__ __align__(16) BF16 k_tiles[2][TILE * STRIDE], v_tiles[2][TILE * STRIDE];
    // The blocks with the most keys start first.
    const unsigned tile = gridDim.y - 1 - blockIdx.y, head = blockIdx.x, of = head / (heads / kv_heads);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, at = lane % 4 * 2;
    const unsigned row = tile * TILE + warp * 16 + group, other = row + 8;
    const size_t width = (heads + 2 * kv_heads) * HEAD, cached = kv_heads * HEAD;
    const float over = scale * LOG2_E;

    auto load_tile = [&](unsigned first, unsigned stage) {
#pragma unroll
        for (unsigned i = 0; i < TILE * HEAD / 8 / 128; i++) {
            const unsigned part = threadIdx.x + 128 * i, key = part / 8, e = part % 8 * 8;
            const size_t from = (first + key) * cached + of * HEAD + e;
            copy_async(&k_tiles[stage][key * STRIDE + e], keys + from, first + key < rows);
            copy_async(&v_tiles[stage][key * STRIDE + e], values + from, first + key < rows);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    load_tile(0, 0);

    unsigned q[HEAD / 16][4];
    const BF16* from = qkv + head * HEAD + at;
#pragma unroll
    for (unsigned k = 0; k < HEAD / 16; k++) {
        q[k][0] = row < rows ? *(const unsigned*)(from + row * width + 16 * k) : 0;
        q[k][1] = other < rows ? *(const unsigned*)(from + other * width + 16 * k) : 0;
        q[k][2] = row < rows ? *(const unsigned*)(from + row * width + 16 * k + 8) : 0;
        q[k][3] = other < rows ? *(const unsigned*)(from + other * width + 16 * k + 8) : 0;
    }
    float4 mixed[HEAD / 8] = {};
    float largest[2] = {-INFINITY, -INFINITY}, total[2] = {};
    for (unsigned step = 0; step <= tile; step++) {
        if (step < tile) {
            load_tile((step + 1) * TILE, (step + 1) % 2);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        const BF16 *k_tile = k_tiles[step % 2], *v_tile = v_tiles[step % 2];
        float4 s[TILE / 8] = {};
#pragma unroll
        for (unsigned k = 0; k < HEAD / 16; k++) {
#pragma unroll
            for (unsigned j = 0; j < TILE / 8; j++) {
                const BF16* key = k_tile + (8 * j + group) * STRIDE + 16 * k + at;
                multiply(s[j], q[k][0], q[k][1], q[k][2], q[k][3], *(const unsigned*)key, *(const unsigned*)(key + 8));
            }
        }
        float now[2] = {largest[0], largest[1]};
#pragma unroll
        for (unsigned j = 0; j < TILE / 8; j++) {
            const unsigned key = step * TILE + 8 * j + at;
            if (step == tile) {
                s[j].x = key <= row ? s[j].x : -INFINITY;
                s[j].y = key + 1 <= row ? s[j].y : -INFINITY;
                s[j].z = key <= other ? s[j].z : -INFINITY;
                s[j].w = key + 1 <= other ? s[j].w : -INFINITY;
            }
            now[0] = fmaxf(now[0], fmaxf(s[j].x, s[j].y));
            now[1] = fmaxf(now[1], fmaxf(s[j].z, s[j].w));
        }
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            now[half] = fmaxf(now[half], __shfl_xor_sync(~0u, now[half], 1));
            now[half] = fmaxf(now[half], __shfl_xor_sync(~0u, now[half], 2));
            const float less = exp2f((largest[half] - now[half]) * over);
            total[half] *= less;
#pragma unroll
            for (unsigned j = 0; j < HEAD / 8; j++) {
                if (half) mixed[j].z *= less, mixed[j].w *= less;
                else mixed[j].x *= less, mixed[j].y *= less;
            }
            largest[half] = now[half];
        }
        const float least[2] = {now[0] * over, now[1] * over};
#pragma unroll
        for (unsigned j = 0; j < TILE / 8; j++) {
            s[j].x = exp2f(fmaf(s[j].x, over, -least[0]));
            s[j].y = exp2f(fmaf(s[j].y, over, -least[0]));
            s[j].z = exp2f(fmaf(s[j].z, over, -least[1]));
            s[j].w = exp2f(fmaf(s[j].w, over, -least[1]));
            total[0] += s[j].x + s[j].y;
            total[1] += s[j].z + s[j].w;
        }
#pragma unroll
        for (unsigned k = 0; k < TILE / 16; k++) {
            const float4 a = s[2 * k], b = s[2 * k + 1];
            const unsigned p[4] = {pair(a.x, a.y), pair(a.z, a.w), pair(b.x, b.y), pair(b.z, b.w)};
#pragma unroll
            for (unsigned j = 0; j < HEAD / 8; j += 2) {
                const BF16* value = v_tile + (16 * k + lane % 16) * STRIDE + 8 * (j + lane / 16);
                unsigned v[4];
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                             : "r"((unsigned)__cvta_generic_to_shared(value)) : "memory");
                multiply(mixed[j], p[0], p[1], p[2], p[3], v[0], v[1]);
                multiply(mixed[j + 1], p[0], p[1], p[2], p[3], v[2], v[3]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned half = 0; half < 2; half++) {
        total[half] += __shfl_xor_sync(~0u, total[half], 1);
        total[half] += __shfl_xor_sync(~0u, total[half], 2);
    }
    BF16* to = out + head * HEAD + at;
    const size_t all = heads * HEAD;
#pragma unroll
    for (unsigned j = 0; j < HEAD / 8; j++) {
        if (row < rows) *(unsigned*)(to + row * all + 8 * j) = pair(mixed[j].x / total[0], mixed[j].y / total[0]);
        if (other < rows) *(unsigned*)(to + other * all + 8 * j) = pair(mixed[j].z / total[1], mixed[j].w / total[1]);
    }
}

// out = silu(gate) * up for rows of gate and up, of 8 * eights elements each.
extern "C" __global__ void __launch_bounds__(256) activate_rows(
    const BF16* __restrict__ gate_up, BF16* __restrict__ out, unsigned rows, unsigned eights) {
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= rows * eights) return;
    const unsigned row = at / eights, e = at % eights;
    const BF16* from = gate_up + (size_t)8 * (row * 2 * eights + e);
    Eight gate = eight(from), up = eight(from + 8 * eights);
    for (unsigned i = 0; i < 8; i++) gate.v[i] = silu(gate.v[i]) * up.v[i];
    store(out + (size_t)8 * at, gate);
}
