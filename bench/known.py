#!/usr/bin/env python3
"""Pictures of the known problems, group "known" of bench/battery_cases.py: field and solution on a plane at a quarter of the grid. docs/reproduction.md shows them.

    python3 bench/known.py                                     writes docs/pictures/*.png
    python3 bench/known.py --cases 'known-spe10-*' --folder .  some of them, elsewhere; --quick: small grids

Numbers beside them, iterations and times: python3 bench/battery.py --group known. Make the library first; matplotlib draws (python3-matplotlib).
"""

import argparse
import fnmatch
import os
import sys

from battery_cases import GROUPS, read, smaller
from programs import TOP, build_once, petsc_at_hand, start, surroundings

MOST = 60000  # bytes of a picture
# Plane, words of the field, whether it is drawn as a logarithm, words of the solution
PLANES = {
    "known-hpgmg": ("z", "coefficient", False, "solution"),
    "known-spe10-lognormal": ("z", "permeability, log", True, "pressure"),
    "known-spe10-channels": ("z", "permeability, log", True, "pressure"),
    "known-taylor-green": ("z", None, False, "pressure"),
    "known-bubble-column": ("y", "1 / density, log", True, "pressure"),
    "known-segmentation": ("z", "picture", False, "probability"),
    "known-pore-space": ("z", "pores", False, "pressure"),
    "known-pore-tight": ("z", "permeability, log", True, "pressure"),
}


def solve(petsc, program, case, quick, trace):
    """The numbers of a plane, a line for each point: x y z field solution"""
    words = smaller(case.options) if quick else case.options
    command = [program, "-skip_petscrc", "-dll_append", petsc["library"], "-repeat", "1", *words, "-picture", trace, "-across", PLANES[case.name][0]]
    ended = start(command, 3600, surroundings())
    if ended.status or "CONVERGED" not in ended.text:
        sys.exit(f"known: {case.name} has failed: {ended.text[-2000:]}")
    with open(trace) as file:
        return [[float(word) for word in line.split()] for line in file]


def edges(middles):
    """Of cells between 0 and 1, from their middles"""
    ends = [0.0]
    for middle in middles:
        ends.append(2 * middle - ends[-1])
    return ends


def panel(axes, horizontal, vertical, values, words, size):
    image = axes.pcolormesh(edges(horizontal), edges(vertical), values, cmap="viridis", linewidth=0, rasterized=True)
    axes.set_aspect(size[1] / size[0])
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(words, fontsize=8)
    bar = axes.figure.colorbar(image, ax=axes, fraction=0.05, pad=0.02)
    bar.ax.tick_params(labelsize=6)


def extent(case, axis):
    """How wide the grid is, in the units of its cells"""
    def words(name, default):
        return [float(word) for word in case.options[case.options.index(name) + 1].split(",")] if name in case.options else default

    cells = words("-cells", [])
    if "-stretch" in case.options:
        return 1.0
    return cells[axis] * words("-h", [1] * len(cells))[axis]


def draw(case, lines, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plot
    import numpy

    across, field, logarithm, solution = PLANES[case.name]
    first, second = [axis for axis in range(3) if "xyz"[axis] != across]
    numbers = numpy.array(lines)
    shape = (len(numpy.unique(numbers[:, second])), len(numpy.unique(numbers[:, first])))
    horizontal, vertical = numbers[:shape[1], first], numbers[::shape[1], second]
    coefficient, values = numbers[:, 3].reshape(shape), numbers[:, 4].reshape(shape)
    if "-inactive" in case.options:
        values = numpy.ma.masked_where(coefficient == 0, values)
    if logarithm:
        coefficient = numpy.log10(coefficient)
    size = extent(case, first), extent(case, second)
    if size[1] > 2 * size[0]:  # lying
        horizontal, vertical, coefficient, values, size = vertical, horizontal, coefficient.T, values.T, size[::-1]
    panels = [(coefficient, field), (values, solution)] if field else [(values, solution)]
    stacked = size[0] > 2 * size[1]
    across, down = (1, len(panels)) if stacked else (len(panels), 1)
    figure, axes = plot.subplots(down, across, figsize=((4.6, 1.5 * down) if stacked else (2.7 * across, 2.3)), dpi=90, squeeze=False)
    for one, (numbers_shown, words) in zip(axes.flat, panels):
        panel(one, horizontal, vertical, numbers_shown, words, size)
    figure.tight_layout(pad=0.3)
    figure.savefig(path)
    plot.close(figure)
    fewer_colours(path)


def fewer_colours(path):
    """A palette makes a picture three times as small"""
    from PIL import Image

    Image.open(path).convert("RGB").quantize(64, dither=0).save(path, optimize=True)
    if os.path.getsize(path) > MOST:
        sys.exit(f"known: {path} has {os.path.getsize(path)} bytes, more than {MOST}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="*", help="names, with * and ?")
    parser.add_argument("--folder", default=os.path.join(TOP, "docs", "pictures"))
    parser.add_argument("--quick", action="store_true", help="small grids")
    arguments = parser.parse_args()
    wanted = [case for case in read("known", GROUPS["known"]) if case.name in PLANES and fnmatch.fnmatchcase(case.name, arguments.cases)]
    if not wanted:
        sys.exit(f"known: no case is called {arguments.cases}; there are {', '.join(PLANES)}")
    petsc = petsc_at_hand()
    folder = os.path.join(petsc["build"], "bench")
    os.makedirs(folder, exist_ok=True)
    os.makedirs(arguments.folder, exist_ok=True)
    program, trace = os.path.join(folder, "battery"), os.path.join(folder, "known.txt")
    build_once(petsc, "bench/battery.c", program)
    for case in wanted:
        path = os.path.join(arguments.folder, case.name + ".png")
        draw(case, solve(petsc, program, case, arguments.quick, trace), path)
        print(f"{path} {os.path.getsize(path)} bytes", flush=True)


if __name__ == "__main__":
    main()
