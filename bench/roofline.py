#!/usr/bin/python3
"""The roofs of this machine in a file, for -pc_kcycle_roofline: runs bench/roofline.c.

    python3 bench/roofline.py                       one process: roofline.txt in the folder bench of the build
    python3 bench/roofline.py --procs 4 --save FILE

Make the library first. Takes a minute; times are of a processor, the least of some rounds.
"""

import os

import programs


def main():
    parser = programs.options(__doc__)
    parser.add_argument("--procs", type=int, default=1, help="that the solver will have, default 1")
    parser.add_argument("--rounds", type=int, default=9, help="of which the fastest counts, default 9")
    parser.add_argument("--save", help="the file")
    arguments = parser.parse_args()
    petsc = programs.petsc_at_hand()
    save = os.path.abspath(arguments.save or os.path.join(petsc["bench"], "roofline.txt"))
    programs.Program(petsc, "bench/roofline.c", True).lines(["-rounds", arguments.rounds, "-o", save], arguments.procs)
    print(f"{save}: use it with -pc_kcycle_roofline {save}")


if __name__ == "__main__":
    main()
