#!/usr/bin/python3
"""Measures what it costs to have no DM: the same problem with a DMDA and without one, in turns, by processor time of all processes,
which share one core: so one that waits leaves it to the other, and waiting takes no time.

    python3 bench/nodm.py                 all cases, 1 and 2 processes: some minutes
    python3 bench/nodm.py --quick         the same cases on small grids
    python3 bench/nodm.py --publish       also writes bench/results/nodm.csv, which the documentation quotes

Builds bench/nodm.c; make the library first.
"""

import argparse
import itertools
import os
import shlex
import statistics
import sys

from programs import build, petsc_at_hand, publish, start, surroundings
from launch import mpi_command  # found in conf (see programs.py)

LAYOUTS = ((1, "planes", "one process", "cg"), (2, "planes", "whole planes", "cg"), (2, "cut", "planes cut", "cg"), (2, "boxes", "numbered as by a DMDA", "cg"),
           (2, "cut", "planes cut, GMRES", "gmres"))
SIZES = {2: (1023, 127), 3: (127, 31)}


def measure(petsc, program, procs, options):
    command = mpi_command(procs, petsc["mpiexec"]) + [program, "-skip_petscrc", "-dll_append", petsc["library"], "-pc_type", "kcycle", *options]
    ended = start(["taskset", "-c", str(max(os.sched_getaffinity(0))), *command], 3600, surroundings(), procs)
    if ended.status or not ended.lines("pair"):
        sys.exit(f"nodm: {shlex.join(command)} failed:\n{ended.text}")
    return [[float(word) for word in pair] for pair in ended.lines("pair")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small grids")
    parser.add_argument("--pairs", type=int, default=7, help="pairs of runs, default 7")
    parser.add_argument("--layouts", default="", help="of planes,cut,boxes; default: all")
    parser.add_argument("--publish", action="store_true", help="also writes bench/results/nodm.csv")
    arguments = parser.parse_args()
    petsc = petsc_at_hand()
    folder = os.path.join(petsc["build"], "bench")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "nodm")
    build(petsc, "bench/nodm.c", program)
    rows = []
    print(f"{'':40}{'iterations':>14}{'first solve':>24}{'others':>24}\n{'':40}{'DM':>7}{'none':>7}" + 2 * f"{'DM, s':>8}{'none, s':>8}{'ratio':>8}")
    for (procs, layout, title, ksp), dim, smooth in itertools.product(LAYOUTS, SIZES, (False, True)):
        if arguments.layouts and layout not in arguments.layouts.split(","):
            continue
        n = SIZES[dim][arguments.quick]
        options = ["-dim", str(dim), "-n", str(n), "-layout", layout, "-pairs", str(arguments.pairs), "-ksp_type", ksp]
        pairs = measure(petsc, program, procs, options + (["-smooth"] if smooth else []))
        first, renewed = (statistics.median(pair[k + 1] / pair[k] for pair in pairs) for k in (0, 2))
        total = statistics.median((pair[1] + pair[3]) / (pair[0] + pair[2]) for pair in pairs)
        row = {"rows": title, "procs": procs, "dim": dim, "n": n, "coefficient": "1000:1" if smooth else "constant",
               "iterations_dm": int(pairs[0][4]), "iterations_none": int(pairs[0][5])}
        row.update({name: f"{statistics.median(pair[k] for pair in pairs):.3f}" for k, name in enumerate(("first_dm_s", "first_none_s", "renewed_dm_s", "renewed_none_s"))})
        row.update({"first_ratio": f"{first:.2f}", "renewed_ratio": f"{renewed:.2f}", "ratio": f"{total:.2f}"})
        rows.append(row)
        print(f"{title}, {procs} proc., {n}^{dim}, {row['coefficient']:9}".ljust(40)[:60]
              + f"{row['iterations_dm']:>7}{row['iterations_none']:>7}" + f"{row['first_dm_s']:>8}{row['first_none_s']:>8}{row['first_ratio']:>8}"
              + f"{row['renewed_dm_s']:>8}{row['renewed_none_s']:>8}{row['renewed_ratio']:>8}   {row['ratio']}", flush=True)
    if arguments.publish:
        publish("nodm.csv", rows)


if __name__ == "__main__":
    main()
