#!/usr/bin/env bash
# Packs the release binaries of the examples, the tests that talk to a driver and the benchmarks into dist/, with the
# simulated driver and the PTX that they read, and a runner beside them: for a machine with a GPU and no Rust.
#
# usage: scripts/pack.sh [REGEX]        then copy dist/ and run dist/run.sh there (run.sh --help)
#   REGEX  only the programs whose `folder/name` matches, e.g. '^(examples|tests)/' or 'launches': together they are more
#          than some ways of copying take
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_TERM_COLOR=never CARGO_PROFILE_RELEASE_STRIP=debuginfo
dist=$PWD/dist
only=${1:-.}
limit_mib=60

# Tests that need the sources or a compiler, that never talk to a driver, or that are about the simulated one.
without_a_device='^(ui|expansion|properties|access|assemble|contraction|extents|time|repository|corpus|extremes|unwritten|interp|rewrite|proofs|settings|handles|fuzz|checks|load|.*-unit)$'

rm -rf "$dist"
mkdir -p "$dist"/{examples,tests,benches}

# Prints `kind name path` of each executable that cargo's JSON messages announce.
executables() {
    python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("reason") == "compiler-artifact" and message.get("executable"):
        target = message["target"]
        name = target["name"]
        if "lib" in target["kind"] or "proc-macro" in target["kind"] or "cdylib" in target["kind"]:
            name += "-unit"
        print(target["kind"][0], name, message["executable"])
'
}

echo "building (release)"
# One call, so that the simulated driver is built once, with the features that all of these share; some programs need all.
built=$(cargo build --release --locked --workspace --features blas,half,nccl,dlpack,nvtx --examples --tests --benches --message-format=json-render-diagnostics |
    executables | sort -u)

while read -r kind name path; do
    if [[ $name =~ $without_a_device ]]; then continue; fi
    folder=${kind/example/examples} folder=${folder/bench/benches}
    if [[ $folder == "$kind" ]]; then folder=tests; fi
    if [[ ! $folder/$name =~ $only ]]; then continue; fi
    case $kind in
        example) cp "$path" "$dist/examples/$name" ;;
        bench) cp "$path" "$dist/benches/$name" ;;
        # `kernels` is a folder.
        *) cp "$path" "$dist/tests/${name/#kernels/kernels_test}" ;;
    esac
done <<<"$built"

# The simulated driver is found beside the binary that asks for it.
release=$(cargo metadata --no-deps --format-version 1 --locked |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release
driver=$(find "$release" -maxdepth 2 -name 'libcuweave_sim_driver*.so' -printf '%T@ %p\n' | sort -rn | head -1 | cut -d' ' -f2-)
if [ -n "$driver" ]; then
    for folder in examples tests benches; do cp "$driver" "$dist/$folder/"; done
fi

# Tests and benchmarks that load PTX at run time read it from where the sources have it.
for folder in examples tests benches graph-sim; do
    if [ -d "$folder/kernels" ]; then
        mkdir -p "$dist/$folder"
        cp -r "$folder/kernels" "$dist/$folder/"
        find "$dist/$folder/kernels" -type f ! -name '*.ptx' -delete
    fi
done
find "$dist" -type d -empty -delete
# Names that only a debugger reads are a fifth of it.
if command -v strip >/dev/null; then
    find "$dist" -type f -perm -u+x -exec strip --strip-unneeded {} +
fi
cp scripts/run.sh "$dist/run.sh"
git rev-parse HEAD >"$dist/revision"

size=$(du -sm "$dist" | cut -f1)
echo "$dist: $(find "$dist" -type f -perm -u+x ! -name '*.so' | wc -l) programs, $size MiB"
if [ "$size" -ge "$limit_mib" ]; then
    echo "more than $limit_mib MiB; fewer programs by scripts/pack.sh REGEX:" >&2
    du -a "$dist" | sort -rn | head -20 >&2
    exit 1
fi
