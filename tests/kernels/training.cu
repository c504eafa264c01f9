// A perceptron's forward and backward pass, rows of samples, and Adam.

// y = x . w + b
extern "C" __global__ void linear(const float* x, const float* w, const float* b, float* y, unsigned samples,
                                  unsigned inputs, unsigned outputs) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples * outputs) return;
    unsigned row = i / outputs, column = i % outputs;
    float sum = b[column];
    for (unsigned k = 0; k < inputs; k++) sum += x[row * inputs + k] * w[k * outputs + column];
    y[i] = sum;
}

extern "C" __global__ void tanh_forward(float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tanhf(y[i]);
}

// dy *= 1 - y^2
extern "C" __global__ void tanh_backward(const float* y, float* dy, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dy[i] *= 1.0f - y[i] * y[i];
}

// dw = the transpose of x . dy
extern "C" __global__ void gradient_w(const float* x, const float* dy, float* dw, unsigned samples,
                                      unsigned inputs, unsigned outputs) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= inputs * outputs) return;
    float sum = 0.0f;
    for (unsigned k = 0; k < samples; k++) sum += x[k * inputs + i / outputs] * dy[k * outputs + i % outputs];
    dw[i] = sum;
}

extern "C" __global__ void gradient_b(const float* dy, float* db, unsigned samples, unsigned outputs) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    float sum = 0.0f;
    for (unsigned k = 0; k < samples; k++) sum += dy[k * outputs + i];
    db[i] = sum;
}

// dx = dy . the transpose of w
extern "C" __global__ void gradient_x(const float* dy, const float* w, float* dx, unsigned samples, unsigned inputs,
                                      unsigned outputs) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples * inputs) return;
    float sum = 0.0f;
    for (unsigned k = 0; k < outputs; k++) sum += dy[i / inputs * outputs + k] * w[i % inputs * outputs + k];
    dx[i] = sum;
}

// dy = y - target
extern "C" __global__ void difference(const float* y, const float* target, float* dy, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dy[i] = y[i] - target[i];
}

// Adam, with beta1 = 0.9 and beta2 = 0.99
extern "C" __global__ void adam(float* value, float* mean, float* square, const float* gradient, float rate,
                                unsigned step, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = gradient[i], m = 0.9f * mean[i] + 0.1f * g, v = 0.99f * square[i] + 0.01f * g * g;
    mean[i] = m;
    square[i] = v;
    value[i] -= rate * (m / (1.0f - powf(0.9f, step))) / (sqrtf(v / (1.0f - powf(0.99f, step))) + 1e-3f);
}
