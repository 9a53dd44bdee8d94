#!/usr/bin/python3
"""Compares preconditioners on PETSc's own tutorials, compiled as they are shipped: one table and one picture.

    make demo        installs what is missing, builds the library and runs this

All runs are made up to three times, as often as the time allows, one pass after the other.
Ends with status 1 if a run with kcycle failed.
"""

import argparse
import collections
import csv
import dataclasses
import math
import os
import re
import shlex
import statistics
import subprocess
import sys
import time

try:
    import matplotlib
    import numpy
except ImportError as missing:
    sys.exit(f"demo: {missing} in {sys.executable}; the package is called python3-matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402 (the backend is chosen first)

from launch import mpi_command, mpi_environment  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROCESSES = (1, 2)
RTOL = 1e-8
MAX_ITERATIONS = 100
RUN_LIMIT = 60  # seconds, for one run
MAX_PASSES = 3

Problem = collections.namedtuple("Problem", "program title ksp options check")
Method = collections.namedtuple("Method", "label options color style marker size fill")


def check_ex50(u):
    """Norm of b - A u, and the largest error: u is -cos(pi x) cos(pi y) / (2 pi^2), up to a constant."""
    n = math.isqrt(u.size)
    u = u.reshape(n, n)
    wave = numpy.cos(math.pi * (numpy.arange(n) + 0.5) / n)
    wave = numpy.outer(wave, wave)
    residual = -wave / n**2
    residual -= residual.mean()
    for axis in (0, 1):
        flux = numpy.diff(u, axis=axis)
        closed = [(1, 1) if axis == k else (0, 0) for k in (0, 1)]  # nothing flows through the boundary
        residual += numpy.diff(numpy.pad(flux, closed), axis=axis)
    error = u + wave / (2 * math.pi**2)
    return float(numpy.linalg.norm(residual)), float(numpy.abs(error - error.mean()).max())


# The operators of ex45 and ex29 are not symmetric: rows of boundary points are diagonal, columns are not
GMRES = ["-ksp_type", "gmres", "-ksp_pc_side", "right"]
CG = ["-ksp_type", "cg"]
PROBLEMS = (
    Problem("ex45", "3D Poisson, Dirichlet, 65 x 65 x 65 points", GMRES,
            "-da_grid_x 5 -da_grid_y 5 -da_grid_z 5 -da_refine 4".split(), None),
    Problem("ex29", "2D Poisson, Dirichlet, 513 x 513 points", GMRES, "-da_refine 8".split(), None),
    Problem("ex50", "2D Poisson, Neumann (singular), 513 x 513 points", CG,
            "-da_grid_x 9 -da_grid_y 9 -da_refine 6".split(), check_ex50),
)


def all_methods(library):
    """The preconditioners compared. Colours (Okabe and Ito's) and marks tell them apart also where lines coincide."""
    kcycle = ["-dll_append", library, "-pc_type", "kcycle"]
    general = kcycle + ["-pc_kcycle_structured", "off", "-pc_kcycle_kappa"]
    return [
        Method("mg", ["-pc_type", "mg"], "#000000", "-", "s", 5, "#000000"),
        Method("gamg", ["-pc_type", "gamg"], "#999999", "-", "D", 5, "#999999"),
        Method("hypre", ["-pc_type", "hypre"], "#E69F00", "-", "^", 6, "#E69F00"),
        Method("kcycle", kcycle, "#D55E00", "-", "o", 7, "#D55E00"),
        Method("mg levels, kappa 1 (V)", general + ["1"], "#56B4E9", "--", "v", 9, "none"),
        Method("mg levels, kappa 2 (F)", general + ["2"], "#0072B2", "-", "o", 5, "#0072B2"),
        Method("mg levels, kappa w (W)", general + ["w"], "#CC79A7", ":", "x", 7, "#CC79A7"),
    ]


@dataclasses.dataclass
class Result:
    """What is known of one problem, preconditioner and number of processes."""
    failure: str = ""                                        # empty: converged
    iterations: int = 0
    history: list = dataclasses.field(default_factory=list)  # residual norms, relative to the first
    residual: float = math.nan                               # b - A x at the end, relative
    error: float = math.nan
    setup: list = dataclasses.field(default_factory=list)    # seconds, one for each pass
    solve: list = dataclasses.field(default_factory=list)


def petsc_at_hand():
    """The makefile's NAME=value lines as a dictionary."""
    # A make above us passes its variables in the environment; its flags name a job server that we cannot reach
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS")}
    answer = subprocess.run(["make", "-s", "--no-print-directory", "-C", TOP, "print-petsc"], env=environment,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, universal_newlines=True)
    if answer.returncode:
        sys.exit("demo: make print-petsc failed")
    petsc = dict(line.split("=", 1) for line in answer.stdout.splitlines() if "=" in line)
    if not os.path.exists(petsc["library"]):
        sys.exit(f"demo: {petsc['library']} is not built: run make")
    if not petsc["tutorials"]:
        sys.exit("demo: this PETSc comes without its tutorials (Debian: package libpetscX.Y-dev-examples)")
    return petsc


def has_hypre(petsc):
    with open(os.path.join(petsc["conf_dir"], petsc["conf_arch"], "include", "petscconf.h")) as header:
        return re.search(r"#define\s+PETSC_HAVE_HYPRE\s+1", header.read()) is not None


def compile_tutorials(petsc, folder):
    package = os.path.join(petsc["libdir"], "pkgconfig", "PETSc.pc")

    def ask(*question):
        return subprocess.run(["pkg-config", *question, package], check=True, stdout=subprocess.PIPE,
                              universal_newlines=True).stdout.strip()

    compiler = shlex.split(ask("--variable=ccompiler") or "mpicc")
    flags = shlex.split(ask("--cflags", "--libs")) + ["-Wl,-rpath," + petsc["libdir"], "-lm"]
    for problem in PROBLEMS:
        source = os.path.join(petsc["tutorials"], problem.program + ".c")
        program = os.path.join(folder, problem.program)
        if subprocess.run(compiler + ["-O2", "-o", program, source] + flags).returncode:
            sys.exit(f"demo: {source} does not compile")


class Runner:
    """Runs one program in the demo's folder, each time with fresh output files."""

    def __init__(self, petsc, folder):
        self.mpiexec = petsc["mpiexec"]
        self.folder = folder
        # The user's own PETSc options must not change what is compared
        self.environment = mpi_environment({k: v for k, v in os.environ.items() if not k.startswith("PETSC_OPTIONS")})

    def path(self, name):
        return os.path.join(self.folder, name)

    def log(self, problem, method, n):
        words = [problem.program] + re.findall("[a-z0-9]+", method.label) + [str(n)]
        return self.path("-".join(words) + ".txt")

    def command(self, problem, method, n):
        """What is written to files costs no time inside the events that are measured, but for a line an iteration."""
        command = mpi_command(n, self.mpiexec) + [self.path(problem.program), "-skip_petscrc"] + problem.options
        command += problem.ksp + ["-ksp_norm_type", "unpreconditioned", "-ksp_rtol", str(RTOL)]
        command += ["-ksp_max_it", str(MAX_ITERATIONS), "-ksp_converged_reason", "-ksp_view_final_residual"]
        command += ["-ksp_monitor", "ascii:history.txt", "-log_view", ":log.csv:ascii_csv"]
        if problem.check:
            command += ["-ksp_view_solution", "binary:solution.bin", "-viewer_binary_skip_info"]
        return command + method.options

    def run(self, problem, method, n):
        """Gives why it failed or "", and the output, which also stays in a file."""
        for name in ("history.txt", "log.csv", "solution.bin"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        command = self.command(problem, method, n)
        with open(self.log(problem, method, n), "w+", errors="replace") as out:
            out.write(shlex.join(command) + "\n")
            out.flush()
            try:
                status = subprocess.run(command, cwd=self.folder, env=self.environment, timeout=RUN_LIMIT,
                                        stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT).returncode
                failure = f"error {status}" if status else ""
            except subprocess.TimeoutExpired:
                failure = f"stopped after {RUN_LIMIT} s"
            out.seek(0)
            return failure, out.read()


def event_times(path):
    """Seconds of the slowest process in PCSetUp and in KSPSolve, which starts after all set-up. None if unclear."""
    seconds = {"PCSetUp": 0.0, "KSPSolve": 0.0}
    with open(path, newline="") as table:
        for row in csv.DictReader(table):
            if row["Stage Name"] == "Main Stage" and row["Event Name"] in seconds:
                if row["Event Name"] == "KSPSolve" and int(row["Count"]) != 1:
                    return None  # solves nested in the set-up
                seconds[row["Event Name"]] = max(seconds[row["Event Name"]], float(row["Time"]))
    return seconds["PCSetUp"], seconds["KSPSolve"]


def outcome(failure, text):
    """Why a run failed or "", and its iterations."""
    reason = re.search(r"Linear solve (?:converged|did not converge) due to (\w+) iterations (\d+)", text)
    if reason is None:
        return failure or "no result", 0
    if not reason.group(1).startswith("CONVERGED_RTOL"):
        failure = f"{reason.group(1)} at {reason.group(2)}"
    return failure, int(reason.group(2))


def measure(runner, problem, method, n, result):
    """One run; its times are added to the result."""
    first = not result.history
    result.failure, text = runner.run(problem, method, n)
    result.failure, iterations = outcome(result.failure, text)
    if os.path.exists(runner.path("history.txt")):
        with open(runner.path("history.txt")) as lines:
            norms = [float(line.split()[-1]) for line in lines if "KSP Residual norm" in line]
        result.history = [norm / norms[0] for norm in norms]
    if result.failure:
        return
    if not first and iterations != result.iterations:
        result.failure = f"{result.iterations}, then {iterations} iterations"
        return
    result.iterations = iterations
    norm = float(re.search(r"KSP final norm of residual (\S+)", text).group(1))
    if problem.check:
        # A header of integers, then the numbers, most significant byte first; the grid is square, so the size is known
        words = numpy.fromfile(runner.path("solution.bin"), dtype=">f8")
        norm, result.error = problem.check(words[-math.isqrt(words.size)**2:])
    result.residual = norm / norms[0]
    seconds = event_times(runner.path("log.csv"))
    if seconds is not None:
        result.setup.append(seconds[0])
        result.solve.append(seconds[1])


def run_all(runner, methods, budget):
    """All results, and the number of passes that fitted into BUDGET seconds."""
    started = time.monotonic()
    cases = [(problem, n, method) for problem in PROBLEMS for n in PROCESSES for method in methods]
    results = {(problem.program, n, method.label): Result() for problem, n, method in cases}
    passes = 0
    while passes < MAX_PASSES:
        for problem, n, method in cases:
            result = results[problem.program, n, method.label]
            if not result.failure:
                measure(runner, problem, method, n, result)
        passes += 1
        if (time.monotonic() - started) * (passes + 1) / passes > budget:
            break
    return results, passes


def cells(result, take):
    """Iterations, set-up, solve and residual of one result: 34 characters."""
    if result.failure:
        return f"{result.failure:>34}"
    setup, solve = (f"{take(values):.3f}" if values else "-" for values in (result.setup, result.solve))
    return f"{result.iterations:>7}{setup:>9}{solve:>8}{result.residual:>10.1e}"


def print_table(results, methods, take):
    names = ["1 process" if n == 1 else f"{n} processes" for n in PROCESSES]
    groups = "".join(f"{name:>20}{' ' * 14} |" for name in names)
    head = f"{'iter.':>7}{'set-up s':>9}{'solve s':>8}{'residual':>10} |" * len(PROCESSES)
    for problem in PROBLEMS:
        print(f"\n{problem.program}: {problem.title}; {problem.ksp[1]}")
        print(f"  {'':20}{groups}")
        print(f"  {'preconditioner':20}{head}{'error':>8}")
        for method in methods:
            row = [results[problem.program, n, method.label] for n in PROCESSES]
            errors = [result.error for result in row if not math.isnan(result.error)]
            error = f"{max(errors):.1e}" if errors else "-"
            print(f"  {method.label:20}" + "".join(cells(result, take) + " |" for result in row) + f"{error:>8}")


def print_failures(results, runner, methods):
    """What PETSc said in the runs that failed; the same words only once."""
    logs = collections.defaultdict(list)
    for problem in PROBLEMS:
        for method in methods:
            for n in PROCESSES:
                result = results[problem.program, n, method.label]
                if result.failure:
                    log = runner.log(problem, method, n)
                    with open(log, errors="replace") as text:
                        said = [line.strip() for line in re.findall(r"^\[0\]PETSC ERROR: (.*)", text.read(), re.M)]
                    logs[" ".join([result.failure + "."] + said[1:3])].append(log)
    for words, files in logs.items():
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        print(f"{os.path.relpath(files[0])}{more}: {words}\n")


def footer(passes, take, picture):
    how = "one run" if passes == 1 else f"{'best' if take is min else 'median'} of {passes} runs"
    return f"""\
iter.          until the residual norm, relative to that of the right side, is below {RTOL:g}
set-up, solve  seconds in PCSetUp and in KSPSolve, which excludes set-up: {how}, slowest process
residual       norm of b - A x at the end, computed afresh and relative to b
error          largest difference to the exact solution, where that is known in closed form
All have their default options; mg has the levels that -da_refine makes, kcycle chooses its own.
Convergence over iterations and over time: {picture}"""


def draw_line(panel, method, places, history):
    panel.semilogy(places, history, color=method.color, linestyle=method.style, linewidth=1.4, marker=method.marker, markersize=method.size,
                   markerfacecolor=method.fill, label=method.label)


def seconds_of(result, take):
    """When each iteration of a solve ended, set-up first; the iterations of a solve take the same time"""
    if not result.setup or len(result.history) < 2:
        return []
    setup, solve = take(result.setup), take(result.solve)
    return [setup + solve * k / (len(result.history) - 1) for k in range(len(result.history))]


def finish(panel, title, what):
    panel.axhline(RTOL, color="0.6", linewidth=0.8, linestyle=":")
    panel.set_title(title, fontsize=10)
    panel.set_xlabel(what)
    panel.set_xlim(left=0)
    panel.grid(True, which="major", color="0.9")
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def draw(results, methods, take, path):
    """Convergence on one process, over iterations and over time: a column for each problem, a line for each preconditioner."""
    figure, panels = pyplot.subplots(2, len(PROBLEMS), figsize=(13, 8.4), sharey=True)
    for (over_iterations, over_time), problem in zip(panels.T, PROBLEMS):
        for method in methods:
            result = results[problem.program, 1, method.label]
            draw_line(over_iterations, method, range(len(result.history)), result.history)
            places = seconds_of(result, take)
            if places:
                draw_line(over_time, method, places, result.history)
        finish(over_iterations, f"{problem.program}, {problem.ksp[1]}\n{problem.title}", "iteration")
        over_iterations.xaxis.get_major_locator().set_params(integer=True)
        finish(over_time, "", "seconds, set-up included")
    for panel in panels[:, 0]:
        panel.set_ylabel("residual norm / norm of the right side")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="lower center", ncol=len(methods), frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", type=float, default=120, help="seconds; no second or third pass that ends later")
    budget = parser.parse_args().budget
    petsc = petsc_at_hand()
    folder = os.path.join(petsc["build"], "demo")
    picture = os.path.join(folder, "demo.png")
    os.makedirs(folder, exist_ok=True)
    compile_tutorials(petsc, folder)
    methods = all_methods(petsc["library"])
    print(f"PETSc {petsc['version']}, {os.cpu_count()} cores; its tutorials run, up to {budget:.0f} s ...", flush=True)
    if not has_hypre(petsc):
        print("hypre is left out: this PETSc was configured without it")
        methods = [method for method in methods if method.label != "hypre"]
    runner = Runner(petsc, folder)
    results, passes = run_all(runner, methods, budget)
    take = statistics.median if passes > 2 else min
    print_table(results, methods, take)
    print()
    print_failures(results, runner, methods)
    draw(results, methods, take, picture)
    print(footer(passes, take, os.path.relpath(picture)))
    failed = [key for key, result in results.items() if result.failure and key[2].startswith("kcycle")]
    if failed:
        sys.exit(f"demo: {len(failed)} runs with kcycle failed; their output is in {os.path.relpath(folder)}")


if __name__ == "__main__":
    main()
