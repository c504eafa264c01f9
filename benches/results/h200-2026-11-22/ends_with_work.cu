// Does a thread end that leaves work in its per-thread default stream?
// flags: 1 first thread synchronizes its per-thread stream before; 2 host function instead of a kernel; 4 no upload;
// 8 no free in the thread; 16 no wait in the thread; 32 memory by cuMemAlloc (not freed in the thread); 64 kernel loaded before
#include <cuda.h>
#include <cuda_runtime.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
#include <unistd.h>
#define OK(call) do { CUresult r_ = (call); if (r_) { const char* s_; cuGetErrorName(r_, &s_); printf("%s: %s\n", #call, s_); exit(3); } } while (0)
__global__ void spin(long long cycles, const float* x, float* out) { long long t = clock64(); while (clock64() - t < cycles); if (threadIdx.x == 0) out[0] = x[0]; }
static void CUDA_CB nap(void*) { usleep(2000); }
int main(int argc, char** argv) {
    int mode = atoi(argv[1]);
    setvbuf(stdout, nullptr, _IOLBF, 0);
    CUdevice dev; CUcontext ctx; OK(cuInit(0)); OK(cuDeviceGet(&dev, 0)); OK(cuDevicePrimaryCtxRetain(&ctx, dev)); OK(cuCtxSetCurrent(ctx));
    CUstream s; OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    std::vector<float> host(16384, 1.0f);
    float* out; cudaMalloc(&out, 65536);
    if (mode & 64) { spin<<<1, 32, 0, (cudaStream_t)s>>>(10, out, out); cudaDeviceSynchronize(); }
    CUstream p = CU_STREAM_PER_THREAD;
    for (int i = 0; i < 20; i++) {
        auto began = std::chrono::steady_clock::now();
        CUevent read; OK(cuEventCreate(&read, 2));
        CUdeviceptr x; if (mode & 32) OK(cuMemAlloc(&x, 65536)); else OK(cuMemAllocAsync(&x, 65536, p));
        if (!(mode & 4)) OK(cuMemcpyHtoDAsync(x, host.data(), 65536, p));
        CUevent write; OK(cuEventCreate(&write, 2)); OK(cuEventRecord(write, p)); OK(cuStreamWaitEvent(s, write, 0));
        if (mode & 1) OK(cuStreamSynchronize(p));
        if (mode & 2) OK(cuLaunchHostFunc(s, nap, nullptr)); else spin<<<1, 32, 0, (cudaStream_t)s>>>(4000000, (float*)x, out);
        OK(cuEventRecord(read, s));
        if (i == 0) printf("launched;");
        std::thread([&] {
            OK(cuCtxSetCurrent(ctx));
            if (!(mode & 16)) OK(cuStreamWaitEvent(p, read, 0));
            if (!(mode & 40)) OK(cuMemFreeAsync(x, p));
            if (i == 0) printf("thread at its end;");
        }).join();
        if (i == 0) printf("joined;");
        OK(cuCtxSynchronize());
        if (mode & 32) OK(cuMemFree(x)); else if (mode & 8) OK(cuMemFreeAsync(x, p));
        OK(cuEventDestroy(write)); OK(cuEventDestroy(read));
        double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
        if (i == 0 || ms > 300) printf(" turn %d: %.2f ms\n", i, ms);
    }
    printf("done\n");
}
