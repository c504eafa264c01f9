#!/usr/bin/env bash
# Assembles the PTX corpus as it is written and as it is rewritten, and writes a table of registers and spills.
#
# usage: scripts/rewritten_registers.sh [TABLE]
#   TABLE  default benches/results/rewritten-registers.md
#
# ptxas is $CUWEAVE_PTXAS, else the one in $PATH, else that of the Python wheel nvidia-cuda-nvcc-cu12, which is put into
# a virtual environment under the target folder.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
table=$(realpath -m "${1:-$root/benches/results/rewritten-registers.md}")

if [ -z "${CUWEAVE_PTXAS:-}" ]; then
    CUWEAVE_PTXAS=$(command -v ptxas || true)
fi
if [ -z "$CUWEAVE_PTXAS" ]; then
    environment=${CARGO_TARGET_DIR:-$root/target}/ptxas
    find_ptxas() { find "$environment" -path '*/bin/ptxas' -type f 2>/dev/null | head -1; }
    CUWEAVE_PTXAS=$(find_ptxas || true)
    if [ -z "$CUWEAVE_PTXAS" ]; then
        python3 -m venv "$environment"
        "$environment/bin/pip" install --quiet 'nvidia-cuda-nvcc-cu12==12.9.*'
        CUWEAVE_PTXAS=$(find_ptxas)
    fi
fi
export CUWEAVE_PTXAS CUWEAVE_REGISTERS=$table

cd "$root"
cargo test -p cuweave-ptx --test assemble -- --nocapture
echo "$table"
