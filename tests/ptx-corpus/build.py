#!/usr/bin/env python3
"""Makes the PTX of the corpus with NVRTC, through ctypes: no CUDA toolkit and no GPU needed.

usage: build.py path/to/libnvrtc.so path/to/cuda/include...

The include folders hold cuda_fp16.h, cuda_bf16.h and mma.h. Each SOURCE.cu becomes VERSION/SOURCE.ARCHITECTURE.MODE.ptx,
where the mode is `plain`, `lines` (-lineinfo) or `debug` (-G).
"""

import ctypes
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
VARIANTS = {
    "basic": [("75", "plain"), ("90", "plain"), ("80", "debug"), ("80", "lines")],
    "reduce": [("75", "plain"), ("90", "plain"), ("80", "debug")],
    "nn": [("75", "plain"), ("90", "plain"), ("80", "debug")],
    "sparse": [("75", "plain"), ("90", "plain"), ("80", "debug")],
    "tensor": [("80", "plain"), ("90", "plain"), ("80", "debug")],
    "hopper": [("90", "plain"), ("90", "debug")],
    "state": [("75", "plain"), ("90", "plain"), ("80", "debug")],
    "more": [("75", "plain"), ("90", "plain"), ("80", "debug")],
}
MODES = {"plain": [], "lines": ["--generate-line-info"], "debug": ["--device-debug"]}


def compile_ptx(nvrtc, source: pathlib.Path, options: list[str]) -> str:
    program = ctypes.c_void_p()

    def check(code: int, call: str) -> None:
        if code == 0:
            return
        size = ctypes.c_size_t()
        log = ctypes.create_string_buffer(1)
        if program and nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size)) == 0 and size.value > 1:
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(f"{call}: {code}\n{log.value.decode()}")

    text = source.read_bytes()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, source.name.encode(), 0, None, None), "create")
    array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    check(nvrtc.nvrtcCompileProgram(program, len(options), array), "compile")
    size = ctypes.c_size_t()
    check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)), "size")
    buffer = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetPTX(program, buffer), "PTX")
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return buffer.value.decode()


def stripped(ptx: str) -> str:
    """Without the debug sections, which are most of a -G file and say nothing about its code."""
    lines = ptx.splitlines()
    for at, line in enumerate(lines):
        if line.startswith("\t.section"):
            return "\n".join(lines[:at]) + "\n"
    return ptx.rstrip("\n") + "\n"


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    nvrtc = ctypes.CDLL(sys.argv[1])
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    folder = HERE / f"{major.value}.{minor.value}"
    folder.mkdir(exist_ok=True)
    includes = [f"--include-path={path}" for path in sys.argv[2:]]
    for name, variants in VARIANTS.items():
        for architecture, mode in variants:
            options = [f"--gpu-architecture=compute_{architecture}", "--std=c++17", *MODES[mode], *includes]
            try:
                ptx = stripped(compile_ptx(nvrtc, HERE / f"{name}.cu", options))
            except RuntimeError as error:
                # 13.5 does not compile half-precision atomics with -G.
                print(f"{name}.{architecture}.{mode}: left out: {error}")
                continue
            target = folder / f"{name}.{architecture}.{mode}.ptx"
            target.write_text(ptx)
            print(f"{target.name}: {len(ptx)} bytes, {ptx.count('.entry ')} kernels")


if __name__ == "__main__":
    main()
