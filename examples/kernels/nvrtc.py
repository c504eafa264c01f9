#!/usr/bin/env python3
"""Compiles CUDA C++ files with NVRTC, through ctypes: no CUDA toolkit and no GPU needed.

usage: nvrtc.py path/to/libnvrtc.so.12 ARCHITECTURE FILE.cu...

Each FILE.cu becomes FILE.ptx beside it, or FILE.sm_NN.cubin where ARCHITECTURE is of machine code (`sm_90`).
"""

import ctypes
import pathlib
import sys


def compile_source(nvrtc, source: pathlib.Path, options: list[str], kind: str) -> bytes:
    """The PTX (`kind` is "PTX") or the machine code ("CUBIN") of a file."""
    program = ctypes.c_void_p()

    def check(code: int, call: str) -> None:
        if code == 0:
            return
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        size = ctypes.c_size_t()
        log = b""
        if program and nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size)) == 0 and size.value > 1:
            buffer = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, buffer)
            log = buffer.value
        text = nvrtc.nvrtcGetErrorString(code).decode()
        sys.exit(f"{source}: {call}: {text}\n{log.decode()}")

    text = source.read_bytes()
    check(
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, source.name.encode(), 0, None, None),
        "nvrtcCreateProgram",
    )
    array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    check(nvrtc.nvrtcCompileProgram(program, len(options), array), "nvrtcCompileProgram")
    size = ctypes.c_size_t()
    check(getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)), f"nvrtcGet{kind}Size")
    buffer = ctypes.create_string_buffer(size.value)
    check(getattr(nvrtc, f"nvrtcGet{kind}")(program, buffer), f"nvrtcGet{kind}")
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return buffer.raw


def main() -> None:
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    library, architecture, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    nvrtc = ctypes.CDLL(library)
    options = [f"--gpu-architecture={architecture}", "--std=c++17"]
    for name in files:
        source = pathlib.Path(name)
        if architecture.startswith("sm_"):
            target = source.with_suffix(f".{architecture}.cubin")
            target.write_bytes(compile_source(nvrtc, source, options, "CUBIN"))
            print(target)
            continue
        ptx = compile_source(nvrtc, source, options, "PTX").rstrip(b"\0").decode()
        source.with_suffix(".ptx").write_text(ptx.rstrip("\n") + "\n")
        version = next(line for line in ptx.splitlines() if line.startswith(".version"))
        print(f"{source.with_suffix('.ptx')}: {version}, {ptx.count('.entry')} kernels")


if __name__ == "__main__":
    main()
