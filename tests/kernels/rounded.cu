// Products without a rounding modifier, and sums of them: ptxas makes one `fma` of both, or not, by what else uses the product.
// nvcc -ptx -arch=compute_80 -O3

#define INDEX const unsigned i = blockIdx.x * blockDim.x + threadIdx.x
#define KERNEL extern "C" __global__ void

// The product is stored, too.
KERNEL both(const float* x, const float* y, float* product, float* sum, unsigned n) {
    INDEX;
    if (i < n) {
        float p = x[i] * y[i];
        product[i] = p;
        sum[i] = p + y[i];
    }
}

// The product is compared, too.
KERNEL clamped(const float* x, const float* y, float* most, float* sum, unsigned n) {
    INDEX;
    if (i < n) {
        float p = x[i] * y[i];
        most[i] = fmaxf(p, 0.0f);
        sum[i] = sum[i] - p;
    }
}

// Its sum stands behind a branch.
KERNEL behind(const float* x, const float* y, float* marked, float* sum, unsigned n) {
    INDEX;
    if (i < n) {
        float p = x[i] * y[i];
        if (p > 0.5f) marked[i] = y[i];
        sum[i] = sum[i] - p;
    }
}

// The product is in its sum alone.
KERNEL stepped(float* x, const float* y, float rate, unsigned n) {
    INDEX;
    if (i < n) x[i] -= rate * y[i];
}

KERNEL doubled(const float* x, float* y, unsigned n) {
    INDEX;
    if (i < n) y[i] = x[i] + x[i];
}
