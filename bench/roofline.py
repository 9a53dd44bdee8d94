#!/usr/bin/python3
"""The roofs of this machine in a file, for -pc_kcycle_roofline: runs bench/roofline.c.

    python3 bench/roofline.py                       one process: roofline.txt in the folder bench of the build
    python3 bench/roofline.py --procs 4 --save FILE

Make the library first. Takes a minute; times are of a processor, the least of some rounds.
"""

import argparse
import os
import subprocess
import sys

from programs import build, petsc_at_hand, surroundings
from launch import mpi_command  # found in conf (see programs.py)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--procs", type=int, default=1, help="that the solver will have, default 1")
    parser.add_argument("--rounds", type=int, default=9, help="of which the fastest counts, default 9")
    parser.add_argument("--save", help="the file")
    arguments = parser.parse_args()
    petsc = petsc_at_hand()
    folder = os.path.join(petsc["build"], "bench")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "roofline")
    build(petsc, "bench/roofline.c", program, [petsc["library"]])
    save = os.path.abspath(arguments.save or os.path.join(folder, "roofline.txt"))
    environment = surroundings()
    command = mpi_command(arguments.procs, petsc["mpiexec"]) + [program, "-skip_petscrc", "-rounds", str(arguments.rounds), "-o", save]
    if subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode:
        sys.exit("roofline: the program failed")
    print(f"{save}: use it with -pc_kcycle_roofline {save}")


if __name__ == "__main__":
    main()
