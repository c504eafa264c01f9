// Addresses that come from memory or from bits, and indices that do.

struct Node { Node *next; float value; };
struct Many { float *of[16]; int n; };

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

// y[i] += x[i] for the pair of pointers of each row of the grid
extern "C" __global__ void batched(float *const *xs, float *const *ys, int n) {
    int i = INDEX;
    if (i < n) ys[blockIdx.y][i] += xs[blockIdx.y][i];
}

extern "C" __global__ void chain(const Node *head, float *out) {
    float sum = 0;
    for (const Node *at = head; at; at = at->next) sum += at->value;
    *out = sum;
}

// The address is stored as two numbers.
extern "C" __global__ void halves(const uint4 *rows, float *out, int n) {
    int i = INDEX;
    if (i < n) {
        uint4 row = rows[i];
        out[i] = ((const float *)((unsigned long long)row.y << 32 | row.x))[row.z];
    }
}

extern "C" __global__ void stashed(float *const *xs, float *out) {
    __shared__ const float *x;
    if (threadIdx.x == 0) x = xs[blockIdx.x];
    __syncthreads();
    out[INDEX] = x[threadIdx.x];
}

extern "C" __global__ void at_offset(const char *const *xs, unsigned long long offset, char *out) {
    out[INDEX] = xs[blockIdx.x][offset];
}

// Pointers in a structure by value, chosen at run time.
extern "C" __global__ void many(const __grid_constant__ Many many) {
    int i = threadIdx.x;
    if (i < many.n) many.of[blockIdx.x][i] = 1;
}

// A pointer as two numbers.
extern "C" __global__ void in_two(unsigned low, unsigned high, float *out, int n) {
    int i = INDEX;
    if (i < n) out[i] = ((const float *)((unsigned long long)high << 32 | low))[i];
}

// out[i] = x[at[i]]
extern "C" __global__ void gather(const float *x, const unsigned long long *at, float *out, int n) {
    int i = INDEX;
    if (i < n) out[i] = x[at[i]];
}

// The same, where the index is the offset.
extern "C" __global__ void gather_bytes(const unsigned char *x, const unsigned long long *at, unsigned char *out, int n) {
    int i = INDEX;
    if (i < n) out[i] = x[at[i]];
}

// The block's row of x, by a pointer that shared memory holds.
extern "C" __global__ void row_of_block(const float *x, const unsigned long long *at, float *out, int columns) {
    __shared__ const float *row;
    if (threadIdx.x == 0) row = x + at[blockIdx.x] * columns;
    __syncthreads();
    if (threadIdx.x < columns) out[blockIdx.x * columns + threadIdx.x] = row[threadIdx.x];
}

// Pointers in a local array, chosen at run time by what memory holds.
extern "C" __global__ void choose(const float *a, const float *b, const unsigned long long *which, float *out, int n) {
    const float *of[2] = {a, b};
    int i = INDEX;
    if (i < n) out[i] = of[which[i] & 1][i];
}
