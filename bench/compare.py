#!/usr/bin/python3
"""Which solver for this problem? Runs a program, a matrix or a problem of the battery with each solver of bench/solvers.py: a table, CSV files, a report with pictures.

    make compare APP="./app -its -options"                   a program that uses PETSc's KSP, as it is; PROCS=4: on so many processes
    make compare MATRIX=A.mtx RHS=b.bin GRID=100,80,60       a matrix from a file: PETSc's binary format or Matrix Market's; what unknowns are points of a grid, if they are
    make compare PROBLEM=3d-dirichlet                        a case of bench/battery_cases.py
    make compare PAPER=1                                     the tables of Wagner, Rupp and Weinbub beside ours
    make compare PROBLEM=... BENCH="--quick --solvers 'kcycle*,gamg'"      BENCH holds these options:

The program is not changed, and need not know: bench/watch.c is loaded into it, and measures each KSPSolve() that no other one contains. All solvers have the same KSP,
the program's own, its norm being the true residual where it can be; who stops early all the same is run again with a smaller tolerance until |b - A x| / |b| is below the
program's. Who takes many times as long as the best so far is stopped.
"""

import argparse
import collections
import fnmatch
import math
import os
import re
import shlex
import statistics
import struct
import sys
import time

import paper
import solvers
from battery_cases import cases, smaller
from programs import build_once, petsc_at_hand, start, surroundings, write_csv
from launch import mpi_command  # found in conf (see programs.py)

SMALLEST_LIMIT = 10  # seconds of a run
RERUNS = 3
MOST_BYTES = 8.0  # of a float in PETSc's binary format
LEFT = ("fgmres", "gcr", "gmres", "lgmres", "bcgs", "fbcgs", "bcgsl", "tfqmr", "dgmres", "pgmres")  # their norm is that of the residual where the preconditioner is on the right
TRUE = ("cg", "kcg", "dpcg", "fcg", "pipecg", "cgs", "richardson", "cr", "gcr", "cgne", "groppcg")  # has it where the preconditioner is on the left
USAGE = "one of APP=\"./app -its -options\", MATRIX=file, PROBLEM=name is needed: make compare BENCH=--help"


def fail(text):
    sys.exit(f"compare: {text}")


# What bench/watch.c writes

Solve = collections.namedtuple("Solve", "solver prefix unknowns iterations reason setup setup_processor solve solve_processor rtol residual memory")
Begin = collections.namedtuple("Begin", "solver prefix ksp pc matrix dm refined")


class Watched:
    """Its file of one run"""

    def __init__(self, path):
        self.begins, self.solves, self.levels, self.history = [], [], collections.defaultdict(list), collections.defaultdict(list)
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
                self.levels[words[0]].append((int(words[1]), int(words[2]), int(words[3]) if words[3] else None, int(words[4]) if words[4] else None))
            elif kind == "at":
                self.history[words[0]].append((float(words[2]), float(words[3])))
            elif kind == "solve":
                self.solves.append(Solve(words[0], words[1], int(words[2]), int(words[3]), words[4], *map(float, words[5:10]), float(words[10]) if words[10] else None, float(words[11])))
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


def binary_header(path, file, size):
    """Rows and columns of a matrix in PETSc's format; a vector has no columns"""
    kinds = {1211216: "matrix", 1211214: "vector"}
    for width, code in ((4, ">i"), (8, ">q")):
        file.seek(0)
        head = file.read(4 * width)
        numbers = [struct.unpack(code, head[k:k + width])[0] for k in range(0, len(head) - width + 1, width)]
        kind = kinds.get(numbers[0] if numbers else 0)
        if kind == "vector" and len(numbers) > 1:
            if size < 2 * width + MOST_BYTES * numbers[1]:
                fail(f"{path} ends before its {numbers[1]} numbers do: write it again")
            return numbers[1], None
        if kind == "matrix" and len(numbers) > 3:
            rows, columns, entries = numbers[1:4]
            if entries < 0:
                fail(f"{path} is a dense matrix: write it from a matrix of type aij")
            if size < width * (4 + rows + entries) + MOST_BYTES * entries:
                fail(f"{path} ends before its {entries} entries do: write it again")
            return rows, columns
    return None


def market_header(path):
    with open(path, errors="replace") as file:
        first = file.readline().lower().split()
        if "complex" in first or "pattern" in first:
            fail(f"{path} has {'complex numbers' if 'complex' in first else 'no numbers'}: real ones are needed")
        for line in file:
            if line.strip() and not line.startswith("%"):
                words = line.split()
                if len(words) < 2 or not all(word.isdigit() for word in words):
                    fail(f"{path}: no sizes in the line {line.strip()}")
                return int(words[0]), int(words[1])
    fail(f"{path} ends before its sizes")


def sizes(path):
    """Rows and columns of what is in a file"""
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            if file.read(14) == b"%%MatrixMarket":
                return market_header(path)
            found = binary_header(path, file, size)
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}")
    if not found:
        fail(f"{path} has an unknown format: neither PETSc's binary one (MatView() to a binary viewer) nor Matrix Market's (its first word is %%MatrixMarket); a compressed file must be unpacked")
    return found


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
            fail(f"{arguments.rhs} has {length} numbers{f' in {columns} columns' if columns else ''}, the matrix {rows} rows: it is no right side of it")
        words += ["-rhs", os.path.abspath(arguments.rhs)]
    if arguments.grid:
        points = arguments.grid.split(",")
        if not 1 <= len(points) <= 3 or not all(n.isdigit() and int(n) > 0 for n in points):
            fail(f"GRID={arguments.grid} is no grid: GRID=nx,ny,nz, the points in each direction")
        if rows % math.prod(map(int, points)):
            fail(f"GRID={arguments.grid} has {math.prod(map(int, points))} points, the matrix {rows} rows: rows for each point is no whole number")
        words += ["-grid", arguments.grid]
    return Target(words, os.path.basename(arguments.matrix) + (f", grid {arguments.grid}" if arguments.grid else ""), True)


def problem_target(arguments, factor=1.0):
    case = next((case for case in cases() if case.name == arguments.problem), None)
    if case is None:
        near = fnmatch.filter([c.name for c in cases()], f"*{arguments.problem}*") or [c.name for c in cases()][:6] + ["..."]
        fail(f"no problem is called {arguments.problem}; there are {', '.join(near)}: all of them by python3 bench/battery.py --list")
    options = smaller(case.options) if arguments.small else list(case.options)
    at = options.index("-cells") + 1
    if factor != 1:
        options[at] = ",".join(str(max(4, round(int(n) * factor / 2) * 2 + int(n) % 2)) for n in options[at].split(","))
    return Target(["battery", "-skip_petscrc", "-repeat", "1", "-ksp_max_it", "10000", *options], f"{case.name}, {options[at].replace(',', ' x ')} points", True)


# Running

class Runner:
    """Runs a target with options of a solver"""

    def __init__(self, petsc, tools, folder, arguments):
        self.petsc, self.tools, self.arguments = petsc, tools, arguments
        self.file = os.path.join(folder, "watch.txt")
        self.log = os.path.join(folder, "log.txt")
        self.libraries = [petsc["library"], os.path.join(tools, "libwatch.so")]
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
            log.write(f"$ {shlex.join(command)}\n{ended.text[-20000:]}\nstatus {ended.status}{', stopped' if ended.expired else ''}, {ended.seconds:.1f} s\n\n")
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
        return min(self.arguments.limit, max(SMALLEST_LIMIT, self.arguments.slow * self.best), max(1.0, self.end - time.monotonic()))

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
                row.status = f"stops at {row.residual:.1e} whatever -ksp_rtol is: the program sets its tolerance, or has its own test"
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
        if "cg" in needs and self.target.ksp != "cg":
            return f"the program's KSP is {self.target.ksp}, not cg"
        if "dm" in needs and not self.target.dm:
            return "the program's solver has no DM that was refined (-da_refine)"
        return self.failed.get(solver.family if "-dm_mat_type" in solver.options else "", "")

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
        print(f"  {number:>2}/{all_of_them} {row.solver.name:26}{what:30}{'' if row.ok() else row.status[:150]}".rstrip(), flush=True)

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
                        self.target.notes.append(f"{row.solver.name}: {before[0]} iterations in one run, {row.iterations} in another.")
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
            fail(f"the program does not run: status {refused.status}: {refused.error()}\n  {shlex.join(target.words)}\n  The whole output is in {runner.log}")
        fail(f"the program runs, but does not start the PETSc that this library was built for (make print-petsc): {shlex.join(target.words)}")
    if not watched.begins:
        if ended.expired:
            fail(f"no KSP begins within {arguments.limit} s: a smaller problem, or BENCH=\"--limit ...\"")
        fail(f"the program solves nothing by KSPSolve(){': ' + ended.error() if ended.status else ''}")
    seconds = watched.prefixes()
    if arguments.prefix is not None and arguments.prefix not in seconds:
        fail(f"no solver has the prefix {arguments.prefix}; there are {', '.join(name or 'none' for name in seconds)}")
    target.prefix = next(name for name in seconds if 2 * seconds[name] >= max(seconds.values())) if arguments.prefix is None else arguments.prefix
    begin = next(begin for begin in watched.begins if begin.prefix == target.prefix)
    target.ksp, target.dm = begin.ksp, begin.dm and begin.refined > 0
    if watched.solves and not ended.expired and ended.status and not crashed(ended):
        target.statuses.add(ended.status)
        target.notes.append(f"The program ends with status {ended.status} with its own options, so that this is no failure.")
    own = judge(row, target, ended, watched)
    tolerances = {solve.rtol for solve in own}
    target.rtol = arguments.rtol or (tolerances.pop() if len(tolerances) == 1 else 1e-5 if not own else None)
    if begin.ksp == "preonly":
        target.rtol = arguments.rtol or 1e-8
        target.notes.append("The program's KSP is preonly, one application of its preconditioner: the others are run with GMRES.")
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
        target.notes.append(f"The program has solvers with {len(seconds)} prefixes ({parts}). Compared are those with {'the prefix -' + target.prefix if target.prefix else 'none'}; "
                            "the others keep their options. BENCH=\"--prefix ...\" chooses.")
    same = len({solve.solver for solve in own})
    if same > 1:
        target.notes.append(f"{same} solvers of the program have the same prefix, and so the same options: rows are sums of all.")
    if len(own) > 1:
        target.notes.append(f"The program solves {len(own)} systems: iterations and seconds are sums, the residual is the largest, levels are those of the first.")
    if own and target.rtol is None:
        target.notes.append("The program changes its tolerance from solve to solve: no solver is run again that stops early.")
    if target.rtol and not arguments.rtol:
        target.notes.append(f"Tolerance of the program: {target.rtol:g}.")


# Tables

def number(value, form):
    return "" if value is None or value == "" or isinstance(value, float) and math.isnan(value) else format(value, form)


def record(row, arguments, procs, best):
    by = arguments.processor_time
    (setup, solve), (grid, operators), (mean, longest) = row.take(by), row.complexity(), row.rows_of_levels()
    wall, processor = row.take(False), row.take(True)
    return {"solver": row.solver.name, "family": row.solver.family, "procs": procs, "unknowns": row.unknowns, "status": row.status, "solves": row.solves or "", "iterations": row.iterations if row.seconds else "",
            "setup_s": number(setup, ".4g"), "solve_s": number(solve, ".4g"), "total_s": number(setup + solve, ".4g"), "ratio": number((setup + solve) / best, ".2f") if best else "",
            "residual": number(row.residual, ".1e"), "rtol": number(row.rtol, ".2g"), "levels": len(row.levels) if len(row.levels) > 1 else "", "grid_complexity": number(grid, ".2f"),
            "operator_complexity": number(operators, ".2f"), "mean_row": number(mean, ".1f"), "longest_row": number(longest, "d"), "memory_mb": number(row.memory and row.memory / 1e6, ".1f"), "runs": len(row.seconds),
            "clock_s": number(sum(wall), ".4g"), "processor_s": number(sum(processor), ".4g")}


COLUMNS = (("solver", "solver", 26), ("iterations", "iter.", 7), ("setup_s", "set-up", 9), ("solve_s", "solve", 9), ("total_s", "total", 9), ("ratio", "/ best", 8), ("residual", "residual", 10),
           ("levels", "levels", 7), ("grid_complexity", "grids", 7), ("operator_complexity", "operators", 10), ("mean_row", "row", 7), ("longest_row", "longest", 8), ("memory_mb", "MB", 9), ("runs", "runs", 5))


def text_table(records):
    lines = ["".join(f"{head:{'<' if name == 'solver' else '>'}{width}}" for name, head, width in COLUMNS)]
    for one in records:
        line = "".join(f"{one[name]:{'<' if name == 'solver' else '>'}{width}}" for name, _, width in COLUMNS if one["runs"] or name == "solver")
        lines.append(line if one["status"] == "ok" else f"{line}  {one['status'][:160]}")
    return "\n".join(lines)


def markdown(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows])


LEGEND = """solve, set-up: seconds {clock}, of the slowest process, sums of all solves, medians of runs; assembly of the finest matrix is in neither
residual: |b - A x| / |b| at the end, computed afresh; the tolerance was made smaller where a solver stopped early
grids, operators: complexity, the rows and entries of all levels by those of the finest; row, longest: entries of a row, the largest mean of a level and the longest row of all
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
    lines = [[level] + [next((f"{n}, {number(entries and entries / n, '.1f')}, {width or ''}" for at, n, entries, width in row.levels if at == level), "") for row in own]
             for level in range(max(row.levels[-1][0] for row in own) + 1)]
    return ["## Levels", "", "Rows, mean entries of one, entries of the longest.", "", markdown(["level"] + [row.solver.name for row in own], lines), ""]


def report(comparison, records, folder, pictures, extra):
    target, arguments = comparison.target, comparison.arguments
    best = summary(records)
    lines = [f"# Solvers for {target.title}", "", f"`{shlex.join(target.words)}`, {comparison.runner.procs or 1} process{'es' if (comparison.runner.procs or 1) > 1 else ''}, "
             f"{max([one['unknowns'] or 0 for one in records])} unknowns, KSP {target.ksp}, PETSc {comparison.runner.petsc['version']}, {os.cpu_count()} cores.", ""]
    lines += [f"- {note}" for note in target.notes] + [""]
    if best:
        lines += [f"The best of each family, {best[0]['solver']} is the fastest:", "",
                  markdown(("family", "solver", "iterations", "set-up s", "solve s", "total s", "times the best", "residual"),
                           [[one[k] for k in ("family", "solver", "iterations", "setup_s", "solve_s", "total_s", "ratio", "residual")] for one in best]), ""]
    lines += ["## All", "", markdown([head for _, head, _ in COLUMNS] + ["status"], [[one[name] for name, _, _ in COLUMNS] + [one["status"]] for one in records]), "",
              *LEGEND.format(clock="of a processor" if arguments.processor_time else "of the clock").splitlines(), ""]
    lines += ["\n".join(["## " + title, "", f"![{title}]({name})", ""]) for name, title in pictures] + extra + table_of_levels(comparison.rows, {one["solver"] for one in best})
    lines += ["## Settings", "", markdown(("name", "options", "why"), [(row.solver.name, f"`{row.solver.options}`" if row.solver.options else "", row.solver.reason) for row in comparison.rows]), ""]
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
    finish(pyplot, figure, [panel], path)


def finish(pyplot, figure, panels, path, rect=(0, 0, 1, 1)):
    for panel in panels:
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    figure.tight_layout(rect=rect)
    figure.savefig(path, dpi=140)
    pyplot.close(figure)


def draw_history(pyplot, rows, path):
    """Of the first solve, set-up first"""
    figure, panel = pyplot.subplots(figsize=(7.5, 4.6))
    for row in rows:
        if len(row.history) < 2 or row.history[0][1] <= 0:
            continue
        setup = row.seconds[0][0] if row.solves == 1 else 0
        panel.semilogy([setup + at for at, _ in row.history], [max(norm / row.history[0][1], 1e-20) for _, norm in row.history], marker="o" if len(row.history) < 30 else None, markersize=3, label=row.solver.name)
    panel.set_xlabel("seconds of the clock, set-up included" if all(row.solves == 1 for row in rows) else "seconds of the clock in the first solve")
    panel.set_ylabel("residual norm of the KSP / the first")
    panel.legend(fontsize=7, frameon=False)
    finish(pyplot, figure, [panel], path)


def draw_levels(pyplot, rows, path):
    figure, panels = pyplot.subplots(1, 2, figsize=(9, 4))
    for row in rows:
        depth = [level for level, *_ in row.levels]
        panels[0].semilogy(depth, [rows_ for _, rows_, _, _ in row.levels], marker="o", markersize=3, label=row.solver.name)
        mean = [(level, entries / rows_) for level, rows_, entries, _ in row.levels if entries]
        panels[1].plot([level for level, _ in mean], [value for _, value in mean], marker="o", markersize=3, label=row.solver.name)
    panels[0].set_ylabel("points")
    panels[1].set_ylabel("mean entries of a row")
    for panel in panels:
        panel.set_xlabel("level, 0 is the finest")
    panels[1].legend(fontsize=7, frameon=False)
    finish(pyplot, figure, panels, path)


def draw_sizes(pyplot, rows, path):
    figure, panel = pyplot.subplots(figsize=(6.5, 4.4))
    for name in dict.fromkeys(one["solver"] for one in rows):
        own = sorted((int(one["unknowns"]), float(one["total_s"])) for one in rows if one["solver"] == name and one["status"] == "ok")
        panel.loglog([n for n, _ in own], [s for _, s in own], marker="o", markersize=3, label=name)
    panel.set_xlabel("unknowns")
    panel.set_ylabel("seconds, set-up and solve")
    panel.legend(fontsize=7, frameon=False)
    finish(pyplot, figure, [panel], path)


def pyplot_or_none():
    try:
        import matplotlib
    except ImportError as missing:
        print(f"no pictures: {missing} in {sys.executable}; the package is called python3-matplotlib")
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot
    return pyplot


def draw(comparison, records, sized, folder):
    """Names and titles"""
    pyplot = None if comparison.arguments.no_pictures else pyplot_or_none()
    good = sorted((row for row in comparison.rows if row.ok()), key=lambda row: row.total(False))
    if pyplot is None or not good:
        return []
    best = {one["solver"] for one in summary(records)}
    shown = [row for row in good if row.solver.name in best or row.solver.family == "as given"]
    done = [("times.png", "Set-up and solve"), ("convergence.png", "Convergence over time")]
    draw_times(pyplot, records, os.path.join(folder, "times.png"))
    draw_history(pyplot, shown, os.path.join(folder, "convergence.png"))
    deep = [row for row in good if len(row.levels) > 1]
    if deep:
        draw_levels(pyplot, deep, os.path.join(folder, "levels.png"))
        done.append(("levels.png", "Points and rows of each level"))
    if sized:
        draw_sizes(pyplot, sized, os.path.join(folder, "sizes.png"))
        done.append(("sizes.png", "From which size"))
    return done


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
        comparison.target.ksp = arguments.ksp
        print(f"\n{comparison.target.title}", flush=True)
        comparison.first_pass(chosen)
        comparison.repeat()
        rows += [record(row, arguments, runner.procs or 1, None) for row in comparison.rows]
    return rows


def break_even(rows):
    """Sentences: the smallest size from which on a solver is faster than jacobi"""
    alone = {one["unknowns"]: float(one["total_s"]) for one in rows if one["solver"] == "jacobi" and one["status"] == "ok"}
    for name in dict.fromkeys(one["solver"] for one in rows if one["solver"] != "jacobi"):
        own = sorted((one["unknowns"], float(one["total_s"])) for one in rows if one["solver"] == name and one["status"] == "ok" and one["unknowns"] in alone)
        from_size = None
        for size, seconds in own[::-1]:
            if seconds >= alone[size]:
                break
            from_size = size
        if own:
            yield f"{name} is faster than the Krylov method with Jacobi from {from_size} unknowns on, of the sizes that were tried." if from_size else f"{name} is not faster than the Krylov method with Jacobi on the largest grid that was tried."


# The command

def make_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--app", default="", help="the program with its arguments")
    parser.add_argument("--matrix", default="", help="a file with a matrix")
    parser.add_argument("--rhs", default="", help="and one with a right side")
    parser.add_argument("--grid", default="", help="points in each direction")
    parser.add_argument("--problem", default="", help="a case of the battery")
    parser.add_argument("--paper", action="store_true", help="the tables of a paper beside ours, on 1, 2 and 4 processes; --quick: two small problems")
    parser.add_argument("--publish", action="store_true", help="with --paper: also writes bench/results/paper*.csv, which the documentation quotes")
    parser.add_argument("--procs", type=int, default=0, help="processes; without it the program is started as it is")
    parser.add_argument("--solvers", default="*", help="names, with * and ?: of " + ", ".join(solver.name for solver in solvers.SOLVERS))
    parser.add_argument("--options", default="", help="more options, for all")
    parser.add_argument("--prefix", help="of the solver that is compared, where a program has several; default: the first, unless another one takes more than twice as long")
    parser.add_argument("--rtol", type=float, help="tolerance; default: the program's")
    parser.add_argument("--quick", action="store_true", help="below three minutes: stopped early, no sizes")
    parser.add_argument("--small", action="store_true", help="PROBLEM on a small grid; of the paper one problem")
    parser.add_argument("--repeat", type=int, help="runs of each, default 3, as far as the budget goes")
    parser.add_argument("--limit", type=float, help="seconds for a run, default 600, or 60 with --quick")
    parser.add_argument("--slow", type=float, help="a solver is stopped after so many times the seconds of the best run so far, default 20, or 10 with --quick")
    parser.add_argument("--budget", type=float, help="seconds for all, default 3300, or 160 with --quick")
    parser.add_argument("--sizes", default="", help="PROBLEM on grids so many times as fine, default 0.125,0.25,0.5,1, or none with --quick; none: none")
    parser.add_argument("--processor-time", action="store_true", help="seconds of a processor, for machines that others use as well")
    parser.add_argument("--no-pictures", action="store_true")
    parser.add_argument("--save", default="", help="folder for the report")
    return parser


def complete(arguments):
    """What depends on other options"""
    for name, full, quick in (("repeat", 3, 3), ("limit", 600, 60), ("slow", 20, 10), ("budget", 3300, 160)):
        if getattr(arguments, name) is None:
            setattr(arguments, name, quick if arguments.quick else full)
    arguments.sizes = "" if arguments.sizes == "none" else arguments.sizes or ("" if arguments.quick or not arguments.problem else "0.125,0.25,0.5,1")
    return arguments


def parse():
    arguments = complete(make_parser().parse_args())
    if sum(map(bool, (arguments.app, arguments.matrix, arguments.problem, arguments.paper))) != 1:
        fail(USAGE)
    if (arguments.rhs or arguments.grid) and not arguments.matrix:
        fail("RHS and GRID go with MATRIX=file")
    return arguments


def chosen_solvers(arguments):
    names = [solver.name for solver in solvers.SOLVERS]
    for pattern in arguments.solvers.split(","):
        if not fnmatch.filter(names, pattern):
            fail(f"no solver is called {pattern}; there are {', '.join(names)}: see bench/solvers.py")
    return [solver for solver in solvers.SOLVERS if any(fnmatch.fnmatchcase(solver.name, pattern) for pattern in arguments.solvers.split(","))]


def prepare(petsc, folder):
    """Programs that are older than their sources"""
    for source, name, more in (("watch.c", "libwatch.so", ["-shared", "-fPIC"]), ("matrix.c", "matrix", []), ("battery.c", "battery", [])):
        build_once(petsc, os.path.join("bench", source), os.path.join(folder, name), more)
    with open(os.path.join(petsc["conf_dir"], petsc["conf_arch"], "include", "petscconf.h")) as header:
        text = header.read()
    petsc["hypre"] = re.search(r"#define\s+PETSC_HAVE_HYPRE\s+1", text) is not None


def paper_tables(arguments, runner, folder):
    def make(words, problem):
        target = Target(words, problem.name, True)
        target.ksp, target.rtol = problem.ksp, arguments.rtol or 1e-8
        return Comparison(runner, target, arguments)

    paper.tables(arguments, runner, make, record, folder, (None if arguments.no_pictures else pyplot_or_none(), finish))
    print(f"\nCSV files and figures: {os.path.relpath(folder)}")


def make_target(arguments):
    if arguments.paper:
        return None
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
    at, binary = target.words.index("-matrix") + 1, os.path.join(os.path.dirname(runner.file), "matrix.bin")
    with open(target.words[at], "rb") as file:
        text = file.read(1) == b"%"
    ended, _ = runner.run(target, ["-check"] + (["-write", binary, "-viewer_binary_skip_info"] if text else []), runner.arguments.limit)
    if ended.status or ended.expired:
        fail(f"{runner.arguments.matrix}: {ended.error() if ended.status and not ended.expired else 'is not read in time: BENCH=--limit ...'}")
    if text:
        target.words[at] = binary
    target.notes.append(ended.text.strip().splitlines()[-1] + ".")
    target.ksp = "gmres" if "not symmetric" in ended.text else "cg"


def main():
    arguments = parse()
    chosen = chosen_solvers(arguments)
    target = make_target(arguments)
    petsc = petsc_at_hand()
    tools = os.path.join(petsc["build"], "bench")
    os.makedirs(tools, exist_ok=True)
    prepare(petsc, tools)
    folder = os.path.abspath(arguments.save or os.path.join(petsc["build"], "compare", "paper" if arguments.paper else re.sub(r"[^\w.]+", "-", arguments.problem or target.title)))
    os.makedirs(folder, exist_ok=True)
    runner = Runner(petsc, tools, folder, arguments)
    if arguments.paper:
        paper_tables(arguments, runner, folder)
        return
    print(f"{target.title}: {len(chosen)} solvers, {arguments.procs or 1} process{'es' if arguments.procs > 1 else ''}, PETSc {petsc['version']}", flush=True)
    comparison = Comparison(runner, target, arguments)
    if target.ours:
        if arguments.matrix:
            check_matrix(runner, target)
        elif "-wind" in target.words:
            target.ksp = "gmres"
        target.rtol = arguments.rtol or 1e-8
    else:
        row, comparison.best = probe(runner, target, arguments)
        comparison.rows.append(row)
        comparison.say(0, len(chosen), row)
        if row.status.startswith("stops"):
            chosen = [solvers.Solver("as given, further", "as given", "", "", "the program's preconditioner to the residual of all")] + chosen
    comparison.first_pass(chosen)
    comparison.repeat()
    finish_report(comparison, folder)


def finish_report(comparison, folder):
    arguments, runner, rows = comparison.arguments, comparison.runner, comparison.rows
    rows.sort(key=lambda row: (not row.ok(), row.total(arguments.processor_time) if row.seconds else math.inf))
    best = min((row.total(arguments.processor_time) for row in rows if row.ok()), default=None)
    records = [record(row, arguments, runner.procs or 1, best) for row in rows]
    write_csv(os.path.join(folder, "solvers.csv"), records)
    write_csv(os.path.join(folder, "levels.csv"), [{"solver": row.solver.name, "level": level, "rows": n, "entries": entries or "", "mean_row": number(entries and entries / n, ".2f"), "longest_row": width or ""}
                                                   for row in rows if row.ok() for level, n, entries, width in row.levels])
    write_csv(os.path.join(folder, "history.csv"), [{"solver": row.solver.name, "iteration": k, "seconds": at, "norm": norm} for row in rows for k, (at, norm) in enumerate(row.history)])
    print("\n" + text_table(records) + "\n\n" + LEGEND.format(clock="of a processor" if arguments.processor_time else "of the clock"))
    if not arguments.processor_time and busy(rows):
        comparison.target.notes.append("Others use this machine: the clock ran much faster than the processor's time. BENCH=--processor-time compares that.")
    sized = []
    if arguments.sizes and best is not None:
        arguments.ksp = comparison.target.ksp
        sized = over_sizes(runner, arguments, {one["solver"] for one in summary(records)} | {"jacobi"}, records)
        write_csv(os.path.join(folder, "sizes.csv"), sized)
    sentences = list(break_even(sized))
    for note in comparison.target.notes + sentences:
        print(note)
    report(comparison, records, folder, draw(comparison, records, sized, folder), [f"- {sentence}" for sentence in sentences] + [""])
    print(f"Report, pictures and CSV files: {os.path.relpath(folder)}")
    if best is None:
        sys.exit("compare: no solver has solved it to the tolerance")


if __name__ == "__main__":
    main()
