#!/usr/bin/python3
"""Fast Poisson solvers: the tables and figures of two papers and ours: CSV files, pictures.

    python3 bench/poisson.py                              grids of up to 4095^2 and 255^3 points: a quarter of an hour
    python3 bench/poisson.py --quick                      up to 1023^2 and 63^3: a minute
    python3 bench/poisson.py --sizes 8,9,10,11 --sizes3d 5,6,7 --parts smoothers,fmg
    python3 bench/poisson.py --publish                    also writes bench/results/poisson-*.csv, which the
                                                          documentation quotes

Feng, Shu, Xu and Zhang, Numerical study of geometric multigrid methods on CPU-GPU heterogeneous computers. Parts:
smoothers (Table 5), residual (Tables 3 and 4), solve (Figures 5 and 6, Tables 6 and 7), components (Tables 8 and 9),
levels (Table 10), fmg (Tables 12 to 15). Ghysels and Vanroose, Modeling the performance of geometric multigrid stencils
on multicore computer architectures. Parts: model (Figures 2 and 4), roofline (Figures 3 and 5), cycles (Figures 7, 8
and 9). One process, seconds of the processor, those of components by the clock; the fastest of a few runs counts. FFTW
and PCFASTPOISSON take part where they are there. Make the library first. Results go to the folder bench of the build.
"""

import importlib
import math
import os
import subprocess
import sys

import pictures
import programs
from programs import choose, petsc_at_hand, read_csv, save, several

# cycles: after roofline, for its predictions
PARTS = ("smoothers", "residual", "solve", "components", "levels", "fmg", "model", "roofline", "cycles")

# Options of the levels, as a user would write them

LEVELS = ("-pc_type kcycle -pc_kcycle_structured on -pc_kcycle_kappa 1 -pc_kcycle_grid interior -pc_kcycle_anisotropy "
          "off -pc_mg_distinct_smoothup")
FENG = LEVELS + " -pc_kcycle_interpolation simplex -pc_mg_galerkin both"
GHYSELS = LEVELS + " -pc_kcycle_interpolation linear -pc_mg_galerkin none"
# The library's own colours and interpolation, for Table 13 and 15
OWN = LEVELS + " -pc_kcycle_interpolation linear -pc_mg_galerkin both"
COLOURS = {2: "fourcolor", 3: "eightcolor"}


def sweeps(smoother, before, after, omega=None):
    return " ".join(f"-mg_{way}_ksp_type richardson -mg_{way}_ksp_max_it {number} -mg_{way}_pc_type relax "
                    f"-mg_{way}_pc_relax_type {smoother}" +
                    (f" -mg_{way}_pc_relax_omega {omega}" if omega else "")
                    for way, number in (("levels", before), ("levels_up", after)))


def one_relaxation(omega):
    """On the coarsest level, instead of its solution"""
    return (f"-mg_coarse_ksp_type richardson -mg_coarse_ksp_max_it 1 -mg_coarse_ksp_richardson_scale {omega} "
            "-mg_coarse_pc_type jacobi")


SMOOTHERS = {
    "jacobi 0.667": sweeps("jacobi", 1, 1, 0.667) + " " + one_relaxation(0.667),
    "jacobi 0.8": sweeps("jacobi", 1, 1, 0.8) + " " + one_relaxation(0.8),
    "2 colours": sweeps("redblack", 1, 1),
    "4 colours": sweeps("fourcolor", 1, 1),
}

# Feng and others: on an AMD FX-8150 with 8 threads, and on a GTX 480

TABLE5 = {  # iterations, seconds on the GPU
    "jacobi 0.667": {8: (22, 4.84e-2), 9: (22, 7.10e-2), 10: (22, 1.20e-1), 11: (22, 3.04e-1), 12: (22, 1.02)},
    "jacobi 0.8": {8: (18, 3.97e-2), 9: (18, 5.89e-2), 10: (19, 1.01e-1), 11: (19, 2.66e-1), 12: (19, 8.88e-1)},
    "2 colours": {8: (16, 7.02e-3), 9: (16, 1.85e-2), 10: (16, 5.15e-2), 11: (16, 1.79e-1), 12: (16, 6.82e-1)},
    "4 colours": {8: (11, 6.68e-3), 9: (11, 1.46e-2), 10: (11, 3.74e-2), 11: (11, 1.28e-1), 12: (11, 4.85e-1)},
}
TABLES3AND4 = {  # seconds and GFLOP/s, processor and GPU
    (2, 8): (1.607e-4, 2.47, 1.677e-5, 23.63), (2, 9): (6.296e-4, 2.51, 5.027e-5, 31.41),
               (2, 10): (3.079e-3, 2.05, 1.819e-4, 34.66),
    (2, 11): (1.269e-2, 1.99, 7.061e-4, 35.68), (2, 12): (5.107e-2, 1.97, 2.806e-3, 35.89),
               (3, 5): (7.111e-5, 4.04, 2.067e-5, 13.91),
    (3, 6): (5.613e-4, 3.91, 7.293e-5, 30.13), (3, 7): (5.565e-3, 3.09, 4.547e-4, 37.77),
               (3, 8): (5.941e-2, 2.29, 4.536e-3, 29.94),
}
TABLES6AND7 = {(2, 8): 5.934e-3, (2, 9): 1.064e-2, (2, 10): 3.134e-2, (2, 11): 1.124e-1, (2, 12): 4.339e-1,
               (3, 5): 8.544e-3, (3, 6): 2.404e-2, (3, 7): 9.997e-2, (3, 8): 7.287e-1}
COMPONENTS = ("residual", "smoothing", "restriction", "interpolation", "norm")
TABLE8 = {2: (14, 13.4, 2.67, 3.34, 2), 3: (17.2, 16.1, 2.30, 3.31, 2)}  # operations for each unknown
# Table 8: percent of the time on the processor, L = 12 and 8
SHARES = {2: (30.70, 45.02, 6.54, 15.84, 1.91), 3: (28.60, 54.08, 3.90, 11.60, 1.83)}
# GFLOP/s on the processor, L = 12 and 8
TABLE9 = {2: (2.04, 1.30, 1.78, 0.91, 4.99), 3: (2.31, 1.10, 2.25, 1.06, 4.08)}
TABLE10 = {0: (4.88e-3, 74.60, 16.20, 36.94, 11.50), 1: (4.95e-4, 7.57, 14.91, 26.26, 11.52),
           2: (2.02e-4, 3.09, 4.780, 9.66, 3.91), 3: (1.46e-4, 2.24, 0.906, 2.31, 0.79),
           # seconds, percent, GFLOP/s: all, residual, smoother; on the GPU
           4: (2.16e-4, 3.31, 0.091, 0.43, 0.08), 5: (5.64e-4, 8.63, 0.006, 0.08, 0.01)}
SWEEPS = ((1, 1), (1, 2), (2, 2), (2, 3), (3, 3))
TABLES12AND14 = {  # errors: the FFT's, then for each of SWEEPS
    (2, 9): (1.563e-6, 1.001e-5, 1.242e-6, 1.004e-6, 7.028e-7, 7.145e-7),
    (2, 10): (3.914e-7, 2.618e-6, 3.113e-7, 2.518e-7, 1.762e-7, 1.790e-7),
    (2, 11): (9.797e-8, 6.766e-7, 7.791e-8, 6.304e-8, 4.411e-8, 4.479e-8),
    (2, 12): (2.450e-8, 1.735e-7, 1.948e-8, 1.577e-8, 1.103e-8, 1.120e-8),
    (3, 5): (2.841e-4, 6.509e-3, 2.733e-3, 1.246e-3, 7.873e-4, 5.296e-4),
    (3, 6): (7.100e-5, 2.685e-3, 9.469e-4, 3.930e-4, 2.426e-4, 1.608e-4),
    (3, 7): (1.774e-5, 1.032e-3, 2.988e-4, 1.125e-4, 6.751e-5, 4.394e-5),
    (3, 8): (4.437e-6, 3.803e-4, 8.880e-5, 3.049e-5, 1.784e-5, 1.145e-5),
}
TABLES13AND15 = {  # seconds on the GPU
    (2, 9): (3.739e-3, 3.611e-3, 4.260e-3, 4.980e-3, 5.617e-3, 6.348e-3),
    (2, 10): (1.102e-2, 7.434e-3, 8.770e-3, 1.008e-2, 1.144e-2, 1.282e-2),
    (2, 11): (4.077e-2, 2.203e-2, 2.571e-2, 2.945e-2, 3.317e-2, 3.701e-2),
    (2, 12): (1.364e-1, 7.860e-2, 9.167e-2, 1.049e-1, 1.180e-1, 1.310e-1),
    (3, 5): (5.102e-4, 1.611e-3, 1.932e-3, 2.382e-3, 2.738e-3, 3.186e-3),
    (3, 6): (1.890e-3, 3.711e-3, 4.474e-3, 5.335e-3, 6.098e-3, 6.986e-3),
    (3, 7): (5.884e-2, 1.342e-2, 1.586e-2, 1.846e-2, 2.094e-2, 2.352e-2),
    (3, 8): (1.893e-1, 8.566e-2, 1.007e-1, 1.155e-1, 1.302e-1, 1.456e-1),
}

# Ghysels and Vanroose: flops and numbers moved for each point of one application, sections 3 and 3.1; two dimensions

# 2 dim / (2 dim + 1), as the paper's 2/3 and 4/5; it does not give that of three dimensions
OMEGA, TOLERANCE = {2: 4 / 5, 3: 6 / 7}, 1e-12
STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
JACOBI = {2: (9, 3), 3: (11, 3)}
OTHERS = ((7, 3), (11 / 4, 5 / 4), (2, 5 / 4), (1, 3))  # residual, restriction, interpolation, correction
SANDY_BRIDGE = (44.5, 79.6)  # GB/s and GFlop/s, the fit of Figure 5
# steps and seconds, 8191^2 and 511^3, 32 threads
PAPER_OPTIMA = {2: {"separate": (3, 4.7), "tiled": (15, 2.8)}, 3: {"separate": (4, 16.9), "tiled": (10, 10.3)}}


def points(dim, L):
    return (2**L - 1)**dim


def grid(dim, L):
    return f"{2**L - 1}^{dim}"


class Program(programs.Program):
    def __init__(self, petsc):
        found = subprocess.run(["pkg-config", "--cflags", "--libs", "fftw3"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, universal_newlines=True)
        self.fftw = not found.returncode
        super().__init__(petsc, "bench/poisson.c", True,
                         ["-march=native"] + (["-DBENCH_FFTW", *found.stdout.split()] if self.fftw else []))

    def task(self, task, dim, L, options, **more):
        """Its lines"""
        return self.lines(["-task", task, "-dim", dim, "-L", L, *options.split(),
                           *(word for name, value in more.items() for word in ("-" + name, value))])

    def first(self, task, dim, L, options, **more):
        """Numbers of the first line"""
        return [float(word) for word in self.task(task, dim, L, options, **more)[0][1:]]

    def has(self, pc):
        return not self.run(["-task", "direct", "-L", "3", "-pc_type", pc]).status


def levels(options, L):
    return f"{options} -pc_mg_levels {L}"


def show(row):
    print("  ".join(f"{name} {value}" for name, value in row.items() if value != ""), flush=True)
    return row


# Feng and others


def smoothers(program, arguments):
    for L in arguments.sizes:
        for name, options in SMOOTHERS.items():
            own = levels(FENG + " " + options, L)
            cycles, residual, _, _, seconds = program.first("solve", 2, L, own, repeat=arguments.repeat)
            paper = TABLE5[name].get(L, ("", ""))
            yield show({"L": L, "points": grid(2, L), "smoother": name, "cycles": int(cycles), "paper_cycles": paper[0],
                        "residual": f"{residual:.3e}", "seconds": f"{seconds:.3g}",
                        "paper_gpu_seconds": paper[1]})


def residual(program, arguments):
    for dim, L in arguments.grids:
        seconds, = program.first("residual", dim, L, "", repeat=20)
        paper = TABLES3AND4.get((dim, L), ("", "", "", ""))
        yield show({"dim": dim, "L": L, "points": grid(dim, L), "seconds": f"{seconds:.3e}",
                    "gflops": f"{(2 * dim + 2) * points(dim, L) / seconds / 1e9:.2f}",
                    "paper_cpu_seconds": paper[0], "paper_cpu_gflops": paper[1], "paper_gpu_seconds": paper[2],
                    "paper_gpu_gflops": paper[3]})


def operations(program, dim):
    """For each unknown, of each of COMPONENTS, and of all; counted on a small grid, for any number of levels"""
    return program.first("flops", dim, 4, levels(FENG + " " + sweeps(COLOURS[dim], 1, 1), 4))


def solve(program, arguments):
    for dim, L in arguments.grids:
        flops = operations(program, dim)[-1]
        row = {"dim": dim, "L": L, "points": grid(dim, L)}
        for name, more in (("whole", {}), ("own", {"whole": "false"})):
            cycles, _, _, setup, seconds = program.first("solve", dim, L,
                                                         levels(FENG + " " + sweeps(COLOURS[dim], 1, 1), L),
                                                         repeat=arguments.repeat, **more)
            row.update({f"{name}_cycles": int(cycles), f"{name}_seconds": f"{seconds:.3e}",
                        f"{name}_gflops": f"{flops * points(dim, L) * cycles / seconds / 1e9:.2f}"})
        yield show({**row, "setup_seconds": f"{setup:.3g}", "paper_gpu_seconds": TABLES6AND7.get((dim, L), "")})


def profile(program, dim, L, apart):
    """Seconds by component and level, and of the cycle"""
    lines = program.task("profile", dim, L, levels(FENG + " " + sweeps(COLOURS[dim], 1, 1), L) + " -pc_mg_log"
                         + (" -apart" if apart else ""))
    return {(words[1], int(words[2])): float(words[4]) for words in lines if words[0] == "event"}, float(lines[-1][1])


def components(program, arguments):
    for dim, L in arguments.largest:
        known = operations(program, dim)
        seconds, cycle = profile(program, dim, L, True)
        fused = profile(program, dim, L, False)[1]
        sums = [sum(value for (name, _), value in seconds.items() if name == component) for component in COMPONENTS]
        sums[0] += seconds["residual", 0]  # once more for the norm
        for i, component in enumerate(COMPONENTS):
            yield show({"dim": dim, "L": L, "points": grid(dim, L), "component": component,
                        "operations": f"{known[i]:.2f}", "paper_operations": TABLE8[dim][i],
                        "percent": f"{100 * sums[i] / sum(sums):.2f}", "paper_cpu_percent": SHARES[dim][i],
                        "seconds": f"{sums[i]:.3e}",
                        "gflops": f"{known[i] * points(dim, L) / sums[i] / 1e9:.2f}",
                        "paper_cpu_gflops": TABLE9[dim][i]})
        yield show({"dim": dim, "L": L, "points": grid(dim, L), "component": "all", "operations": f"{known[-1]:.2f}",
                    "paper_operations": {2: 36, 3: 41}[dim],
                    "seconds": f"{sum(sums):.3e}", "gflops": f"{known[-1] * points(dim, L) / sum(sums) / 1e9:.2f}",
                    "cycle_seconds": f"{cycle:.3e}", "fused_cycle_seconds": f"{fused:.3e}"})


def level_times(program, arguments):
    """Operations on a level: residual, two relaxations, interpolation, and restriction to the next one"""
    L = min(7, max(arguments.sizes3d))
    seconds, cycle = profile(program, 3, L, True)
    fused, fused_cycle = profile(program, 3, L, False)
    for l in range(L - 1):
        n, coarse = points(3, L - l), points(3, L - l - 1)
        own = sum(value for (name, level), value in seconds.items() if level == l and name != "norm")
        paper = TABLE10.get(l, ("",) * 5) if L == 7 else ("",) * 5
        yield show({"L": L, "points": grid(3, L), "level": l, "level_points": grid(3, L - l), "seconds": f"{own:.3e}",
                    "percent": f"{100 * own / cycle:.2f}",
                    "gflops": f"{((8 + 2 * 7 + 22 / 8) * n + 16 * coarse) / own / 1e9:.3f}",
                    "residual_gflops": f"{8 * n / seconds['residual', l] / 1e9:.3f}",
                    "smoother_gflops": f"{2 * 7 * n / seconds['smoothing', l] / 1e9:.3f}",
                    "fused_seconds": f"{fused['smoothing', l]:.3e}",
                    "fused_percent": f"{100 * fused['smoothing', l] / fused_cycle:.2f}", "paper_gpu_seconds": paper[0],
                    "paper_gpu_percent": paper[1], "paper_gpu_gflops": paper[2],
                    "paper_gpu_residual_gflops": paper[3], "paper_gpu_smoother_gflops": paper[4]})


def fmg_methods(program, dim, L):
    """Name, task, options, and the place in the papers' tables"""
    if program.fftw:
        yield "FFTW", "fft", "", 0
        yield "FFTW, tridiagonal", "fft", "-tridiagonal", None
    if program.has("fastpoisson"):
        yield "PCFASTPOISSON", "direct", "-pc_type fastpoisson", None
    for i, (before, after) in enumerate(SWEEPS):
        yield f"FMG({before},{after})", "fmg", levels(FENG + " " + sweeps(COLOURS[dim], before, after), L), i + 1
    for before, after in ((1, 1), (1, 2), (2, 2)):
        yield f"own FMG({before},{after})", "fmg", levels(OWN + " " + sweeps("redblack", before, after), L - 1), None
    yield "own FMG", "fmg", "", None


def fmg(program, arguments):
    for dim, L in arguments.grids:
        for name, task, options, place in fmg_methods(program, dim, L):
            error, setup, seconds = program.first(task, dim, L, options, repeat=arguments.repeat)
            errors, times = (table.get((dim, L)) if place is not None else None
                             for table in (TABLES12AND14, TABLES13AND15))
            yield show({"dim": dim, "L": L, "points": grid(dim, L), "method": name, "error": f"{error:.4e}",
                        "paper_error": errors[place] if errors else "",
                        "seconds": f"{seconds:.3e}",
                        "million_unknowns_a_second": f"{points(dim, L) / seconds / 1e6:.2f}",
                        "paper_gpu_seconds": times[place] if times else "",
                        "setup_seconds": f"{setup:.3g}"})


# Ghysels and Vanroose


def find(package):
    try:
        return importlib.import_module(package)
    except ImportError as missing:
        sys.exit(f"poisson: {missing} in {sys.executable}; the package is called python3-{package}")


def two_grid(steps, n=1024):
    """The largest eigenvalue of (3.19), R = I - (omega h^2 / 4) A; k <= l is enough, the other half is the same"""
    numpy = find("numpy")
    angle = numpy.arange(1, n // 2) * math.pi / (2 * n)
    k, l = (angle[i] for i in numpy.triu_indices(len(angle)))
    s, c = (numpy.array([f(k)**2, f(l)**2]) for f in (numpy.sin, numpy.cos))
    t = numpy.array([c[0] * c[1], -s[0] * c[1], -c[0] * s[1], s[0] * s[1]])
    # times h^2, as that of the coarse grid
    eigenvalue = 4 * numpy.array([s[0] + s[1], c[0] + s[1], s[0] + c[1], c[0] + c[1]])
    coarse = numpy.sin(2 * k)**2 + numpy.sin(2 * l)**2
    correct = numpy.eye(4)[None] - (t.T[:, :, None] * t.T[:, None, :]) * (eigenvalue / coarse).T[:, None, :]
    for number in steps:
        yield float(abs(numpy.linalg.eigvals(correct * ((1 - OMEGA[2] / 4 * eigenvalue)**number).T[:, None, :])).max())


def cycles_to(tolerance, rho):
    return math.ceil(math.log(tolerance) / math.log(rho))


def seconds_a_point(flops, numbers, roofs, repeated=1):
    """(4.1) and (4.3): one of several applications that share what is read and written; nanoseconds"""
    bandwidth, peak = roofs
    return flops / min(peak, bandwidth * repeated * flops / (8 * numbers))


def cost(m, number, roofs, tiled):
    """(4.2), for each point of the finest grid; nanoseconds"""
    return m * 4 / 3 * (number * seconds_a_point(*JACOBI[2], roofs, number if tiled else 1)
                        + sum(seconds_a_point(*other, roofs) for other in OTHERS))


def model(program, arguments):
    steps = arguments.steps
    for number, rho in zip(steps, two_grid(steps)):
        m = cycles_to(TOLERANCE, rho)
        yield show({"steps": number, "rho": f"{rho:.5f}", "cycles": m,
                    "cost_3_21": f"{(9 * number + 19) * 4 / 3 * m:.0f}",
                    "cost_4_2_separate": f"{cost(m, number, SANDY_BRIDGE, False):.3f}",
                    "cost_4_2_tiled": f"{cost(m, number, SANDY_BRIDGE, True):.3f}"})


def fit_roofline(points_):
    """Least squares for bandwidth and peak, on logarithms: (intensity, GFLOP/s) in the order of intensities; the first
    ones lie under the slope"""
    best = None
    for under in range(1, len(points_) + 1):
        slope = sum(math.log(p / q) for q, p in points_[:under]) / under
        flat = sum(math.log(p) for _, p in points_[under:]) / len(points_[under:]) if under < len(points_) else math.inf
        error = sum((math.log(p) - min(flat, slope + math.log(q)))**2 for q, p in points_)
        if best is None or error < best[0]:
            best = error, math.exp(slope), max(p for _, p in points_) if flat == math.inf else math.exp(flat)
    return best[1:]


def roofline(program, arguments):
    for dim, L in arguments.largest:
        rows = []
        flops, numbers = JACOBI[dim]
        for words in program.task("sweeps", dim, L, "", repeat=arguments.repeat, sweeps=60):
            number, seconds = int(words[1]), [float(word) for word in words[2:]]
            rows.append({"dim": dim, "L": L, "points": grid(dim, L), "sweeps": number,
                         "intensity": f"{number * flops / (8 * numbers):.3f}",
                         **{f"{name}_ms_a_sweep": f"{1000 * s / number:.4g}"
                            for name, s in zip(("tiled", "separate"), seconds)},
                         **{f"{name}_gflops": f"{number * flops * points(dim, L) / s / 1e9:.2f}"
                            for name, s in zip(("tiled", "separate"), seconds)},
                         "speedup": f"{seconds[1] / seconds[0]:.2f}"})
            show(rows[-1])
        bandwidth, peak = fit_roofline([(float(row["intensity"]), float(row["tiled_gflops"])) for row in rows])
        for row in rows:
            row.update(fitted_gbs=f"{bandwidth:.2f}", fitted_gflops=f"{peak:.2f}")
        print(f"{grid(dim, L)}: {bandwidth:.1f} GB/s, {peak:.1f} GFLOP/s", flush=True)
        yield from rows


def cycle_rows(program, arguments, dim, L):
    """V(nu, 0) with both forms of the smoother, in turn"""
    for number in arguments.steps:
        row = {"dim": dim, "L": L, "points": grid(dim, L), "steps": number}
        for name, smoother in (("tiled", "jacobi"), ("separate", "separate")):
            own = levels(GHYSELS + " " + sweeps(smoother, number, 0, OMEGA[dim]), L)
            cycles, _, factor, _, seconds = program.first("solve", dim, L, own, start="random", ksp_rtol=TOLERANCE,
                                                          repeat=1)
            row.update({"cycles": int(cycles), "factor": f"{factor:.5f}", f"{name}_seconds": f"{seconds:.4g}"})
        yield show(row)


def predict(rows, known, roofs):
    """(3.21) and (4.2) for the grid, through the first measured time as in the paper's Figure 7, and (4.2) in seconds
    by the roofs alone"""
    n = points(rows[0]["dim"], rows[0]["L"])
    for name in ("tiled", "separate"):
        scale = None
        for row in rows:
            m = cycles_to(TOLERANCE, known[row["steps"]])
            nanoseconds = cost(m, row["steps"], roofs, name == "tiled") * n
            scale = scale or float(row[f"{name}_seconds"]) / nanoseconds
            row[f"{name}_scaled"] = f"{scale * nanoseconds:.4g}"
            row[f"{name}_predicted"] = f"{1e-9 * nanoseconds:.4g}"


def cycles(program, arguments):
    """With the fit of the last run of roofline"""
    roofs = read_csv(os.path.join(program.petsc["bench"], "poisson-roofline.csv"))
    for dim, L in arguments.largest:
        rows = list(cycle_rows(program, arguments, dim, L))
        if dim == 2:
            fits = [row for row in roofs if int(row["dim"]) == 2]
            known = dict(zip(arguments.steps, two_grid(arguments.steps)))
            for row in rows:
                row.update(two_grid_factor=f"{known[row['steps']]:.5f}",
                           two_grid_cycles=cycles_to(TOLERANCE, known[row["steps"]]))
            if fits:
                predict(rows, known, (float(fits[0]["fitted_gbs"]), float(fits[0]["fitted_gflops"])))
        for name in ("tiled", "separate"):
            best = min(rows, key=lambda row: float(row[f"{name}_seconds"]))
            print(f"{grid(dim, L)} {name}: best with {best['steps']} steps, {best[f'{name}_seconds']} s (the paper: "
                  f"{PAPER_OPTIMA[dim][name]})", flush=True)
        yield from rows


# Pictures: panels of each part


def column(rows, name):
    return [float(row[name]) for row in rows]


def curves(rows, x, labels):
    """LABELS: of columns that there are"""
    return [(label, column(rows, x), column(rows, name), "--" if "model" in label else "o-")
            for name, label in labels.items() if rows and name in rows[0]]


def by_dimension(rows, x, labels, axes, logarithmic=""):
    for dim in (2, 3):
        own = [row for row in rows if row["dim"] == dim]
        if own:
            yield (own[-1]["points"], *axes, logarithmic, curves(own, x, labels))


def draw_solve(rows):
    """Figures 5 and 6, right: GFLOP/s of the solver"""
    return by_dimension(rows, "L", {"whole_gflops": "residuals of whole cycles",
                                    "own_gflops": "norms inside of cycles"}, ("L", "GFLOP/s"))


def draw_fmg(rows):
    for dim in (2, 3):
        own = [row for row in rows if row["dim"] == dim]
        largest = [row for row in own if row["L"] == max(r["L"] for r in own)]
        if own:
            yield largest[0]["points"], "s", "error", "xy", [(row["method"], [float(row["seconds"])],
                                                              [float(row["error"])]) for row in largest]


def draw_model(rows):
    """Figures 2 and 4"""
    for names in ("rho",), ("cycles",), ("cost_3_21",), ("cost_4_2_tiled", "cost_4_2_separate"):
        yield "", "smoothing steps", "", "", curves(rows, "steps", {name: name for name in names})


def draw_roofline(rows):
    """Figures 3 and 5"""
    known = {"tiled": "tiled", "separate": "separate"}
    for panel in by_dimension(rows, "intensity", {f"{name}_gflops": name for name in known}, ("flop/byte", "GFLOP/s"),
                              "xy"):
        own = next(row for row in rows if row["points"] == panel[0])
        gbs, gflops, intensity = float(own["fitted_gbs"]), float(own["fitted_gflops"]), panel[-1][0][1]
        panel[-1].append((f"{gbs:.1f} GB/s, {gflops:.1f} GFLOP/s", intensity, [min(gflops, gbs * q) for q in intensity],
                          "k--"))
        yield panel
    yield from by_dimension(rows, "sweeps", {f"{name}_ms_a_sweep": name for name in known}, ("sweeps", "ms a sweep"))


def draw_cycles(rows):
    """Figures 7, 8 and 9"""
    labels = {"tiled_seconds": "tiled", "tiled_scaled": "tiled, model", "separate_seconds": "separate",
              "separate_scaled": "separate, model"}
    yield from by_dimension(rows, "steps", labels, ("smoothing steps", "s"))
    own = [row for row in rows if row["dim"] == 2]
    for names in ("factor", "two_grid_factor"), ("cycles", "two_grid_cycles"):
        yield "", "smoothing steps", "", "", curves(own, "steps", {name: name for name in names})


DRAWINGS = {"solve": draw_solve, "fmg": draw_fmg, "model": draw_model, "roofline": draw_roofline, "cycles": draw_cycles}
RUNS = {"smoothers": smoothers, "residual": residual, "solve": solve, "components": components, "levels": level_times,
        "fmg": fmg, "model": model, "roofline": roofline, "cycles": cycles}


def read_arguments():
    parser = programs.options(__doc__, quick="sizes 8,9,10 and 5,6, steps up to 6 and 10", parts=PARTS, publish="",
                              repeat=3)
    parser.add_argument("--sizes", type=several(int), help="L in 2D, grids of (2^L - 1)^2 points; default 8,9,10,11,12")
    parser.add_argument("--sizes3d", type=several(int), help="L in 3D; default 5,6,7,8")
    parser.add_argument("--dims", type=several(int), default=[2, 3],
                        help="dimensions, where a part has both; default 2,3")
    parser.add_argument("--steps", type=several(int),
                        help=f"smoothing steps of cycles; default {','.join(map(str, STEPS))}")
    arguments = parser.parse_args()
    arguments.sizes = arguments.sizes or ([8, 9, 10] if arguments.quick else [8, 9, 10, 11, 12])
    arguments.sizes3d = arguments.sizes3d or ([5, 6] if arguments.quick else [5, 6, 7, 8])
    arguments.steps = arguments.steps or ([1, 2, 3, 4, 6, 10] if arguments.quick else list(STEPS))
    arguments.grids = [(dim, L) for dim in arguments.dims for L in (arguments.sizes if dim == 2 else arguments.sizes3d)]
    arguments.largest = [(dim, max(arguments.sizes if dim == 2 else arguments.sizes3d)) for dim in arguments.dims]
    choose(arguments.parts, PARTS, "part")
    return arguments


def main():
    arguments = read_arguments()
    petsc = petsc_at_hand()
    program = Program(petsc)
    for part in [part for part in PARTS if part in arguments.parts]:
        print(f"\n{part}", flush=True)
        rows = list(RUNS[part](program, arguments))
        save(petsc, f"poisson-{part}.csv", rows, arguments.publish)
        if part in DRAWINGS:
            pictures.draw(os.path.join(petsc["bench"], f"poisson-{part}.png"), list(DRAWINGS[part](rows)))
    if not program.fftw:
        print("FFTW was not found: no sine transforms in fmg; the package is called libfftw3-dev")
    print(f"\n{', '.join(f'poisson-{part}.csv' for part in arguments.parts)} in {petsc['bench']}")


if __name__ == "__main__":
    main()
