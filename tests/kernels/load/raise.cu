// Given to the driver as machine code.

// x = x + by
extern "C" __global__ void raise(float *x, float by, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += by;
}
