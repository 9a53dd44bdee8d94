#!/usr/bin/python3
"""Pictures of published results, for README and docs/, in docs/pictures: times.png from bench/results/ratios.csv,
kappa.png from kappa.csv, convergence.png from convergence.csv.

    python3 bench/summary.py
    python3 bench/summary.py FOLDER/history.csv      first makes convergence.csv of residuals that were written by
                                                     make compare PROBLEM=3d-balls-1e3 BENCH="--save FOLDER"
"""
import os
import sys

import pictures
from programs import TOP, read_csv, write_csv

RESULTS = os.path.join(TOP, "bench", "results")
FAMILIES = {"kcycle": "#0072B2", "PCMG": "#D55E00", "PFMG": "#E69F00", "BoomerAMG": "#999999", "PCGAMG": "#555555"}
SOLVERS = ("kcycle", "pfmg-redblack", "mg-own-levels", "boomeramg-hmis", "gamg-tuned", "jacobi")
LAST = 40  # iterations that are drawn
KAPPAS = {"V": "V-cycle", "F": "F-cycle", "3": "kappa 3", "W": "W-cycle"}


def rows_of(name):
    return read_csv(os.path.join(RESULTS, name))


def draw_times(pyplot, path):
    """Bars: set-up and solve, the fastest setting of each family"""
    cases = rows_of("ratios.csv")
    figure, panel = pyplot.subplots(figsize=(8, 3.4))
    for number, (name, colour) in enumerate(FAMILIES.items()):
        at = [k + (number - 2) * 0.16 for k in range(len(cases))]
        ratios = [1 if name == "kcycle" else float(case.get(name) or "nan") for case in cases]
        seconds = [ratio * float(case["kcycle_s"]) for ratio, case in zip(ratios, cases)]
        panel.bar(at, seconds, 0.15, color=colour, label=name)
    panel.set_yscale("log")
    panel.set_ylim(0.03, None)
    panel.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    panel.set_xticks(range(len(cases)), [case["title"].replace(", ", "\n") for case in cases], fontsize=8)
    panel.set_ylabel("seconds, set-up and solve")
    panel.legend(fontsize=8, frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1))
    pictures.save(figure, path)


def draw_kappa(pyplot, path):
    """Cycles on rotated anisotropic diffusion over the number of points"""
    shown = {"solver": "jacobi", "method": "alone", "angle": "45", "epsilon": "0.0001"}
    own = sorted((row for row in rows_of("kappa.csv") if shown.items() <= row.items()), key=lambda row: int(row["n"]))
    figure, panel = pyplot.subplots(figsize=(5, 3.4))
    for kappa, label in KAPPAS.items():
        points = [(int(row["points"]), int(row["count"])) for row in own if row["kappa"] == kappa]
        panel.loglog(*zip(*points), "o-", label=label, markersize=3)
    sizes = sorted({int(row["points"]) for row in own})
    panel.set_xticks(sizes, [f"{n}^2" for n in sizes], minor=False)
    panel.set_yticks([100, 200, 500, 1000], ["100", "200", "500", "1000"])
    panel.minorticks_off()
    panel.set_ylabel("cycles to 1e-8")
    panel.legend(fontsize=8, frameon=False)
    pictures.save(figure, path)


def convergence(history):
    """The residual of each iteration by the first one"""
    rows = read_csv(history)
    for name in SOLVERS:
        own = [row for row in rows if row["solver"] == name]
        for row in own[:LAST + 1]:
            residual = float(row["norm"]) / float(own[0]["norm"])
            yield {"solver": name, "iteration": row["iteration"], "residual": f"{residual:.3e}"}


def convergence_panel():
    rows = rows_of("convergence.csv")
    curves = [(name, [int(row["iteration"]) for row in rows if row["solver"] == name],
               [float(row["residual"]) for row in rows if row["solver"] == name]) for name in SOLVERS]
    return "", "iteration", "residual / the first", "y", curves


def main():
    if len(sys.argv) > 1:
        write_csv(os.path.join(RESULTS, "convergence.csv"), list(convergence(sys.argv[1])))
    names = [os.path.join(TOP, "docs", "pictures", name + ".png") for name in ("times", "kappa", "convergence")]
    pyplot = pictures.pyplot_or_none() or sys.exit(1)
    draw_times(pyplot, names[0])
    draw_kappa(pyplot, names[1])
    pictures.draw(names[2], [convergence_panel()], size=(5, 3.4))
    for name in names:
        pictures.fewer_colours(name)


if __name__ == "__main__":
    main()
