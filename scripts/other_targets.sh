#!/usr/bin/env bash
# Other machines than x86-64 Linux, for a nightly run. For aarch64 Linux, the README's first command and the unit
# tests of the simulated driver are cross-built and run by qemu. For macOS and Windows, the crates are checked.
# Needs rustup, and from Debian: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
# usage: scripts/other_targets.sh
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
# A folder of its own: the simulated driver of another build is not found by accident.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target/other_targets}
aarch64=aarch64-unknown-linux-gnu

rustup target add "$aarch64" aarch64-apple-darwin x86_64-pc-windows-msvc
for target in "$aarch64" aarch64-apple-darwin x86_64-pc-windows-msvc; do
    echo "== checking for $target"
    cargo check --locked --target "$target" --features half,blas,nccl
done

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
echo "== running on $aarch64"
cargo run --locked --target "$aarch64" --example 01_residual
cargo test --locked --target "$aarch64" -p cuweave-sim-driver --lib
echo "all passed in $SECONDS s"
