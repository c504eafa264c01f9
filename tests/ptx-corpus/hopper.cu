// Bulk copies, clusters, barriers in shared memory: compute capability 9.0 on.

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

static __device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void wait(unsigned long long *bar, int phase) {
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @p bra D; bra W; D: }" ::"r"(shared_address(bar)), "r"(phase) : "memory");
}

// Into shared memory by one bulk copy, back by another.
extern "C" __global__ void bulk_scale(const float *x, float *out, float a) {
    __shared__ __align__(128) float tile[256];
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&bar)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&bar)), "r"(1024));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(tile)), "l"(x + blockIdx.x * 256), "r"(1024), "r"(shared_address(&bar)) : "memory");
    }
    __syncthreads();
    wait(&bar, 0);
    tile[threadIdx.x] *= a;
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + blockIdx.x * 256), "r"(shared_address(tile)), "r"(1024) : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;");
    }
}

// Adds a tile to global memory by a bulk reduction: read and written in one.
extern "C" __global__ void bulk_add(const float *x, float *sum) {
    __shared__ __align__(128) float tile[256];
    tile[threadIdx.x] = x[INDEX];
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(sum), "r"(shared_address(tile)), "r"(1024) : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;");
    }
}

// A bulk prefetch is no access; the wait of programmatic launches.
extern "C" __global__ void prefetch_bulk(const float *x, const float *w, float *out) {
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(w), "r"(4096));
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[INDEX] = x[INDEX];
    asm volatile("griddepcontrol.launch_dependents;");
}

// A tensor map by value; what it describes is no parameter.
struct __align__(64) TensorMap {
    unsigned long long opaque[16];
};
extern "C" __global__ void tensor_tile(const __grid_constant__ TensorMap map, float *out) {
    __shared__ __align__(128) float tile[64];
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&bar)));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&bar)), "r"(256));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)), "l"(&map), "r"(0), "r"(0), "r"(shared_address(&bar)) : "memory");
    }
    __syncthreads();
    wait(&bar, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}

// A sum over a cluster, through the shared memory of its blocks.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_sum(const float *x, float *out) {
    __shared__ float mine;
    if (threadIdx.x == 0) mine = x[blockIdx.x];
    asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
    float other;
    unsigned rank, remote;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared_address(&mine)), "r"(rank ^ 1));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(other) : "r"(remote));
    if (threadIdx.x == 0) out[blockIdx.x] = mine + other;
    asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
}

// Vector atomics.
extern "C" __global__ void red_vector(const float4 *x, float *sum) {
    float4 v = x[INDEX];
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(sum), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}
