// The cost of memory nodes in a chain of kernels, by the edges that they have. gcc -O2 alloc_node.c -ldl
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cuda.h"
#define F(name) typeof(&name) p_##name
#define CK(x) do { CUresult r_ = (x); if (r_) { printf("%s: %d line %d\n", #x, r_, __LINE__); exit(1); } } while (0)
static void *lib;
static void *sym(const char *n) { void *p = dlsym(lib, n); if (!p) { printf("no %s\n", n); exit(1); } return p; }
#define S2(name) #name
#define S1(name) S2(name)
#define L(name) ((typeof(&name))sym(S1(name)))
static const char *ptx =
".version 8.0\n.target sm_80\n.address_size 64\n"
".visible .entry spin(.param .u64 pp, .param .u32 pn){.reg .u64 %ra,%rt,%rs,%re;.reg .u32 %rn;.reg .pred %q;\n"
"ld.param.u32 %rn,[pn];cvt.u64.u32 %re,%rn;setp.eq.u32 %q,%rn,0;@%q bra DD;mov.u64 %rs,%globaltimer;\n"
"LL: mov.u64 %rt,%globaltimer;sub.u64 %rt,%rt,%rs;setp.lt.u64 %q,%rt,%re;@%q bra LL;\nDD: ld.param.u64 %ra,[pp];setp.eq.u64 %q,%ra,0;@%q bra XX;st.global.u32 [%ra],%rn;\nXX: ret;}\n";
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e6 + t.tv_nsec / 1e3; }
static int cmp(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }
enum { NONE, FULL, ASIDE, NOFREE, LAST, EARLYFREE, SECOND, MID, ALLFREE, START, STARTCHAIN, EMPTYSTART, KINDS };
static const char *names[] = { "no memory nodes", "alloc before the first, free behind the last", "alloc and free beside the chain", "alloc before the first, no free (auto free)", "alloc before the last, free behind it", "alloc before the first, free behind the 10th", "alloc before the second, free behind the last", "first, alloc, second; free behind the last", "alloc before the first; free beside the last (behind the one before)", "a no-op kernel and alloc before the first", "no-op kernel, alloc, first", "an empty node, alloc, first" };
int main(void) {
  lib = dlopen("libcuda.so.1", RTLD_NOW);
  CK(L(cuInit)(0)); CUdevice d; CK(L(cuDeviceGet)(&d, 0)); CUcontext c; CK(L(cuDevicePrimaryCtxRetain)(&c, d)); CK(L(cuCtxSetCurrent)(c));
  CUmodule m; CK(L(cuModuleLoadData)(&m, ptx)); CUfunction f; CK(L(cuModuleGetFunction)(&f, m, "spin"));
  CUstream s; CK(L(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING)); CUevent e0, e1; CK(L(cuEventCreate)(&e0, 0)); CK(L(cuEventCreate)(&e1, 0));
  typeof(&cuGraphLaunch) launch = L(cuGraphLaunch); typeof(&cuStreamSynchronize) sync = L(cuStreamSynchronize);
  typeof(&cuEventRecord) rec = L(cuEventRecord); typeof(&cuEventElapsedTime) el = L(cuEventElapsedTime);
  typeof(&cuGraphAddKernelNode) addk = L(cuGraphAddKernelNode); typeof(&cuGraphAddMemAllocNode) adda = L(cuGraphAddMemAllocNode); typeof(&cuGraphAddMemFreeNode) addf = L(cuGraphAddMemFreeNode);
  typeof(&cuGraphAddDependencies) dep = L(cuGraphAddDependencies);
  struct { int n; unsigned ns; size_t bytes; int rounds; } runs[] = { {20, 3000, 1 << 20, 1500}, {20, 3000, 64 << 20, 1500}, {20, 0, 1 << 20, 1500}, {1, 0, 1 << 20, 2000}, {500, 0, 1 << 20, 300} };
  for (int r = 0; r < 5; r++) {
    int n = runs[r].n; CUgraphExec ex[KINDS]; memset(ex, 0, sizeof ex);
    for (int k = 0; k < KINDS; k++) {
      if (n < 12 && (k == EARLYFREE || k == SECOND || k == MID || k == ALLFREE || k == LAST)) continue;
      CUgraph g; CK(L(cuGraphCreate)(&g, 0));
      CUgraphNode node[1000], al = 0, fr; CUdeviceptr dp = 0;
      CUDA_MEM_ALLOC_NODE_PARAMS ap; memset(&ap, 0, sizeof ap);
      ap.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED; ap.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE; ap.bytesize = runs[r].bytes;
      CUgraphNode st = 0; if (k == START || k == STARTCHAIN) { CUdeviceptr p = 0; unsigned ns = 0; void *args[] = { &p, &ns }; CUDA_KERNEL_NODE_PARAMS kp; memset(&kp, 0, sizeof kp); kp.func = f; kp.gridDimX = kp.gridDimY = kp.gridDimZ = 1; kp.blockDimX = 1; kp.blockDimY = kp.blockDimZ = 1; kp.kernelParams = args; CK(addk(&st, g, 0, 0, &kp)); }
      if (k == EMPTYSTART) CK(L(cuGraphAddEmptyNode)(&st, g, 0, 0));
      if (k != NONE && k != MID) CK(adda(&al, g, &st, k == STARTCHAIN || k == EMPTYSTART, &ap));
      dp = ap.dptr;
      for (int i = 0; i < n; i++) {
        CUdeviceptr p = 0; unsigned ns = runs[r].ns; void *args[] = { &p, &ns };
        int uses = k == FULL || k == NOFREE || k == EARLYFREE || k == ALLFREE || k >= START ? 1 : 0; if (uses && i < 5) p = dp;
        CUDA_KERNEL_NODE_PARAMS kp; memset(&kp, 0, sizeof kp); kp.func = f; kp.gridDimX = kp.gridDimY = kp.gridDimZ = 1; kp.blockDimX = 32; kp.blockDimY = kp.blockDimZ = 1; kp.kernelParams = args;
        CUgraphNode deps[2]; int nd = 0;
        if (i) deps[nd++] = node[i - 1];
        if (i == 0 && uses) deps[nd++] = al; if (i == 0 && k == START) deps[nd++] = st;
        if (i == n - 1 && k == LAST) deps[nd++] = al;
        if (i == 1 && k == SECOND) deps[nd++] = al;
        if (i == 1 && k == MID) { CK(adda(&al, g, node, 1, &ap)); dp = ap.dptr; deps[0] = al; }
        CK(addk(&node[i], g, deps, nd, &kp));
      }
      CUgraphNode last = k == ASIDE ? al : k == EARLYFREE ? node[9] : k == ALLFREE ? node[n - 2] : node[n - 1];
      if (k != NONE && k != NOFREE) CK(addf(&fr, g, &last, 1, dp));
      CK(L(cuGraphInstantiateWithFlags)(&ex[k], g, k == NOFREE ? CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH : 0));
      CK(L(cuGraphUpload)(ex[k], s)); CK(sync(s));
    }
    int R = runs[r].rounds; static double host[KINDS][3000], call[KINDS][3000], ev[KINDS][3000];
    for (int i = -50; i < R; i++) for (int k = 0; k < KINDS; k++) { if (!ex[k]) continue;
      double a = now(); CK(launch(ex[k], s)); double b = now(); CK(sync(s)); double z = now();
      CK(rec(e0, s)); CK(launch(ex[k], s)); CK(rec(e1, s)); CK(sync(s)); float ms; CK(el(&ms, e0, e1));
      if (i >= 0) { host[k][i] = z - a; call[k][i] = b - a; ev[k][i] = ms * 1e3; } }
    printf("\n%d kernels of %u ns, %zu KiB\n| variant | launch to sync us | cuGraphLaunch us | events us |\n", n, runs[r].ns, runs[r].bytes >> 10);
    for (int k = 0; k < KINDS; k++) { if (!ex[k]) continue; qsort(host[k], R, 8, cmp); qsort(call[k], R, 8, cmp); qsort(ev[k], R, 8, cmp);
      printf("| %s | %.2f | %.2f | %.2f |\n", names[k], host[k][R / 2], call[k][R / 2], ev[k][R / 2]); }
    // Launched one after the other without a wait.
    for (int k = 0; k < KINDS; k++) { if (!ex[k]) continue; double best = 1e18; for (int t = 0; t < 5; t++) { CK(sync(s)); double a = now(); for (int i = 0; i < 50; i++) CK(launch(ex[k], s)); CK(sync(s)); double z = (now() - a) / 50; if (z < best) best = z; } printf("back to back, %s: %.2f us\n", names[k], best); }
    for (int k = 0; k < KINDS; k++) if (ex[k]) CK(L(cuGraphExecDestroy)(ex[k]));
    fflush(stdout);
  }
  return 0;
}
