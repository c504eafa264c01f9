// A perceptron: forward, backward, and a step down the gradients. Rows of samples, one thread an element of the result.

// y = x . w
extern "C" __global__ void linear(const float *x, const float *w, float *y, unsigned samples, unsigned inputs, unsigned outputs) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples * outputs) return;
    unsigned row = i / outputs, column = i % outputs;
    float sum = 0.0f;
    for (unsigned k = 0; k < inputs; k++) sum += x[row * inputs + k] * w[k * outputs + column];
    y[i] = sum;
}

// y = tanh(y)
extern "C" __global__ void tanh_forward(float *y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tanhf(y[i]);
}

// dy = y - target
extern "C" __global__ void difference(const float *y, const float *target, float *dy, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dy[i] = y[i] - target[i];
}

// dw = the mean over the samples of x transposed . dy
extern "C" __global__ void gradient_w(const float *x, const float *dy, float *dw, unsigned samples, unsigned inputs, unsigned outputs) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= inputs * outputs) return;
    float sum = 0.0f;
    for (unsigned k = 0; k < samples; k++) sum += x[k * inputs + i / outputs] * dy[k * outputs + i % outputs];
    dw[i] = sum / samples;
}

// dx = dy . w transposed, through the tanh that made x
extern "C" __global__ void gradient_x(const float *dy, const float *w, const float *x, float *dx, unsigned samples, unsigned inputs, unsigned outputs) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples * inputs) return;
    float sum = 0.0f;
    for (unsigned k = 0; k < outputs; k++) sum += dy[i / inputs * outputs + k] * w[i % inputs * outputs + k];
    dx[i] = sum * (1.0f - x[i] * x[i]);
}

// w -= rate * dw
extern "C" __global__ void descend(float *w, const float *dw, float rate, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) w[i] -= rate * dw[i];
}
