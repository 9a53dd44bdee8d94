#!/usr/bin/python3
"""Compares preconditioners on PETSc's own tutorials, compiled as they are shipped: one table and one picture.

    make demo        installs what is missing, builds the library and runs this; DEMO="--budget 60"

All have their default options; mg has the levels that -da_refine makes, kcycle chooses its own. Ends with status 1 if a run with kcycle failed.
"""

import argparse
import math
import os
import sys

import compare
from programs import build, petsc_at_hand
from solvers import Solver

RTOL = 1e-8
# The operators of ex45 and ex29 are not symmetric: rows of boundary points are diagonal, columns are not
PROBLEMS = (
    ("ex45", "3D Poisson, Dirichlet, 65 x 65 x 65 points", "gmres", "-da_grid_x 5 -da_grid_y 5 -da_grid_z 5 -da_refine 4"),
    ("ex29", "2D Poisson, Dirichlet, 513 x 513 points", "gmres", "-da_refine 8"),
    ("ex50", "2D Poisson, Neumann (singular), 513 x 513 points", "cg", "-da_grid_x 9 -da_grid_y 9 -da_refine 6"),
)
GENERAL = "-pc_type kcycle -pc_kcycle_structured off -pc_kcycle_kappa "
SOLVERS = [Solver(name, name, options, "hypre" if name == "hypre" else "", "") for name, options in (
    ("mg", "-pc_type mg"), ("gamg", "-pc_type gamg"), ("hypre", "-pc_type hypre"), ("kcycle", "-pc_type kcycle"), ("mg levels, kappa 1 (V)", GENERAL + "1"),
    ("mg levels, kappa 2 (F)", GENERAL + "2"), ("mg levels, kappa w (W)", GENERAL + "w"))]
# Colours (Okabe and Ito's) and marks tell them apart also where lines coincide
STYLES = dict(zip([solver.name for solver in SOLVERS], (("#000000", "-", "s"), ("#999999", "-", "D"), ("#E69F00", "-", "^"), ("#D55E00", "-", "o"), ("#56B4E9", "--", "v"), ("#0072B2", "-", "o"), ("#CC79A7", ":", "x"))))


def compare_all(runner, arguments, folder):
    """Rows of each problem and number of processes"""
    results = {}
    for name, title, ksp, options in PROBLEMS:
        for procs in (1, 2):
            runner.procs = procs
            target = compare.Target([os.path.join(folder, name), "-skip_petscrc", "-ksp_type", ksp, "-ksp_max_it", "100", *options.split()], name, False)
            target.ksp, target.rtol = ksp, RTOL
            comparison = compare.Comparison(runner, target, arguments)
            print(f"\n{name}: {title}; {ksp}, {procs} process{'es' if procs > 1 else ''}", flush=True)
            end, comparison.end = comparison.end, math.inf  # each runs once
            comparison.first_pass(SOLVERS, quiet=True)
            comparison.end = end
            comparison.repeat()
            print(compare.text_table([compare.record(row, arguments, procs, None) for row in comparison.rows]), flush=True)
            results[name, procs] = comparison.rows
    return results


def draw(pyplot, results, path):
    """Convergence on one process, over iterations and over time: a column for each problem, a line for each preconditioner"""
    figure, panels = pyplot.subplots(2, len(PROBLEMS), figsize=(13, 8.4), sharey=True)
    for column, (name, title, ksp, _) in zip(panels.T, PROBLEMS):
        for row in (row for row in results[name, 1] if row.ok()):
            color, line, marker = STYLES[row.solver.name]
            norms = [norm / row.history[0][1] for _, norm in row.history]
            for panel, places in zip(column, (range(len(norms)), [row.seconds[0][0] + at for at, _ in row.history])):
                panel.semilogy(places, norms, color=color, linestyle=line, linewidth=1.4, marker=marker, markersize=5, label=row.solver.name)
        column[0].set_title(f"{name}, {ksp}\n{title}", fontsize=10)
        for panel, what in zip(column, ("iteration", "seconds, set-up included")):
            panel.axhline(RTOL, color="0.6", linewidth=0.8, linestyle=":")
            panel.set_xlabel(what)
    for panel in panels[:, 0]:
        panel.set_ylabel("residual norm / norm of the right side")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="lower center", ncol=len(SOLVERS), frameon=False, fontsize=9)
    compare.finish(pyplot, figure, panels.flat, path, rect=(0, 0.04, 1, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", type=float, default=120, help="seconds; runs of a problem are repeated as long as its share of them allows")
    budget = parser.parse_args().budget
    petsc = petsc_at_hand()
    if not petsc["tutorials"]:
        sys.exit("demo: this PETSc comes without its tutorials (Debian: package libpetscX.Y-dev-examples)")
    folder, tools = (os.path.join(petsc["build"], name) for name in ("demo", "bench"))
    for path in (folder, tools):
        os.makedirs(path, exist_ok=True)
    compare.prepare(petsc, tools)
    for name, *_ in PROBLEMS:
        build(petsc, os.path.join(petsc["tutorials"], name + ".c"), os.path.join(folder, name))
    arguments = compare.complete(compare.make_parser().parse_args(["--quick", "--budget", str(budget / 6), "--limit", "60"]))
    print(f"PETSc {petsc['version']}, {os.cpu_count()} cores; its tutorials run, up to {budget:.0f} s ...", flush=True)
    results = compare_all(compare.Runner(petsc, tools, folder, arguments), arguments, folder)
    print("\n" + compare.LEGEND.format(clock="of the clock"))
    pyplot = compare.pyplot_or_none()
    if pyplot:
        draw(pyplot, results, os.path.join(folder, "demo.png"))
        print(f"Convergence over iterations and over time: {os.path.relpath(os.path.join(folder, 'demo.png'))}")
    failed = [row for rows in results.values() for row in rows if row.solver.name == "kcycle" and not row.ok()]
    if failed:
        sys.exit(f"demo: {len(failed)} runs with kcycle failed; their output is in {os.path.relpath(folder)}")


if __name__ == "__main__":
    main()
