#!/usr/bin/python3
"""Measures PCFASTPOISSON beside FFTW called by hand, matrix products, and PCKCYCLE to 1e-8: seconds of a processor, one process.

    python3 bench/fastpoisson.py                 all cases: some minutes
    python3 bench/fastpoisson.py --quick         the same on small grids
    python3 bench/fastpoisson.py --publish       also writes bench/results/fastpoisson.csv, which the documentation quotes

Builds bench/fastpoisson.c; make the library first. FFTW by hand: sine transforms of all directions with plans of least effort, division by eigenvalues, back; with
"same": the transforms of all directions but the last one alone, forth and back. Products: two with a matrix of eigenvectors in each direction, as one DGEMM each.
"""

import argparse
import os
import shlex
import sys

from programs import build, petsc_at_hand, publish, start, surroundings

# dimension, points of a direction, those of --quick, stretched, runs
CASES = ((2, 255, 63, False, 21), (2, 1023, 127, False, 9), (2, 2047, 255, False, 7), (3, 63, 15, False, 15), (3, 127, 31, False, 9), (3, 255, 63, False, 3),
         (2, 255, 63, True, 11), (3, 128, 32, True, 5))


def measure(petsc, program, options):
    command = [program, "-skip_petscrc", *options]
    ended = start(command, 3600, surroundings())
    lines = [line for line in ended.text.splitlines() if line.startswith("dim=")]
    if ended.status or not lines:
        sys.exit(f"fastpoisson: {shlex.join(command)} failed:\n{ended.text}")
    return dict(word.split("=", 1) for word in lines[-1].split())


def ratio(row, a, b):
    return f"{float(row[a]) / float(row[b]):.2f}" if b in row else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small grids")
    parser.add_argument("--publish", action="store_true", help="also writes bench/results/fastpoisson.csv")
    parser.add_argument("--options", default="", help="further options of PETSc, as -pc_fastpoisson_effort measure")
    arguments = parser.parse_args()
    petsc = petsc_at_hand()
    folder = os.path.join(petsc["build"], "bench")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "fastpoisson")
    build(petsc, "bench/fastpoisson.c", program, linked=[petsc["library"]], more=["-lfftw3"])
    rows = []
    heads = ("set-up", "solve", "both", "/ FFTW", "/ same", "/ products", "kcycle /", "residual")
    print(f"{'':26}" + "".join(f"{head:>11}" for head in heads))
    for (dim, n, quick, stretched, repeat), matrix in ((case, matrix) for case in CASES for matrix in ("aij", "stencil")):
        size = quick if arguments.quick else n
        options = ["-dim", str(dim), "-n", str(size), "-repeat", str(repeat), *shlex.split(arguments.options)]
        row = measure(petsc, program, options + ["-stretched"] * stretched + ["-stencil"] * (matrix == "stencil"))
        row = {"case": f"{size}^{dim}{' stretched' if stretched else ''} {matrix}", **row}
        row.update({"to_fftw": ratio(row, "both", "fftw"), "to_same": ratio(row, "both", "fftw_same"), "to_products": ratio(row, "both", "products"),
                    "kcycle_to_us": ratio(row, "kcycle", "both")})
        rows.append(row)
        print(f"{row['case']:26}" + "".join(f"{row[name]:>11}" for name in ("setup", "solve", "both", "to_fftw", "to_same", "to_products", "kcycle_to_us", "residual")), flush=True)
    if arguments.publish:
        publish("fastpoisson.csv", rows)


if __name__ == "__main__":
    main()
