#!/usr/bin/env bash
# Makes the committed PTX from the .cu files of examples, tests and benches.
#
# NVRTC comes from the Python wheel, pinned, so that every machine gives the same PTX: version 8.4, which drivers from
# CUDA 12.4 on take, for compute capability 7.0 on. The wheel is kept in a cache folder ($CUWEAVE_NVRTC_CACHE,
# else target/nvrtc). No CUDA toolkit and no GPU needed.
#
# usage: build.sh            every .cu of examples/kernels, tests/kernels and benches/kernels, and the machine code that
#                            the tests of loading give to the driver
#        build.sh FILE.cu..  these
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
version=12.4.127
cache=${CUWEAVE_NVRTC_CACHE:-$root/target/nvrtc}/$version
library=$cache/nvidia/cuda_nvrtc/lib/libnvrtc.so.12

if [ ! -e "$library" ]; then
    echo "installing nvidia-cuda-nvrtc-cu12 $version into $cache"
    python3 -m pip install --quiet --no-deps --target "$cache" "nvidia-cuda-nvrtc-cu12==$version"
fi

if [ $# -eq 0 ]; then
    shopt -s nullglob
    all=("$root"/{examples,tests,benches}/kernels/*.cu)
    set --
    for file in "${all[@]}"; do
        # Those that say so are made by nvcc 13.0: they have bf16 and tensor cores, or headers.
        if ! grep -q '^// nvcc -O3 -arch=compute_80 -ptx' "$file"; then set -- "$@" "$file"; fi
    done
    for architecture in sm_80 sm_90; do
        python3 "$root/examples/kernels/nvrtc.py" "$library" $architecture "$root"/tests/kernels/load/*.cu
    done
fi
python3 "$root/examples/kernels/nvrtc.py" "$library" compute_70 "$@"
