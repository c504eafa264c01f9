#!/usr/bin/env bash
# Runs what scripts/pack.sh packed, from the folder that it is in.
#
# usage: run.sh [--sanitize] [--no-benches] [--filter REGEX]
#   --sanitize     examples and tests once more under compute-sanitizer: memcheck, racecheck, initcheck. memcheck reports
#                  writes of arena_pool in tests/in_turn that are in bounds unless each of its tests runs in a process of its
#                  own; why: benches/results/h200-2026-11-22/probes.md
#   --no-benches   leave the benchmarks out
#   --filter       only the programs whose `folder/name` matches
#
# A log for each program goes to $OUT (default: logs/ beside this script), and a line for each to the terminal and
# $OUT/summary.txt. The exit status is 1 if any of them failed. $TIMEOUT: seconds for each program, default 1200.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${OUT:-$here/logs}
limit=${TIMEOUT:-1200}
sanitize= benches=1 filter=.
while [ $# -gt 0 ]; do
    case $1 in
        --sanitize) sanitize=1 ;;
        --no-benches) benches= ;;
        --filter) filter=$2; shift ;;
        *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 2 ;;
    esac
    shift
done

mkdir -p "$out"
out=$(cd "$out" && pwd)
export OUT=$out # where benchmarks leave their tables
summary=$out/summary.txt
: >"$summary"
failed=0
cd "$here" || exit 1

say() { echo "$*" | tee -a "$summary"; }

say "$(date -u '+%Y-%m-%d %H:%M UTC'), $(nproc) cores, revision $(cat revision 2>/dev/null || echo unknown)"
if command -v nvidia-smi >/dev/null; then
    say "$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader)"
else
    say "no nvidia-smi here"
fi

# one LABEL PROGRAM ARGUMENTS..: runs it, keeps its log, says how it went
one() {
    local label=$1 log start status
    shift
    log=$out/${label//\//.}.log
    start=$(date +%s%N)
    timeout "$limit" "$@" >"$log" 2>&1
    status=$?
    local ms=$((($(date +%s%N) - start) / 1000000))
    if [ $status -eq 0 ]; then
        say "ok    $label  ($ms ms)"
    else
        failed=1
        say "FAILED $label  (status $status, $ms ms): $(grep -a . "$log" | tail -1 | cut -c1-200)"
    fi
}

shopt -s nullglob
programs() { for file in "$@"; do [ -x "$file" ] && [ -f "$file" ] && [[ $file != *.so ]] && echo "$file"; done | grep -E "$filter"; }

for program in $(programs examples/*); do one "$program" "./$program"; done
# Tests that need the sources, that never talk to a driver, or that are about the simulated one.
skipped=()
for module in plans budget counts extremes unwritten; do skipped+=(--skip "$module::"); done
for program in $(programs tests/*); do one "$program" "./$program" --test-threads=4 "${skipped[@]}"; done

if [ -n "$sanitize" ]; then
    if command -v compute-sanitizer >/dev/null; then
        for tool in memcheck racecheck initcheck; do
            for program in $(programs examples/*); do
                one "$tool/$program" compute-sanitizer --tool "$tool" --error-exitcode 99 "./$program"
            done
            for program in $(programs tests/*); do
                one "$tool/$program" compute-sanitizer --tool "$tool" --error-exitcode 99 "./$program" --test-threads=1 "${skipped[@]}"
            done
        done
    else
        failed=1
        say "FAILED no compute-sanitizer on this machine"
    fi
fi

if [ -n "$benches" ]; then
    for program in $(programs benches/*); do one "$program" "./$program" --bench; done
fi

exit $failed
