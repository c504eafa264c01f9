// What compilers make of less usual source: cooperative groups, printf, textures, function pointers, switches, slow
// paths of mathematical functions, copies of structures, pointers by value in structures.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void cg_reduce(const float *x, float *out, int n) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    float s = 0;
    for (int i = block.thread_rank(); i < n; i += block.size()) s += x[i];
    s = cg::reduce(tile, s, cg::plus<float>());
    if (tile.thread_rank() == 0) atomicAdd(out, s);
}

extern "C" __global__ void prints(const int *x, int *out, int n) {
    int i = INDEX;
    if (i >= n) return;
    if (x[i] < 0) printf("negative: %d at %p\n", x[i], x);
    out[i] = -x[i];
}

// Trigonometry with the slow path's table and local array.
extern "C" __global__ void trigonometry(const double *x, double *s, double *c, int n) {
    int i = INDEX;
    if (i < n) {
        s[i] = sin(x[i]);
        c[i] = pow(fabs(x[i]), 1.7) + cosf((float)x[i]);
    }
}

extern "C" __global__ void textured(cudaTextureObject_t texture, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

typedef float (*Function)(float, float);
static __device__ float add_of(float a, float b) { return a + b; }
static __device__ float mul_of(float a, float b) { return a * b; }
static __device__ float sub_of(float a, float b) { return a - b; }
__device__ Function const table[3] = {add_of, mul_of, sub_of};

extern "C" __global__ void through_table(const float *a, const float *b, float *out, int which, int n) {
    int i = INDEX;
    if (i < n) out[i] = table[which % 3](a[i], b[i]);
}

struct Shape {
    float size;
    __device__ virtual float area() const { return size; }
    __device__ virtual float grow(float by) { return size += by; }
};
struct Square : Shape {
    __device__ float area() const override { return size * size; }
};
extern "C" __global__ void virtual_call(const float *x, float *out, int n) {
    int i = INDEX;
    if (i >= n) return;
    Shape plain;
    Square square;
    plain.size = square.size = x[i];
    Shape *shape = x[i] > 0 ? &plain : &square;
    out[i] = shape->area();
}

extern "C" __global__ void switched(const int *op, const float *a, const float *b, float *out, float *side, int n) {
    int i = INDEX;
    if (i >= n) return;
    switch (op[i]) {
    case 0: out[i] = a[i] + b[i]; break;
    case 1: out[i] = a[i] - b[i]; break;
    case 2: out[i] = a[i] * b[i]; break;
    case 3: out[i] = a[i] / b[i]; break;
    case 4: side[i] = a[i]; break;
    case 5: side[i] = b[i]; break;
    case 6: out[i] = fmodf(a[i], b[i]); break;
    case 7: out[i] = fmaxf(a[i], b[i]); break;
    default: out[i] = 0;
    }
}

struct Particle {
    float position[3], velocity[3];
    int kind;
    char tag[9];
};
extern "C" __global__ void move_particles(const Particle *in, Particle *out, float dt, int n) {
    int i = INDEX;
    if (i >= n) return;
    Particle p = in[i];
    for (int d = 0; d < 3; ++d) p.position[d] += dt * p.velocity[d];
    out[i] = p;
}

extern "C" __global__ void set_and_copy(unsigned char *a, const unsigned char *b, unsigned char *c) {
    memset(a + threadIdx.x * 64, 7, 64);
    memcpy(c + threadIdx.x * 64, b + threadIdx.x * 64, 64);
}

// Pointers in a structure: their buffers are no parameters. s is such a structure.
struct Buffers {
    const float *in;
    float *out;
    int n;
};
extern "C" __global__ void by_structure(Buffers b, float *extra) {
    int i = INDEX;
    if (i < b.n) {
        b.out[i] = b.in[i];
        extra[i] = 1;
    }
}

extern "C" __global__ void short_types(short a, unsigned char b, bool c, const short *x, unsigned short *y, int n) {
    int i = INDEX;
    if (i < n) y[i] = c ? x[i] * a : x[i] + b;
}

extern "C" __global__ void asserted(const int *x, int *out, int n) {
    int i = INDEX;
    if (i < n) {
        assert(x[i] != 0);
        out[i] = 100 / x[i];
    }
}

// A list of tasks in shared memory: indices, not pointers.
extern "C" __global__ void task_queue(const int *work, int *next, int *done, int n) {
    __shared__ int task;
    while (true) {
        if (threadIdx.x == 0) task = atomicAdd(next, 1);
        __syncthreads();
        int t = task;
        __syncthreads();
        if (t >= n) break;
        if (threadIdx.x < 32) done[t * 32 + threadIdx.x] = work[t * 32 + threadIdx.x] * 2;
    }
}

// Each block waits for the one before it, and adds to what it has left.
extern "C" __global__ void chained_scan(const int *x, int *out, volatile int *sums, volatile int *ready) {
    int b = blockIdx.x, v = x[INDEX];
    for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_up_sync(0xffffffffu, v, d);
        if (threadIdx.x >= d) v += o;
    }
    if (threadIdx.x == 31) {
        int before = 0;
        if (b > 0) {
            while (ready[b - 1] == 0) {}
            __threadfence();
            before = sums[b - 1];
        }
        sums[b] = before + v;
        __threadfence();
        ready[b] = 1;
    }
    __syncthreads();
    out[INDEX] = v + (b > 0 ? sums[b] - v : 0);
}

// The two halves of a block: one writes, the other reads what it has written.
extern "C" __global__ void producer_consumer(const int *x, int *buffer, int *out) {
    if (threadIdx.x < 32) {
        buffer[threadIdx.x] = x[threadIdx.x];
        __threadfence_block();
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x - 32] = buffer[threadIdx.x - 32] + 1;
    }
}

// Ping-pong: which of the two is written changes each time.
extern "C" __global__ void ping_pong(float *a, float *b, int n, int steps) {
    float *from = a, *to = b;
    int i = threadIdx.x;
    for (int s = 0; s < steps; ++s) {
        if (i > 0 && i < n - 1) to[i] = (from[i - 1] + from[i + 1]) * 0.5f;
        __syncthreads();
        float *t = from;
        from = to;
        to = t;
    }
}

extern "C" __global__ void interleaved(const float2 *__restrict__ xy, float *__restrict__ x, float *__restrict__ y, unsigned n) {
    unsigned i = 4 * INDEX;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (i + k < n) {
            float2 v = xy[i + k];
            x[i + k] = v.x;
            y[i + k] = v.y;
        }
}

template <int N> static __device__ void sort_network(float (&v)[N]) {
    for (int i = 0; i < N; ++i)
        for (int j = i & 1; j + 1 < N; j += 2)
            if (v[j] > v[j + 1]) {
                float t = v[j];
                v[j] = v[j + 1];
                v[j + 1] = t;
            }
}
extern "C" __global__ void median(const float *x, float *out, int w, int h) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px < 1 || py < 1 || px >= w - 1 || py >= h - 1) return;
    float v[9];
    for (int k = 0; k < 9; ++k) v[k] = x[(py + k / 3 - 1) * w + px + k % 3 - 1];
    sort_network(v);
    out[py * w + px] = v[4];
}
