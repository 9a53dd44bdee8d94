#!/usr/bin/python3
"""Cases of the battery with vectors of the host and with vectors of a device: are iterations and residuals the same,
and what does an iteration copy?

    python3 bench/ondevice.py                                  all cases on small grids, one process
    python3 bench/ondevice.py --cases '3d-mixed*,2d-holes'     some cases; --group fields,jumps
    python3 bench/ondevice.py --procs 2 --options '-pc_kcycle_kappa 2' --matrix aijcusparse
    python3 bench/ondevice.py --large                          the grids of the battery
    python3 bench/ondevice.py --times first-times.csv          tables of what tests/device/run.sh has measured on a GPU

Runs on a GPU or, where there is none, on the stand-ins of tests/cudahost, which make check SEARCH=device makes. Copies
are counted by these alone: bytes that an iteration copies to the device and to the host, on each process. The table
also says where levels are, if not all are on the device.

Status 1: in a case iterations differ, or residuals by more than --part of the first one and by more than rounding can
explain: that is 30 times what sweeps on the host change that are damped by 1 + 2^-52, or with several processes from
those of one. With --all-there also: levels are on the host; or one process copies vectors of levels, which is more than
--scalars bytes an iteration in either direction.
"""

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys

import programs
from battery_cases import GROUPS, cases, matching, smaller
from programs import choose, petsc_at_hand


class Program(programs.Program):
    def __init__(self, petsc, arguments):
        super().__init__(petsc, "bench/battery.c")
        self.arguments, self.library = arguments, petsc["library"]
        self.environment["CUDAHOST_REPORT"] = "1"
        if shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.DEVNULL,
                                                         check=False).returncode == 0:
            return
        stand_in = os.path.join(petsc["build"], "cudahost")
        self.library = os.path.join(stand_in, "libpetsckcycle.so")
        self.environment["LD_LIBRARY_PATH"] = f"{stand_in}:{self.environment.get('LD_LIBRARY_PATH', '')}"
        if not os.path.exists(self.library):
            sys.exit("ondevice: there is neither a GPU nor a stand-in: make check SEARCH=device makes one")

    def solve(self, wanted, vectors, matrix, options=(), procs=0):
        """What one program prints for each case; None, and the end of that, for one that fails: then another one does
        the rest"""
        procs, answers, cases = procs or self.arguments.procs, {}, list(wanted)
        if not cases:
            return answers
        path = os.path.join(self.petsc["bench"], "ondevice.list")
        with open(path, "w") as file:
            for number, case in enumerate(cases):
                words = [*(case.options if self.arguments.large else smaller(case.options)), "-dm_vec_type", vectors,
                         "-dm_mat_type", matrix, "-pc_kcycle_precision", "double",
                         *shlex.split(self.arguments.options), *options]
                file.write(f"{number}|{' '.join(words)}|\n")
        command = ["-dll_append", self.library, "-repeat", "1", "-ksp_max_it", "100", "-ksp_monitor", "-ksp_view",
                   "-list", path]
        while len(answers) < len(cases):
            ended = self.run([*command, "-from", len(answers)], procs,
                             self.arguments.limit * (len(cases) - len(answers)), bound=False)
            for number, part in re.findall(r"^begin (\d+)\n(.*?)^end \1\n", ended.text, re.MULTILINE | re.DOTALL):
                answers[cases[int(number)].name] = part, ""
            if len(answers) < len(cases):
                why = f"status {ended.status} {ended.error()}"
                why = f"stopped after {self.arguments.limit} s" if ended.expired else why
                answers[cases[len(answers)].name] = None, why
        return answers


def history(text):
    return [float(word) for word in re.findall(r" KSP Residual norm ([0-9.e+-]+)", text)]


def copied(text):
    """Bytes that the processes have copied to the device and to the host; None: not counted"""
    lines = re.findall(r"cudahost: \d+ copies to the device, (\d+) bytes; \d+ to the host, (\d+) bytes", text)
    return [sum(int(line[k]) for line in lines) for k in (0, 1)] if lines else None


def on_host(text):
    """Where levels are, if not all are on the device"""
    found = re.findall(r"^ *(structured levels on the host|not on the device: .*|on the host: .*|levels are not "
                       r"structured.*)$", text, re.MULTILINE)
    return "; ".join(found) if found or "structured levels on the device" in text else "no structured levels"


def apart(a, b):
    """By how much two histories differ, as a part of the first residual"""
    return max(abs(x - y) for x, y in zip(a, b)) / (a[0] or 1)


def rounding(program, wanted, matrix, there):
    """What rounding does to histories of the host: sweeps that are damped, and with several processes the sums of
    one"""
    others = [program.solve(wanted, "standard", matrix, ["-mg_levels_ksp_richardson_scale", "1.0000000000000002"])]
    if program.arguments.procs > 1:
        others.append(program.solve(wanted, "standard", matrix, procs=1))
    return {case.name: 30 * max(apart(there[case.name], history(other[case.name][0])) if other[case.name][0] else 0
                                for other in others) for case in wanted}


def compare(program, wanted, matrix):
    """Rows of the table and what is wrong, or empty"""
    arguments, host = program.arguments, matrix.replace("cusparse", "")
    here, there = program.solve(wanted, "standard", host), program.solve(wanted, "cuda", matrix)
    both = [case for case in wanted if here[case.name][0] and there[case.name][0]]
    a, b = ({case.name: history(texts[case.name][0]) for case in both} for texts in (here, there))
    far = {name: apart(a[name], b[name]) for name in a}
    rounded = rounding(program, [case for case in both if far[case.name] > arguments.part], host, a)
    copying = [case for case in both if copied(there[case.name][0]) and len(b[case.name]) > 3]
    # which ends as the others do, with the product that looks at the answer where that has come down by 100
    less = program.solve(copying, "cuda", matrix, ["-ksp_rtol", "1e-3"])
    for case in wanted:
        name, row = case.name, {"name": case.name, "here": "", "there": "", "far": "", "bytes": "", "where": ""}
        if name not in a:
            yield row, here[name][1] or there[name][1]
            continue
        row.update(here=len(a[name]) - 1, there=len(b[name]) - 1, far=f"{far[name]:.0e}", where=on_host(there[name][0]))
        same = len(a[name]) == len(b[name]) and far[name] <= max(arguments.part, rounded.get(name, 0))
        wrong = [] if same else ["another history"]
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


def print_times(path):
    with open(path) as file:
        rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    print("| points | solver | iterations | set-up | solve | an iteration |\n|---|---|---|---|---|---|")
    for _, dim, n, solver, iterations, reason, setup, solve, _ in (row for row in rows if row[0] == "solve"):
        why = "" if reason.startswith("CONVERGED") else " " + reason
        print(f"| {n}^{dim} | {solver} | {iterations}{why} | {1e3 * float(setup):.1f} ms | {1e3 * float(solve):.2f} "
              f"ms | {1e3 * float(solve) / max(1, int(iterations)):.3f} ms |")
    print("\n| points | coefficients | precision | step | time | part of the bandwidth of a copy "
          "|\n|---|---|---|---|---|---|")
    for _, dim, n, kind, precision, verb, seconds, part in (row for row in rows if row[0] == "verb"):
        print(f"| {n}^{dim} | {kind} | {precision} | {verb} | {1e6 * float(seconds):.1f} us | {float(part):.2f} |")
    for _, dim, n, copy, rate, *_ in (row for row in rows if row[0] == "limit"):
        print(f"\n{n}^{dim}: a copy {1e6 * float(copy):.1f} us, {float(rate) / 1e12:.2f} TB/s")


def parse():
    parser = programs.options(__doc__, cases=GROUPS)
    parser.add_argument("--procs", type=int, default=1, help="number of processes, default 1")
    parser.add_argument("--matrix", default="stencil", help="type of the operator, default stencil; or aijcusparse")
    parser.add_argument("--options", default="", help="more options, for the solver")
    parser.add_argument("--part", type=float, default=1e-12, help="of the first residual, default 1e-12")
    parser.add_argument("--all-there", action="store_true",
                        help="levels on the host, and copies of their vectors, are an error")
    parser.add_argument("--scalars", type=float, default=1000,
                        help="bytes an iteration that are no vectors, default 1000")
    parser.add_argument("--large", action="store_true", help="large grids")
    parser.add_argument("--limit", type=int, default=300, help="seconds for a run")
    parser.add_argument("--times", metavar="CSV", help="prints this file of tests/device/run.sh as tables")
    return parser.parse_args()


def main():
    arguments = parse()
    if arguments.times:
        print_times(arguments.times)
        return
    wanted = matching(cases(), arguments.cases, choose(arguments.group, GROUPS, "group"))
    if not wanted:
        sys.exit("ondevice: no case is in all of --cases and --group")
    program, bad = Program(petsc_at_hand(), arguments), 0
    print(f"{'case':28}{'host':>6}{'device':>8}{'apart':>8}{'bytes to device, host':>24}  levels on the host")
    for row, wrong in compare(program, wanted, arguments.matrix):
        bad += bool(wrong)
        print(f"{row['name']:28}{row['here']:>6}{row['there']:>8}{row['far']:>8}{row['bytes']:>24}  {row['where']}"
              + (f"  WRONG: {wrong}" if wrong else ""), flush=True)
    print(f"{len(wanted) - bad} of {len(wanted)} cases are on the device what they are on the host")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
