#!/usr/bin/env python3
"""Runs the tests that go through all PTX with that of other compilers, for other architectures, and for debuggers.

usage: corpus.py [--keep] path/to/libnvrtc.so path/to/cuda/include...

The include folders hold cuda_fp16.h, cuda_bf16.h and mma.h. NVRTC is called through ctypes: no CUDA toolkit and no GPU needed. Each
SOURCE.cu becomes SOURCE.VERSION.ARCHITECTURE.MODE.ptx beside what is tracked, where the mode is `plain`, `lines` (-lineinfo),
`debug` (-G) or `fast` (fast math); these files go when the tests are over, or stay with --keep. Tracked are, of NVRTC 12.9, the plain
ones for one architecture, and one of -G without lines.
"""

import ctypes
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "examples/kernels"))
from nvrtc import compile_source

CORPUS, SIMULATOR = ROOT / "tests/ptx-corpus", ROOT / "graph-sim/driver/tests/ptx"
ALL = [("75", "plain"), ("90", "plain"), ("80", "debug")]
TENSOR = [("80", "plain"), ("90", "plain"), ("80", "debug")]
# Source, and the folder and variants of its PTX.
SOURCES = [
    *((CORPUS / f"{name}.cu", CORPUS / "nvrtc", ALL) for name in ["reduce", "nn", "sparse", "state", "more"]),
    (CORPUS / "basic.cu", CORPUS / "nvrtc", [*ALL, ("80", "lines")]),
    (CORPUS / "tensor.cu", CORPUS / "nvrtc", TENSOR),
    (CORPUS / "hopper.cu", CORPUS / "nvrtc", [("90", "plain"), ("90", "debug")]),
    (SIMULATOR / "basic.cu", SIMULATOR, [("90", "plain"), ("90", "debug"), ("100", "fast")]),
    (SIMULATOR / "misc.cu", SIMULATOR, [("90", "plain"), ("90", "debug")]),
    (SIMULATOR / "tensor.cu", SIMULATOR, [("90", "plain")]),
]
MODES = {
    "plain": [],
    "lines": ["--generate-line-info"],
    "debug": ["--device-debug"],
    "fast": ["--use_fast_math", "--generate-line-info"],
}
TESTS = [["-p", "cuweave-ptx"], ["-p", "cuweave-sim-driver"], ["-p", "cuweave", "--test", "corpus"]]


def stripped(ptx: str) -> str:
    """Without the debug sections, which are most of a -G file and say nothing about its code."""
    lines = ptx.splitlines()
    for at, line in enumerate(lines):
        if line.startswith("\t.section"):
            return "\n".join(lines[:at]) + "\n"
    return ptx.rstrip("\n") + "\n"


def make(nvrtc, version: str, includes: list[str], made: list[pathlib.Path]) -> None:
    for source, folder, variants in SOURCES:
        for architecture, mode in variants:
            options = [f"--gpu-architecture=compute_{architecture}", "--std=c++17", *MODES[mode], *includes]
            target = folder / f"{source.stem}.{version}.{architecture}.{mode}.ptx"
            try:
                ptx = stripped(compile_source(nvrtc, source, options, "PTX").rstrip(b"\0").decode())
            except SystemExit as error:
                # 13.5 does not compile half-precision atomics with -G.
                print(f"{target.name}: left out: {error}")
                continue
            made.append(target)
            target.write_text(ptx)
            print(f"{target.name}: {len(ptx)} bytes, {ptx.count('.entry ')} kernels")


def main() -> None:
    keep, arguments = "--keep" in sys.argv, [word for word in sys.argv[1:] if word != "--keep"]
    if not arguments:
        sys.exit(__doc__)
    nvrtc = ctypes.CDLL(arguments[0])
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    made: list[pathlib.Path] = []
    try:
        make(nvrtc, f"{major.value}.{minor.value}", [f"--include-path={path}" for path in arguments[1:]], made)
        for test in [] if keep else TESTS:
            subprocess.run(["cargo", "test", "--locked", "--no-fail-fast", *test], cwd=ROOT, check=True)
    finally:
        for file in [] if keep else made:
            file.unlink()


if __name__ == "__main__":
    main()
