// A kernel of chains in which order shows: every block reads what other blocks of an earlier launch wrote, and every
// other block takes its time, before it reads (slow & 1) or before it writes (slow & 2).

__device__ unsigned busy(unsigned rounds) {
    unsigned value = 1;
    for (unsigned round = 0; round < rounds; ++round) value = value * 1664525u + 1013904223u;
    return value;
}

// out[i] = from[(i + n / 2 + blockDim.x) % n] + what the work comes to: blocks read what those of the other kind wrote.
extern "C" __global__ void pass(unsigned *out, const unsigned *from, unsigned n, unsigned rounds, unsigned slow) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned late = blockIdx.x % 2 ? slow : 0;
    unsigned add = 0;
    if (late & 1) add += busy(rounds);
    // The address waits for the work.
    unsigned value = __ldg(&from[(i + n / 2 + blockDim.x + (add == 7 ? 1 : 0)) % n]);
    if (late & 2) add += busy(rounds + value % 2);
    if (i < n) out[i] = value + add;
}
