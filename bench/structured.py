#!/usr/bin/python3
"""Measures PCKCYCLE and the solvers it competes with on structured grids: CSV files, one table for each case, one picture.

    python3 bench/structured.py             all cases, 1 and 2 processes: hours on a small machine
    python3 bench/structured.py --quick     the same cases on small grids
    python3 bench/structured.py --cases ex45-129,balls --procs 1 --solvers mg,pfmg,kcycle

Builds bench/structured.c; make the library first. Results go to the folder bench of the build.
Ends with status 1 if a solver of ours failed.
"""

import argparse
import collections
import os
import shlex
import sys

try:
    import matplotlib
except ImportError as missing:
    sys.exit(f"structured: {missing} in {sys.executable}; the package is called python3-matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402 (the backend is chosen first)

from programs import TOP, build, choose, petsc_at_hand, publish, start, surroundings, write_csv  # noqa: E402
from launch import mpi_command  # noqa: E402 (found in conf)

# Name, title, options, points in each direction and those of --quick
Case = collections.namedtuple("Case", "name title options n quick")
CASES = (
    Case("ex45-129", "3D, constant", "-dim 3", 129, 33),
    Case("ex45-257", "3D, constant", "-dim 3", 257, 65),
    Case("ex29-1025", "2D, constant", "-dim 2", 1025, 129),
    Case("ex29-4097", "2D, constant", "-dim 2", 4097, 257),
    Case("jumps", "2D, a square of 1000:1", "-case jumps -dim 2", 1025, 257),
    Case("smooth", "3D, smooth coefficient, 1000:1", "-case smooth -dim 3", 129, 33),
    Case("balls", "3D, Neumann, 27 balls of 1000:1", "-case balls -dim 3 -boundary cells", 128, 32),
    Case("box27", "3D, 27 points", "-case box27 -dim 3", 129, 33),
    Case("anisotropic", "3D, 1:1:100", "-case anisotropic -dim 3", 129, 33),
)
SETUP_COLOR, SOLVE_COLOR, OUR_SETUP_COLOR, OUR_SOLVE_COLOR = "#999999", "#CCCCCC", "#0072B2", "#7FC4EE"


class Program:
    """Runs the benchmark program and reads its lines."""

    def __init__(self, petsc, folder, arguments):
        self.path = os.path.join(folder, "structured")
        self.log = os.path.join(folder, "log.txt")
        self.mpiexec = petsc["mpiexec"]
        self.limit = arguments.limit
        self.options = ["-skip_petscrc", "-dll_append", petsc["library"], "-repeat", str(arguments.repeat)]
        if arguments.processor_time:
            self.options.append("-processor_time")

    def run_once(self, options, n):
        """The program's lines as lists of words, by first word, and how it ended: "" if well."""
        command = mpi_command(n, self.mpiexec) + [self.path] + self.options + options
        run = start(command, self.limit, surroundings(), n, renew="running,")
        ended = f"stopped after {self.limit} s" if run.expired else f"crashed: status {run.status}" if run.status else ""
        with open(self.log, "a") as log:
            log.write(f"{shlex.join(command)}\n{run.text}{ended}\n")
        lines = collections.defaultdict(list)
        for line in run.text.splitlines():
            words = line.split(",")
            lines[words[0]].append(words[1:])
        return lines, ended

    def run(self, options, solvers, n):
        """Results, kernels, triad. A run that a solver brought to an end is repeated without this solver."""
        lost = []
        while True:
            lines, ended = self.run_once(options + (["-solvers", ",".join(solvers)] if solvers else []), n)
            if not ended:
                return table(lines["result"]) + lost, table(lines["kernel"]), lines["triad"]
            if not lines["running"]:
                sys.exit(f"structured: the program does not start ({ended}): see {self.log}")
            culprit = lines["running"][-1][0]
            print(f"  {culprit} {ended}", flush=True)
            lost.append({"solver": culprit, "status": ended})
            solvers = [name for name in solvers or self.known(options) if name != culprit]
            if not solvers:
                return lost, [], lines["triad"]

    def known(self, options):
        """Names of the solvers that the program chooses by itself."""
        lines, _ = self.run_once(options + ["-list"], 1)
        return [words[0] for words in lines["solver"]]


def hypre_words():
    """What compiles the calls of hypre's own interface; without its headers they are left out."""
    for folder in (os.path.join(os.environ.get("HYPRE_DIR", "/usr"), "include"), "/usr/include/hypre"):
        if os.path.exists(os.path.join(folder, "HYPRE_struct_ls.h")):
            return [os.path.join(TOP, "bench", "hypre.c"), "-DBENCH_HAVE_HYPRE", "-I" + folder, "-L" + os.path.join(os.path.dirname(folder), "lib"), "-lHYPRE"]
    return [os.path.join(TOP, "bench", "hypre.c")]


def table(lines):
    """The first line names the columns."""
    return [dict(zip(lines[0], words)) for words in lines[1:]] if lines else []


def is_ours(solver):
    return solver.startswith("kcycle")


def print_results(results):
    columns = ("assembly_s", "setup_s", "solve_s", "total_s", "iterations", "residual", "matrix_doubles", "memory_doubles", "ratio")
    heads = ("assembly", "set-up", "solve", "total", "iter.", "residual", "matrix", "memory", "ratio")
    print(f"  {'solver':16}" + "".join(f"{head:>10}" for head in heads))
    for result in results:
        cells = "".join(f"{result.get(column, ''):>10}" for column in columns)
        print(f"  {result['solver']:16}" + (cells if result["status"] == "ok" else f"  {result['status']}"))


def print_kernels(kernels):
    if not kernels:
        return
    names = list(dict.fromkeys(kernel["kernel"] for kernel in kernels))
    print(f"  {'GB/s, of triad':16}" + "".join(f"{name:>24}" for name in names))
    for solver in dict.fromkeys(kernel["solver"] for kernel in kernels):
        rows = {kernel["kernel"]: kernel for kernel in kernels if kernel["solver"] == solver}
        cells = "".join(f"{float(rows[name]['GB/s']):>15.1f}, {100 * float(rows[name]['fraction_of_triad']):>5.0f} %" for name in names if name in rows)
        print(f"  {solver:16}{cells}")


def draw_panel(panel, title, results):
    """A bar for each solver that converged, set-up and solve one after the other."""
    good = [result for result in results if result["status"] == "ok"][::-1]
    names = [result["solver"] for result in good]
    setup = [float(result["setup_s"]) for result in good]
    solve = [float(result["solve_s"]) for result in good]
    panel.barh(names, setup, color=[OUR_SETUP_COLOR if is_ours(name) else SETUP_COLOR for name in names])
    panel.barh(names, solve, left=setup, color=[OUR_SOLVE_COLOR if is_ours(name) else SOLVE_COLOR for name in names])
    for place, result in enumerate(good):
        panel.text(setup[place] + solve[place], place, f" {result['iterations']}", va="center", fontsize=7)
    panel.set_title(title, fontsize=9)
    panel.tick_params(labelsize=7)
    panel.set_xlim(0, 1.12 * max((a + b for a, b in zip(setup, solve)), default=1))
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def draw(groups, path):
    """GROUPS: title and results of each case and number of processes."""
    columns = min(3, len(groups))
    rows = -(-len(groups) // columns)
    figure, panels = pyplot.subplots(rows, columns, figsize=(4.6 * columns, 0.4 + 2.7 * rows), squeeze=False)
    for panel in panels.flat[len(groups):]:
        panel.set_visible(False)
    for panel, (title, results) in zip(panels.flat, groups):
        draw_panel(panel, title, results)
    figure.supxlabel("seconds: set-up (dark) and solve (light); numbers are iterations", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=150)


FAMILIES = {"PCMG": ("mg",), "PFMG": ("pfmg",), "SMG": ("smg",), "BoomerAMG": ("boomeramg",), "PCGAMG": ("gamg",)}


def ratios(results):
    """A row for each case and number of processes: seconds of kcycle, and how many times that the best of each family of solvers took."""
    rows = []
    for name, n in dict.fromkeys((result["name"], result["procs"]) for result in results):
        good = [r for r in results if (r["name"], r["procs"]) == (name, n) and r["status"] == "ok"]
        ours = next((r for r in good if r["solver"] == "kcycle"), None)
        if ours is None:
            continue
        title = next(case.title for case in CASES if case.name == name) + f", {ours['n']}^{ours['dim']}"
        row = {"title": title, "procs": n, "kcycle_s": ours["total_s"], "kcycle_iterations": ours["iterations"]}
        for family, words in FAMILIES.items():
            own = [r for r in good if r["solver"].split("-")[0] in words]
            best = min(own, key=lambda r: float(r["total_s"]), default=None)
            row[family] = f"{float(best['total_s']) / float(ours['total_s']):.1f}" if best else ""
            row[f"{family}_iterations"] = best["iterations"] if best else ""
            row[f"{family}_setting"] = best["solver"] if best else ""
        stencil = next((r for r in good if r["solver"] == "kcycle-stencil"), None)
        row["kcycle_stencil"] = f"{float(stencil['total_s']) / float(ours['total_s']):.2f}" if stencil else ""
        rows.append(row)
    return rows


def footer(folder):
    return f"""
assembly       seconds for the fine matrix, which are in no other number
set-up, solve  seconds of KSPSetUp() and KSPSolve(), CG, medians, slowest process
residual       norm of b - A x, computed afresh and relative to b
matrix, memory doubles for each unknown: the fine matrix; with it, all that set-up and solve leave in use, but the grid
ratio          total of the best peer that converged / total
CSV files, picture and the program's output: {os.path.relpath(folder)}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small grids")
    parser.add_argument("--cases", default="", help="of " + ",".join(case.name for case in CASES))
    parser.add_argument("--procs", default="1,2", help="numbers of processes, default 1,2")
    parser.add_argument("--solvers", default="", help="default: all")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each solver, default 3")
    parser.add_argument("--processor-time", action="store_true", help="seconds of a processor, for machines that others use as well")
    parser.add_argument("--publish", nargs="?", const="structured", help="also writes the tables that the documentation quotes, in bench/results; with another name than structured that table alone")
    parser.add_argument("--limit", type=int, default=900, help="seconds for all repetitions of one solver, default 900")
    arguments = parser.parse_args()
    chosen = choose(arguments.cases.split(",") if arguments.cases else [c.name for c in CASES], [c.name for c in CASES], "case")
    petsc = petsc_at_hand()
    folder = os.path.join(petsc["build"], "bench")
    os.makedirs(folder, exist_ok=True)
    program = Program(petsc, folder, arguments)
    build(petsc, "bench/structured.c", program.path, more=hypre_words())
    open(program.log, "w").close()
    print(f"PETSc {petsc['version']}, {os.cpu_count()} cores")
    all_results, all_kernels, groups = [], [], []
    for case in (case for case in CASES if case.name in chosen):
        points = case.quick if arguments.quick else case.n
        for n in map(int, arguments.procs.split(",")):
            title = f"{case.name}: {case.title}, {points}^{3 if '-dim 3' in case.options else 2}, {n} proc."
            print(f"\n{title}", flush=True)
            solvers = arguments.solvers.split(",") if arguments.solvers else []
            results, kernels, triad = program.run(shlex.split(case.options) + ["-n", str(points)], solvers, n)
            print_results(results)
            print(f"  STREAM triad {triad[0][1]} GB/s")
            print_kernels(kernels)
            groups.append((title, results))
            all_results += [{"name": case.name, "procs": n, **result} for result in results]
            all_kernels += [{"name": case.name, **kernel} for kernel in kernels]
            # After each case, because all of them take long
            write_csv(os.path.join(folder, "structured.csv"), all_results)
            write_csv(os.path.join(folder, "kernels.csv"), all_kernels)
            draw(groups, os.path.join(folder, "structured.png"))
    if arguments.publish:
        publish(f"{arguments.publish}.csv", all_results)
    if arguments.publish == "structured":
        publish("kernels.csv", all_kernels)
        publish("ratios.csv", ratios(all_results))
    print(footer(folder))
    failed = [result for result in all_results if is_ours(result["solver"]) and result["status"] != "ok"]
    if failed:
        sys.exit(f"structured: {len(failed)} runs with kcycle failed")


if __name__ == "__main__":
    main()
