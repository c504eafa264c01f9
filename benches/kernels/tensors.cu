// A step of gradient descent: three words an element go to or from memory, where `momentum` of launches.cu has five.
extern "C" __global__ void descent(float *p, const float *g, float rate, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i] -= rate * g[i];
}
