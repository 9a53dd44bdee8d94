#!/usr/bin/python3
"""Cases of the battery with vectors of the host and with vectors of a device: are iterations and residuals the same, and what does an iteration copy?

    python3 bench/ondevice.py                                  all cases on small grids, one process
    python3 bench/ondevice.py --cases '3d-mixed*,2d-holes'     some cases; --group fields,jumps
    python3 bench/ondevice.py --procs 2 --options '-pc_kcycle_kappa 2' --matrix aijcusparse
    python3 bench/ondevice.py --large                          the grids of the battery

Runs on a GPU or, where there is none, on the stand-ins of tests/cudahost, which make check SEARCH=device makes. Copies are counted by these alone: bytes that an
iteration copies to the device and to the host, on each process. The table also says where levels are, if not all are on the device.

Status 1: in a case iterations differ, or residuals by more than --part of the first one and by more than rounding can explain: that is 30 times what sweeps on the host
change that are damped by 1 + 2^-52, or with several processes from those of one. With --all-there also: levels are on the host; or one process copies
vectors of levels, which is more than --scalars bytes an iteration in either direction.
"""

import argparse
import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys

from battery_cases import GROUPS, cases, smaller
from programs import build, choose, petsc_at_hand, start, surroundings
from launch import mpi_command  # found in conf (see programs.py)


class Program:
    """Runs bench/battery.c"""

    def __init__(self, petsc, arguments):
        self.arguments = arguments
        self.mpiexec, self.library = petsc["mpiexec"], petsc["library"]
        self.environment = {**surroundings(), "CUDAHOST_REPORT": "1"}
        self.path = os.path.join(petsc["build"], "bench", "ondevice")
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        build(petsc, os.path.join("bench", "battery.c"), self.path)
        if shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.DEVNULL, check=False).returncode == 0:
            return
        stand_in = os.path.join(petsc["build"], "cudahost")
        self.library = os.path.join(stand_in, "libpetsckcycle.so")
        self.environment["LD_LIBRARY_PATH"] = f"{stand_in}:{self.environment.get('LD_LIBRARY_PATH', '')}"
        if not os.path.exists(self.library):
            sys.exit("ondevice: there is neither a GPU nor a stand-in: make check SEARCH=device makes one")

    def run(self, wanted, vectors, matrix, options=(), procs=0):
        """What one program prints for each case; None, and the end of that, for one that fails: then another one does the rest"""
        procs, answers, cases = procs or self.arguments.procs, {}, list(wanted)
        if not cases:
            return answers
        with open(self.path + ".list", "w") as file:
            for number, case in enumerate(cases):
                words = [*(case.options if self.arguments.large else smaller(case.options)), "-dm_vec_type", vectors, "-dm_mat_type", matrix, "-pc_kcycle_precision", "double",
                         *shlex.split(self.arguments.options), *options]
                file.write(f"{number}|{' '.join(words)}|\n")
        command = [*(mpi_command(procs, self.mpiexec) if procs > 1 else []), self.path, "-skip_petscrc", "-dll_append", self.library, "-repeat", "1", "-ksp_max_it", "100",
                   "-ksp_monitor", "-ksp_view", "-list", self.path + ".list"]
        while len(answers) < len(cases):
            ended = start([*command, "-from", str(len(answers))], self.arguments.limit * (len(cases) - len(answers)), self.environment, 0)
            for number, part in re.findall(r"^begin (\d+)\n(.*?)^end \1\n", ended.text, re.MULTILINE | re.DOTALL):
                answers[cases[int(number)].name] = part, ""
            if len(answers) < len(cases):
                why = f"stopped after {self.arguments.limit} s" if ended.expired else f"status {ended.status} {ended.error()}"
                answers[cases[len(answers)].name] = None, why
        return answers


def history(text):
    return [float(word) for word in re.findall(r" KSP Residual norm ([0-9.e+-]+)", text)]


def copied(text):
    """Bytes that the processes have copied to the device and to the host; None: nobody has counted"""
    lines = re.findall(r"cudahost: \d+ copies to the device, (\d+) bytes; \d+ to the host, (\d+) bytes", text)
    return [sum(int(line[k]) for line in lines) for k in (0, 1)] if lines else None


def on_host(text):
    """Where levels are, if not all are on the device"""
    found = re.findall(r"^ *(structured levels on the host|not on the device: .*|on the host: .*|levels are not structured.*)$", text, re.MULTILINE)
    return "; ".join(found) if found or "structured levels on the device" in text else "no structured levels"


def apart(a, b):
    """By how much two histories differ, as a part of the first residual"""
    return max(abs(x - y) for x, y in zip(a, b)) / (a[0] or 1)


def rounding(program, wanted, matrix, there):
    """What rounding does to histories of the host: sweeps that are damped, and with several processes the sums of one"""
    others = [program.run(wanted, "standard", matrix, ["-mg_levels_ksp_richardson_scale", "1.0000000000000002"])]
    if program.arguments.procs > 1:
        others.append(program.run(wanted, "standard", matrix, procs=1))
    return {case.name: 30 * max(apart(there[case.name], history(other[case.name][0])) if other[case.name][0] else 0 for other in others) for case in wanted}


def compare(program, wanted, matrix):
    """Rows of the table and what is wrong, or empty"""
    arguments, host = program.arguments, matrix.replace("cusparse", "")
    here, there = program.run(wanted, "standard", host), program.run(wanted, "cuda", matrix)
    both = [case for case in wanted if here[case.name][0] and there[case.name][0]]
    a, b = ({case.name: history(texts[case.name][0]) for case in both} for texts in (here, there))
    far = {name: apart(a[name], b[name]) for name in a}
    rounded = rounding(program, [case for case in both if far[case.name] > arguments.part], host, a)
    copying = [case for case in both if copied(there[case.name][0]) and len(b[case.name]) > 3]
    less = program.run(copying, "cuda", matrix, ["-ksp_rtol", "1e-3"])  # which ends as the others do, with the product that looks at the answer where that has come down by 100
    for case in wanted:
        name, row = case.name, {"name": case.name, "here": "", "there": "", "far": "", "bytes": "", "where": ""}
        if name not in a:
            yield row, here[name][1] or there[name][1]
            continue
        row.update(here=len(a[name]) - 1, there=len(b[name]) - 1, far=f"{far[name]:.0e}", where=on_host(there[name][0]))
        wrong = [] if len(a[name]) == len(b[name]) and far[name] <= max(arguments.part, rounded.get(name, 0)) else ["another history"]
        if name in less and less[name][0]:
            steps = max(1, len(b[name]) - len(history(less[name][0]))) * arguments.procs
            numbers = [(x - y) / steps for x, y in zip(copied(there[name][0]), copied(less[name][0]))]
            if arguments.all_there and arguments.procs == 1 and max(numbers) > arguments.scalars:
                wrong.append("vectors are copied")
            row["bytes"] = " ".join(f"{number:.0f}" for number in numbers)
        elif name in less:
            wrong.append(less[name][1])
        if arguments.all_there and row["where"]:
            wrong.append("levels are on the host")
        yield row, ", ".join(wrong)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="*", help="names, with * and ?")
    parser.add_argument("--group", default="", help="of " + ",".join(GROUPS))
    parser.add_argument("--procs", type=int, default=1, help="number of processes, default 1")
    parser.add_argument("--matrix", default="stencil", help="type of the operator, default stencil; or aijcusparse")
    parser.add_argument("--options", default="", help="more options, for the solver")
    parser.add_argument("--part", type=float, default=1e-12, help="of the first residual, default 1e-12")
    parser.add_argument("--all-there", action="store_true", help="levels on the host, and copies of their vectors, are an error")
    parser.add_argument("--scalars", type=float, default=1000, help="bytes an iteration that are no vectors, default 1000")
    parser.add_argument("--large", action="store_true", help="large grids")
    parser.add_argument("--limit", type=int, default=300, help="seconds for a run")
    return parser.parse_args()


def main():
    arguments = parse()
    groups = choose(arguments.group.split(",") if arguments.group else [], GROUPS, "group")
    wanted = [case for case in cases() if any(fnmatch.fnmatchcase(case.name, pattern) for pattern in arguments.cases.split(",")) and (not groups or case.group in groups)]
    if not wanted:
        sys.exit("ondevice: no case is in all of --cases and --group")
    program, bad = Program(petsc_at_hand(), arguments), 0
    print(f"{'case':28}{'host':>6}{'device':>8}{'apart':>8}{'bytes to device, host':>24}  levels on the host")
    for row, wrong in compare(program, wanted, arguments.matrix):
        bad += bool(wrong)
        print(f"{row['name']:28}{row['here']:>6}{row['there']:>8}{row['far']:>8}{row['bytes']:>24}  {row['where']}" + (f"  WRONG: {wrong}" if wrong else ""), flush=True)
    print(f"{len(wanted) - bad} of {len(wanted)} cases are on the device what they are on the host")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
