#!/usr/bin/python3
"""Several unknowns at a point: PETSc's own example programs, unchanged, and examples/tutorials/elasticity.c with kcycle, PCMG and PCGAMG, one after another in each pair of runs.

    python3 bench/systems.py                    all problems, 3 pairs; minutes
    python3 bench/systems.py --only ex19        problems that begin so; --pairs N
    python3 bench/systems.py --smoothers        also kcycle with other smoothers
    python3 bench/systems.py --publish          also writes bench/results/systems.csv, which the documentation quotes

seconds: processor time in KSPSolve() on one process, set-up included, median; ratio: to kcycle's in the same pair, median; iterations: of all linear
solves on one process and on two, all stopped by the true residual. A solver that needs more than 300 iterations in one solve has failed.
Make the library first. Results go to the folder bench of the build.
"""

import argparse
import collections
import csv
import os
import statistics
import sys

import compare
from programs import TOP, build, petsc_at_hand, publish, write_csv

Problem = collections.namedtuple("Problem", "source prefix args mg")
EX49, EX19, EX48 = "ksp/ksp/tutorials/ex49.c", "snes/tutorials/ex19.c", "snes/tutorials/ex48.c"
SPONGE = "-c_str 3 -sponge_E0 1 -sponge_E1 1000 -sponge_nu0 0.4 -sponge_nu1 0.2 -sponge_t 1 -sponge_w 8"
BRICKS = "-c_str 2 -brick_E 1,10,1000,100 -brick_nu 0.4,0.2,0.3,0.1 -brick_span 16"
GRID = "-no_view -elas_ksp_rtol 1e-6 -elas_ksp_pc_side right -mx 192 -my 192 "

# These programs give their DM to the matrix alone, where PCMG does not look: its levels, smoothers and cycle all the same
PCMG = "-{0}pc_type kcycle -{0}pc_kcycle_hierarchy dm -{0}pc_kcycle_structured off -{0}pc_kcycle_kappa 1"
PROBLEMS = {
    "ex49-uniform": Problem(EX49, "elas_", GRID + "-use_nonsymbc -c_str 0", PCMG),
    "ex49-bricks": Problem(EX49, "elas_", GRID + "-use_nonsymbc " + BRICKS, PCMG),
    "ex49-sponge": Problem(EX49, "elas_", GRID + "-use_nonsymbc " + SPONGE, PCMG),
    "ex49-rows-left-out": Problem(EX49, "elas_", GRID + SPONGE, None),  # no grid any more
    "ex19": Problem(EX19, "", "-ksp_pc_side right -da_refine 6", "-pc_type mg"),
    "ex19-grashof": Problem(EX19, "", "-ksp_pc_side right -da_refine 6 -grashof 1e4", "-pc_type mg"),
    "ex48": Problem(EX48, "", "-ksp_pc_side right -thi_mat_type aij -M 16 -P 8 -da_refine 1", "-pc_type mg"),
    "elasticity": Problem("examples/tutorials/elasticity.c", "", "-ksp_norm_type unpreconditioned -n 33 -limit 100", PCMG),
    "elasticity-0.45": Problem("examples/tutorials/elasticity.c", "", "-ksp_norm_type unpreconditioned -n 33 -limit 100 -poisson 0.45", PCMG),
}
SOLVERS = {"kcycle": "-{0}pc_type kcycle", "gamg": "-{0}pc_type gamg", "mg": None}
SMOOTHERS = {
    "chebyshev-sor": "-{0}pc_type kcycle -{0}mg_levels_ksp_type chebyshev",
    "chebyshev-pbjacobi": "-{0}pc_type kcycle -{0}mg_levels_pc_type pbjacobi",
    "v-cycle": "-{0}pc_type kcycle -{0}pc_kcycle_kappa 1",
}


def compile_programs(petsc, names):
    """The program of each problem, and what watches its solves"""
    folder = os.path.join(petsc["build"], "bench")
    os.makedirs(folder, exist_ok=True)
    sources = os.path.join(os.path.dirname(petsc["harness"]), "src")
    programs = {}
    for source in sorted({PROBLEMS[name].source for name in names}):
        ours = source.startswith("examples/")
        programs[source] = os.path.join(folder, source.replace("/", "-")[:-2])
        build(petsc, source if ours else os.path.join(sources, source), programs[source], [petsc["library"]] if ours else [])
    compare.prepare(petsc, folder)
    return compare.Runner(petsc, folder, folder, compare.complete(compare.make_parser().parse_args([]))), programs


def run(runner, programs, name, solver, processes):
    """(iterations of each solve, seconds), or None: it has failed"""
    problem = PROBLEMS[name]
    runner.procs = processes
    target = compare.Target([programs[problem.source], "-skip_petscrc", *problem.args.split(), f"-{problem.prefix}ksp_max_it", "300", "-snes_converged_reason"], name, False)
    ended, watched = runner.run(target, solver.format(problem.prefix).split(), 3600)
    if ended.status or "did not converge" in ended.text or not all(solve.reason.startswith("CONVERGED") for solve in watched.solves):
        return None
    return [solve.iterations for solve in watched.solves], sum(solve.setup_processor + solve.solve_processor for solve in watched.solves)


def measure(runner, programs, name, solvers, pairs):
    ways = {key: PROBLEMS[name].mg if key == "mg" else way for key, way in solvers.items()}
    ways = {key: way for key, way in ways.items() if way}
    runs = {key: [] for key in ways}
    for _ in range(pairs):
        for key, way in ways.items():
            if not runs[key] or runs[key][-1]:
                runs[key].append(run(runner, programs, name, way, 1))
    for key, way in ways.items():
        row = {"problem": name, "solver": key}
        if runs[key][-1]:
            again = run(runner, programs, name, way, 2) if key in SOLVERS else None
            row.update(solves=len(runs[key][0][0]), iterations=sum(runs[key][0][0]), most=max(runs[key][0][0]), iterations_2=sum(again[0]) if again else "fails" if key in SOLVERS else "",
                       seconds=f"{statistics.median(s for _, s in runs[key]):.3f}",
                       ratio=f"{statistics.median(s / own for (_, s), (_, own) in zip(runs[key], runs['kcycle'])):.2f}")
        else:
            row.update(solves="fails")
        yield row


def published_before(names):
    """What is published of other problems stays"""
    path = os.path.join(TOP, "bench", "results", "systems.csv")
    if not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if row["problem"] not in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="problems whose names begin so")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--smoothers", action="store_true", help="also kcycle with other smoothers")
    parser.add_argument("--publish", action="store_true", help="also writes what the documentation quotes, in bench/results")
    arguments = parser.parse_args()
    names = [name for name in PROBLEMS if name.startswith(arguments.only)]
    if not names:
        sys.exit(f"systems: no problem begins with {arguments.only}; there are {', '.join(PROBLEMS)}")
    petsc = petsc_at_hand()
    runner, programs = compile_programs(petsc, names)
    rows = []
    for name in names:
        for row in measure(runner, programs, name, {**SOLVERS, **(SMOOTHERS if arguments.smoothers else {})}, arguments.pairs):
            print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
            rows.append(row)
    write_csv(os.path.join(petsc["build"], "bench", "systems.csv"), rows)
    if arguments.publish:
        publish("systems.csv", published_before(names) + rows)


if __name__ == "__main__":
    main()
