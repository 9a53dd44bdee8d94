#!/usr/bin/python3
"""Which solver for which kind of problem? make compare on a case of the battery for each kind: docs/choosing.md quotes the table.

    python3 bench/choosing.py                             all kinds, one process, processor time: half an hour where others use the machine
    python3 bench/choosing.py --cases 3d-balls-1e3        some of them
    python3 bench/choosing.py --quick                     small grids
    python3 bench/choosing.py --publish                   also writes the lines of these cases to bench/results/choosing.csv

A line for each case: iterations, set-up and solve of kcycle with no option; of the best solver of each family its time, set-up and solve, over that of the best of all, and its name; from how many unknowns
on, of the grids that were tried (an eighth, a quarter and half as fine, and the whole), kcycle takes less time than preconditioners of one level, and than all others but fastpoisson. Make the library first.
"""

import argparse
import csv
import os
import shlex
import subprocess
import sys

from battery_cases import cases, smaller
from programs import TOP, choose, petsc_at_hand, publish, start, surroundings, write_csv

# An example of each kind, in the order of the page
KINDS = {
    "2d-dirichlet": "constant, 2D",
    "3d-dirichlet": "constant, 3D",
    "3d-neumann": "constant, insulated (singular)",
    "3d-27-points": "constant, 27 points",
    "1d-dirichlet": "constant, 1D",
    "3d-smooth": "smooth coefficient",
    "3d-balls-1e3": "27 balls, 1000 : 1",
    "3d-mixed-30-1e6": "3 of 10 cells are 1e6 times as stiff, 3D",
    "3d-weak-z-0.01": "one direction weak",
    "3d-1.1-walls": "stretched towards all walls",
    "3d-stretched-checker": "checkerboard on a stretched grid",
    "known-spe10-channels": "reservoir with channels",
    "known-pore-space": "pores between inactive spheres",
    "known-segmentation": "segmentation of a picture",
    "3d-angle-30-20-2": "convection at an angle",
    "2d-eddy-100": "an eddy, strong convection",
}
# Where rounding does not let b - A x become 1e-8 of b, whoever solves
TOLERANCES = {"1d-dirichlet": "1e-6"}
SOLVERS = "kcycle,kcycle-kcg,boomeramg-*,pfmg*,mg-own-levels,gamg,gamg-tuned,ilu,jacobi,fastpoisson"
FAMILIES = ("kcycle", "fastpoisson", "BoomerAMG", "PFMG", "PCMG", "PCGAMG", "one level")


def table(path):
    with open(path, newline="") as file:
        return [line for line in csv.DictReader(file) if line["status"] == "ok"]


def best(lines, family):
    return min((line for line in lines if line["family"] == family), key=lambda line: float(line["total_s"]), default=None)


def from_size(sized, families):
    """The smallest size from which on kcycle takes less time than these families"""
    smallest = ""
    for size in sorted({int(line["unknowns"]) for line in sized}, reverse=True):
        own = [line for line in sized if int(line["unknowns"]) == size]
        ours, others = best(own, "kcycle"), [float(line["total_s"]) for line in own if line["family"] in families]
        if ours is None or others and min(others) <= float(ours["total_s"]):
            break
        smallest = size
    return smallest


def falls_back(petsc, case, quick):
    """Has kcycle another preconditioner in its place?"""
    words = smaller(case.options) if quick else case.options
    command = [os.path.join(petsc["build"], "bench", "battery"), "-skip_petscrc", "-dll_append", petsc["library"], "-repeat", "1", "-pc_type", "kcycle", "-ksp_view", *words]
    ended = start(command, 600, surroundings())
    if ended.status:
        sys.exit(f"choosing: {shlex.join(command)} failed: {ended.error()}")
    return "another preconditioner takes their place" in ended.text


def compare(petsc, case, arguments):
    folder = os.path.join(arguments.save, case.name)
    command = [sys.executable, "-B", os.path.join(TOP, "bench", "compare.py"), "--problem", case.name, "--quick", "--processor-time", "--no-pictures", "--solvers", arguments.solvers, "--save", folder,
               "--repeat", str(arguments.repeat), "--slow", "12", "--limit", "20", "--budget", "400", "--rtol", TOLERANCES.get(case.name, "1e-8"), "--sizes", "0.125,0.25,0.5,1"] + (["--small"] if arguments.quick else [])
    if subprocess.run(command).returncode:
        sys.exit(f"choosing: {shlex.join(command)} failed")
    lines, sized = table(os.path.join(folder, "solvers.csv")), table(os.path.join(folder, "sizes.csv"))
    default = next((line for line in lines if line["solver"] == "kcycle"), None)
    fastest = min(float(line["total_s"]) for line in lines)
    row = {"case": case.name, "kind": KINDS[case.name], "unknowns": lines[0]["unknowns"], "fallback": "yes" if falls_back(petsc, case, arguments.quick) else ""}
    row.update({name: default[name] if default else "fails" for name in ("iterations", "setup_s", "solve_s")})
    for family in FAMILIES:
        line = best(lines, family)
        row[family] = f"{float(line['total_s']) / fastest:.2f}" if line else ""
        row[f"{family}: name"] = line["solver"] if line else ""
    row["from, one level"] = from_size(sized, ("one level",))
    row["from, all"] = from_size(sized, [family for family in FAMILIES if family not in ("kcycle", "fastpoisson")])
    return row


def publish_some(rows):
    """In the order of KINDS; lines of other cases stay"""
    path, lines = os.path.join(TOP, "bench", "results", "choosing.csv"), {}
    if os.path.exists(path):
        with open(path, newline="") as file:
            lines = {line["case"]: line for line in csv.DictReader(file)}
    lines.update({row["case"]: row for row in rows})
    publish("choosing.csv", [lines[name] for name in KINDS if name in lines])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(KINDS), help="names")
    parser.add_argument("--solvers", default=SOLVERS, help="names, with * and ?, of bench/solvers.py; kcycle among them")
    parser.add_argument("--quick", action="store_true", help="small grids")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the median counts; default 3")
    parser.add_argument("--save", default="", help="folder for the reports, choosing.csv among them")
    parser.add_argument("--publish", action="store_true", help="also writes their lines to bench/results/choosing.csv, which the documentation quotes")
    arguments = parser.parse_args()
    names = choose(arguments.cases.split(","), list(KINDS), "case")
    petsc = petsc_at_hand()
    arguments.save = arguments.save or os.path.join(petsc["build"], "choosing")
    rows = [compare(petsc, case, arguments) for name in names for case in cases() if case.name == name]
    write_csv(os.path.join(arguments.save, "choosing.csv"), rows)
    if arguments.publish:
        publish_some(rows)
    for row in rows:
        print(f"{row['case']:22} {row['unknowns']:>8} {row['iterations']:>5} " + "  ".join(f"{family} {row[family] or '-'}" for family in FAMILIES))


if __name__ == "__main__":
    main()
