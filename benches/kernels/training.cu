// The elementwise kernels of a training step of a perceptron in f32, four elements a thread: counts are multiples of 4.

// dy = y - target
extern "C" __global__ void __launch_bounds__(256) difference(const float4 *y, const float4 *target, float4 *dy, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 a = y[i], b = target[i];
    dy[i] = make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}

// dy = 0 where y is: the gradient in front of max(y, 0)
extern "C" __global__ void __launch_bounds__(256) relu_back(const float4 *y, float4 *dy, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 a = y[i], d = dy[i];
    dy[i] = make_float4(a.x > 0.0f ? d.x : 0.0f, a.y > 0.0f ? d.y : 0.0f, a.z > 0.0f ? d.z : 0.0f, a.w > 0.0f ? d.w : 0.0f);
}

// A step of gradient descent with momentum: m = 0.9 m + g, w = w - rate m.
extern "C" __global__ void __launch_bounds__(256) momentum(float4 *w, float4 *m, const float4 *g, float rate, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 p = w[i], v = m[i], d = g[i];
    v = make_float4(0.9f * v.x + d.x, 0.9f * v.y + d.y, 0.9f * v.z + d.z, 0.9f * v.w + d.w);
    m[i] = v;
    w[i] = make_float4(p.x - rate * v.x, p.y - rate * v.y, p.z - rate * v.z, p.w - rate * v.w);
}
