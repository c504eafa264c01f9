// The parts of a decoder layer, one thread an element of the result. Matrices are row-major.

// y = x / rms(x) * gain, for each row
extern "C" __global__ void normalise(const float* x, const float* gain, float* y, unsigned rows, unsigned width) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float squares = 0.0f;
    for (unsigned i = 0; i < width; i++) squares += x[row * width + i] * x[row * width + i];
    float over = rsqrtf(squares / width + 1e-5f);
    for (unsigned i = 0; i < width; i++) y[row * width + i] = x[row * width + i] * over * gain[i];
}

// y = x . w
extern "C" __global__ void product(const float* x, const float* w, float* y, unsigned rows, unsigned inputs, unsigned outputs) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * outputs) return;
    unsigned row = i / outputs, column = i % outputs;
    float sum = 0.0f;
    for (unsigned k = 0; k < inputs; k++) sum += x[row * inputs + k] * w[k * outputs + column];
    y[i] = sum;
}

// out = softmax(q . k) v of each head, of `size` columns, over the rows up to its own
extern "C" __global__ void attend(const float* q, const float* k, const float* v, float* out, unsigned rows, unsigned heads,
                                  unsigned size) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * heads) return;
    unsigned row = i / heads, width = heads * size, from = i % heads * size;
    float most = -1e30f, total = 0.0f;
    for (unsigned j = 0; j <= row; j++) {
        float score = 0.0f;
        for (unsigned c = 0; c < size; c++) score += q[row * width + from + c] * k[j * width + from + c];
        most = fmaxf(most, score);
    }
    for (unsigned c = 0; c < size; c++) out[row * width + from + c] = 0.0f;
    for (unsigned j = 0; j <= row; j++) {
        float score = 0.0f;
        for (unsigned c = 0; c < size; c++) score += q[row * width + from + c] * k[j * width + from + c];
        float weight = expf(score - most);
        total += weight;
        for (unsigned c = 0; c < size; c++) out[row * width + from + c] += weight * v[j * width + from + c];
    }
    for (unsigned c = 0; c < size; c++) out[row * width + from + c] /= total;
}

// x = x * sigmoid(x)
extern "C" __global__ void silu(float* x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] / (1.0f + expf(-x[i]));
}

// x += y
extern "C" __global__ void add_to(float* x, const float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += y[i];
}
