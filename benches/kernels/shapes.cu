// The kernels of the shapes that real graphs have: plain ones, whose results are the same on every run.

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

// y = x times w: b rows of n inputs, m outputs each.
extern "C" __global__ void matmul(const float *x, const float *w, float *y, unsigned b, unsigned n, unsigned m) {
    unsigned i = INDEX;
    if (i >= b * m) return;
    unsigned row = i / m, column = i % m;
    float sum = 0.0f;
    for (unsigned k = 0; k < n; k++) sum += x[row * n + k] * w[k * m + column];
    y[i] = sum;
}

// y = x over the root of its mean square, row by row, times g. One thread a row.
extern "C" __global__ void rms_norm(const float *x, const float *g, float *y, unsigned b, unsigned n) {
    unsigned row = INDEX;
    if (row >= b) return;
    float sum = 0.0f;
    for (unsigned k = 0; k < n; k++) sum += x[row * n + k] * x[row * n + k];
    float scale = rsqrtf(sum / n + 1e-5f);
    for (unsigned k = 0; k < n; k++) y[row * n + k] = x[row * n + k] * scale * g[k];
}

// s = q times the transposed cache: b queries, t keys, of n each.
extern "C" __global__ void scores(const float *q, const float *keys, float *s, unsigned b, unsigned t, unsigned n) {
    unsigned i = INDEX;
    if (i >= b * t) return;
    unsigned row = i / t, key = i % t;
    float sum = 0.0f;
    for (unsigned k = 0; k < n; k++) sum += q[row * n + k] * keys[key * n + k];
    s[i] = sum * rsqrtf((float)n);
}

// s = softmax of s, row by row. One thread a row.
extern "C" __global__ void softmax(float *s, unsigned b, unsigned t) {
    unsigned row = INDEX;
    if (row >= b) return;
    float most = s[row * t], sum = 0.0f;
    for (unsigned k = 1; k < t; k++) most = fmaxf(most, s[row * t + k]);
    for (unsigned k = 0; k < t; k++) {
        float e = __expf(s[row * t + k] - most);
        s[row * t + k] = e;
        sum += e;
    }
    for (unsigned k = 0; k < t; k++) s[row * t + k] /= sum;
}

// o = o + v where q and k agree: what a token has of itself.
extern "C" __global__ void own(const float *q, const float *k, const float *v, float *o, unsigned n) {
    unsigned i = INDEX;
    if (i < n) o[i] += v[i] / (1.0f + __expf(-q[i] * k[i]));
}

// a = silu(a) times c
extern "C" __global__ void gate(float *a, const float *c, unsigned n) {
    unsigned i = INDEX;
    if (i < n) a[i] = a[i] / (1.0f + __expf(-a[i])) * c[i];
}

// y = y + x
extern "C" __global__ void add_to(const float *x, float *y, unsigned n) {
    unsigned i = INDEX;
    if (i < n) y[i] += x[i];
}

// y = relu of x convolved with w: c channels of s x s in, m channels out, windows of k x k, zeros around.
extern "C" __global__ void conv(
    const float *x, const float *w, float *y, unsigned c, unsigned m, unsigned s, unsigned k) {
    unsigned i = INDEX;
    if (i >= m * s * s) return;
    unsigned out = i / (s * s), row = i / s % s, column = i % s, half = k / 2;
    float sum = 0.0f;
    for (unsigned in = 0; in < c; in++)
        for (unsigned dy = 0; dy < k; dy++)
            for (unsigned dx = 0; dx < k; dx++) {
                unsigned r = row + dy - half, q = column + dx - half;
                if (r < s && q < s) sum += x[(in * s + r) * s + q] * w[((out * c + in) * k + dy) * k + dx];
            }
    y[i] = fmaxf(sum, 0.0f);
}

// y = the greatest of each 2 x 2 of x; c channels of s x s out.
extern "C" __global__ void shrink(const float *x, float *y, unsigned c, unsigned s) {
    unsigned i = INDEX;
    if (i >= c * s * s) return;
    unsigned at = i / (s * s) * 4 * s * s + i / s % s * 4 * s + i % s * 2;
    y[i] = fmaxf(fmaxf(x[at], x[at + 1]), fmaxf(x[at + 2 * s], x[at + 2 * s + 1]));
}

// y = x, each element four times; c channels of s x s in.
extern "C" __global__ void grow(const float *x, float *y, unsigned c, unsigned s) {
    unsigned i = INDEX;
    if (i >= 4 * c * s * s) return;
    unsigned channel = i / (4 * s * s), row = i / (2 * s) % (2 * s), column = i % (2 * s);
    y[i] = x[(channel * s + row / 2) * s + column / 2];
}

// y = A x for the one-dimensional Laplacian A.
extern "C" __global__ void laplace(const float *x, float *y, unsigned n) {
    unsigned i = INDEX;
    if (i >= n) return;
    float left = i > 0 ? x[i - 1] : 0.0f, right = i + 1 < n ? x[i + 1] : 0.0f;
    y[i] = 2.0f * x[i] - left - right;
}

// sums = k sums of the products of a and b, one a thread.
extern "C" __global__ void dots(const float *a, const float *b, float *sums, unsigned k, unsigned n) {
    unsigned i = INDEX;
    if (i >= k) return;
    float sum = 0.0f;
    for (unsigned j = i; j < n; j += k) sum += a[j] * b[j];
    sums[i] = sum;
}

// total = the sum of k. One thread.
extern "C" __global__ void total(const float *sums, float *total, unsigned k) {
    if (INDEX > 0) return;
    float sum = 0.0f;
    for (unsigned j = 0; j < k; j++) sum += sums[j];
    total[0] = sum;
}

// y = y + sign x over / under
extern "C" __global__ void step(
    const float *over, const float *under, float sign, const float *x, float *y, unsigned n) {
    unsigned i = INDEX;
    if (i < n) y[i] += sign * over[0] / (under[0] + 1e-30f) * x[i];
}

// p = r + p over / under
extern "C" __global__ void turn(const float *over, const float *under, const float *r, float *p, unsigned n) {
    unsigned i = INDEX;
    if (i < n) p[i] = r[i] + over[0] / (under[0] + 1e-30f) * p[i];
}

// c = a + w b, d = a - w b
extern "C" __global__ void butterfly(const float *a, const float *b, float *c, float *d, float w, unsigned n) {
    unsigned i = INDEX;
    if (i >= n) return;
    float x = a[i], y = w * b[i];
    c[i] = x + y;
    d[i] = x - y;
}

// x = x / 2 + t / 8
extern "C" __global__ void blend(const float *t, float *x, unsigned n) {
    unsigned i = INDEX;
    if (i < n) x[i] = 0.5f * x[i] + 0.125f * t[i];
}
