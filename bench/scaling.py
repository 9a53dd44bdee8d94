#!/usr/bin/env python3
"""Messages of a cycle: counted on 1 to 8 processes, computed by bench/scaling_model.py, and with the latter what an
iteration takes on up to 10^5 processes.

    python3 bench/scaling.py                     counts, what the model makes of the same runs, and its times: minutes
    python3 bench/scaling.py --parts model       the times alone, from the counts that are there; --parts count, plot
    python3 bench/scaling.py --parts count --procs 27,64    some of the counts on more processes, which must be those of
                                                            the model, too; nothing is published
    python3 bench/scaling.py --latency 1e-6 --overhead 2e-7 --bandwidth 1e10    another network
    python3 bench/scaling.py --publish           also writes bench/results/scaling-*.csv and docs/pictures/scaling.png

Poisson's equation in 3D, 7 points, Dirichlet points left out. Weak: 31^3 points a process are counted, 64^3 modelled;
strong: 63^3 counted, 511^3 modelled. Only counts are measured on several processes, as the machine may have fewer
cores; seconds of work are those of one process, with the processor's clock. An iteration is a cycle, the product of
conjugate gradients and its reductions. Seconds: work + latency of rounds + overhead of messages + bytes / bandwidth +
latency of reductions, log2(processes) for each.

Status 1: the model differs from what is counted.
"""

import glob
import os
import shutil
import sys

import pictures
import programs
import scaling_model as model
import solvers
from programs import TOP, build_once, choose, petsc_at_hand, read_csv, save, several

COUNTED = {("weak", 2): (31, 31, 63), ("weak", 4): (31, 63, 63), ("strong", 2): (63, 63, 63),
           ("strong", 4): (63, 63, 63), ("strong", 8): (63, 63, 63)}
QUICK = {("strong", 4): (31, 31, 31)}
FEW = [(1, 1000, 5000), (1, 0, -1), ("w", 0, 5000)]
KCYCLE = [(1, 1000, 5000), (1, 0, 5000), (1, 4000, 5000), (1, 1000, -1), (2, 1000, 5000), (3, 1000, 5000),
          ("w", 1000, 5000), ("w", 0, 5000), ("w", 4000, 5000)]
MODELLED = [(kappa, limit, 5000) for kappa in (1, 2, 3, "w")
            for limit in (0, 100, 1000, 10000)] + [(1, 1000, -1), (1, 1000, 100000), ("w", 1000, 100000)]
PEERS = {"pfmg": solvers.PEERS["pfmg"], "boomeramg": solvers.PEERS["boomeramg-hmis"]}
PARTS = ("count", "model", "plot")
NUMBERS = ("messages", "bytes", "rounds", "reductions")


def options_of(kappa, limit, ghosts):
    return ["-pc_mg_log", "-pc_kcycle_kappa", kappa, "-pc_kcycle_process_eq_limit", limit, "-pc_kcycle_ghost_points",
            ghosts]


def name_of(scaling, procs, solver, kappa="", limit="", ghosts=""):
    """Of a run, which the documentation quotes"""
    words = [scaling, procs, solver, kappa, *(("limit", limit) if limit not in ("", 1000) else ()),
             *(("ghosts", ghosts) if ghosts not in ("", 5000) else ())]
    return " ".join(str(word) for word in words if word != "")


class Counter(programs.Program):
    """Runs bench/battery.c with bench/messages.c"""

    def __init__(self, petsc):
        super().__init__(petsc, "bench/battery.c")
        self.watch, self.trace = os.path.join(petsc["bench"], "messages.so"), os.path.join(petsc["bench"], "messages")
        self.environment["MESSAGES_FILE"] = self.trace
        self.plain = self.start
        build_once(petsc, "bench/messages.c", self.watch, more=["-shared", "-fPIC", "-ldl"])

    def count(self, procs, grid, options, counted=True):
        """The words of the result, and rows of all processes"""
        for path in glob.glob(self.trace + ".*[0-9]"):
            os.remove(path)
        *plain, libraries = self.plain
        preload = ["env", "LD_PRELOAD=" + self.watch, *plain, libraries + "," + self.watch]
        self.start = preload if counted else self.plain
        lines = self.lines(["-cells", ",".join(map(str, grid)), "-ends", "vv,vv,vv", *options], procs)
        result = next(words for words in lines if words[0] == "result")
        return result, [read_csv(f"{self.trace}.{rank}") for rank in range(procs)] if counted else []

    def phases(self, procs, grid, options):
        """Of each span what the busiest process does; of the cycle by level and phase"""
        _, processes = self.count(procs, grid, ["-repeat", "1", "-ksp_max_it", "3", *options])
        most = {}
        for rows in processes:
            own = {}
            for row in rows:
                key = (row["span"], int(row["level"]),
                       row["phase"]) if row["span"] == "cycle" else (row["span"], -1, "")
                own[key] = [a + int(row[name]) for a, name in zip(own.get(key, [0] * len(NUMBERS)), NUMBERS)]
            for key, values in own.items():
                most[key] = [max(pair) for pair in zip(most.get(key, values), values)]
        return most


def compared(levels, moved, counted, nlevels):
    """Pairs of numbers of each level of a cycle: (depth, counted, modelled). A process may take part in several moves:
    MOVED has the sums of each"""
    for depth in sorted({level.depth for level in levels}):
        own = [level for level in levels if level.depth == depth and level.points]
        number = nlevels - 1 - depth if nlevels else depth
        rows = [value for key, value in counted.items() if key[0] == "cycle" and key[1] == number]
        modelled = [sum(getattr(level, name) for level in own) for name in NUMBERS[:3]]
        yield depth, [sum(row[i] for row in rows) for i in range(3)], modelled
    rows = [value for key, value in counted.items() if key[0] == "cycle" and key[1] == -1]
    rounds = sum(level.rounds for level in levels if not level.points)
    yield "moves", [sum(row[i] for row in rows)
                    for i in range(3)], [*(max((each[i] for each in moved.values()), default=0) for i in range(2)),
                                         rounds]


def deviation(counted, modelled):
    return max(abs(a - b) / max(a, b, 1) for a, b in zip(counted, modelled))


def count(counter, runs, variants, peers):
    """Rows of phases, and rows of levels with the model's"""
    phases, levels = [], []
    for (scaling, procs), grid in runs.items():
        jobs = [("kcycle", f"{k}", limit, ghosts, options_of(k, limit, ghosts)) for k, limit, ghosts in variants]
        jobs += [(name, "", "", "", PEERS[name].split()) for name in peers]
        for solver, kappa, limit, ghosts, options in jobs:
            counted = counter.phases(procs, grid, options)
            head = {"run": name_of(scaling, procs, solver, kappa, limit, ghosts), "scaling": scaling, "procs": procs,
                    "grid": "x".join(map(str, grid)), "solver": solver, "kappa": kappa, "limit": limit,
                    "ghost_points": ghosts}
            nlevels = model.number_of_levels(grid) if solver == "kcycle" else 0
            for (span, number, phase), values in counted.items():
                level = "" if number < 0 else nlevels - 1 - number if nlevels else number
                words = phase or ("between levels" if span == "cycle" else "all")
                phases.append({**head, "span": span, "level": level, "phase": words, **dict(zip(NUMBERS, values))})
            if solver == "boomeramg":
                continue
            moved, worst = {}, 0.0
            if solver == "pfmg":
                own = model.pfmg(grid, procs)
            else:
                own = model.kcycle(grid, procs, int(kappa) if kappa != "w" else "w", limit, ghosts, moved)
            for depth, here, there in compared(own, moved, counted, nlevels):
                levels.append({**head, "level": depth, **{name: value for name, value in zip(NUMBERS, here)},
                               **{"model_" + name: value for name, value in zip(NUMBERS, there)},
                               "deviation": f"{deviation(here, there):.3f}"})
                worst = max(worst, deviation(here, there))
            print(f"{scaling:7} {procs} processes {head['grid']:9} {solver} {kappa:1} limit {limit} ghosts {ghosts}: "
                  f"deviation of the model {100 * worst:.1f} %", flush=True)
    return phases, levels


def totals(phases):
    """A cycle, and set-up, of each run"""
    names = ("run", "scaling", "procs", "grid", "solver", "kappa", "limit", "ghost_points", "span")
    rows = {}
    for row in phases:
        own = rows.setdefault(tuple(row[name] for name in names), dict.fromkeys(NUMBERS, 0))
        for name in NUMBERS:
            own[name] += int(row[name])
    return [{**dict(zip(names, key)), **value} for key, value in rows.items()]


def iterations_and_work(counter, cells, peers):
    """Of each solver: iterations, seconds of an iteration on one process for each unit of work"""
    found, grid = {}, (cells, cells, cells)
    jobs = [("kcycle " + str(k), options_of(k, 1000, 5000)[1:], model.kcycle(grid, 1, k)) for k in (1, 2, 3, "w")]
    jobs += [("pfmg", PEERS["pfmg"].split(), model.pfmg(grid, 1))] if "pfmg" in peers else []
    for name, options, levels in jobs:
        words, _ = counter.count(1, grid, ["-repeat", "5", "-patience", "20", *options], counted=False)
        found[name] = int(words[2]), float(words[5]) / int(words[2]) / model.weights(levels)
        print(f"{name}: {found[name][0]} iterations of {float(words[5]) / int(words[2]):.4f} s on one process, "
              f"{cells}^3", flush=True)
    return found


def plain_of(counter, cells):
    """How many times as long a cycle takes without fused passes, which a process has that is its own neighbour"""
    spent = []
    for ghosts in -1, 10**9:
        options = ["-ends", "pp,vv,vv", "-repeat", "5", "-patience", "20", "-pc_kcycle_ghost_points", ghosts]
        words, _ = counter.count(1, (cells + 1, cells, cells), options, counted=False)
        spent.append(float(words[5]) / int(words[2]))
    depth = 2 * (2 * 2 + 2)  # what fused passes compute twice
    plain = spent[0] / spent[1] * (cells + 1 + depth) / (cells + 1)
    print(f"plain sweeps take {plain:.2f} times as long as fused ones")
    return plain


def reductions_of(counter, grid, procs, peers):
    """Of an iteration, from runs of 2 and 4 of them"""
    found = {}
    jobs = [("kcycle", options_of(1, 1000, 5000))] + [(name, PEERS[name].split()) for name in peers if name == "pfmg"]
    for name, options in jobs:
        sums = []
        for its in "2", "4":
            _, processes = counter.count(procs, grid, ["-repeat", "1", "-ksp_max_it", its, *options])
            sums.append(max(sum(int(row["reductions"]) for row in rows if row["span"] == "solve")
                            for rows in processes))
        _, processes = counter.count(procs, grid, ["-repeat", "1", "-ksp_max_it", "3", *options])
        cycle = max(sum(int(row["reductions"]) for row in rows if row["span"] == "cycle") for rows in processes)
        found[name] = (sums[1] - sums[0]) // 2 + cycle
        print(f"{name}: {found[name]} reductions an iteration, {cycle} of them in the cycle")
    return found


def cubes(exponent):
    """A grid of processes of 2^exponent, longest last"""
    return [2 ** ((exponent + d) // 3) for d in range(3)]


def grid_of(scaling, exponent):
    if scaling == "weak":
        return tuple(64 * m - 1 for m in cubes(exponent))
    return 511, 511, 511


def predict(machine, found, plain, reductions, most):
    rows = []
    for scaling in "weak", "strong":
        for exponent in range(0 if scaling == "weak" else 6, most + 1):
            procs, grid = 2**exponent, grid_of(scaling, exponent)
            jobs = [("kcycle", k, limit, ghosts, model.kcycle(grid, procs, k, limit, ghosts))
                    for k, limit, ghosts in MODELLED] + \
                ([("pfmg", "", "", "", model.pfmg(grid, procs))] if "pfmg" in found else [])
            for solver, kappa, limit, ghosts, levels in jobs:
                its, work = found[f"{solver} {kappa}".strip()]
                parts = model.seconds(levels, procs, grid, reductions[solver], work, plain, machine)
                total = sum(parts.values())
                rows.append({"run": name_of(scaling, procs, solver, kappa, limit, ghosts), "scaling": scaling,
                             "procs": procs, "grid": "x".join(map(str, grid)), "solver": solver, "kappa": kappa,
                             "limit": limit, "ghost_points": ghosts,
                             "smallest_group": min(level.procs for level in levels),
                             "messages": sum(level.messages for level in levels),
                             "bytes": sum(level.bytes for level in levels),
                             "rounds": sum(level.rounds for level in levels),
                             **{f"{name}_ms": f"{1000 * value:.4f}" for name, value in parts.items()},
                             "iteration_ms": f"{1000 * total:.4f}", "iterations": its,
                             "solve_ms": f"{1000 * its * total:.3f}"})
    return rows


def plot(rows, path):
    shown = [("kcycle", k, "1000", "5000", words, "-")
             for k, words in (("1", "V, kappa 1"), ("2", "F, kappa 2"), ("3", "kappa 3"), ("w", "W"))]
    shown += [("kcycle", "1", "0", "5000", "V, gathered late", "--"),
              ("kcycle", "1", "1000", "100000", "V, more ghost points", "--"), ("pfmg", "", "", "", "PFMG", "k-")]
    keys, panels = ("scaling", "solver", "kappa", "limit", "ghost_points"), []
    for scaling, column, title in (("weak", "rounds", "rounds of a cycle, weak"),
                                   ("weak", "solve_ms", "solve, weak, 64^3 a process: ms"),
                                   ("strong", "solve_ms", "solve, strong, 511^3: ms")):
        curves = []
        for *wanted, words, style in shown:
            own = [row for row in rows
                   if [row[name] for name in keys] == [scaling, *wanted] and float(row[column]) > 0]
            curves.append((words, [int(row["procs"]) for row in own], [float(row[column]) for row in own], style))
        panels.append((title + " (modelled)", "processes", "", "xy", curves))
    pictures.draw(path, panels, size=(3.4, 3.2))
    pictures.fewer_colours(path)


def summary(rows):
    """Of the largest run of each solver"""
    shown = ("scaling", "solver", "kappa", "limit", "ghost_points", "procs", "messages", "bytes", "rounds",
             "iteration_ms", "solve_ms")
    print("".join(f"{name:>13}" for name in shown))
    for row in rows:
        if int(row["procs"]) == max(int(other["procs"]) for other in rows):
            print("".join(f"{row[name]:>13}" for name in shown))


def parse():
    parser = programs.options(__doc__, parts=PARTS,
                              quick="small grids, and up to 64 processes in the model: no numbers to publish",
                              publish="also writes bench/results/scaling-*.csv and the picture")
    parser.add_argument("--procs", type=several(int), default=[],
                        help="counts on these numbers of processes instead, 63^3 points")
    parser.add_argument("--peers", default=",".join(PEERS),
                        help="other solvers that are counted, of " + ", ".join(PEERS) + "; none: a PETSc without hypre")
    parser.add_argument("--latency", type=float, default=2e-6, help="seconds of a round, default 2e-6")
    parser.add_argument("--overhead", type=float, default=3e-7, help="seconds of work for a message, default 3e-7")
    parser.add_argument("--bandwidth", type=float, default=2e9, help="bytes a second of a process, default 2e9")
    arguments = parser.parse_args()
    if min(arguments.latency, arguments.overhead, arguments.bandwidth) <= 0:
        parser.error("--latency, --overhead and --bandwidth are positive numbers")
    choose(arguments.parts, PARTS, "part")
    arguments.peers = [] if arguments.peers == "none" else choose(arguments.peers.split(","), PEERS, "peer")
    if any(procs < 2 for procs in arguments.procs):
        parser.error("--procs: at least 2 processes")
    return arguments


def main():
    arguments, failed = parse(), False
    parts, petsc = arguments.parts, petsc_at_hand()
    counter, published = Counter(petsc), arguments.publish and not arguments.quick and not arguments.procs
    runs = {("strong", procs): COUNTED[("strong", 8)]
            for procs in arguments.procs} or (QUICK if arguments.quick else COUNTED)
    if "count" in parts:
        phases, levels = count(counter, runs, FEW if arguments.quick or arguments.procs else KCYCLE, arguments.peers)
        save(petsc, "scaling-phases.csv", phases, published)
        save(petsc, "scaling-levels.csv", levels, published)
        save(petsc, "scaling-totals.csv", totals(phases), published)
        failed = any(float(row["deviation"]) > 0 for row in levels)
    if "model" in parts:
        found = iterations_and_work(counter, 31 if arguments.quick else 127, arguments.peers)
        plain = plain_of(counter, 31 if arguments.quick else 127)
        reductions = reductions_of(counter, (31, 31, 31), 2, arguments.peers)
        rows = predict(model.Machine(arguments.latency, arguments.overhead, arguments.bandwidth), found, plain,
                       reductions, 6 if arguments.quick else 17)
        save(petsc, "scaling-model.csv", rows, published)
        summary(rows)
    if "plot" in parts:
        path = os.path.join(petsc["bench"], "scaling.png")
        rows = read_csv(os.path.join(petsc["bench"], "scaling-model.csv"))
        if not rows:
            sys.exit("scaling: nothing to plot: run --parts model")
        plot(rows, path)
        if published:
            shutil.copy(path, os.path.join(TOP, "docs", "pictures"))
    if failed:
        sys.exit("scaling: the model differs from what is counted, see the deviations above")


if __name__ == "__main__":
    main()
