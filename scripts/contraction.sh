#!/usr/bin/env bash
# Compares which multiplications and additions ptxas fuses in the PTX corpus as it is written, and as it is rewritten.
#
# usage: scripts/contraction.sh [TABLE]
#   TABLE  default benches/results/contraction.md
#
# ptxas is $CUWEAVE_PTXAS and nvdisasm $CUWEAVE_NVDISASM, else those of the Python wheels nvidia-cuda-nvcc and
# nvidia-cuda-nvdisasm 13.5, which are put into a virtual environment under the target folder.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
table=$(realpath -m "${1:-$root/benches/results/contraction.md}")

if [ -z "${CUWEAVE_PTXAS:-}" ] || [ -z "${CUWEAVE_NVDISASM:-}" ]; then
    environment=${CARGO_TARGET_DIR:-$root/target}/disassembler
    find_tool() { find "$environment" -path "*/bin/$1" -type f 2>/dev/null | head -1; }
    if [ -z "$(find_tool nvdisasm)" ]; then
        python3 -m venv "$environment"
        "$environment/bin/pip" install --quiet 'nvidia-cuda-nvcc==13.5.*' 'nvidia-cuda-nvdisasm==13.5.*'
    fi
    CUWEAVE_PTXAS=${CUWEAVE_PTXAS:-$(find_tool ptxas)}
    CUWEAVE_NVDISASM=${CUWEAVE_NVDISASM:-$(find_tool nvdisasm)}
fi
export CUWEAVE_PTXAS CUWEAVE_NVDISASM CUWEAVE_CONTRACTION=$table

cd "$root"
cargo test -p cuweave-ptx --test contraction -- --nocapture
echo "$table"
