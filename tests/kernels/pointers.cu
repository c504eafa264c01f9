// NVRTC 13.0, --gpu-architecture=compute_80

#define AT const unsigned i = blockIdx.x * blockDim.x + threadIdx.x

// The sum of n buffers.
extern "C" __global__ void summed(const float *const *xs, float *out, unsigned n, unsigned len) {
    AT;
    if (i >= len) return;
    float sum = 0.0f;
    for (unsigned k = 0; k < n; ++k) sum += xs[k][i];
    out[i] = sum;
}

// Each of n buffers, in place.
extern "C" __global__ void scaled(float *const *xs, float by, unsigned n, unsigned len) {
    AT;
    if (i >= len) return;
    for (unsigned k = 0; k < n; ++k) xs[k][i] *= by;
}

// The squares of n buffers, in n others.
extern "C" __global__ void squares(const float *const *xs, float *const *ys, unsigned n, unsigned len) {
    AT;
    if (i >= len) return;
    for (unsigned k = 0; k < n; ++k) ys[k][i] = xs[k][i] * xs[k][i];
}

// A buffer of numbers, which is no table of pointers.
extern "C" __global__ void doubled(const unsigned long long *xs, unsigned long long *out, unsigned n) {
    AT;
    if (i < n) out[i] = 2 * xs[i];
}
