#!/usr/bin/python3
"""What a sweep of each smoother of PCRELAX costs: runs bench/smoothers.c, and prints seconds in units of a sweep of damped Jacobi.

    python3 bench/smoothers.py                               2D and 3D, constant coefficients and varying ones; minutes
    python3 bench/smoothers.py --sizes 1024,128 --rounds 9   points each way in 2D and in 3D
    python3 bench/smoothers.py --publish                     also writes bench/results/smoothers.csv

Medians of rounds in which the smoothers take turns. Make the library first. Results go to the folder bench of the build.
"""

import argparse
import os
import statistics
import sys

from programs import build, petsc_at_hand, publish, start, surroundings, write_csv

SMOOTHERS = {2: ["jacobi", "redblack", "zebra_x", "zebra_y", "alternating"], 3: ["jacobi", "redblack", "zebra_x", "zebra_y", "zebra_z", "alternating"]}


def measure(program, dim, n, coefficients, rounds):
    options = ["-dim", str(dim), "-n", str(n), "-rounds", str(rounds), "-sweeps", "6", "-smoothers", ",".join(SMOOTHERS[dim]), "-pc_relax_clusters", "off"]
    ended = start([program, "-skip_petscrc", *options, *(["-variable"] if coefficients == "varying" else [])], 3600, surroundings())
    if ended.status:
        sys.exit(f"smoothers: status {ended.status}: {ended.error()}")
    seconds = {}
    for _, name, setup, sweep in (line.split(",") for line in ended.text.splitlines() if line.count(",") == 3):
        seconds.setdefault(name, []).append((float(setup), float(sweep)))
    jacobi = [sweep for _, sweep in seconds["jacobi"]]
    for name in SMOOTHERS[dim]:
        sweeps = statistics.median(sweep / unit for (_, sweep), unit in zip(seconds[name], jacobi))
        yield {"dim": dim, "n": n, "coefficients": coefficients, "smoother": name, "sweep": f"{sweeps:.2f}",
               "setup": f"{seconds[name][0][0] / statistics.median(jacobi):.1f}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="2048,200", help="points each way in 2D and in 3D, default 2048,200")
    parser.add_argument("--rounds", type=int, default=5, help="default 5")
    parser.add_argument("--publish", action="store_true", help="also writes bench/results/smoothers.csv")
    arguments = parser.parse_args()
    petsc = petsc_at_hand()
    folder = os.path.join(petsc["build"], "bench")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "smoothers")
    build(petsc, "bench/smoothers.c", program, [petsc["library"]])
    rows = []
    print(f"{'dim':>3} {'n':>5} {'coefficients':12} {'smoother':12} {'sweep':>7} {'set-up':>7}   in sweeps of Jacobi")
    for dim, n in zip((2, 3), map(int, arguments.sizes.split(","))):
        for coefficients in ("constant", "varying"):
            for row in measure(program, dim, n, coefficients, arguments.rounds):
                print(f"{dim:3d} {n:5d} {coefficients:12} {row['smoother']:12} {row['sweep']:>7} {row['setup']:>7}", flush=True)
                rows.append(row)
    write_csv(os.path.join(folder, "smoothers.csv"), rows)
    if arguments.publish:
        publish("smoothers.csv", rows)


if __name__ == "__main__":
    main()
