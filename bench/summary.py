#!/usr/bin/python3
"""Pictures of published results, for README and docs/, in docs/pictures: times.png from bench/results/ratios.csv,
kappa.png from kappa.csv, convergence.png from convergence.csv.

    python3 bench/summary.py
    python3 bench/summary.py FOLDER/history.csv      first makes convergence.csv of residuals that were written by
                                                     make compare PROBLEM=3d-balls-1e3 BENCH="--save FOLDER"
"""
import csv
import os
import sys

from PIL import Image

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAMILIES = {"PCMG": "#D55E00", "PFMG": "#E69F00", "BoomerAMG": "#999999", "PCGAMG": "#555555"}
SOLVERS = {"kcycle": "#0072B2", "pfmg-redblack": FAMILIES["PFMG"], "mg-own-levels": FAMILIES["PCMG"],
           "boomeramg-hmis": FAMILIES["BoomerAMG"], "gamg-tuned": FAMILIES["PCGAMG"], "jacobi": "#CC79A7"}
LAST = 40  # iterations that are drawn
KAPPAS = {"V": "#D55E00", "F": "#E69F00", "3": "#009E73", "W": "#0072B2"}


def rows_of(name):
    with open(os.path.join(TOP, "bench", "results", name), newline="") as file:
        return list(csv.DictReader(file))


def save(pyplot, figure, path):
    for panel in figure.axes:
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    Image.open(path).convert("RGB").quantize(64, dither=0).save(path, optimize=True)


def draw_times(pyplot, path):
    """Bars: set-up and solve, the fastest setting of each family"""
    cases = rows_of("ratios.csv")
    figure, panel = pyplot.subplots(figsize=(8, 3.4))
    for number, (name, colour) in enumerate({"kcycle": "#0072B2", **FAMILIES}.items()):
        at = [k + (number - 2) * 0.16 for k in range(len(cases))]
        ratios = [1 if name == "kcycle" else float(case.get(name) or "nan") for case in cases]
        seconds = [ratio * float(case["kcycle_s"]) for ratio, case in zip(ratios, cases)]
        panel.bar(at, seconds, 0.15, color=colour, label=name)
    panel.set_yscale("log")
    panel.set_ylim(0.1, None)
    panel.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    panel.set_xticks(range(len(cases)), [case["title"].replace(", ", "\n") for case in cases], fontsize=8)
    panel.set_ylabel("seconds, set-up and solve")
    panel.legend(fontsize=8, frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1))
    save(pyplot, figure, path)


def draw_kappa(pyplot, path):
    """Cycles on rotated anisotropic diffusion over the number of levels"""
    shown = {"solver": "jacobi", "method": "alone", "angle": "45", "epsilon": "0.0001"}
    own = [row for row in rows_of("kappa.csv") if shown.items() <= row.items()]
    figure, panel = pyplot.subplots(figsize=(5, 3.4))
    for kappa, colour in KAPPAS.items():
        points = sorted((int(row["points"]), int(row["count"])) for row in own if row["kappa"] == kappa)
        label = f"kappa {kappa}" if kappa.isdigit() else f"{kappa}-cycle"
        panel.loglog(*zip(*points), "o-", color=colour, label=label, markersize=3)
    sizes = sorted({int(row["points"]) for row in own})
    panel.set_xticks(sizes, [f"{n}^2" for n in sizes], minor=False)
    panel.set_yticks([100, 200, 500, 1000], ["100", "200", "500", "1000"])
    panel.minorticks_off()
    panel.set_ylabel("cycles to 1e-8")
    panel.legend(fontsize=8, frameon=False)
    save(pyplot, figure, path)


def publish_convergence(history):
    """The residual of each iteration by the first one"""
    with open(history, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(os.path.join(TOP, "bench", "results", "convergence.csv"), "w") as file:
        file.write("solver,iteration,residual\n")
        for name in SOLVERS:
            own = [row for row in rows if row["solver"] == name]
            for row in own[:LAST + 1]:
                file.write(f"{name},{row['iteration']},{float(row['norm']) / float(own[0]['norm']):.3e}\n")


def draw_convergence(pyplot, path):
    figure, panel = pyplot.subplots(figsize=(5, 3.4))
    rows = rows_of("convergence.csv")
    for name, colour in SOLVERS.items():
        own = [(int(row["iteration"]), float(row["residual"])) for row in rows if row["solver"] == name]
        panel.semilogy([k for k, _ in own], [norm for _, norm in own], "o-", color=colour, label=name, markersize=2)
    panel.set_xlabel("iteration")
    panel.set_ylabel("residual / the first")
    panel.legend(fontsize=7, frameon=False, loc="center right")
    save(pyplot, figure, path)


def main():
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    folder = os.path.join(TOP, "docs", "pictures")
    if len(sys.argv) > 1:
        publish_convergence(sys.argv[1])
    draw_convergence(pyplot, os.path.join(folder, "convergence.png"))
    draw_times(pyplot, os.path.join(folder, "times.png"))
    draw_kappa(pyplot, os.path.join(folder, "kappa.png"))


if __name__ == "__main__":
    main()
