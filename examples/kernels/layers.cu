// A fully connected layer over a batch of samples.

#define TILE 16

// y = x * w for row-major x (samples x width) and w (width x width), in tiles of shared memory.
// Blocks are TILE x TILE.
extern "C" __global__ void __launch_bounds__(TILE *TILE)
matmul(const float *x, const float *w, float *y, unsigned samples, unsigned width) {
    __shared__ float xs[TILE][TILE];
    __shared__ float ws[TILE][TILE];
    unsigned col = blockIdx.x * TILE + threadIdx.x;
    unsigned row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;
    for (unsigned k = 0; k < width; k += TILE) {
        bool in_x = row < samples && k + threadIdx.x < width;
        bool in_w = col < width && k + threadIdx.y < width;
        xs[threadIdx.y][threadIdx.x] = in_x ? x[(size_t)row * width + k + threadIdx.x] : 0.0f;
        ws[threadIdx.y][threadIdx.x] = in_w ? w[(size_t)(k + threadIdx.y) * width + col] : 0.0f;
        __syncthreads();
        for (unsigned i = 0; i < TILE; ++i) sum += xs[threadIdx.y][i] * ws[i][threadIdx.x];
        __syncthreads();
    }
    if (row < samples && col < width) y[(size_t)row * width + col] = sum;
}

// y = max(y + b, 0), the bias b broadcast over the samples.
extern "C" __global__ void bias_relu(float *y, const float *b, unsigned samples, unsigned width) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < samples * width) y[i] = fmaxf(y[i] + b[i % width], 0.0f);
}
