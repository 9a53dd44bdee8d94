#!/usr/bin/python3
"""The battery: the problems on which every threshold, rule and smoother of the library is judged. Iterations, set-up
and solve of each, and what has changed.

    python3 bench/battery.py                                   all cases, one process: minutes
    python3 bench/battery.py --quick                           small grids: a minute
    python3 bench/battery.py --against bench/results/battery.csv   compared with a saved run: iterations and times,
                                                                   case by case and in sum
    python3 bench/battery.py --against-library libpetsckcycle.so   both libraries in turn: medians of ratios of
                                                                   processor time, good on a busy machine
    python3 bench/battery.py --cases '3d-mixed*,2d-holes'      some cases; --group fields,jumps; --watching KCYCLE_JUMP:
                                                               those that watch a threshold
    python3 bench/battery.py --seed 7                          held-out problems instead: kinds, grids, ends and
                                                               contrasts at random
    python3 bench/battery.py --options '-pc_kcycle_kappa 2'    more options for the solver

Builds bench/battery.c; make the library first. Seconds are of a processor (of the slowest process), the least of some
solves; conjugate gradients to a relative residual of --rtol. The run is saved in the folder bench of the build as
battery.csv, or where --save says. ">500" is a case that does not converge in 500 iterations.

Status 1: a case fails that did not fail before, or, where there is nothing to compare with, all fail;
or iterations depend on the number of processes in a case that takes at most 30 of them.
"""

import csv
import fnmatch
import math
import os
import shlex
import statistics
import sys

import programs
from battery_cases import GROUPS, cases, held_out, matching, smaller
from programs import choose, petsc_at_hand, save, several, write_csv
from solvers import PEERS

WORSE = 1.2  # what is called worse
MOST = 500  # iterations
SLOW = 30  # with more of them rounding may decide on the last ones


class Program(programs.Program):
    def __init__(self, petsc, arguments):
        super().__init__(petsc, "bench/battery.c")
        self.arguments = arguments

    def solve(self, case, procs, library, options=""):
        """A row of results"""
        words = smaller(case.options) if self.arguments.quick else case.options
        words = ["-dll_append", library, "-repeat", self.arguments.repeat, "-ksp_rtol", self.arguments.rtol,
                 "-ksp_max_it", MOST, *words, *shlex.split(self.arguments.options), *shlex.split(options)]
        row = {"name": case.name, "group": case.group, "procs": procs, "unknowns": "", "iterations": "", "status": "",
               "setup_s": "", "solve_s": "", "residual": ""}
        ended = self.run(words, procs, self.arguments.limit)
        lines = ended.lines("result")
        if ended.expired:
            row["status"] = f"stopped after {self.arguments.limit} s"
            return row
        if ended.status or not lines:
            row["status"] = f"crashed: status {ended.status} {ended.error()}".strip()
            return row
        row["unknowns"], row["iterations"], reason, row["setup_s"], row["solve_s"], row["residual"] = lines[0]
        row["status"] = "ok" if reason.startswith("CONVERGED") else reason
        if reason == "DIVERGED_ITS":
            row["iterations"] = f">{MOST}"
        return row


def seconds(row):
    return float(row["setup_s"]) + float(row["solve_s"])


def ok(row):
    return row is not None and row["status"] == "ok"


def pairs(program, case, procs, libraries, number):
    """A row of the new library and one of the old one, taken in turn; the new one's has the median of the ratios"""
    runs = [[], []]
    for k in range(number):
        for which in (0, 1) if k % 2 else (1, 0):
            runs[which].append(program.solve(case, procs, libraries[which]))
        if not (ok(runs[0][-1]) and ok(runs[1][-1])):
            break
    row, before = runs[0][-1], runs[1][-1]
    if ok(row) and ok(before):
        both = list(zip(*runs))
        row["ratio"] = f"{statistics.median(seconds(new) / seconds(old) for new, old in both):.3f}"
        setup = statistics.median(float(new["setup_s"]) / float(old["setup_s"]) for new, old in both)
        row["setup_ratio"] = f"{setup:.3f}"
        for result, own in ((row, runs[0]), (before, runs[1])):
            for name in ("setup_s", "solve_s"):
                result[name] = f"{statistics.median(float(run[name]) for run in own):.5f}"
    return row, before


def add_peers(program, case, row, peers, library):
    for name in peers:
        peer = program.solve(case, row["procs"], library, PEERS[name])
        row[name] = peer["iterations"] if ok(peer) else "fails"
        row[f"{name}_ratio"] = f"{seconds(peer) / seconds(row):.2f}" if ok(peer) and ok(row) else ""


def head(compared, peers):
    line = f"{'case':28}{'procs':>6}{'unknowns':>10}" + (f"{'before':>8}" if compared
                                                         else "") + f"{'iter.':>7}{'set-up':>9}{'solve':>9}"
    return line + (f"{'ratio':>8}" if compared else "") + "".join(f"{name:>11}{'ratio':>7}" for name in peers)


def line_of(row, before, peers):
    def iterations(one):
        return one["iterations"] if ok(one) or one["iterations"].startswith(">") else "fails"

    text = f"{row['name']:28}{row['procs']:>6}{row['unknowns']:>10}"
    text += (f"{iterations(before):>8}" if before else "") + f"{iterations(row):>7}"
    text += "".join(f"{float(row[name]):>9.4f}" if row[name] else f"{'':9}" for name in ("setup_s", "solve_s"))
    if before:
        text += f"{row.get('ratio', ''):>8}"
    text += "".join(f"{row[name]:>11}{row[name + '_ratio']:>7}" for name in peers)
    if before and is_worse(row, before):
        text += "  worse"
    return text + ("" if ok(row) else f"  {row['status']}")


def is_worse(row, before):
    """By more iterations, one more apart, or, if both were measured in turn, by time"""
    if not (ok(row) and ok(before)):
        return False
    its, old = int(row["iterations"]), int(before["iterations"])
    return its > max(WORSE * old, old + 1) or ("setup_ratio" in row and float(row["ratio"]) > WORSE)


def mean(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def compare(compared):
    """Prints what has changed, and says whether a case fails that did not. COMPARED: pairs of rows"""
    both = [(row, before) for row, before in compared if ok(row) and ok(before)]
    lost = [row["name"] for row, before in compared if ok(before) and not ok(row)]
    won = [row["name"] for row, before in compared if ok(row) and not ok(before)]
    if both:
        new, old = (sum(int(one[k]["iterations"]) for one in both) for k in (0, 1))
        ratios = [float(row["ratio"]) for row, _ in both]
        mean_iterations = mean([int(row["iterations"]) / max(int(before["iterations"]), 1)
                                for row, before in both if row["iterations"] != "0"] or [1])
        print(f"of {len(both)} cases that converge before and now: {old} iterations before, {new} now; geometric "
              f"means of now / before: iterations {mean_iterations:.3f}, time {mean(ratios):.3f}")
    for row, before in sorted(both, key=lambda one: -int(one[0]["iterations"]) / int(one[1]["iterations"])):
        if is_worse(row, before):
            print(f"worse: {row['name']}, {row['procs']} proc.: {before['iterations']} iterations before, "
                  f"{row['iterations']} now, time {row['ratio']}")
    better = [f"{row['name']} {before['iterations']} -> {row['iterations']}"
              for row, before in both if is_worse({**before, "ratio": 1}, row)]
    for names, what in ((better, "fewer iterations"), (won, "converge now"), (lost, "FAIL NOW")):
        if names:
            print(f"{what}: {', '.join(names)}")
    return bool(lost)


def processes(rows):
    """Prints iterations that depend on the number of processes, and says whether there are any but of slow cases, where
    rounding decides"""
    differ = False
    for name in dict.fromkeys(row["name"] for row in rows):
        own = [row for row in rows if row["name"] == name]
        if len({row["iterations"] for row in own}) > 1:
            print(f"depends on the number of processes: {name}: "
                  + ", ".join(f"{row['iterations'] or row['status']} on {row['procs']}" for row in own))
            differ = differ or not all(map(ok, own)) or min(int(row["iterations"]) for row in own) <= SLOW
    return differ


def summary(rows):
    good, bad = [row for row in rows if ok(row)], [row for row in rows if not ok(row)]
    print(f"\n{len(good)} cases converge: {sum(int(row['iterations']) for row in good)} iterations, "
          f"{sum(map(seconds, good)):.1f} s; {len(bad)} fail"
          + (": " + ", ".join(row["name"] for row in bad) if bad else ""))
    for group in dict.fromkeys(row["group"] for row in good):
        own = [row for row in good if row["group"] == group]
        worst = max(own, key=lambda row: int(row["iterations"]))
        print(f"  {group}: {sum(int(row['iterations']) for row in own)} iterations of {len(own)} cases, most "
              f"{worst['iterations']} ({worst['name']})")


def chosen(arguments):
    """The cases that the command asks for"""
    known = list(held_out(arguments.seed, arguments.random)) if arguments.seed is not None else cases()
    choose(arguments.group, GROUPS, "group")
    watching = choose(arguments.watching, sorted({name for case in known for name in case.watches}), "threshold")
    for pattern in arguments.cases:
        if not fnmatch.filter([case.name for case in known], pattern):
            sys.exit(f"battery: no case is called {pattern}; --list shows all")
    wanted = [case for case in matching(known, arguments.cases, arguments.group) if not watching
              or set(watching) & set(case.watches)]
    if not wanted:
        sys.exit("battery: no case is in all of --cases, --group and --watching")
    return wanted


def read_saved(path):
    """A saved run by case and number of processes"""
    if not path:
        return {}
    try:
        with open(path, newline="") as file:
            return {(row["name"], int(row["procs"])): row for row in csv.DictReader(file)}
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"battery: {path} is no saved run: {error}")


def parse():
    parser = programs.options(__doc__, quick="small grids", publish="also writes bench/results/battery.csv",
                              cases=GROUPS)
    parser.add_argument("--watching", type=several(str), default=[], help="cases that watch these thresholds")
    parser.add_argument("--procs", type=several(int), default=[1], help="numbers of processes, default 1")
    parser.add_argument("--rtol", type=float, default=1e-8, help="relative residual, default 1e-8")
    parser.add_argument("--repeat", type=int, default=9,
                        help="solves in each run, of which the fastest counts, default 9; fewer of slow ones")
    parser.add_argument("--limit", type=int, default=300, help="seconds for a run")
    parser.add_argument("--options", default="", help="more options, for the solver")
    parser.add_argument("--against", default="", help="a saved run to compare with")
    parser.add_argument("--against-library", default="", help="another library to compare with, in turn")
    parser.add_argument("--pairs", type=int, default=3, help="runs of both libraries, default 3")
    parser.add_argument("--peers", type=several(str), default=[], help="other solvers, too: " + ",".join(PEERS))
    parser.add_argument("--seed", type=int, help="held-out cases made from this number")
    parser.add_argument("--random", type=int, default=24, help="their number, default 24")
    parser.add_argument("--save", default="", help="where the run is saved")
    parser.add_argument("--list", action="store_true",
                        help="prints the cases, their options and the thresholds that they watch")
    arguments = parser.parse_args()
    if arguments.against and arguments.against_library:
        parser.error("--against and --against-library exclude each other")
    if arguments.against_library and not os.path.exists(arguments.against_library):
        parser.error(f"there is no library {arguments.against_library}")
    return arguments


def measure(program, arguments, petsc, wanted, saved):
    """Rows, and pairs of rows that are compared"""
    peers = choose(arguments.peers, PEERS, "peer")
    libraries = (petsc["library"], os.path.abspath(arguments.against_library))
    rows, compared = [], []
    print(head(saved or arguments.against_library, peers))
    for procs in arguments.procs:
        for case in wanted:
            if arguments.against_library:
                row, before = pairs(program, case, procs, libraries, arguments.pairs)
            else:
                row, before = program.solve(case, procs, libraries[0]), saved.get((case.name, procs))
                if before and row["unknowns"] and before["unknowns"] not in ("", row["unknowns"]):
                    sys.exit(f"battery: {case.name} has {before['unknowns']} unknowns in {arguments.against}, "
                             f"{row['unknowns']} here: compare runs with the same --quick")
                if ok(row) and ok(before):
                    row["ratio"] = f"{seconds(row) / seconds(before):.3f}"
            add_peers(program, case, row, peers, libraries[0])
            rows.append(row)
            if before:
                compared.append((row, before))
            print(line_of(row, before, peers), flush=True)
    return rows, compared


def main():
    arguments = parse()
    wanted, saved = chosen(arguments), read_saved(arguments.against)
    if arguments.list:
        for case in wanted:
            print(f"{case.group:12}{case.name:26} {' '.join(case.options)}  {' '.join(case.watches)}".rstrip())
        return
    petsc = petsc_at_hand()
    rows, compared = measure(Program(petsc, arguments), arguments, petsc, wanted, saved)
    summary(rows)
    differ = processes(rows)
    failed = compare(compared) if compared else not any(map(ok, rows))
    save(petsc, "battery.csv", [{name: cell for name, cell in row.items() if name not in ("ratio", "setup_ratio")}
                                for row in rows], arguments.publish)
    if arguments.save:
        write_csv(arguments.save, rows)
    sys.exit(1 if failed or differ else 0)


if __name__ == "__main__":
    main()
