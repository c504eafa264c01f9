// 96 small kernels, of which no two do the same.

template <unsigned kind>
__device__ void one(float *x, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    for (unsigned turn = 0; turn < 1 + kind % 5; ++turn) {
        value = (0.25f + kind / 256.0f) * value + (kind % 7) / 8.0f;
        if (kind % 3 == 1) value = fabsf(value);
        if (kind % 4 == 2) value = fmaxf(value, 0.125f);
    }
    x[i] = value;
}

#define ONE(kind) \
    extern "C" __global__ void different_##kind(float *x, unsigned n) { one<kind>(x, n); }
#define EIGHT(a, b, c, d, e, f, g, h) ONE(a) ONE(b) ONE(c) ONE(d) ONE(e) ONE(f) ONE(g) ONE(h)

EIGHT(0, 1, 2, 3, 4, 5, 6, 7)
EIGHT(8, 9, 10, 11, 12, 13, 14, 15)
EIGHT(16, 17, 18, 19, 20, 21, 22, 23)
EIGHT(24, 25, 26, 27, 28, 29, 30, 31)
EIGHT(32, 33, 34, 35, 36, 37, 38, 39)
EIGHT(40, 41, 42, 43, 44, 45, 46, 47)
EIGHT(48, 49, 50, 51, 52, 53, 54, 55)
EIGHT(56, 57, 58, 59, 60, 61, 62, 63)
EIGHT(64, 65, 66, 67, 68, 69, 70, 71)
EIGHT(72, 73, 74, 75, 76, 77, 78, 79)
EIGHT(80, 81, 82, 83, 84, 85, 86, 87)
EIGHT(88, 89, 90, 91, 92, 93, 94, 95)
