// A record of compute-sanitizer's memcheck that goes wrong: graph memory that another graph frees. A later graph's
// allocation at the same address is then held against the size of the earlier one, and writes inside it are reported.
//
// nvcc -std=c++17 -arch=sm_90 -o freed_by_another_graph freed_by_another_graph.cu -lcuda
// compute-sanitizer --tool memcheck ./freed_by_another_graph FREE [FIRST [SECOND [BEYOND]]]
//   FREE    how the first allocation is freed: own (a free node of its graph), other (a free node of another graph),
//           async (cuMemFreeAsync), sync (cuMemFree), auto (the next launch of its graph, then cuMemFreeAsync). Suffixes:
//           +again    the first graph is launched once more, and cuMemFreeAsync frees that allocation
//           +twice    the allocation is made and freed twice before (own, other)
//           +trim     cuDeviceGraphMemTrim before the second graph
//           +uploaded cuGraphUpload before the launch
//           +kept     the first graphs are not destroyed, so the second allocation has another address
//   FIRST   its elements, default 300; SECOND those of the second graph's allocation, default 600
//   BEYOND  the elements that the second graph writes behind its allocation, default 0
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void put(float* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}

#define OK(call) do { CUresult r_ = (call); if (r_) { const char* s_; cuGetErrorName(r_, &s_); printf("%s: %s\n", #call, s_); exit(3); } } while (0)

static CUgraph graph() { CUgraph g; OK(cuGraphCreate(&g, 0)); return g; }
static CUgraphNode alloc(CUgraph g, size_t bytes, CUdeviceptr* at) {
    CUDA_MEM_ALLOC_NODE_PARAMS p = {};
    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.bytesize = bytes;
    CUgraphNode node; OK(cuGraphAddMemAllocNode(&node, g, nullptr, 0, &p)); *at = p.dptr; return node;
}
static CUgraphNode write(CUgraph g, CUgraphNode after, CUdeviceptr at, unsigned n) {
    CUDA_KERNEL_NODE_PARAMS p = {};
    if (cudaGetFuncBySymbol((cudaFunction_t*)&p.func, (const void*)put)) exit(3);
    void* values[] = {&at, &n};
    p.gridDimX = (n + 255) / 256; p.gridDimY = p.gridDimZ = 1; p.blockDimX = 256; p.blockDimY = p.blockDimZ = 1; p.kernelParams = values;
    CUgraphNode node; OK(cuGraphAddKernelNode(&node, g, &after, 1, &p)); return node;
}
static void free_node(CUgraph g, CUgraphNode* after, CUdeviceptr at) { CUgraphNode node; OK(cuGraphAddMemFreeNode(&node, g, after, after ? 1 : 0, at)); }
static CUgraphExec exec(CUgraph g, unsigned flags = 0) { CUgraphExec e; OK(cuGraphInstantiateWithFlags(&e, g, flags)); return e; }

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "other";
    unsigned first = argc > 2 ? atoi(argv[2]) : 300, second = argc > 3 ? atoi(argv[3]) : 600, beyond = argc > 4 ? atoi(argv[4]) : 0;
    auto is = [&](const char* word) { return strstr(how, word) != nullptr; };
    CUdevice dev; CUcontext ctx; CUstream s;
    OK(cuInit(0)); OK(cuDeviceGet(&dev, 0)); OK(cuDevicePrimaryCtxRetain(&ctx, dev)); OK(cuCtxSetCurrent(ctx)); OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CUdeviceptr x, y;

    CUgraph maker = graph(), taker = graph();
    CUgraphNode made = alloc(maker, first * 4, &x), wrote = write(maker, made, x, first);
    if (is("own")) free_node(maker, &wrote, x);
    bool autofree = is("auto");
    CUgraphExec makes = exec(maker, autofree ? CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH : 0), takes = nullptr;
    if (is("other")) { free_node(taker, nullptr, x); takes = exec(taker); }
    if (is("+uploaded")) { OK(cuGraphUpload(makes, s)); if (takes) OK(cuGraphUpload(takes, s)); }
    for (int i = is("+twice") ? 2 : 1; i > 0; i--) {
        OK(cuGraphLaunch(makes, s));
        if (takes) OK(cuGraphLaunch(takes, s));
    }
    if (is("async")) OK(cuMemFreeAsync(x, s));
    if (is("sync") && !is("async")) { OK(cuStreamSynchronize(s)); OK(cuMemFree(x)); }
    if (autofree || is("+again")) { OK(cuGraphLaunch(makes, s)); if (!is("own")) OK(cuMemFreeAsync(x, s)); }
    OK(cuStreamSynchronize(s));
    auto destroy = [&] { OK(cuGraphExecDestroy(makes)); if (takes) OK(cuGraphExecDestroy(takes)); OK(cuGraphDestroy(maker)); OK(cuGraphDestroy(taker)); };
    if (!is("+kept")) destroy();
    if (is("+trim")) OK(cuDeviceGraphMemTrim(dev));

    // Its allocation takes the address of the first one if the driver gives it.
    CUgraph g = graph();
    CUgraphNode again = alloc(g, second * 4, &y);
    write(g, again, y, second + beyond);
    CUgraphExec e = exec(g);
    OK(cuGraphLaunch(e, s));
    std::vector<float> got(second);
    CUresult r = cuMemcpyDtoHAsync(got.data(), y, second * 4, s), q = cuStreamSynchronize(s);
    int wrong = 0;
    for (unsigned i = 0; i < second; i++) wrong += got[i] != i;
    printf("%s: %u elements at %llx, then %u at %llx, %u beyond: copy %d, wait %d, wrong values %d\n", how, first, (unsigned long long)x, second, (unsigned long long)y, beyond, r, q, wrong);
    return 0;
}
