// Kernels that update buffers by atomics: those whose launches commute, and those whose launches do not.

extern "C" __global__ void add_u32(unsigned *total, unsigned by) { atomicAdd(total, by); }

extern "C" __global__ void max_u32(unsigned *total, unsigned by) { atomicMax(total, by); }

extern "C" __global__ void or_u32(unsigned *total, unsigned by) { atomicOr(total, by); }

extern "C" __global__ void add_f32(float *total, float by) { atomicAdd(total, by); }

extern "C" __global__ void add_all(unsigned *totals, unsigned by, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&totals[i], by);
}

// The result is used: a ticket.
extern "C" __global__ void ticket(unsigned *total, unsigned *out, unsigned by) { *out = atomicAdd(total, by); }

extern "C" __global__ void exchange(unsigned *total, unsigned by) { atomicExch(total, by); }

extern "C" __global__ void compare(unsigned *total, unsigned from, unsigned to) { atomicCAS(total, from, to); }

extern "C" __global__ void wrap(unsigned *total, unsigned most) { atomicInc(total, most); }

extern "C" __global__ void unwrap(unsigned *total, unsigned most) { atomicDec(total, most); }

// Threads of other blocks need not see it.
extern "C" __global__ void add_block(unsigned *total, unsigned by) { atomicAdd_block(total, by); }

extern "C" __global__ void add_system(unsigned *total, unsigned by) { atomicAdd_system(total, by); }

// Two operations on one buffer.
extern "C" __global__ void add_max(unsigned *total, unsigned by) {
    atomicAdd(total, by);
    atomicMax(total, 3u);
}

// Two words in one.
extern "C" __global__ void add_wide(unsigned *total, unsigned by) {
    atomicAdd((unsigned long long *)total, (unsigned long long)by << 32);
}

// One buffer through two parameters.
extern "C" __global__ void add_two(unsigned *one, unsigned *other, unsigned by) {
    atomicAdd(one, by);
    atomicMax(other, by);
}

// It is only read.
extern "C" __global__ void look(const unsigned *total, unsigned *out) { *out = *(volatile const unsigned *)total; }

// The address goes through memory that others see.
extern "C" __global__ void lost(unsigned *total, unsigned **at, unsigned by) {
    *(unsigned *volatile *)at = total;
    atomicAdd(*(unsigned *volatile *)at, by);
}

__device__ unsigned counter = 3;

// A variable of the module.
extern "C" __global__ void count(unsigned by) { atomicAdd(&counter, by); }

extern "C" __global__ void counted(unsigned *out) { *out = counter; }
