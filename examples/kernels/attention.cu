// The part of attention that is no product.

// Row r of `heads * n` rows of n scores: softmax(scale * scores), in which position r % n sees itself and those before it.
// One block a row.
extern "C" __global__ void causal_softmax(float *scores, float scale, unsigned heads, unsigned n) {
    __shared__ float part[128];
    float *row = scores + (size_t)blockIdx.x * n;
    unsigned seen = blockIdx.x % n + 1;
    unsigned t = threadIdx.x;
    float most = -1e30f;
    for (unsigned i = t; i < seen; i += 128) most = fmaxf(most, scale * row[i]);
    part[t] = most;
    __syncthreads();
    for (unsigned half = 64; half > 0; half /= 2) {
        if (t < half) part[t] = fmaxf(part[t], part[t + half]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    float sum = 0.0f;
    for (unsigned i = t; i < seen; i += 128) sum += expf(scale * row[i] - most);
    part[t] = sum;
    __syncthreads();
    for (unsigned half = 64; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    sum = part[0];
    for (unsigned i = t; i < n; i += 128) row[i] = i < seen ? expf(scale * row[i] - most) / sum : 0.0f;
}
