// Sparse products, graphs, random numbers, physics, signal processing: pointers to pointers and local memory too.

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void spmv_csr(const int *rows, const int *cols, const double *values, const double *x, double *y, int n) {
    int r = INDEX;
    if (r >= n) return;
    double s = 0;
    for (int j = rows[r]; j < rows[r + 1]; ++j) s += values[j] * x[cols[j]];
    y[r] = s;
}

extern "C" __global__ void spmv_coo(const int *row, const int *col, const float *value, const float *x, float *y, int nnz) {
    int i = INDEX;
    if (i < nnz) atomicAdd(&y[row[i]], value[i] * x[col[i]]);
}

extern "C" __global__ void spmm_ell(const int *cols, const float *values, const float *b, float *c, int rows, int width, int n) {
    int r = blockIdx.y, j = INDEX;
    if (j >= n) return;
    float s = 0;
    for (int w = 0; w < width; ++w) {
        int k = cols[w * rows + r];
        if (k >= 0) s += values[w * rows + r] * b[(size_t)k * n + j];
    }
    c[(size_t)r * n + j] = s;
}

extern "C" __global__ void bfs_level(const int *offsets, const int *edges, int *level, int *changed, int depth, int n) {
    int v = INDEX;
    if (v >= n || level[v] != depth) return;
    for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
        int u = edges[e];
        if (level[u] < 0) {
            level[u] = depth + 1;
            *changed = 1;
        }
    }
}

extern "C" __global__ void page_rank(const int *offsets, const int *edges, const float *rank, const int *degree, float *next, float damping, int n) {
    int v = INDEX;
    if (v >= n) return;
    float s = 0;
    for (int e = offsets[v]; e < offsets[v + 1]; ++e) s += rank[edges[e]] / degree[edges[e]];
    next[v] = (1 - damping) / n + damping * s;
}

// A state of each thread: read, advanced, written back.
extern "C" __global__ void rng_xorshift(uint4 *state, float *out, int n, int each) {
    int i = INDEX;
    if (i >= n) return;
    uint4 s = state[i];
    for (int j = 0; j < each; ++j) {
        unsigned t = s.x ^ (s.x << 11);
        s.x = s.y, s.y = s.z, s.z = s.w;
        s.w = s.w ^ (s.w >> 19) ^ t ^ (t >> 8);
        out[(size_t)j * n + i] = s.w * 2.3283064e-10f;
    }
    state[i] = s;
}

extern "C" __global__ void rng_philox(float *out, unsigned long long seed, unsigned long long offset, int n) {
    int i = INDEX;
    if (i >= n) return;
    unsigned c0 = i, c1 = (unsigned)offset, c2 = (unsigned)(offset >> 32), c3 = 0, k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
    for (int r = 0; r < 10; ++r) {
        unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ k0, c1 = l1, c2 = h0 ^ c3 ^ k1, c3 = l0;
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    out[i] = c0 * 2.3283064e-10f;
}

extern "C" __global__ void nbody(const float4 *bodies, float3 *force, int n) {
    __shared__ float4 tile[64];
    int i = INDEX;
    float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 f = make_float3(0, 0, 0);
    for (int t = 0; t < n; t += 64) {
        if (t + threadIdx.x < n) tile[threadIdx.x] = bodies[t + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64 && t + j < n; ++j) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f), w = tile[j].w * inv * inv * inv;
            f.x += dx * w, f.y += dy * w, f.z += dz * w;
        }
        __syncthreads();
    }
    if (i < n) force[i] = f;
}

// Local memory with indices that are not known.
extern "C" __global__ void local_histogram(const unsigned char *x, unsigned *out, int n) {
    unsigned count[16];
    for (int b = 0; b < 16; ++b) count[b] = 0;
    for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) count[x[i] & 15]++;
    for (int b = 0; b < 16; ++b) out[INDEX * 16 + b] = count[b];
}

// Pointers in a local array, chosen at run time: all are read, none is written.
extern "C" __global__ void pointer_table(const float *a, const float *b, const float *c, const float *d, float *out, const int *which, int n) {
    const float *table[4] = {a, b, c, d};
    int i = INDEX;
    if (i < n) out[i] = table[which[i] & 3][i];
}

// Pointers that memory holds: what they point to is no parameter.
extern "C" __global__ void batched_axpy(float *const *ys, const float *const *xs, float a, int n) {
    float *y = ys[blockIdx.y];
    const float *x = xs[blockIdx.y];
    int i = INDEX;
    if (i < n) y[i] += a * x[i];
}

// A pointer goes through shared memory: what is written through it is not decided.
extern "C" __global__ void through_shared(float *a, const float *x, int n) {
    __shared__ float *p;
    if (threadIdx.x == 0) p = a + blockIdx.x * n;
    __syncthreads();
    if (threadIdx.x < n) p[threadIdx.x] = x[threadIdx.x];
}

struct View {
    float *data;
    int rows, cols;
    __device__ float &at(int r, int c) { return data[(size_t)r * cols + c]; }
};

// Views made of parameters: followed through the structure.
extern "C" __global__ void views(float *x, float *y, int rows, int cols) {
    View a{x, rows, cols}, b{y, rows, cols};
    int r = blockIdx.y, c = INDEX;
    if (c < a.cols) b.at(r, c) = a.at(r, c) * 2.0f;
}

static __device__ __noinline__ float load_at(const float *p, int i) { return p[i]; }
static __device__ __noinline__ void store_at(float *p, int i, float v) { p[i] = v; }
static __device__ __noinline__ float *advance(float *p, int by) { return p + by; }

// Through functions that are not inlined.
extern "C" __global__ void through_calls(const float *x, const float *w, float *y, float *z, int n) {
    int i = INDEX;
    if (i < n) {
        store_at(y, i, load_at(x, i) * load_at(w, i));
        *advance(z, i) = 1.0f;
    }
}

static __device__ __noinline__ int depth_of(const int *parent, int v) { return v == 0 ? 0 : 1 + depth_of(parent, parent[v]); }

// Recursion.
extern "C" __global__ void tree_depth(const int *parent, int *depth, int n) {
    int i = INDEX;
    if (i < n) depth[i] = depth_of(parent, i);
}

extern "C" __global__ void fft_radix2(float2 *x, int half, int n, float sign) {
    int i = INDEX;
    if (i >= n / 2) return;
    int k = i % half, j = (i / half) * 2 * half + k;
    float s, c;
    __sincosf(sign * 3.14159265f * k / half, &s, &c);
    float2 a = x[j], b = x[j + half];
    float2 t = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    x[j] = make_float2(a.x + t.x, a.y + t.y);
    x[j + half] = make_float2(a.x - t.x, a.y - t.y);
}

extern "C" __global__ void lbm_collide(const float *f, float *g, float omega, int n) {
    int i = INDEX;
    if (i >= n) return;
    float d[9], rho = 0;
    for (int k = 0; k < 9; ++k) rho += d[k] = f[(size_t)k * n + i];
    for (int k = 0; k < 9; ++k) g[(size_t)k * n + i] = d[k] + omega * (rho / 9.0f - d[k]);
}

extern "C" __global__ void mandelbrot(unsigned char *image, int w, int h, float x0, float y0, float step) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float x = 0, y = 0, cx = x0 + px * step, cy = y0 + py * step;
    int i = 0;
    while (i < 255 && x * x + y * y < 4.0f) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy, x = t, ++i;
    }
    image[(size_t)py * w + px] = i;
}

extern "C" __global__ void black_scholes(const float *spot, const float *strike, const float *years, float *call, float *put, float r, float v, int n) {
    int i = INDEX;
    if (i >= n) return;
    float s = sqrtf(years[i]), d1 = (logf(spot[i] / strike[i]) + (r + 0.5f * v * v) * years[i]) / (v * s), d2 = d1 - v * s;
    float c1 = normcdff(d1), c2 = normcdff(d2), e = expf(-r * years[i]);
    call[i] = spot[i] * c1 - strike[i] * e * c2;
    put[i] = strike[i] * e * (1 - c2) - spot[i] * (1 - c1);
}
