// Products where cuBLAS cannot be loaded, and what follows products that it does not finish: a thread for each element of the result.
//
// The sum over k runs in order, in f64 for f64 and in f32 for all else, and is rounded once, at the end. With several parts each part
// of k is summed by threads of its own into a workspace, which `finish` adds up.

// A product: element (i, l) of a is at `i * a_row + l * a_column` of its member of the batch, and so for b and c.
struct Product {
    long long a_row, a_column, a_member;
    long long b_row, b_column, b_member;
    long long c_row, c_column, c_member;
    double alpha, beta;
    unsigned m, n, k, batch;
    // The parts that k is cut into, of `chunk` each but the last; 0 in `finish` for a result that is in c already.
    unsigned parts, chunk;
    // 0: none, 1: one for each column of c, 2: one for each row.
    unsigned bias;
    // 0: none, 1: relu, 2: gelu, by its approximation with tanh.
    unsigned activation;
};

struct F16 { unsigned short bits; };
struct BF16 { unsigned short bits; };

__device__ inline float load(const float* p, long long at) { return p[at]; }
__device__ inline double load(const double* p, long long at) { return p[at]; }
__device__ inline float load(const F16* p, long long at) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(p[at].bits));
    return value;
}
__device__ inline float load(const BF16* p, long long at) { return __uint_as_float((unsigned)p[at].bits << 16); }

__device__ inline void store(float* p, long long at, float value) { p[at] = value; }
__device__ inline void store(double* p, long long at, double value) { p[at] = value; }
__device__ inline void store(F16* p, long long at, float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    p[at].bits = bits;
}
__device__ inline void store(BF16* p, long long at, float value) {
    unsigned bits = __float_as_uint(value);
    bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    unsigned rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    p[at].bits = (unsigned short)(nan ? 0x7fffu : rounded);
}

__device__ inline float tanh_of(float x) { return tanhf(x); }
__device__ inline double tanh_of(double x) { return tanh(x); }

template <typename A>
__device__ inline A activated(A x, unsigned activation) {
    if (activation == 1) return x < (A)0 ? (A)0 : x;
    if (activation == 2) {
        A inner = (A)0.7978845608028654 * (x + (A)0.044715 * x * x * x);
        return (A)0.5 * x * ((A)1 + tanh_of(inner));
    }
    return x;
}

// The sum over k from `from` to `to` of element (i, j) of a member.
template <typename A, typename T>
__device__ inline A summed(const Product& p, const T* a, const T* b, long long member, long long i, long long j, unsigned from, unsigned to) {
    a += member * p.a_member + i * p.a_row;
    b += member * p.b_member + j * p.b_column;
    A sum = 0;
#pragma unroll 1
    for (unsigned l = from; l < to; ++l) sum += load(a, l * p.a_column) * load(b, l * p.b_row);
    return sum;
}

// Stores an element of the result.
template <typename A, typename C>
__device__ inline void finished(const Product& p, A sum, const C* bias, C* c, long long member, long long i, long long j) {
    long long at = member * p.c_member + i * p.c_row + j * p.c_column;
    A value = sum;
    if (p.parts != 0) {
        value = (A)p.alpha * sum;
        if (p.beta != 0) value += (A)p.beta * load(c, at);
    }
    if (p.bias == 1) value += load(bias, j);
    if (p.bias == 2) value += load(bias, i);
    store(c, at, activated(value, p.activation));
}

#define ELEMENTS(count) \
    for (long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x; e < (long long)(count); e += (long long)gridDim.x * blockDim.x)

template <typename A, typename T, typename C>
__device__ void product(const Product& p, const T* a, const T* b, const C* bias, C* c) {
    long long each = (long long)p.m * p.n;
    ELEMENTS(each * p.batch) {
        long long member = e / each, i = e % each / p.n, j = e % p.n;
        finished(p, summed<A>(p, a, b, member, i, j, 0, p.k), bias, c, member, i, j);
    }
}

// Workspace: a product after the other for each part.
template <typename A, typename T>
__device__ void part(const Product& p, const T* a, const T* b, A* workspace) {
    long long each = (long long)p.m * p.n, all = each * p.batch;
    ELEMENTS(all * p.parts) {
        long long rest = e % all;
        long long member = rest / each, i = rest % each / p.n, j = rest % p.n;
        unsigned from = (unsigned)(e / all) * p.chunk, to = min(p.k, from + p.chunk);
        workspace[e] = summed<A>(p, a, b, member, i, j, from, to);
    }
}

template <typename A, typename C>
__device__ void finish(const Product& p, const A* workspace, const C* bias, C* c) {
    long long each = (long long)p.m * p.n, all = each * p.batch;
    ELEMENTS(all) {
        long long member = e / each, i = e % each / p.n, j = e % p.n;
        A sum = 0;
#pragma unroll 1
        for (unsigned part = 0; part < p.parts; ++part) sum += workspace[part * all + e];
        if (p.parts == 0) sum = load(c, member * p.c_member + i * p.c_row + j * p.c_column);
        finished(p, sum, bias, c, member, i, j);
    }
}

#define PRODUCT(name, A, T, C) \
    extern "C" __global__ void product_##name(Product p, const T* a, const T* b, const C* bias, C* c) { product<A>(p, a, b, bias, c); }
#define PART(name, A, T) \
    extern "C" __global__ void part_##name(Product p, const T* a, const T* b, A* workspace) { part<A>(p, a, b, workspace); }
#define FINISH(name, A, C) \
    extern "C" __global__ void finish_##name(Product p, const A* workspace, const C* bias, C* c) { finish<A>(p, workspace, bias, c); }

PRODUCT(f32_f32, float, float, float)
PRODUCT(f64_f64, double, double, double)
PRODUCT(f16_f16, float, F16, F16)
PRODUCT(f16_f32, float, F16, float)
PRODUCT(bf16_bf16, float, BF16, BF16)
PRODUCT(bf16_f32, float, BF16, float)
PART(f32, float, float)
PART(f64, double, double)
PART(f16, float, F16)
PART(bf16, float, BF16)
FINISH(f32, float, float)
FINISH(f64, double, double)
FINISH(f16, float, F16)
FINISH(bf16, float, BF16)
