// Neural networks in single precision: norms, softmax, matrix products, attention, optimisers.

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define FULL 0xffffffffu

static __device__ float block_sum(float v) {
    __shared__ float part[32];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(FULL, v, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x] : 0.0f;
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(FULL, v, d);
    if (threadIdx.x == 0) part[0] = v;
    __syncthreads();
    v = part[0];
    __syncthreads();
    return v;
}

static __device__ float block_max(float v) {
    __shared__ float part[32];
    for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(FULL, v, d));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x] : -1e30f;
    for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(FULL, v, d));
    if (threadIdx.x == 0) part[0] = v;
    __syncthreads();
    v = part[0];
    __syncthreads();
    return v;
}

extern "C" __global__ void softmax_rows(const float *x, float *out, int cols) {
    const float *row = x + (size_t)blockIdx.x * cols;
    float *to = out + (size_t)blockIdx.x * cols;
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, row[i]);
    m = block_max(m);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) s += __expf(row[i] - m);
    s = block_sum(s);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) to[i] = __expf(row[i] - m) / s;
}

// The second pass reads what the first has written: out is read, but not first.
extern "C" __global__ void softmax_two_pass(const float *x, float *out, int cols) {
    const float *row = x + (size_t)blockIdx.x * cols;
    float *to = out + (size_t)blockIdx.x * cols;
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, row[i]);
    m = block_max(m);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        float e = expf(row[i] - m);
        to[i] = e;
        s += e;
    }
    s = block_sum(s);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) to[i] /= s;
}

extern "C" __global__ void softmax_in_place(float *x, int cols) {
    float *row = x + (size_t)blockIdx.x * cols;
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, row[i]);
    m = block_max(m);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) s += expf(row[i] - m);
    s = block_sum(s);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) row[i] = expf(row[i] - m) / s;
}

extern "C" __global__ void layer_norm(const float *x, const float *gamma, const float *beta, float *out, float *mean, float *rstd, int cols, float eps) {
    const float *row = x + (size_t)blockIdx.x * cols;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) s += row[i], q += row[i] * row[i];
    s = block_sum(s) / cols;
    q = block_sum(q) / cols;
    float r = rsqrtf(q - s * s + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) out[(size_t)blockIdx.x * cols + i] = (row[i] - s) * r * gamma[i] + beta[i];
    if (threadIdx.x == 0) {
        if (mean) mean[blockIdx.x] = s;
        if (rstd) rstd[blockIdx.x] = r;
    }
}

extern "C" __global__ void rms_norm(const float *x, const float *w, float *out, int cols, float eps) {
    const float4 *row = (const float4 *)(x + (size_t)blockIdx.x * cols);
    float q = 0;
    for (int i = threadIdx.x; i < cols / 4; i += blockDim.x) {
        float4 v = row[i];
        q += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    float r = rsqrtf(block_sum(q) / cols + eps);
    float4 *to = (float4 *)(out + (size_t)blockIdx.x * cols);
    for (int i = threadIdx.x; i < cols / 4; i += blockDim.x) {
        float4 v = row[i], g = ((const float4 *)w)[i];
        to[i] = make_float4(v.x * r * g.x, v.y * r * g.y, v.z * r * g.z, v.w * r * g.w);
    }
}

extern "C" __global__ void gelu(const float *x, float *out, int n) {
    int i = INDEX;
    if (i < n) out[i] = 0.5f * x[i] * (1.0f + tanhf(0.79788456f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

extern "C" __global__ void swiglu(const float *gate, const float *up, float *out, int n) {
    int i = INDEX;
    if (i < n) out[i] = gate[i] / (1.0f + __expf(-gate[i])) * up[i];
}

extern "C" __global__ void matvec(const float *w, const float *x, float *y, int rows, int cols) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (r >= rows) return;
    float s = 0;
    for (int c = threadIdx.x % 32; c < cols; c += 32) s += w[(size_t)r * cols + c] * x[c];
    for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(FULL, s, d);
    if (threadIdx.x % 32 == 0) y[r] = s;
}

extern "C" __global__ void matmul_naive(const float *a, const float *b, float *c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float s = 0;
        for (int i = 0; i < k; ++i) s += a[row * k + i] * b[i * n + col];
        c[row * n + col] = s;
    }
}

extern "C" __global__ void __launch_bounds__(256) matmul_tiled(const float *a, const float *b, float *c, int m, int n, int k, float alpha, float beta) {
    __shared__ float as[16][16], bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float s = 0;
    for (int t = 0; t < k; t += 16) {
        as[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[(size_t)row * k + t + threadIdx.x] : 0;
        bs[threadIdx.y][threadIdx.x] = t + threadIdx.y < k && col < n ? b[(size_t)(t + threadIdx.y) * n + col] : 0;
        __syncthreads();
        for (int i = 0; i < 16; ++i) s += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) {
        size_t at = (size_t)row * n + col;
        c[at] = beta == 0.0f ? alpha * s : alpha * s + beta * c[at];
    }
}

// 8 x 8 outputs a thread.
extern "C" __global__ void __launch_bounds__(256) matmul_register(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m, int n, int k) {
    __shared__ float as[8][128], bs[8][128];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float acc[8][8] = {};
    a += (size_t)blockIdx.y * 128 * k;
    b += blockIdx.x * 128;
    for (int t = 0; t < k; t += 8) {
        float4 v = *(const float4 *)(a + (size_t)(threadIdx.x / 2) * k + t + threadIdx.x % 2 * 4);
        as[threadIdx.x % 2 * 4 + 0][threadIdx.x / 2] = v.x;
        as[threadIdx.x % 2 * 4 + 1][threadIdx.x / 2] = v.y;
        as[threadIdx.x % 2 * 4 + 2][threadIdx.x / 2] = v.z;
        as[threadIdx.x % 2 * 4 + 3][threadIdx.x / 2] = v.w;
        *(float4 *)&bs[threadIdx.x / 32][threadIdx.x % 32 * 4] = *(const float4 *)(b + (size_t)(t + threadIdx.x / 32) * n + threadIdx.x % 32 * 4);
        __syncthreads();
        for (int i = 0; i < 8; ++i)
            for (int y = 0; y < 8; ++y)
                for (int x = 0; x < 8; ++x) acc[y][x] += as[i][ty * 8 + y] * bs[i][tx * 8 + x];
        __syncthreads();
    }
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x) c[((size_t)blockIdx.y * 128 + ty * 8 + y) * n + blockIdx.x * 128 + tx * 8 + x] = acc[y][x];
}

extern "C" __global__ void attention_row(const float *q, const float *k, const float *v, float *out, int length, int dim, float scale) {
    extern __shared__ float score[];
    const float *row = q + (size_t)blockIdx.x * dim;
    float m = -1e30f;
    for (int j = threadIdx.x; j < length; j += blockDim.x) {
        float s = 0;
        for (int d = 0; d < dim; ++d) s += row[d] * k[(size_t)j * dim + d];
        score[j] = s * scale;
        m = fmaxf(m, score[j]);
    }
    m = block_max(m);
    float sum = 0;
    for (int j = threadIdx.x; j < length; j += blockDim.x) sum += score[j] = __expf(score[j] - m);
    sum = block_sum(sum);
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float o = 0;
        for (int j = 0; j < length; ++j) o += score[j] * v[(size_t)j * dim + d];
        out[(size_t)blockIdx.x * dim + d] = o / sum;
    }
}

// Online softmax over tiles.
extern "C" __global__ void flash_attention(const float *q, const float *k, const float *v, float *out, float *lse, int length, float scale) {
    __shared__ float ks[32][32], vs[32][32];
    int r = blockIdx.x * 32 + threadIdx.x;
    float qr[32], acc[32], m = -1e30f, l = 0;
    for (int d = 0; d < 32; ++d) qr[d] = q[(size_t)r * 32 + d] * scale, acc[d] = 0;
    for (int t = 0; t < length; t += 32) {
        for (int d = 0; d < 32; ++d) ks[threadIdx.x][d] = k[(size_t)(t + threadIdx.x) * 32 + d], vs[threadIdx.x][d] = v[(size_t)(t + threadIdx.x) * 32 + d];
        __syncthreads();
        for (int j = 0; j < 32; ++j) {
            float s = 0;
            for (int d = 0; d < 32; ++d) s += qr[d] * ks[j][d];
            float m2 = fmaxf(m, s), c = __expf(m - m2), p = __expf(s - m2);
            l = l * c + p;
            for (int d = 0; d < 32; ++d) acc[d] = acc[d] * c + p * vs[j][d];
            m = m2;
        }
        __syncthreads();
    }
    for (int d = 0; d < 32; ++d) out[(size_t)r * 32 + d] = acc[d] / l;
    lse[r] = m + logf(l);
}

extern "C" __global__ void rope(float *q, const float *cosines, const float *sines, int heads, int dim) {
    int i = INDEX, half = dim / 2;
    if (i >= heads * half) return;
    int h = i / half, d = i % half;
    float a = q[h * dim + d], b = q[h * dim + d + half];
    q[h * dim + d] = a * cosines[d] - b * sines[d];
    q[h * dim + d + half] = a * sines[d] + b * cosines[d];
}

extern "C" __global__ void embedding(const int *tokens, const float *table, float *out, int dim, long long vocabulary) {
    long long t = tokens[blockIdx.x];
    if (t >= vocabulary) t = 0;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) out[(size_t)blockIdx.x * dim + i] = table[t * dim + i];
}

extern "C" __global__ void cache_append(const float *k, float *cache, int position, int dim) {
    int i = INDEX;
    if (i < dim) cache[(size_t)position * dim + i] = k[i];
}

extern "C" __global__ void adam(float *p, const float *g, float *m, float *v, float lr, float b1, float b2, float eps, int n) {
    int i = INDEX;
    if (i >= n) return;
    float x = g[i], mm = b1 * m[i] + (1 - b1) * x, vv = b2 * v[i] + (1 - b2) * x * x;
    m[i] = mm;
    v[i] = vv;
    p[i] -= lr * mm / (sqrtf(vv) + eps);
}

extern "C" __global__ void cross_entropy(const float *logits, const int *labels, float *loss, float *grad, int classes) {
    const float *row = logits + (size_t)blockIdx.x * classes;
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < classes; i += blockDim.x) m = fmaxf(m, row[i]);
    m = block_max(m);
    for (int i = threadIdx.x; i < classes; i += blockDim.x) s += __expf(row[i] - m);
    s = block_sum(s);
    int y = labels[blockIdx.x];
    for (int i = threadIdx.x; i < classes; i += blockDim.x) grad[(size_t)blockIdx.x * classes + i] = __expf(row[i] - m) / s - (i == y);
    if (threadIdx.x == 0) atomicAdd(loss, logf(s) + m - row[y]);
}

extern "C" __global__ void conv2d(const float *x, const float *w, const float *bias, float *out, int c, int h, int wd, int k) {
    int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y, oc = blockIdx.z;
    if (ox + k > wd || oy + k > h) return;
    float s = bias ? bias[oc] : 0.0f;
    for (int ic = 0; ic < c; ++ic)
        for (int dy = 0; dy < k; ++dy)
            for (int dx = 0; dx < k; ++dx) s += x[(ic * h + oy + dy) * wd + ox + dx] * w[((oc * c + ic) * k + dy) * k + dx];
    out[(oc * (h - k + 1) + oy) * (wd - k + 1) + ox] = s;
}

extern "C" __global__ void dropout(const float *x, float *out, unsigned char *mask, unsigned long long seed, float keep, int n) {
    int i = INDEX;
    if (i >= n) return;
    unsigned long long s = seed + i * 0x9E3779B97F4A7C15ull;
    s = (s ^ (s >> 30)) * 0xBF58476D1CE4E5B9ull;
    s = (s ^ (s >> 27)) * 0x94D049BB133111EBull;
    bool k = (unsigned)(s >> 32) * 2.3283064e-10f < keep;
    mask[i] = k;
    out[i] = k ? x[i] / keep : 0.0f;
}
