#!/usr/bin/python3
"""Which solver for this problem? Runs a program, a matrix or a problem of the battery with each solver of
bench/solvers.py: a table, CSV files, a report with pictures.

    make compare APP="./app -its -options"                   a program that uses PETSc's KSP, as it is; PROCS=4: on so
                                                             many processes
    make compare MATRIX=A.mtx RHS=b.bin GRID=100,80,60       a matrix from a file: PETSc's binary format or Matrix
                                                             Market's; what unknowns are points of a grid, if they are
    make compare PROBLEM=3d-dirichlet                        a case of bench/battery_cases.py, or options of
                                                             bench/battery.c: PROBLEM="-cells 99,99 -ends nn,nn"
    make compare PAPER=1                                     the tables of Wagner, Rupp and Weinbub, and ours:
                                                             bench/paper.py
    make compare PROBLEM=... BENCH="--quick --solvers 'kcycle*,gamg'"      BENCH holds these options:

The program is not changed: bench/watch.c is loaded into it, and measures each KSPSolve() that no
other one contains. All solvers have the same KSP, the program's own, its norm being the true residual where it can be;
who stops early all the same is run again with a smaller tolerance until |b - A x| / |b| is below the program's. Who
takes many times as long as the best so far is stopped.
"""

import argparse
import collections
import fnmatch
import math
import os
import re
import shlex
import statistics
import sys
import time

import pictures
import solvers
from battery_cases import cases, smaller
from matrixfile import fail, from_market, is_market, sizes
from programs import build_once, petsc_at_hand, start, surroundings, write_csv
from launch import mpi_command  # found in conf (see programs.py)

SMALLEST_LIMIT = 10  # seconds of a run
RERUNS = 3
# their norm is that of the residual where the preconditioner is on the right
LEFT = ("fgmres", "gcr", "gmres", "lgmres", "bcgs", "fbcgs", "bcgsl", "tfqmr", "dgmres", "pgmres")
# has it where the preconditioner is on the left
TRUE = ("cg", "kcg", "dpcg", "fcg", "pipecg", "cgs", "richardson", "cr", "gcr", "cgne", "groppcg", "hyprepcg")
USAGE = "one of APP=\"./app -its -options\", MATRIX=file, PROBLEM=name is needed: make compare BENCH=--help"


# What bench/watch.c writes

Solve = collections.namedtuple("Solve",
                               "solver prefix unknowns iterations reason setup setup_processor solve solve_processor "
                               "rtol residual memory")
Begin = collections.namedtuple("Begin", "solver prefix ksp pc matrix dm refined")


class Watched:
    """Its file of one run"""

    def __init__(self, path):
        self.begins, self.solves, self.levels, self.history = [], [], collections.defaultdict(
            list), collections.defaultdict(list)
        self.rates = {}  # of kernels, bytes a second
        self.started = False
        if os.path.exists(path):
            with open(path) as file:
                for line in file:
                    self.read(line.rstrip("\n").split(","))

    def read(self, words):
        kind, words = words[0], words[1:]
        try:
            if kind == "petsc":
                self.started = True
            elif kind == "begin":
                self.begins.append(Begin(*words[:5], words[5] == "1", int(words[6])))
            elif kind == "level":
                self.levels[words[0]].append((int(words[1]), int(words[2]), int(words[3]) if words[3] else None,
                                              int(words[4]) if words[4] else None))
            elif kind == "kernel":
                self.rates[words[1]] = float(words[3]) / float(words[2])
            elif kind == "at":
                self.history[words[0]].append((float(words[2]), float(words[3])))
            elif kind == "solve":
                self.solves.append(Solve(words[0], words[1], int(words[2]), int(words[3]), words[4],
                                         *map(float, words[5:10]), float(words[10]) if words[10] else None,
                                         float(words[11])))
        except (ValueError, IndexError, TypeError):
            pass  # the last line of a program that was stopped

    def prefixes(self):
        """Seconds of a processor that the solvers of each prefix take"""
        seconds = {begin.prefix: 0.0 for begin in self.begins}
        for solve in self.solves:
            seconds[solve.prefix] = seconds.get(solve.prefix, 0.0) + solve.setup_processor + solve.solve_processor
        return seconds


# What is compared

class Target:
    """A program with its arguments, and what is known of it"""

    def __init__(self, words, title, ours):
        self.words, self.title, self.ours = words, title, ours
        self.prefix, self.ksp, self.dm, self.rtol, self.by_environment = "", "cg", False, 1e-8, False
        self.statuses = {0}  # that it ends with when all is well
        self.notes = []


def matrix_target(arguments):
    rows, columns = sizes(arguments.matrix)
    if columns is None:
        fail(f"{arguments.matrix} is a vector: RHS= is the place for it")
    if rows != columns:
        fail(f"{arguments.matrix} has {rows} rows and {columns} columns: not square")
    words = ["matrix", "-skip_petscrc", "-matrix", os.path.abspath(arguments.matrix)]
    if arguments.rhs:
        length, columns = sizes(arguments.rhs)
        if length != rows or columns not in (None, 1):
            fail(f"{arguments.rhs} has {length} numbers{f' in {columns} columns' if columns else ''}, the matrix "
                 f"{rows} rows: it is no right side of it")
        words += ["-rhs", os.path.abspath(arguments.rhs)]
    if arguments.grid:
        points = arguments.grid.split(",")
        if not 1 <= len(points) <= 3 or not all(n.isdigit() and int(n) > 0 for n in points):
            fail(f"GRID={arguments.grid} is no grid: GRID=nx,ny,nz, the points in each direction")
        if rows % math.prod(map(int, points)):
            fail(f"GRID={arguments.grid} has {math.prod(map(int, points))} points, the matrix {rows} rows: rows for "
                 "each point is no whole number")
        words += ["-grid", arguments.grid]
    return Target(words, os.path.basename(arguments.matrix) + (f", grid {arguments.grid}" if arguments.grid else ""),
                  True)


def problem_options(name):
    """Of a case, or as they are"""
    if name.startswith("-"):
        if "-cells" not in name.split()[:-1]:
            fail("PROBLEM=\"-cells ...\": how many points are missing")
        return shlex.split(name)
    known = {case.name: case.options for case in cases()}
    if name not in known:
        near = fnmatch.filter(known, f"*{name}*") or list(known)[:6] + ["..."]
        fail(
            f"no problem is called {name}; there are {', '.join(near)}: all of them by python3 bench/battery.py --list")
    return list(known[name])


def problem_target(arguments, factor=1.0):
    options = problem_options(arguments.problem)
    if arguments.small:
        options = smaller(options)
    at = options.index("-cells") + 1
    if factor != 1:
        options[at] = ",".join(str(max(4, round(int(n) * factor / 2) * 2 + int(n) % 2)) for n in options[at].split(","))
    name = "problem" if arguments.problem.startswith("-") else arguments.problem
    target = Target(["battery", "-skip_petscrc", "-repeat", "1", "-ksp_max_it", "10000", *options],
                    f"{name}, {options[at].replace(',', ' x ')} points", True)
    target.ksp, target.rtol = "gmres" if "-wind" in options else "cg", arguments.rtol or 1e-8
    target.dm = "-ends" in options and set(options[options.index("-ends") + 1]) == set("s,")
    return target


# Running

class Runner:
    """Runs a target with options of a solver"""

    def __init__(self, petsc, tools, folder, arguments):
        self.petsc, self.tools, self.arguments = petsc, tools, arguments
        self.file = os.path.join(folder, "watch.txt")
        self.log = os.path.join(folder, "log.txt")
        plugins = ["libwatch.so", "libpfmg.so"] if petsc["struct"] else ["libwatch.so"]
        self.libraries = [petsc["library"], *(os.path.join(tools, name) for name in plugins)]
        self.procs = arguments.procs
        open(self.log, "w").close()

    def command(self, target, options):
        """Words and environment. A library that the program loads already stays"""
        environment = surroundings(user_options=not target.ours)
        words, given = list(target.words), environment.get("PETSC_OPTIONS", "").split()
        if target.ours:
            words[0] = os.path.join(self.tools, words[0])
        libraries = []
        for place in (given, words):
            while "-dll_append" in place[:-1]:
                at = place.index("-dll_append")
                libraries += place[at + 1].split(",")
                del place[at:at + 2]
        libraries += [library for library in self.libraries if library not in libraries]
        more = ["-dll_append", ",".join(libraries), "-watch_file", self.file, *options]
        if target.by_environment:
            environment["PETSC_OPTIONS"] = " ".join(given + more)
        else:
            environment["PETSC_OPTIONS"] = " ".join(given)
            words += more
        return (mpi_command(self.procs, self.petsc["mpiexec"]) if self.procs else []) + words, environment

    def run(self, target, options, limit):
        command, environment = self.command(target, options)
        if os.path.exists(self.file):
            os.remove(self.file)
        device = any(name in self.petsc["features"] for name in ("KCYCLE_HAVE_CUDA", "KCYCLE_HAVE_HIP"))
        ended = start(command, limit, environment, 0 if device else self.procs or 1)
        with open(self.log, "a") as log:
            log.write(f"$ {shlex.join(command)}\n{ended.text[-20000:]}\nstatus "
                      f"{ended.status}{', stopped' if ended.expired else ''}, {ended.seconds:.1f} s\n\n")
        return ended, Watched(self.file)


def norm_options(ksp):
    """The norm that is the same for all, where this KSP has it"""
    if ksp in LEFT:
        return "-ksp_pc_side right -ksp_norm_type unpreconditioned"
    return "-ksp_norm_type unpreconditioned" if ksp in TRUE else ""


class Row:
    """What one solver gives"""

    def __init__(self, solver):
        self.solver, self.status, self.iterations, self.solves, self.unknowns = solver, "", "", 0, ""
        self.seconds, self.processor, self.residual, self.memory, self.rtol = [], [], None, None, ""
        self.levels, self.history, self.wall = [], [], 0

    def ok(self):
        return self.status == "ok"

    def take(self, by_processor):
        """Set-up and solve: medians"""
        runs = self.processor if by_processor else self.seconds
        return tuple(statistics.median(run[k] for run in runs) for k in (0, 1)) if runs else (math.nan, math.nan)

    def total(self, by_processor):
        return sum(self.take(by_processor))

    def rows_of_levels(self):
        """Mean and longest row, of all levels the largest"""
        means = [entries / rows for _, rows, entries, _ in self.levels if entries and rows]
        longest = [width for *_, width in self.levels if width]
        return (max(means) if means else None), (max(longest) if longest else None)

    def complexity(self):
        """Of the grids, of the operators: sums over levels by the finest one's"""
        rows, entries = [level[1] for level in self.levels], [level[2] for level in self.levels]
        if len(rows) < 2:
            return None, None
        return sum(rows) / rows[0], sum(entries) / entries[0] if all(entries) else None


def requested(options, word):
    words = options.split()
    return words[words.index(word) + 1] if word in words else None


def judge(row, target, ended, watched):
    """The run as a row's numbers, and what is wrong with it"""
    own = [solve for solve in watched.solves if solve.prefix == target.prefix]
    begins = [begin for begin in watched.begins if begin.prefix == target.prefix]
    row.wall = ended.seconds
    if own:
        row.unknowns, row.solves = max(solve.unknowns for solve in own), len(own)
        row.iterations = sum(solve.iterations for solve in own)
        residuals = [solve.residual for solve in own if solve.residual is not None]
        row.residual = max(residuals, key=lambda r: math.inf if math.isnan(r) else r) if residuals else None
        row.memory = own[0].memory
        first = own[0].solver
        row.levels, row.history = row.levels or watched.levels[first], watched.history[first]
    bad = next((solve for solve in own if not solve.reason.startswith("CONVERGED")), None)
    taken = begins[0] if begins else None
    if ended.expired:
        row.status = f"stopped after {ended.seconds:.0f} s" + (f", in solve {len(own) + 1}" if own else "")
    elif not own:
        row.status = f"fails: {ended.error()}" if ended.status else "solves nothing"
    elif bad:
        row.status = f"{bad.reason}, iteration {bad.iterations}"
    elif taken and requested(row.solver.options, "-pc_type") not in (None, taken.pc):
        row.status = f"not taken: the program sets -pc_type {taken.pc} itself"
    elif taken and requested(row.solver.options, "-ksp_type") not in (None, taken.ksp):
        row.status = f"not taken: the program sets -ksp_type {taken.ksp} itself"
    elif ended.status not in target.statuses:
        row.status = f"solves, then the program fails: {ended.error()}"
    else:
        row.status = "ok"
    return own


def add_seconds(row, own):
    row.seconds.append((sum(s.setup for s in own), sum(s.solve for s in own)))
    row.processor.append((sum(s.setup_processor for s in own), sum(s.solve_processor for s in own)))


class Comparison:
    """All solvers on one target"""

    def __init__(self, runner, target, arguments):
        self.runner, self.target, self.arguments = runner, target, arguments
        self.rows, self.failed = [], {}
        self.best = math.inf  # seconds of a whole run
        self.end = time.monotonic() + arguments.budget

    def limit(self):
        return min(self.arguments.limit, max(SMALLEST_LIMIT, self.arguments.slow * self.best),
                   max(1.0, self.end - time.monotonic()))

    def options(self, solver, rtol):
        target = self.target
        if solver.name == "as given":
            return shlex.split(self.arguments.options)
        ksp = requested(solver.options, "-ksp_type") or target.ksp
        words = f"{norm_options(ksp)} {solver.options}"
        if target.ksp == "preonly":
            words = f"-ksp_type gmres {norm_options('gmres')} {solver.options}"
        if rtol:
            words += f" -ksp_rtol {rtol:g}"
        if target.ours and "dm" in solver.needs:
            words += " -with_dm"
        return solvers.with_prefix(words, target.prefix) + shlex.split(self.arguments.options)

    def try_solver(self, solver):
        """The first run, and others with a smaller tolerance where that stops early"""
        row, target, goal = Row(solver), self.target, self.target.rtol
        rtol = goal
        for again in range(RERUNS + 1):
            ended, watched = self.runner.run(target, self.options(solver, rtol) + ["-watch_levels"], self.limit())
            own = judge(row, target, ended, watched)
            row.rtol = rtol
            if not row.ok() or not goal or row.residual is None or row.residual <= 1.01 * goal:
                break
            if again == RERUNS:
                row.status = (f"stops at {row.residual:.1e} whatever -ksp_rtol is: the program sets its tolerance, or "
                              "has its own test")
                break
            rtol *= max(1e-3, 0.5 * goal / row.residual)
        if own and (row.ok() or row.status.startswith("stops")):
            add_seconds(row, own)
            self.best = min(self.best, ended.seconds)
        return row

    def fits(self, solver):
        needs = solver.needs.split(",")
        if "hypre" in needs and not self.runner.petsc["hypre"]:
            return "this PETSc has no hypre"
        if "struct" in needs and not self.runner.petsc["struct"]:
            return "hypre's headers are not here (libhypre-dev, or HYPRE_DIR=...)"
        if "cg" in needs and self.target.ksp != "cg":
            return f"the program's KSP is {self.target.ksp}, not cg"
        if "dm" in needs and not self.target.dm:
            return "the program's solver has no DM that was refined (-da_refine)"
        return self.failed.get(solver.family if "-dm_mat_type" in solver.options else "", "")

    def measure(self, chosen, quiet=False):
        self.first_pass(chosen, quiet)
        self.repeat()
        return self

    def records(self):
        """The fastest first"""
        by = self.arguments.processor_time
        self.rows.sort(key=lambda row: (not row.ok(), row.total(by) if row.seconds else math.inf))
        best = min((row.total(by) for row in self.rows if row.ok()), default=None)
        return [record(row, self.arguments, self.runner.procs or 1, best) for row in self.rows]

    def first_pass(self, chosen, quiet=False):
        for number, solver in enumerate(chosen, 1):
            if time.monotonic() > self.end:
                row = Row(solver)
                row.status = "not run: no time left (BENCH=\"--budget ...\")"
            else:
                reason = self.fits(solver)
                row = Row(solver) if reason else self.try_solver(solver)
                row.status = f"not run: {reason}" if reason else row.status
                if row.status.startswith("fails: ") and "-dm_mat_type" in solver.options:
                    self.failed[solver.family] = f"as {solver.name}"
            self.rows.append(row)
            if not quiet:
                self.say(number, len(chosen), row)

    def say(self, number, all_of_them, row):
        setup, solve = row.take(self.arguments.processor_time)
        what = f"{row.iterations:>6} iterations, {setup + solve:.3g} s" if row.seconds else ""
        print(f"  {number:>2}/{all_of_them} {row.solver.name:26}{what:30}{'' if row.ok() else row.status[:150]}".rstrip(
            ), flush=True)

    def repeat(self):
        """In turns. What takes many times as long as the best and a while is not repeated"""
        good = [row for row in self.rows if row.ok()]
        best = min((row.total(False) for row in good), default=0)
        for _ in range(self.arguments.repeat - 1):
            for row in good:
                short = row.total(False) <= self.arguments.slow * best or row.wall < 0.01 * self.arguments.budget
                if row.ok() and short and time.monotonic() + row.wall < self.end:
                    ended, watched = self.runner.run(self.target, self.options(row.solver, row.rtol), self.limit())
                    before = row.iterations, row.residual, row.memory
                    own = judge(row, self.target, ended, watched)
                    if row.ok():
                        add_seconds(row, own)
                    if row.ok() and row.iterations != before[0]:
                        self.target.notes.append(f"{row.solver.name}: {before[0]} iterations in one run, "
                                                 f"{row.iterations} in another.")
                    row.iterations, row.residual, row.memory = before


def crashed(ended):
    """By a signal or an error of PETSc"""
    return ended.status < 0 or ended.status > 128 or "PETSC ERROR" in ended.text


def probe(runner, target, arguments):
    """The program as it is: its solvers, and a row"""
    row = Row(solvers.Solver("as given", "as given", "", "", "the program's own options"))
    for target.by_environment in (False, True):
        ended, watched = runner.run(target, shlex.split(arguments.options) + ["-watch_levels"], arguments.limit)
        if watched.started or ended.expired:
            break
        if not target.by_environment:
            refused = ended
    if not watched.started:
        if ended.status:
            fail(f"the program does not run: status {refused.status}: {refused.error()}\n  "
                 f"{shlex.join(target.words)}\n  The whole output is in {runner.log}")
        fail("the program runs, but does not start the PETSc that this library was built for (make print-petsc): "
             f"{shlex.join(target.words)}")
    if not watched.begins:
        if ended.expired:
            fail(f"no KSP begins within {arguments.limit} s: a smaller problem, or BENCH=\"--limit ...\"")
        fail(f"the program solves nothing by KSPSolve(){': ' + ended.error() if ended.status else ''}")
    seconds = watched.prefixes()
    if arguments.prefix is not None and arguments.prefix not in seconds:
        fail(f"no solver has the prefix {arguments.prefix}; there are {', '.join(name or 'none' for name in seconds)}")
    target.prefix = next(name for name in seconds if 2
                         * seconds[name] >= max(seconds.values())) if arguments.prefix is None else arguments.prefix
    begin = next(begin for begin in watched.begins if begin.prefix == target.prefix)
    target.ksp, target.dm = begin.ksp, begin.dm and begin.refined > 0
    if watched.solves and not ended.expired and ended.status and not crashed(ended):
        target.statuses.add(ended.status)
        target.notes.append(f"The program ends with status {ended.status} with its own options, so that this is no "
                            "failure.")
    own = judge(row, target, ended, watched)
    tolerances = {solve.rtol for solve in own}
    target.rtol = arguments.rtol or (tolerances.pop() if len(tolerances) == 1 else 1e-5 if not own else None)
    if begin.ksp == "preonly":
        target.rtol = arguments.rtol or 1e-8
        target.notes.append("The program's KSP is preonly, one application of its preconditioner: the others are run "
                            "with GMRES.")
    if own and row.ok():
        add_seconds(row, own)
        if target.rtol and row.residual is not None and row.residual > 1.01 * target.rtol:
            row.status = f"stops at {row.residual:.1e}: its norm is not that of the residual"
        row.rtol = target.rtol or ""
    explain(target, watched, own, seconds, arguments)
    return row, ended.seconds


def explain(target, watched, own, seconds, arguments):
    """Sentences on what the program does"""
    if target.by_environment:
        target.notes.append("The program takes no options from its command line: it got them by PETSC_OPTIONS.")
    if len(seconds) > 1:
        parts = ", ".join(f"{'-' + name if name else 'no prefix'}: {spent:.2f} s" for name, spent in seconds.items())
        target.notes.append(f"The program has solvers with {len(seconds)} prefixes ({parts}). Compared are those with "
                            f"{'the prefix -' + target.prefix if target.prefix else 'none'}; "
                            "the others keep their options. BENCH=\"--prefix ...\" chooses.")
    same = len({solve.solver for solve in own})
    if same > 1:
        target.notes.append(f"{same} solvers of the program have the same prefix, and so the same options: rows are "
                            "sums of all.")
    if len(own) > 1:
        target.notes.append(f"The program solves {len(own)} systems: iterations and seconds are sums, the residual is "
                            "the largest, levels are those of the first.")
    if own and target.rtol is None:
        target.notes.append("The program changes its tolerance from solve to solve: no solver is run again that stops "
                            "early.")
    if target.rtol and not arguments.rtol:
        target.notes.append(f"Tolerance of the program: {target.rtol:g}.")


# Tables

def number(value, form):
    return "" if value is None or value == "" or isinstance(value, float) and math.isnan(value) else format(value, form)


def record(row, arguments, procs, best):
    by = arguments.processor_time
    (setup, solve), (grid, operators), (mean, longest) = row.take(by), row.complexity(), row.rows_of_levels()
    wall, processor = row.take(False), row.take(True)
    return {"solver": row.solver.name, "family": row.solver.family, "procs": procs, "unknowns": row.unknowns,
            "status": row.status, "solves": row.solves or "", "iterations": row.iterations if row.seconds else "",
            "setup_s": number(setup, ".4g"), "solve_s": number(solve, ".4g"), "total_s": number(setup + solve, ".4g"),
            "ratio": number((setup + solve) / best, ".2f") if best else "",
            "residual": number(row.residual, ".1e"), "rtol": number(row.rtol, ".2g"),
            "levels": len(row.levels) if len(row.levels) > 1 else "", "grid_complexity": number(grid, ".2f"),
            "operator_complexity": number(operators, ".2f"), "mean_row": number(mean, ".1f"),
            "longest_row": number(longest, "d"), "memory_mb": number(row.memory and row.memory / 1e6, ".1f"),
            "runs": len(row.seconds),
            "clock_s": number(sum(wall), ".4g"), "processor_s": number(sum(processor), ".4g")}


COLUMNS = (("solver", "solver", 26), ("iterations", "iter.", 7), ("setup_s", "set-up", 9), ("solve_s", "solve", 9),
           ("total_s", "total", 9), ("ratio", "/ best", 8), ("residual", "residual", 10),
           ("levels", "levels", 7), ("grid_complexity", "grids", 7), ("operator_complexity", "operators", 10),
           ("mean_row", "row", 7), ("longest_row", "longest", 8), ("memory_mb", "MB", 9), ("runs", "runs", 5))


def text_table(records):
    lines = ["".join(f"{head:{'<' if name == 'solver' else '>'}{width}}" for name, head, width in COLUMNS)]
    for one in records:
        line = "".join(f"{one[name]:{'<' if name == 'solver' else '>'}{width}}"
                       for name, _, width in COLUMNS if one["runs"] or name == "solver")
        lines.append(line if one["status"] == "ok" else f"{line}  {one['status'][:160]}")
    return "\n".join(lines)


def markdown(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
                     + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows])


LEGEND = """solve, set-up: seconds {clock}, of the slowest process, sums of all solves, medians, without assembly
residual: |b - A x| / |b| at the end, computed afresh; the tolerance was made smaller where a solver stopped early
grids, operators: complexity, the rows and entries of all levels by those of the finest
row, longest: entries of a row, the largest mean of a level and the longest row of all
MB: what all processes had at most above what they began with; empty: the solver does not tell"""


def summary(records):
    good = [one for one in records if one["status"] == "ok"]
    best = {}
    for one in sorted(good, key=lambda one: float(one["total_s"])):
        if one["family"] != "as given":
            best.setdefault(one["family"], one)
    return list(best.values())


def table_of_levels(rows, names):
    """Of the best of each family: rows, mean entries of one, entries of the longest"""
    own = [row for row in rows if row.solver.name in names and len(row.levels) > 1]
    if not own:
        return []
    lines = [[level] + [next((f"{n}, {number(entries and entries / n, '.1f')}, {width or ''}"
                              for at, n, entries, width in row.levels if at == level), "") for row in own]
             for level in range(max(row.levels[-1][0] for row in own) + 1)]
    return ["## Levels", "", "Rows, mean entries of one, entries of the longest.", "",
            markdown(["level"] + [row.solver.name for row in own], lines), ""]


def report(comparison, records, folder, pictures, extra):
    target, arguments = comparison.target, comparison.arguments
    best = summary(records)
    lines = [f"# Solvers for {target.title}", "",
             f"`{shlex.join(target.words)}`, {comparison.runner.procs or 1} "
             f"process{'es' if (comparison.runner.procs or 1) > 1 else ''}, "
             f"{max([one['unknowns'] or 0 for one in records])} unknowns, KSP {target.ksp}, PETSc "
             f"{comparison.runner.petsc['version']}, {os.cpu_count()} cores.", ""]
    lines += [f"- {note}" for note in target.notes] + [""]
    if best:
        lines += [f"The best of each family, {best[0]['solver']} is the fastest:", "",
                  markdown(("family", "solver", "iterations", "set-up s", "solve s", "total s", "times the best",
                            "residual"),
                           [[one[k] for k in ("family", "solver", "iterations", "setup_s", "solve_s", "total_s",
                                              "ratio", "residual")] for one in best]), ""]
    lines += ["## All", "", markdown([head for _, head, _ in COLUMNS] + ["status"],
                                     [[one[name] for name, _, _ in COLUMNS] + [one["status"]] for one in records]), "",
              *LEGEND.format(clock="of a processor" if arguments.processor_time else "of the clock").splitlines(), ""]
    lines += ["\n".join(["## " + title, "", f"![{title}]({name})", ""])
              for name, title in pictures] + extra + table_of_levels(comparison.rows, {one["solver"] for one in best})
    lines += ["## Settings", "", markdown(("name", "options", "why"),
                                          [(row.solver.name, f"`{row.solver.options}`" if row.solver.options else "",
                                            row.solver.reason) for row in comparison.rows]), ""]
    with open(os.path.join(folder, "report.md"), "w") as file:
        file.write("\n".join(lines))


def busy(rows):
    """Is the clock much faster than the processor's?"""
    pairs = [(sum(row.take(False)), sum(row.take(True))) for row in rows if row.seconds]
    return sum(a for a, _ in pairs) > 1.25 * sum(b for _, b in pairs)


# Pictures

def draw_times(pyplot, records, path):
    good = [one for one in records if one["status"] == "ok"][::-1]
    figure, panel = pyplot.subplots(figsize=(7.5, 0.9 + 0.28 * len(good)))
    setup, solve = ([float(one[k]) for one in good] for k in ("setup_s", "solve_s"))
    names = [one["solver"] for one in good]
    ours = ["kcycle" in one["family"] for one in good]
    panel.barh(names, setup, color=["#0072B2" if own else "#999999" for own in ours])
    panel.barh(names, solve, left=setup, color=["#7FC4EE" if own else "#CCCCCC" for own in ours])
    for place, one in enumerate(good):
        panel.text(setup[place] + solve[place], place, f" {one['iterations']}", va="center", fontsize=7)
    panel.set_xlabel("seconds: set-up (dark) and solve (light); numbers are iterations")
    pictures.save(figure, path)


def history_panel(rows, title=""):
    """Of the first solve, set-up first"""
    curves = []
    for row in rows:
        if len(row.history) > 1 and row.history[0][1] > 0:
            setup = row.seconds[0][0] if row.solves == 1 else 0
            norms = [max(norm / row.history[0][1], 1e-20) for _, norm in row.history]
            curves.append((row.solver.name, [setup + at for at, _ in row.history], norms,
                           "o-" if len(norms) < 30 else "-"))
    first = "in the first solve" if any(row.solves > 1 for row in rows) else "with set-up"
    return title, f"seconds of the clock {first}", "residual norm of the KSP / the first", "y", curves


def level_panels(levels):
    """LEVELS: name, and of each level number, points, mean entries of a row or None"""
    points = [(name, [level for level, *_ in own], [n for _, n, _ in own]) for name, own in levels]
    means = [(name, [level for level, _, mean in own if mean], [mean for *_, mean in own if mean])
             for name, own in levels]
    return [("", "level, 0 is the finest", "points", "y", points),
            ("", "level, 0 is the finest", "mean entries of a row", "", means)]


def size_panel(rows):
    own = {}
    for one in sorted((one for one in rows if one["status"] == "ok"), key=lambda one: int(one["unknowns"])):
        own.setdefault(one["solver"], []).append((int(one["unknowns"]), float(one["total_s"])))
    return "", "unknowns", "seconds, set-up and solve", "xy", [(name, *zip(*points)) for name, points in own.items()]


def draw(comparison, records, sized, folder):
    """Names and titles"""
    pyplot = None if comparison.arguments.no_pictures else pictures.pyplot_or_none()
    good = sorted((row for row in comparison.rows if row.ok()), key=lambda row: row.total(False))
    if pyplot is None or not good:
        return []
    best = {one["solver"] for one in summary(records)}
    shown = [row for row in good if row.solver.name in best or row.solver.family == "as given"]
    deep = [(row.solver.name, [(level, n, entries and entries / n) for level, n, entries, _ in row.levels])
            for row in good if len(row.levels) > 1]
    wanted = [("convergence.png", "Convergence over time", [history_panel(shown)])]
    wanted += [("levels.png", "Points and rows of each level", level_panels(deep))] if deep else []
    wanted += [("sizes.png", "From which size", [size_panel(sized)])] if sized else []
    draw_times(pyplot, records, os.path.join(folder, "times.png"))
    for name, _, panels in wanted:
        pictures.draw(os.path.join(folder, name), panels, size=(6.5, 4.4))
    return [("times.png", "Set-up and solve")] + [(name, title) for name, title, _ in wanted]


# Sizes: from which one does a solver beat the Krylov method alone?

def over_sizes(runner, arguments, names, records):
    """RECORDS: of the grid as it is"""
    rows = []
    chosen = [solver for solver in solvers.SOLVERS if solver.name in names]
    for factor in map(float, arguments.sizes.split(",")):
        if factor == 1:
            rows += [one for one in records if one["solver"] in names]
            continue
        comparison = Comparison(runner, problem_target(arguments, factor), arguments)
        print(f"\n{comparison.target.title}", flush=True)
        rows += comparison.measure(chosen).records()
    return rows


def break_even(rows):
    """Sentences: the smallest size from which on a solver is faster than jacobi"""
    alone = {one["unknowns"]: float(one["total_s"]) for one in rows if one["solver"] == "jacobi"
             and one["status"] == "ok"}
    for name in dict.fromkeys(one["solver"] for one in rows if one["solver"] != "jacobi"):
        own = sorted((one["unknowns"], float(one["total_s"])) for one in rows if one["solver"] == name
                     and one["status"] == "ok" and one["unknowns"] in alone)
        from_size = None
        for size, seconds in own[::-1]:
            if seconds >= alone[size]:
                break
            from_size = size
        if own and from_size:
            yield (f"{name} is faster than the Krylov method with Jacobi from {from_size} unknowns on, of the sizes "
                   "that were tried.")
        elif own:
            yield f"{name} is not faster than the Krylov method with Jacobi on the largest grid that was tried."


# The command

def make_parser(doc=__doc__):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--app", default="", help="the program with its arguments")
    parser.add_argument("--matrix", default="", help="a file with a matrix")
    parser.add_argument("--rhs", default="", help="and one with a right side")
    parser.add_argument("--grid", default="", help="points in each direction")
    parser.add_argument("--problem", default="",
                        help="a case of the battery, or --problem=\"-cells ...\": options of its program")
    parser.add_argument("--procs", type=int, default=0, help="processes; without it the program is started as it is")
    parser.add_argument("--solvers", default="*",
                        help="names, with * and ?: of " + ", ".join(solver.name for solver in solvers.SOLVERS))
    parser.add_argument("--options", default="", help="more options, for all")
    parser.add_argument("--prefix", help="of the solver that is compared, where a program has several; default: the "
                                         "first, unless another one takes more than twice as long")
    parser.add_argument("--rtol", type=float, help="tolerance; default: the program's")
    parser.add_argument("--quick", action="store_true", help="below three minutes: stopped early, no sizes")
    parser.add_argument("--small", action="store_true", help="PROBLEM on a small grid")
    parser.add_argument("--repeat", type=int, help="runs of each, default 3, as far as the budget goes")
    parser.add_argument("--limit", type=float, help="seconds for a run, default 600, or 60 with --quick")
    parser.add_argument("--slow", type=float,
                        help="a solver is stopped after this factor times the seconds of the best run so far, "
                             "default 20, or 10 with --quick")
    parser.add_argument("--budget", type=float, help="seconds for all, default 3300, or 160 with --quick")
    parser.add_argument("--sizes", default="",
                        help="PROBLEM on grids that are finer by these factors, default 0.125,0.25,0.5,1, or none with "
                             "--quick; none: none")
    parser.add_argument("--processor-time", action="store_true",
                        help="seconds of a processor, for machines that others use as well")
    parser.add_argument("--no-pictures", action="store_true")
    parser.add_argument("--save", default="", help="folder for the report")
    return parser


def complete(arguments):
    """What depends on other options"""
    for name, full, quick in (("repeat", 3, 3), ("limit", 600, 60), ("slow", 20, 10), ("budget", 3300, 160)):
        if getattr(arguments, name) is None:
            setattr(arguments, name, quick if arguments.quick else full)
    if arguments.problem and not arguments.quick:
        arguments.sizes = arguments.sizes or "0.125,0.25,0.5,1"
    arguments.sizes = "" if arguments.sizes == "none" else arguments.sizes
    return arguments


def parse():
    arguments = complete(make_parser().parse_args())
    if sum(map(bool, (arguments.app, arguments.matrix, arguments.problem))) != 1:
        fail(USAGE)
    if (arguments.rhs or arguments.grid) and not arguments.matrix:
        fail("RHS and GRID go with MATRIX=file")
    return arguments


def chosen_solvers(arguments):
    names = [solver.name for solver in solvers.SOLVERS]
    for pattern in arguments.solvers.split(","):
        if not fnmatch.filter(names, pattern):
            fail(f"no solver is called {pattern}; there are {', '.join(names)}: see bench/solvers.py")
    return [solver for solver in solvers.SOLVERS if any(fnmatch.fnmatchcase(solver.name, pattern)
                                                        for pattern in arguments.solvers.split(","))]


def prepare(petsc, folder):
    """Programs that are older than their sources; does PETSc have hypre, are hypre's own headers here?"""
    with open(os.path.join(petsc["conf_dir"], petsc["conf_arch"], "include", "petscconf.h")) as header:
        text = header.read()
    petsc["numbers"] = ["q" if re.search(r"#define\s+PETSC_USE_64BIT_INDICES\s+1", text) else "i",
                        "f" if re.search(r"#define\s+PETSC_USE_REAL_SINGLE\s+1", text) else "d"]
    petsc["hypre"] = re.search(r"#define\s+PETSC_HAVE_HYPRE\s+1", text) is not None
    where = [os.path.join(os.environ.get("HYPRE_DIR", "/usr"), "include"), "/usr/include/hypre",
             os.path.join(petsc["conf_dir"], petsc["conf_arch"], "include")]
    found = [path for path in where if petsc["hypre"] and os.path.exists(os.path.join(path, "HYPRE_struct_ls.h"))][:1]
    petsc["struct"] = bool(found)
    plugin = ["-shared", "-fPIC"]
    wanted = [("watch.c", "libwatch.so", plugin), ("matrix.c", "matrix", []), ("battery.c", "battery", [])]
    wanted += [("pfmg.c", "libpfmg.so", plugin + ["-I" + path, "-L" + os.path.join(os.path.dirname(path), "lib"),
                                                  "-lHYPRE"]) for path in found]
    for source, name, more in wanted:
        build_once(petsc, os.path.join("bench", source), os.path.join(folder, name), more=more)


def open_runner(arguments, name):
    """And the folder for its results"""
    petsc = petsc_at_hand()
    prepare(petsc, petsc["bench"])
    folder = os.path.abspath(arguments.save or os.path.join(petsc["build"], "compare", name))
    os.makedirs(folder, exist_ok=True)
    return Runner(petsc, petsc["bench"], folder, arguments), folder


def make_target(arguments):
    if arguments.matrix:
        return matrix_target(arguments)
    if arguments.problem:
        return problem_target(arguments)
    words = shlex.split(arguments.app)
    if not words:
        fail(USAGE)
    script = next((word for word in words if word.endswith(".py")), words[0])
    return Target(words, os.path.basename(script), False)


def check_matrix(runner, target):
    """What can only be seen by reading all of it. Text is read once"""
    for option in ("-matrix", "-rhs"):
        at = target.words.index(option) + 1 if option in target.words else 0
        if at and is_market(target.words[at]):
            binary = os.path.join(os.path.dirname(runner.file), option[1:] + ".bin")
            from_market(target.words[at], binary, *runner.petsc["numbers"])
            target.words[at] = binary
    ended, _ = runner.run(target, ["-check"], runner.arguments.limit)
    if ended.status or ended.expired:
        why = "is not read in time: BENCH=--limit ..." if ended.expired else ended.error()
        fail(f"{runner.arguments.matrix}: {why}")
    target.notes.append(ended.text.strip().splitlines()[-1] + ".")
    target.ksp = "gmres" if "not symmetric" in ended.text else "cg"


def main():
    arguments = parse()
    chosen = chosen_solvers(arguments)
    target = make_target(arguments)
    runner, folder = open_runner(arguments,
                                 re.sub(r"[^\w.]+", "-", target.title if arguments.problem.startswith("-")
                                        else arguments.problem or target.title))
    print(f"{target.title}: {len(chosen)} solvers, {arguments.procs or 1} "
          f"process{'es' if arguments.procs > 1 else ''}, PETSc {runner.petsc['version']}", flush=True)
    comparison = Comparison(runner, target, arguments)
    if target.ours:
        if arguments.matrix:
            check_matrix(runner, target)
        target.rtol = arguments.rtol or 1e-8
    else:
        row, comparison.best = probe(runner, target, arguments)
        comparison.rows.append(row)
        comparison.say(0, len(chosen), row)
        if row.status.startswith("stops"):
            chosen = [solvers.Solver("as given, further", "as given", "", "",
                                     "the program's preconditioner to the residual of all")] + chosen
    finish_report(comparison.measure(chosen), folder)


def finish_report(comparison, folder):
    arguments, runner, rows, records = comparison.arguments, comparison.runner, comparison.rows, comparison.records()
    best = any(row.ok() for row in rows)
    write_csv(os.path.join(folder, "solvers.csv"), records)
    write_csv(os.path.join(folder, "levels.csv"),
              [{"solver": row.solver.name, "level": level, "rows": n, "entries": entries or "",
                "mean_row": number(entries and entries / n, ".2f"), "longest_row": width or ""}
                                                   for row in rows if row.ok()
               for level, n, entries, width in row.levels])
    write_csv(os.path.join(folder, "history.csv"),
              [{"solver": row.solver.name, "iteration": k, "seconds": at, "norm": norm} for row in rows
               for k, (at, norm) in enumerate(row.history)])
    print("\n" + text_table(records) + "\n\n" + LEGEND.format(clock="of a processor" if arguments.processor_time
                                                              else "of the clock"))
    if not arguments.processor_time and busy(rows):
        comparison.target.notes.append("Others use this machine: the clock ran much faster than the processor's time. "
                                       "BENCH=--processor-time compares that.")
    sized = []
    if arguments.sizes and best:
        sized = over_sizes(runner, arguments, {one["solver"] for one in summary(records)} | {"jacobi"}, records)
        write_csv(os.path.join(folder, "sizes.csv"), sized)
    sentences = list(break_even(sized))
    for note in comparison.target.notes + sentences:
        print(note)
    report(comparison, records, folder, draw(comparison, records, sized, folder),
           [f"- {sentence}" for sentence in sentences] + [""])
    print(f"Report, pictures and CSV files: {os.path.relpath(folder)}")
    if not best:
        sys.exit("compare: no solver has solved it to the tolerance")


if __name__ == "__main__":
    main()
