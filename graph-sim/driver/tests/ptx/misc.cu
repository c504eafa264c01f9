// Integers, conversions, doubles, warps, atomics, calls, printf: what ordinary kernels use less often.
template <class T, int N> struct Small { T v[N]; int tag; };

extern "C" __global__ void by_value(Small<double, 3> s, double* out) {
    int i = threadIdx.x;
    if (i < 3) out[i] = s.v[i] * s.tag;
}

extern "C" __global__ void bits(const unsigned* x, unsigned* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i], r = 0;
    r += __popc(v);
    r = r * 31 + __clz(v);
    r = r * 31 + __ffs(v);
    r = r * 31 + __brev(v);
    r = r * 31 + __byte_perm(v, ~v, 0x5317);
    r = r * 31 + __funnelshift_l(v, v * 7, v & 31);
    r = r * 31 + ((v >> 5) & 0x7f);
    r = r * 31 + __umulhi(v, 0x9e3779b9u);
    r = r * 31 + (unsigned)__mulhi((int)v, -77);
    r = r * 31 + v / (v % 97 + 1) + v % (v % 89 + 3);
    r = r * 31 + (unsigned)((int)v / ((int)(v % 13) + 1)) + (unsigned)((int)v >> (v & 7));
    r = r * 31 + __dp4a((int)v, 0x01fe7f80, 5);
    unsigned long long w = (unsigned long long)v * v + 12345;
    r = r * 31 + (unsigned)(w / (v | 1)) + (unsigned)(w >> 40) + __popcll(w) + __clzll(w);
    r = r * 31 + __vadd2(v, 0x00010002) + __sad((int)v, 5, 3u);
    y[i] = r;
}

extern "C" __global__ void conversions(const float* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    int* o = y + 10 * i;
    o[0] = (int)v;
    o[1] = __float2int_rn(v);
    o[2] = __float2int_rd(v);
    o[3] = (int)__float2uint_rz(v);
    o[4] = (int)(long long)v;
    o[5] = (signed char)(int)v;
    o[6] = (unsigned short)(int)v;
    o[7] = __float_as_int((float)(double)v * 3.0f);
    o[8] = __float_as_int(rintf(v) + floorf(v) + truncf(v) + ceilf(v));
    o[9] = __float_as_int((float)__float2ll_rn(v * 1e6f));
}

extern "C" __global__ void doubles(const double* x, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i];
    double* o = y + 8 * i;
    o[0] = sqrt(fabs(v));
    o[1] = exp(v * 0.1);
    o[2] = log(fabs(v) + 1.0);
    o[3] = sin(v);
    o[4] = 1.0 / (v + 10.5);
    o[5] = pow(fabs(v), 1.25);
    o[6] = fma(v, v, -1.0);
    o[7] = fmin(v, 0.5) + fmax(v, -0.5);
}

extern "C" __global__ void floats(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float* o = y + 10 * i;
    o[0] = __sinf(v);
    o[1] = __expf(v);
    o[2] = __logf(fabsf(v) + 1.0f);
    o[3] = rsqrtf(fabsf(v) + 1.0f);
    o[4] = sinf(v * 100.0f);
    o[5] = powf(fabsf(v), 0.7f);
    o[6] = __fdividef(v, 3.0f) + v / 7.0f;
    o[7] = erff(v);
    o[8] = __fadd_rz(v, 0.1f) + __fmul_ru(v, 0.3f);
    o[9] = log1pf(fabsf(v)) + cbrtf(v) + atan2f(v, 2.0f);
}

extern "C" __global__ void warps(const int* x, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = x[i];
    int* o = y + 8 * i;
    o[0] = __ballot_sync(~0u, v & 1);
    o[1] = __any_sync(~0u, v == 7) | __all_sync(~0u, v < 1000) << 1;
    o[2] = __match_any_sync(~0u, v % 3);
    o[3] = __reduce_add_sync(~0u, v);
    o[4] = __reduce_max_sync(~0u, v);
    int p = v;
    for (int d = 1; d < 32; d *= 2) {
        int q = __shfl_up_sync(~0u, p, d);
        if (lane >= d) p += q;
    }
    o[5] = p;
    if (lane < 16) o[6] = __shfl_xor_sync(0xffff, v, 5, 16) + __activemask();
    else o[6] = __shfl_sync(0xffff0000, v, lane % 4, 8);
    o[7] = __syncthreads_count(v & 1) + 1000 * __syncthreads_or(v == 3);
}

__device__ int next_ticket;
extern "C" __global__ void atomics(const int* x, int* i32, unsigned long long* u64, float* f32, double* f64, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    atomicAdd(&i32[0], v);
    atomicMin(&i32[1], v);
    atomicMax(&i32[2], v);
    atomicXor(&i32[3], v);
    atomicOr(&i32[4], v);
    atomicAnd(&i32[5], v);
    atomicInc((unsigned*)&i32[6], 9);
    int old = i32[7], seen;
    do {
        seen = old;
        old = atomicCAS(&i32[7], seen, seen + 2);
    } while (old != seen);
    atomicAdd(&u64[0], (unsigned long long)v << 20);
    atomicMax(&u64[1], (unsigned long long)v * v);
    atomicAdd(&f32[0], (float)v);
    atomicAdd(&f64[0], v * 0.5);
    i32[8 + atomicAdd(&next_ticket, 1)] = i;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
typedef int (*Op)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ Op table[3] = {plus, times, minus};
extern "C" __global__ void calls(int* y) {
    int i = threadIdx.x;
    y[2 * i] = fibonacci(i % 12);
    y[2 * i + 1] = table[i % 3](i, 5);
}

extern "C" __global__ void locals(const int* order, int* y) {
    int a[16], i = threadIdx.x;
    for (int j = 0; j < 16; j++) a[j] = i * 16 + j;
    for (int j = 0; j < 16; j++) {
        int k = order[j] & 15, t = a[j];
        a[j] = a[k];
        a[k] = t;
    }
    for (int j = 0; j < 16; j++) y[i * 16 + j] = a[j];
}

extern "C" int printf(const char*, ...);
extern "C" __global__ void say(int n) {
    if (threadIdx.x == 0) printf("block %d of %u: %s %.3f %lld %c\n", blockIdx.x, gridDim.x, "hello", 1.5 * n, 1ll << 40, 'x');
}

// Later blocks wait for earlier ones: a look-back chain.
extern "C" __global__ void chain(volatile int* flags, int* out) {
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            while ((before = flags[blockIdx.x - 1]) == 0) {}
        }
        out[blockIdx.x] = before;
        __threadfence();
        flags[blockIdx.x] = before + 1;
    }
}

// A lock among the lanes of a warp, which only fair turns get through.
extern "C" __global__ void lock(int* mutex, int* counter) {
    bool done = false;
    while (!done) {
        if (atomicCAS(mutex, 0, 1) == 0) {
            *(volatile int*)counter += 1;
            __threadfence();
            atomicExch(mutex, 0);
            done = true;
        }
    }
}
