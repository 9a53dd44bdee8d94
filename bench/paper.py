#!/usr/bin/python3
"""make compare PAPER=1: the tables and figures of M. Wagner, K. Rupp, J. Weinbub, A Comparison of Algebraic Multigrid
Preconditioners using Graphics Processing Units and Multi-Core Central Processing Units (2012), and ours: its
variants by options of hypre and PCGAMG (bench/solvers.py), and the solvers of today.

The paper's matrices are not published. Its two-dimensional ones are those of linear elements on even grids of 63 to 511
points each way, 5 points a row: with a right side at random, conjugate gradients alone take 191 iterations to 1e-8
here, 192 there. Its three-dimensional ones are of unstructured meshes, and are replaced by others of that
size. They are trilinear elements (27 points a row) on 32 x 32 x 31 points, and a time step of convection and diffusion
on 29^3 points with BiCGStab.

--quick: two small problems; --small: one; --publish: also writes bench/results/paper*.csv, which the documentation
quotes. Options are those of bench/compare.py.
"""

import collections
import os

import compare
import pictures
import solvers
from programs import save, write_csv

Problem = collections.namedtuple("Problem", "name options ksp")
VERTICES = "-ends vv,vv"
PROBLEMS = [Problem(f"poisson2d-{n}", f"-cells {n},{n} {VERTICES}", "cg") for n in (63, 127, 255, 511)] + [
    Problem("poisson3d", "-cells 32,32,31 -scheme elements -ends vv,vv,vv", "cg"),
    Problem("navier-stokes", "-cells 29,29,29 -wind recirculating:1 -peclet 1 -reaction 0.05", "bcgs"),
]
# Seconds in all and of set-up on four cores, iterations; Tables 1 and 2. The paper's poisson2d of Table 2 is that of
# 255^2
PAPER_TIMES = {
    ("rs_classic", "poisson2d-63"): (0.052, 0.031, 6), ("rs_classic", "poisson2d-127"): (0.233, 0.141, 6),
    ("rs_classic", "poisson2d-255"): (1.011, 0.604, 6),
    ("rs_classic", "poisson2d-511"): (4.069, 2.219, 6), ("rs3_direct", "poisson2d-63"): (0.061, 0.031, 8),
    ("rs3_direct", "poisson2d-127"): (0.234, 0.124, 7),
    ("rs3_direct", "poisson2d-255"): (0.969, 0.459, 8), ("rs3_direct", "poisson2d-511"): (3.705, 1.756, 8),
    ("sa", "poisson2d-63"): (0.155, 0.092, 8),
    ("sa", "poisson2d-127"): (0.761, 0.355, 9), ("sa", "poisson2d-255"): (3.675, 1.432, 12),
    ("sa", "poisson2d-511"): (18.975, 5.677, 16), ("cg", "poisson2d-63"): (0.037, "", 192),
    ("cg", "poisson2d-127"): (0.286, "", 355), ("cg", "poisson2d-255"): (2.265, "", 672),
    ("cg", "poisson2d-511"): (17.564, "", 1262),
    ("rs_direct", "poisson2d-255"): (1.064, 0.609, 6), ("rs_direct", "poisson3d"): (5.161, 1.777, 10),
    ("rs_direct", "navier-stokes"): (5.476, 1.501, 13),
    ("rsop_direct", "poisson2d-255"): (1.123, 0.632, 6), ("rsop_direct", "poisson3d"): (1.947, 0.806, 12),
    ("rsop_direct", "navier-stokes"): (1.631, 0.480, 21),
    ("rs0_direct", "poisson2d-255"): (1.192, 0.434, 13), ("rs0_direct", "poisson3d"): (4.460, 1.540, 10),
    ("rs0_direct", "navier-stokes"): (4.777, 1.154, 17),
    ("rs3_direct", "poisson3d"): (6.215, 2.132, 10), ("rs3_direct", "navier-stokes"): (6.395, 1.555, 16),
}
# Coarse levels, operator complexity, longest row: Table 3
PAPER_LEVELS = {
    ("rs_direct", "poisson2d-255"): (6, 2.2, 10), ("rs_direct", "poisson3d"): (8, 7.2, 327),
    ("rs_direct", "navier-stokes"): (8, 7.2, 297),
    ("rsop_direct", "poisson2d-255"): (6, 2.2, 9), ("rsop_direct", "poisson3d"): (5, 2.4, 64),
    ("rsop_direct", "navier-stokes"): (4, 1.7, 47),
    ("rs0_direct", "poisson2d-255"): (6, 2.2, 14), ("rs0_direct", "poisson3d"): (8, 7.3, 300),
    ("rs0_direct", "navier-stokes"): (8, 6.3, 260),
    ("rs3_direct", "poisson2d-255"): (7, 2.3, 25), ("rs3_direct", "poisson3d"): (9, 10.2, 377),
    ("rs3_direct", "navier-stokes"): (9, 8.7, 326),
}
ONE_PROCESS = ("rs_classic", "rs_direct", "rsop_direct")  # Ruge and Stueben's coarsening is hypre's on each process
ALONE = solvers.Solver("cg", "paper", "-pc_type none", "cg", "no preconditioner")
TODAY = ("kcycle", "pfmg-redblack", "boomeramg-hmis", "boomeramg-pmis")


def chosen(procs, ksp):
    """The paper's variants for a number of processes, and solvers of today"""
    wanted = [ALONE] + [s for s in solvers.PAPER if procs == 1
                        or s.name not in ONE_PROCESS] + [s for s in solvers.SOLVERS if s.name in TODAY]
    if procs == 1:
        wanted = [s for s in wanted if s.name not in ("rs0_direct", "rs3_direct")]  # the same as rs_direct
    return [s for s in wanted if s is not ALONE or ksp == "cg"]


def row_of(record, problem):
    """Ours and the paper's numbers. Levels: coarse ones"""
    total, setup, iterations = PAPER_TIMES.get((record["solver"], problem.name), ("", "", ""))
    levels, complexity, longest = PAPER_LEVELS.get((record["solver"], problem.name), ("", "", ""))
    ok = record["status"] == "ok"
    return {"problem": problem.name, "unknowns": record["unknowns"], "solver": record["solver"],
            "procs": record["procs"], "status": record["status"],
            "iterations": record["iterations"] if ok else "", "iterations_paper": iterations,
            "setup_s": record["setup_s"], "setup_s_paper": setup, "total_s": record["total_s"],
            "total_s_paper": total, "levels": int(record["levels"]) - 1 if record["levels"] else "",
            "levels_paper": levels, "complexity": record["operator_complexity"],
            "complexity_paper": complexity, "mean_row": record["mean_row"], "longest_row": record["longest_row"],
            "longest_row_paper": longest}


def text_row(row):
    def pair(name, width):
        paper = row[f"{name}_paper"]
        return f"{str(row[name]) + (f' ({paper})' if paper != '' else ''):>{width}}"

    widths = {"iterations": 12, "setup_s": 19, "total_s": 19, "levels": 9, "complexity": 13, "longest_row": 13}
    line = f"  {row['solver']:16}" + "".join(pair(name, width) for name, width in widths.items())
    return line if row["status"] == "ok" else f"  {row['solver']:16}  {row['status'][:120]}"


def draw(rows, levels, folder):
    """Figure 1: seconds over unknowns; Figure 2: points and mean rows of the levels of one-pass and full coarsening"""
    own = [row for row in rows if row["solver"] in ("rs_classic", "sa", "ag", "cg", *TODAY) and row["procs"] == 1
           and row["problem"].startswith("poisson2d")]
    pictures.draw(os.path.join(folder, "figure1.png"), [compare.size_panel(own)], size=(6.5, 4.4))
    known = {name: [(row["level"], row["rows"], float(row["mean_row"] or "nan"))
                    for row in levels if (row["solver"], row["problem"], row["procs"]) == (name, "poisson3d", 1)]
             for name in ("rs_direct", "rsop_direct", "boomeramg-hmis", "kcycle")}
    pictures.draw(os.path.join(folder, "figure2.png"), compare.level_panels(known.items()))


def main():
    parser = compare.make_parser(__doc__)
    parser.add_argument("--publish", action="store_true")
    arguments = compare.complete(parser.parse_args())
    runner, folder = compare.open_runner(arguments, "paper")
    rows, levels = [], []
    for procs in [arguments.procs] if arguments.procs else (1, 2, 4):
        runner.procs = procs
        for problem in PROBLEMS[:1] if arguments.small else PROBLEMS[:2] if arguments.quick else PROBLEMS:
            words = ["battery", "-skip_petscrc", "-repeat", "1", "-ksp_max_it", "10000", "-ksp_type", problem.ksp,
                     *problem.options.split()]
            print(f"\n{problem.name}, {procs} process{'es' if procs > 1 else ''}; in brackets: the paper\n  "
                  f"{'':16}{'iterations':>12}{'set-up':>19}{'total':>19}{'levels':>9}"
                  f"{'complexity':>13}{'longest row':>13}", flush=True)
            target = compare.Target(words, problem.name, True)
            target.ksp = problem.ksp
            comparison = compare.Comparison(runner, target, arguments).measure(chosen(procs, problem.ksp), True)
            for one in comparison.rows:
                rows.append(row_of(compare.record(one, arguments, procs, None), problem))
                levels += [{"problem": problem.name, "solver": one.solver.name, "procs": procs, "level": level,
                            "rows": n, "mean_row": f"{entries / n:.1f}" if entries else "", "longest_row": width or ""}
                           for level, n, entries, width in one.levels]
                print(text_row(rows[-1]), flush=True)
            write_csv(os.path.join(folder, "paper.csv"), rows)
            write_csv(os.path.join(folder, "paper-levels.csv"), levels)
    if not arguments.no_pictures:
        draw(rows, levels, folder)
    save(runner.petsc, "paper.csv", rows, arguments.publish)
    save(runner.petsc, "paper-levels.csv", levels, arguments.publish)
    print(f"\nCSV files and figures: {os.path.relpath(folder)}")


if __name__ == "__main__":
    main()
