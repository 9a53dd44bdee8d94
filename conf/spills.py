#!/usr/bin/env python3
"""Compiles the kernels for devices with nvcc or hipcc, for each architecture, without the code of the host around them.
With nvcc it fails where one of them spills registers or keeps an array in memory.

  python3 conf/spills.py [--table] COMPILER ARCHITECTURE... -- FLAGS...     sm_90 or gfx90a, as the compiler calls it
  python3 conf/spills.py [--table] --built FOLDER                           reads what nvcc has said when the library in
                                                                            this folder was built

Prints the most registers of a kernel of each file, and of how many kernels threads have memory; with --table those of
each kernel.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src", "kernel", "cuda")


def is_hip(arch):
    return arch.startswith("gfx")


def compile_one(compiler, arch, source, flags):
    with tempfile.TemporaryDirectory() as folder:
        if is_hip(arch):
            asks = ["-x", "hip", f"--offload-arch={arch}", "--cuda-device-only",
                    "-Rpass-analysis=kernel-resource-usage", "-c"]
        else:
            asks = [f"-arch={arch}", "-Xptxas", "-v", "-cubin"]
        command = [compiler, *asks, *flags, source, "-o", os.path.join(folder, "kernel.o")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{source} does not compile for {arch}")
    return done.stdout


def kernels(output, arch):
    """Name, bytes on the stack, bytes or registers spilt, registers, shared memory of a size that is known
    (bench/traffic.py shows the other one)"""
    if is_hip(arch):
        names = ("ScratchSize [bytes/lane]", "VGPRs Spill", "VGPRs", "LDS Size [bytes/block]")
        for part in output.split("Function Name: ")[1:]:
            yield (part.split()[0], *(int(re.search(rf"remark: +{re.escape(name)}: (\d+)", part)[1]) for name in names))
        return
    pattern = (r"Function properties for (\S+)\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes "
               r"spill loads\n.*Used (\d+) registers(?:.*?, (\d+) bytes smem)?")
    for name, stack, stores, loads, registers, shared in re.findall(pattern, output):
        yield name, int(stack), int(stores) + int(loads), int(registers), int(shared or 0)


def said(folder, single):
    """Of each source in a folder of a build: what the compiler has said"""
    place = os.path.join(folder, "single" if single else "", "src", "kernel", "cuda")
    if not os.path.isdir(place):
        sys.exit(f"{place} is not there: this library is built without kernels for devices")
    for name in sorted(f for f in os.listdir(place) if f.endswith(".registers")):
        with open(os.path.join(place, name), encoding="utf-8") as file:
            yield name.replace(".registers", ".cu"), file.read()


def compiled(compiler, arch, flags):
    sources = sorted(f for f in os.listdir(FOLDER) if f.endswith(".cu"))
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    return zip(sources, pool.map(lambda source: compile_one(compiler, arch, os.path.join(FOLDER, source), flags),
                                 sources))


def is_double_alone(source):
    """Are kernels of this source in PETSc's numbers alone?"""
    with open(os.path.join(FOLDER, source), encoding="utf-8") as file:
        return "#if !defined(KCYCLE_SINGLE)\n" in file.read()


def examine(outputs, arch, what, table):
    """Prints what kernels need; returns the faults. outputs: pairs of a source and what the compiler has said"""
    unit = "registers" if is_hip(arch) else "bytes"
    most, faults = [], []
    for source, output in outputs:
        found = list(kernels(output, arch))
        if not found and "single" in what and is_double_alone(source):
            continue
        if not found:
            sys.exit(f"{source}: the compiler tells nothing of kernels")
        memory = sum(k[1] + k[2] > 0 for k in found)
        in_memory = f", {memory} with memory" if memory else ""
        most.append(f"{source} {len(found)} kernels, {max(k[3] for k in found)} registers{in_memory}")
        for name, stack, spilt, registers, shared in found:
            if table:
                print(f"    {name}: {registers} registers, {shared} bytes of shared memory, {stack} bytes on the "
                      f"stack, {spilt} {unit} spilt")
            if (stack or spilt) and not is_hip(arch):
                faults.append(f"{source}, {what}: {name} has {stack} bytes on the stack, {spilt} {unit} spilt")
    if not most:
        sys.exit(f"{what}: no kernels")
    print(f"  {what}: {'; '.join(most)}", flush=True)
    return faults


def main():
    arguments = sys.argv[1:]
    table = "--table" in arguments
    arguments = [a for a in arguments if a != "--table"]
    faults = []
    if arguments[0] == "--built":
        for single in False, True:
            faults += examine(said(arguments[1], single), "sm", "as built" + (", single precision" if single else ""),
                              table)
    else:
        split = arguments.index("--")
        compiler, architectures, flags = arguments[0], arguments[1:split], arguments[split + 1:]
        for arch in architectures:
            for single in [], ["-DKCYCLE_SINGLE"]:
                faults += examine(compiled(compiler, arch, single + flags), arch, arch + (" single" if single else ""),
                                  table)
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
