#!/usr/bin/env python3
"""Compiles the kernels for devices with nvcc, for each architecture, and fails where one of them spills registers or keeps an array in memory.

  python3 conf/spills.py [--table] NVCC ARCHITECTURE... -- FLAGS...

Prints the most registers of a kernel of each file, with --table those of each kernel.
"""
import os
import re
import subprocess
import sys
import tempfile


def compile_one(nvcc, arch, source, flags):
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, f"-arch=sm_{arch}", "-Xptxas", "-v", *flags, "-c", source, "-o", os.path.join(folder, "kernel.o")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{source} does not compile for sm_{arch}")
    return done.stdout


def kernels(output):
    """Name, bytes on the stack, bytes spilt, registers, shared memory of a size that is known (bench/traffic.py shows the other one)"""
    pattern = r"Function properties for (\S+)\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n.*Used (\d+) registers(?:.*?, (\d+) bytes smem)?"
    for name, stack, stores, loads, registers, shared in re.findall(pattern, output):
        yield name, int(stack), int(stores) + int(loads), int(registers), int(shared or 0)


def main():
    arguments = sys.argv[1:]
    table = "--table" in arguments
    arguments = [a for a in arguments if a != "--table"]
    split = arguments.index("--")
    nvcc, architectures, flags = arguments[0], arguments[1:split], arguments[split + 1:]
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src", "kernel", "cuda")
    faults = []
    for arch in architectures:
        for single in [], ["-DKCYCLE_SINGLE"]:
            most = []
            for source in sorted(f for f in os.listdir(folder) if f.endswith(".cu")):
                found = list(kernels(compile_one(nvcc, arch, os.path.join(folder, source), single + flags)))
                if not found:
                    sys.exit(f"{source}: nvcc tells nothing of kernels")
                most.append(f"{source} {len(found)} kernels, {max(k[3] for k in found)} registers")
                for name, stack, spilt, registers, shared in found:
                    if table:
                        print(f"    {name}: {registers} registers, {shared} bytes of shared memory, {stack} bytes on the stack, {spilt} bytes spilt")
                    if stack or spilt:
                        faults.append(f"{source}, sm_{arch}{', single precision' if single else ''}: {name} has {stack} bytes on the stack, {spilt} bytes spilt")
            print(f"  sm_{arch}{' single' if single else ''}: {'; '.join(most)}", flush=True)
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
