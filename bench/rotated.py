#!/usr/bin/python3
"""Rotated anisotropic diffusion with kappa 1, 2, 3, 4 and W: runs examples/tutorials/rotated.c and keeps its table as CSV.

    python3 bench/rotated.py                    n = 6, 7, 9; minutes
    python3 bench/rotated.py --sizes 6          2^6 - 1 points each way
    python3 bench/rotated.py --publish          also writes bench/results/rotated.csv, which the documentation quotes

Make the library first. Results go to the folder bench of the build.
"""

import argparse
import os
import subprocess
import sys

from programs import build, petsc_at_hand, publish, write_csv
from launch import mpi_environment  # found in conf


def table(program, n):
    """The lines that the program prints, as rows"""
    environment = mpi_environment({k: v for k, v in os.environ.items() if not k.startswith("PETSC_OPTIONS")})
    answer = subprocess.run([program, "-skip_petscrc", "-n", str(n)], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, universal_newlines=True)
    if answer.returncode:
        sys.exit(f"rotated: status {answer.returncode}")
    print(answer.stdout, flush=True)
    for line in answer.stdout.splitlines()[2:]:
        *kappa, calls, factor, cycles, cg = line.split()
        yield {"n": n, "points": 2**n - 1, "kappa": kappa[-1].strip("()") if len(kappa) > 1 else kappa[0], "calls": calls, "error_factor": factor, "cycles": cycles,
               "cg_iterations": cg}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="6,7,9", help="n, default 6,7,9")
    parser.add_argument("--publish", action="store_true", help="also writes what the documentation quotes, in bench/results")
    arguments = parser.parse_args()
    petsc = petsc_at_hand()
    folder = os.path.join(petsc["build"], "bench")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "rotated")
    build(petsc, "examples/tutorials/rotated.c", program, [petsc["library"]])
    rows = [row for n in map(int, arguments.sizes.split(",")) for row in table(program, n)]
    write_csv(os.path.join(folder, "rotated.csv"), rows)
    if arguments.publish:
        publish("rotated.csv", rows)


if __name__ == "__main__":
    main()
