#!/usr/bin/env bash
# Measures how long `cargo check` takes for a crate that holds one large graph function, its dependencies built.
#
# usage: scripts/compile_time.sh [--release] [--passes] [SHAPE..]
#   SHAPE      chain, temporaries, layers, slices, neighbours, scalars, loop, graphs; default all. Of `graphs` the sizes are
#              numbers of graph functions of five launches, each of which is built, instantiated and launched
#   --release  `cargo build --release` instead of `cargo check`
#   --passes   also what rustc's passes take of it (asks a stable rustc for an unstable flag)
#
# $ROOT: the checkout that is measured, default this one. The build of the crate's dependencies is timed, too, if $CLEAN is set.
# Sizes: $SIZES, default "1000 10000" launches. Goals: 3 s and 20 s. A table on the terminal, and in
# $OUT/compile-time.md if $OUT is set. Times are wall clock and of a processor (user and system), in the run of $TIMES
# (3) whose wall clock is the median.
set -euo pipefail

root=${ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
sizes=${SIZES:-1000 10000}
times=${TIMES:-3}
passes=
command=(check)
shapes=()
for argument in "$@"; do
    case $argument in
        --passes) passes=1 ;;
        --release) command=(build --release) ;;
        chain | temporaries | layers | slices | neighbours | scalars | loop | graphs) shapes+=("$argument") ;;
        *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 2 ;;
    esac
done
[ ${#shapes[@]} -gt 0 ] || shapes=(chain temporaries layers slices neighbours scalars loop graphs)

crate=$(mktemp -d)
trap 'rm -rf "$crate"' EXIT
mkdir "$crate/src"
cp "$root/benches/kernels/bench.ptx" "$crate/kernels.ptx"
cp "$root/Cargo.lock" "$crate/Cargo.lock"
cat >"$crate/Cargo.toml" <<TOML
[package]
name = "compile-time"
version = "0.0.0"
edition = "2024"

[dependencies]
cuweave = { path = "$root" }

[workspace]
TOML
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}/compile-time CARGO_TERM_COLOR=never

# source SHAPE LAUNCHES: the crate
source_of() {
    python3 - "$1" "$2" <<'PYTHON'
import sys
shape, count = sys.argv[1], int(sys.argv[2])
print('''#![allow(unused_imports)]
use cuweave::cudarc;
use cuweave::prelude::*;

#[cuweave::kernels("kernels.ptx")]
unsafe extern "ptx-kernel" {
    fn tiny(x: &mut [f32; n], n: u32);
    fn produce(x: &[f32; n], t: &mut [MaybeUninit<f32>; n], n: u32);
    fn after_all(before: &[u32; w], own: &mut [u32; 1], w: u32);
}
''')
body = []
arguments = "n: u32, x: &mut [f32; n]"
if shape == "chain":
    body = ["tiny[per_item(n)](&mut x, n);"] * count
elif shape == "loop":
    body = ["for _ in 0..%d {" % count, "    tiny[per_item(n)](&mut x, n);", "}"] if count else []
elif shape == "temporaries":
    # Each launch writes a temporary of its own from the one before.
    last = "x"
    for i in range(count - 1):
        body += [f"let t{i} = alloc::<f32>(n);", f"produce[per_item(n)](&{last}, &mut t{i}, n);"]
        last = f"t{i}"
    if count:
        body += [f"produce[per_item(n)](&{last}, &mut x, n);"]
elif shape == "layers":
    # Layers of 32, each launch after the whole layer before it.
    arguments = "a: &mut [u32; 32], b: &mut [u32; 32]"
    for i in range(count):
        own, before = ("b", "a") if i // 32 % 2 == 0 else ("a", "b")
        body += [f"after_all[(1, 1)](&{before}, &mut {own}[{i % 32}..{i % 32 + 1}], 32);"]
elif shape == "slices":
    # Two launches for each of count / 2 rows of one buffer.
    rows = max(count // 2, 1)
    arguments = f"n: u32, x: &mut [f32; {rows} * n]"
    body = [f"tiny[per_item(n)](&mut x[{i % rows} * n..({i % rows} + 1) * n], n);" for i in range(count)]
elif shape == "neighbours":
    # A stencil by rows: each launch reads three rows of one buffer and writes one of the other.
    rows = max(count // 2, 1)
    arguments = f"n: u32, x: &mut [f32; {rows} * n], y: &mut [f32; {rows} * n]"
    for i in range(count):
        row = i % rows
        source, target = ("x", "y") if i < rows else ("y", "x")
        low, high = max(row - 1, 0), min(row + 2, rows)
        body += [f"produce[per_item(n)](&{source}[{low} * n..{high} * n], &mut {target}[{row} * n..({row} + 1) * n], n);"]
elif shape == "scalars":
    # No two launches are alike: rustc has to check each.
    body = [f"tiny[per_item({i + 1})](&mut x, n);" for i in range(count)]
elif shape == "graphs":
    for i in range(count):
        print('#[cuweave::graph]')
        print(f"pub fn graph{i}(n: u32, a{i}: u32, x: &[f32; n], y: &mut [f32; n]) {{")
        for _ in range(2):
            print("    let t = alloc::<f32>(n);\n    produce[per_item(n)](&x, &mut t, n);\n    produce[per_item(n)](&t, &mut y, n);")
        print(f"    tiny[per_item(a{i})](&mut y, n);\n}}")
        print(f"""
pub fn run{i}(stream: &std::sync::Arc<cudarc::driver::CudaStream>, x: &cudarc::driver::CudaSlice<f32>, y: &mut cudarc::driver::CudaSlice<f32>) -> cuweave::Result<()> {{
    let mut exec = graph{i}(stream.context(), 32, 1, x, y)?.instantiate()?;
    exec.set_a{i}(2)?;
    exec.launch(stream).map(drop)
}}""")
if shape == "graphs":
    sys.exit()
if not count:
    body = []
print('#[cuweave::graph(memory = "arena", launches = "as-written")]')
print(f"pub fn large({arguments}) {{")
for line in body:
    print("    " + line)
print("}")
PYTHON
}

# Wall-clock and processor seconds of one check, of a crate that was never checked before.
TIMEFORMAT='%R %U %S'
check() {
    cargo clean --quiet --package compile-time "${command[@]:1}"
    { time cargo "${command[@]}" --quiet >"$crate/log" 2>&1; } 2>&1 || { cat "$crate/log" >&2; exit 1; }
}

cd "$crate"
echo "building the dependencies" >&2
source_of chain 0 >src/lib.rs
[ -z "${CLEAN:-}" ] || cargo clean --quiet
dependencies=$({ time cargo "${command[@]}" --quiet; } 2>&1)
[ -z "${CLEAN:-}" ] || echo "the dependencies: wall clock, user, system: $dependencies" >&2

table="| shape | launches | cargo ${command[*]}, s | of a processor, s | goal, s |
| --- | --- | --- | --- | --- |"
row() { table+=$'\n'"$1"; echo "$1"; }
echo "$table"
for shape in "${shapes[@]}"; do
    for size in 0 $sizes; do
        source_of "$shape" "$size" >src/lib.rs
        measured=()
        for _ in $(seq "$times"); do
            measured+=("$(check)")
        done
        median=$(printf '%s\n' "${measured[@]}" | sort -n | sed -n "$(((times + 1) / 2))p")
        case $size in
            0) goal= ;;
            1000) goal="< 3" ;;
            10000) goal="< 20" ;;
            *) goal= ;;
        esac
        read -r wall user system <<<"$median"
        row "| $shape | $size | $wall | $(awk "BEGIN { printf \"%.3f\", $user + $system }") | $goal |"
        if [ -n "$passes" ] && [ "$size" != 0 ]; then
            # The flag's variable makes cargo build everything anew: elsewhere.
            RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$CARGO_TARGET_DIR/passes cargo rustc --quiet --profile check -- -Ztime-passes 2>&1 |
                awk '$1 == "time:" && $2 + 0 >= 0.1' | sort -k2 -rn | head -12
        fi
    done
done
if [ -n "${OUT:-}" ]; then
    mkdir -p "$OUT"
    {
        echo "# compile time"
        echo
        echo "$(rustc --version), $(nproc) cores of $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(date -u +%F)"
        echo
        echo "$table"
    } >"$OUT/compile-time.md"
fi
