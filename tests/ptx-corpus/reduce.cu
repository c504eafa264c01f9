// Reductions, scans, histograms, sorts.

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define FULL 0xffffffffu

static __device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(FULL, v, d);
    return v;
}

extern "C" __global__ void __launch_bounds__(256) reduce_block(const float *x, float *partial, unsigned n) {
    __shared__ float part[256];
    float sum = 0;
    for (unsigned i = INDEX; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = part[0];
}

extern "C" __global__ void reduce_atomic(const float *x, float *total, unsigned n) {
    float sum = 0;
    for (unsigned i = INDEX; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

// The last block adds the partial sums that it reads back: written, then read.
extern "C" __global__ void reduce_last_block(const float *x, float *partial, float *out, unsigned *ticket, unsigned n) {
    __shared__ bool last;
    float sum = 0;
    for (unsigned i = INDEX; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) all += ((volatile float *)partial)[b];
        out[0] = all;
    }
}

extern "C" __global__ void argmax(const float *x, float *best, int *where, int n) {
    float v = -1e30f;
    int at = -1;
    for (int i = threadIdx.x; i < n; i += 32)
        if (x[i] > v) v = x[i], at = i;
    for (int d = 16; d > 0; d >>= 1) {
        float ov = __shfl_down_sync(FULL, v, d);
        int oa = __shfl_down_sync(FULL, at, d);
        if (ov > v) v = ov, at = oa;
    }
    if (threadIdx.x == 0) best[0] = v, where[0] = at;
}

extern "C" __global__ void dot(const double *a, const double *b, double *out, int n) {
    __shared__ double part[128];
    double s = 0;
    for (int i = threadIdx.x; i < n; i += 128) s += a[i] * b[i];
    part[threadIdx.x] = s;
    for (int d = 64; d > 0; d >>= 1) {
        __syncthreads();
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    }
    if (threadIdx.x == 0) *out = part[0];
}

extern "C" __global__ void scan_block(const int *in, int *out, int *sums, int n) {
    __shared__ int buffer[2][512];
    int t = threadIdx.x, i = INDEX, at = 0;
    buffer[0][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        buffer[1 - at][t] = t >= d ? buffer[at][t] + buffer[at][t - d] : buffer[at][t];
        at = 1 - at;
        __syncthreads();
    }
    if (i < n) out[i] = buffer[at][t];
    if (t == blockDim.x - 1 && sums) sums[blockIdx.x] = buffer[at][t];
}

extern "C" __global__ void scan_add(int *x, const int *sums, int n) {
    int i = INDEX;
    if (blockIdx.x > 0 && i < n) x[i] += sums[blockIdx.x - 1];
}

extern "C" __global__ void histogram_shared(const unsigned char *x, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

extern "C" __global__ void histogram_global(const unsigned *x, unsigned *bins, int n, unsigned k) {
    int i = INDEX;
    if (i < n) atomicAdd(&bins[x[i] % k], 1u);
}

extern "C" __global__ void atomic_max_float(const float *x, int *best, int n) {
    int i = INDEX;
    if (i < n) atomicMax(best, __float_as_int(x[i]));
}

extern "C" __global__ void atomic_cas_add(double *total, const double *x, int n) {
    int i = INDEX;
    if (i >= n) return;
    unsigned long long *p = (unsigned long long *)total, old = *p, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, __double_as_longlong(x[i] + __longlong_as_double(assumed)));
    } while (assumed != old);
}

extern "C" __global__ void bitonic_step(unsigned *keys, int j, int k, int n) {
    int i = INDEX, other = i ^ j;
    if (i < n && other > i && other < n) {
        unsigned a = keys[i], b = keys[other];
        if ((a > b) == ((i & k) == 0)) keys[i] = b, keys[other] = a;
    }
}

extern "C" __global__ void bitonic_shared(const unsigned *in, unsigned *out) {
    __shared__ unsigned s[512];
    s[threadIdx.x] = in[INDEX];
    for (int k = 2; k <= 512; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int o = threadIdx.x ^ j;
            if (o > threadIdx.x) {
                unsigned a = s[threadIdx.x], b = s[o];
                if ((a > b) == ((threadIdx.x & k) == 0)) s[threadIdx.x] = b, s[o] = a;
            }
        }
    __syncthreads();
    out[INDEX] = s[threadIdx.x];
}

extern "C" __global__ void radix_count(const unsigned *keys, unsigned *counts, int shift, int n) {
    __shared__ unsigned c[16];
    if (threadIdx.x < 16) c[threadIdx.x] = 0;
    __syncthreads();
    int i = INDEX;
    if (i < n) atomicAdd(&c[(keys[i] >> shift) & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = c[threadIdx.x];
}

// offsets are read and counted up by atomics.
extern "C" __global__ void radix_scatter(const unsigned *keys, const float *values, unsigned *offsets, unsigned *keys_out, float *values_out, int shift, int n) {
    int i = INDEX;
    if (i < n) {
        unsigned to = atomicAdd(&offsets[(keys[i] >> shift) & 15], 1u);
        keys_out[to] = keys[i];
        values_out[to] = values[i];
    }
}

extern "C" __global__ void compact(const int *x, int *out, int *count, int n) {
    int i = INDEX;
    bool keep = i < n && x[i] > 0;
    unsigned ballot = __ballot_sync(FULL, keep);
    int lane = threadIdx.x & 31, base = 0;
    if (lane == 0) base = atomicAdd(count, __popc(ballot));
    base = __shfl_sync(FULL, base, 0);
    if (keep) out[base + __popc(ballot & ((1u << lane) - 1))] = x[i];
}

extern "C" __global__ void merge_path(const int *a, const int *b, int *out, int na, int nb) {
    int i = INDEX;
    if (i >= na + nb) return;
    int lo = i > nb ? i - nb : 0, hi = i < na ? i : na;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (a[mid] <= b[i - mid - 1]) lo = mid + 1;
        else hi = mid;
    }
    int j = i - lo;
    out[i] = lo < na && (j >= nb || a[lo] <= b[j]) ? a[lo] : b[j];
}

extern "C" __global__ void exchange_flags(int *flags, const int *x, int *out, int n) {
    int i = INDEX;
    if (i < n) out[i] = atomicExch(&flags[i], x[i]);
}

// Clears by itself, then counts: the atomics are not the first.
extern "C" __global__ void clear_and_count(const int *x, int *bins, int n) {
    for (int b = threadIdx.x; b < 64; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[x[i] & 63], 1);
}
