// Elementwise kernels, stencils, copies. What each does through each pointer stands in expected.txt.

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void saxpy(float a, const float *x, float *y, unsigned n) {
    unsigned i = INDEX;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void saxpy_strided(float a, const float *__restrict__ x, float *__restrict__ y, int n) {
    for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void fill_value(double *out, double value, unsigned long long n) {
    unsigned long long i = INDEX;
    if (i < n) out[i] = value;
}

extern "C" __global__ void vector_add4(const float4 *a, const float4 *b, float4 *out, int n4) {
    int i = INDEX;
    if (i < n4) {
        float4 x = a[i], y = b[i];
        out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}

// Two outputs, one of them only sometimes.
extern "C" __global__ void split_sign(const float *x, float *pos, float *neg, unsigned n) {
    unsigned i = INDEX;
    if (i >= n) return;
    if (x[i] >= 0.0f) pos[i] = x[i];
    else neg[i] = x[i];
}

// Never used: nothing.
extern "C" __global__ void unused_pointer(const float *x, float *unused, float *out, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[i] = x[i] + 1.0f;
}

// Only compared, never followed.
extern "C" __global__ void compared_pointer(const float *x, const float *other, float *out, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[i] = x == other ? 1.0f : x[i];
}

extern "C" __global__ void stencil3(const float *in, float *out, int n) {
    int i = INDEX;
    if (i > 0 && i < n - 1) out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

extern "C" __global__ void heat2d(const float *u, float *next, int nx, int ny, float k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    int c = y * nx + x;
    next[c] = u[c] + k * (u[c - 1] + u[c + 1] + u[c - nx] + u[c + nx] - 4.0f * u[c]);
}

extern "C" __global__ void stencil7_shared(const double *in, double *out, int nx, int ny, int nz) {
    __shared__ double tile[10][10];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int z = 1; z < nz - 1; ++z) {
        size_t plane = (size_t)nx * ny, c = z * plane + (size_t)y * nx + x;
        bool inside = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
        if (inside) tile[threadIdx.y + 1][threadIdx.x + 1] = in[c];
        __syncthreads();
        if (inside) {
            double s = in[c - plane] + in[c + plane] + in[c - nx] + in[c + nx];
            s += tile[threadIdx.y + 1][threadIdx.x] + tile[threadIdx.y + 1][threadIdx.x + 2];
            out[c] = s - 6.0 * tile[threadIdx.y + 1][threadIdx.x + 1];
        }
        __syncthreads();
    }
}

extern "C" __global__ void transpose_tiled(const float *in, float *out, int rows, int cols) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols) out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

// A pointer that walks.
extern "C" __global__ void walk(const int *begin, const int *end, int *out) {
    int sum = 0;
    for (const int *p = begin + threadIdx.x; p < end; p += blockDim.x) sum += *p;
    out[threadIdx.x] = sum;
}

// Both pointers may be what is read: reads only, whichever.
extern "C" __global__ void choose_read(const float *a, const float *b, float *out, int which, unsigned n) {
    const float *p = which ? a : b;
    unsigned i = INDEX;
    if (i < n) out[i] = p[i] + p[n - 1 - i];
}

// Either may be what is written: not decided.
extern "C" __global__ void choose_write(float *a, float *b, const float *x, int which, unsigned n) {
    float *p = which ? a : b;
    unsigned i = INDEX;
    if (i < n) p[i] = x[i];
}

// The difference of two pointers as an index: q + (p - q) is p.
extern "C" __global__ void difference(const float *p, float *q, unsigned n) {
    unsigned i = INDEX;
    if (i < n) {
        long long d = (const char *)p - (const char *)q;
        q[i] = *(const float *)((const char *)(q + i) + d);
    }
}

extern "C" __global__ void swap_arrays(float *a, float *b, unsigned n) {
    unsigned i = INDEX;
    if (i < n) {
        float t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

// A structure by value, of numbers only.
struct Affine {
    float scale, shift;
    int n;
    long long stride;
};
extern "C" __global__ void affine(const float *x, float *out, Affine by) {
    int i = INDEX;
    if (i < by.n) out[i * by.stride] = x[i * by.stride] * by.scale + by.shift;
}

// A prefetch is no access.
extern "C" __global__ void prefetched(const float *x, const float *later, float *out, unsigned n) {
    unsigned i = INDEX;
    if (i < n) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(later + i));
        out[i] = x[i];
    }
}

extern "C" __global__ void gather(const float *x, const int *index, float *out, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[i] = x[index[i]];
}

extern "C" __global__ void scatter64(const float *x, const long long *index, float *out, unsigned n) {
    unsigned i = INDEX;
    if (i < n) out[index[i]] = x[i];
}

extern "C" __global__ void bytes_lookup(const unsigned char *table, const unsigned char *x, unsigned char *out, size_t n) {
    size_t i = INDEX;
    if (i < n) out[i] = table[x[i]];
}

// Alignment of a pointer decides the path.
extern "C" __global__ void aligned_copy(const float *src, float *dst, int n) {
    int i = INDEX;
    if ((((unsigned long long)src | (unsigned long long)dst) & 15) == 0 && 4 * i + 3 < n) {
        ((float4 *)dst)[i] = ((const float4 *)src)[i];
    } else {
        for (int j = 4 * i; j < n && j < 4 * i + 4; ++j) dst[j] = src[j];
    }
}

// A variable of the module, written.
__device__ unsigned launches;
__constant__ float weights[16];
__device__ const float primes[4] = {2, 3, 5, 7};
extern "C" __global__ void counted(const float *x, float *out, unsigned n) {
    unsigned i = INDEX;
    if (i == 0) launches += 1;
    if (i < n) out[i] = x[i] * weights[i % 16] + primes[i % 4];
}

extern "C" __global__ void volatile_flag(volatile int *flag, const int *data, int *out) {
    while (*flag == 0) {}
    out[threadIdx.x] = data[threadIdx.x];
}

extern "C" __global__ void complex_multiply(const double2 *a, const double2 *b, double2 *out, unsigned n) {
    unsigned i = INDEX;
    if (i < n) {
        double2 x = a[i], y = b[i];
        out[i] = make_double2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
    }
}
