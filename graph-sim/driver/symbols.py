#!/usr/bin/env python3
"""Writes symbols.txt: every driver symbol that cudarc binds, with the first CUDA version that has it.

usage: symbols.py PATH/TO/cudarc/src/driver/sys/mod.rs > symbols.txt

cudarc's bindings begin at CUDA 11.4: older symbols are listed with that version.
"""
import re
import sys

FUNCTION = re.compile(r'((?:#\[cfg\([^\n]*\)\]\n)?)pub unsafe fn (cu\w+)\(')
VERSION = re.compile(r'cuda-(\d\d)(\d\d)0')

first = {}
for attributes, name in FUNCTION.findall(open(sys.argv[1]).read()):
    if name == 'culib':
        continue
    versions = [(int(major), int(minor)) for major, minor in VERSION.findall(attributes)] or [(11, 4)]
    first[name] = min([first[name]] if name in first else versions, default=(11, 4))
    first[name] = min(first[name], min(versions))

for name, (major, minor) in sorted(first.items()):
    print(name, f'{major}.{minor}')
