#!/usr/bin/env python3
"""Compiles the kernels for devices with nvcc or hipcc, for each architecture, without the code of the host around them. With nvcc it fails where one of them spills registers or keeps an array in memory.

  python3 conf/spills.py [--table] COMPILER ARCHITECTURE... -- FLAGS...     sm_90 or gfx90a, as the compiler calls it

Prints the most registers of a kernel of each file, and of how many kernels threads have memory; with --table those of each kernel.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile


def is_hip(arch):
    return arch.startswith("gfx")


def compile_one(compiler, arch, source, flags):
    with tempfile.TemporaryDirectory() as folder:
        if is_hip(arch):
            asks = ["-x", "hip", f"--offload-arch={arch}", "--cuda-device-only", "-Rpass-analysis=kernel-resource-usage", "-c"]
        else:
            asks = [f"-arch={arch}", "-Xptxas", "-v", "-cubin"]
        command = [compiler, *asks, *flags, source, "-o", os.path.join(folder, "kernel.o")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{source} does not compile for {arch}")
    return done.stdout


def kernels(output, arch):
    """Name, bytes on the stack, bytes or registers spilt, registers, shared memory of a size that is known (bench/traffic.py shows the other one)"""
    if is_hip(arch):
        names = ("ScratchSize [bytes/lane]", "VGPRs Spill", "VGPRs", "LDS Size [bytes/block]")
        for part in output.split("Function Name: ")[1:]:
            yield (part.split()[0], *(int(re.search(rf"remark: +{re.escape(name)}: (\d+)", part)[1]) for name in names))
        return
    pattern = r"Function properties for (\S+)\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n.*Used (\d+) registers(?:.*?, (\d+) bytes smem)?"
    for name, stack, stores, loads, registers, shared in re.findall(pattern, output):
        yield name, int(stack), int(stores) + int(loads), int(registers), int(shared or 0)


def main():
    arguments = sys.argv[1:]
    table = "--table" in arguments
    arguments = [a for a in arguments if a != "--table"]
    split = arguments.index("--")
    compiler, architectures, flags = arguments[0], arguments[1:split], arguments[split + 1:]
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src", "kernel", "cuda")
    sources = sorted(f for f in os.listdir(folder) if f.endswith(".cu"))
    faults = []
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    for arch in architectures:
        unit = "registers" if is_hip(arch) else "bytes"
        for single in [], ["-DKCYCLE_SINGLE"]:
            most = []
            outputs = pool.map(lambda source, arch=arch, single=single: compile_one(compiler, arch, os.path.join(folder, source), single + flags), sources)
            for source, output in zip(sources, outputs):
                found = list(kernels(output, arch))
                if not found:
                    sys.exit(f"{source}: {compiler} tells nothing of kernels")
                memory = sum(k[1] + k[2] > 0 for k in found)
                most.append(f"{source} {len(found)} kernels, {max(k[3] for k in found)} registers{f', {memory} with memory' if memory else ''}")
                for name, stack, spilt, registers, shared in found:
                    if table:
                        print(f"    {name}: {registers} registers, {shared} bytes of shared memory, {stack} bytes on the stack, {spilt} {unit} spilt")
                    if (stack or spilt) and not is_hip(arch):
                        faults.append(f"{source}, {arch}{', single precision' if single else ''}: {name} has {stack} bytes on the stack, {spilt} {unit} spilt")
            print(f"  {arch}{' single' if single else ''}: {'; '.join(most)}", flush=True)
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
