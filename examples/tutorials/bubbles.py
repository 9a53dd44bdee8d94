#!/usr/bin/python3
"""Draws what bubbles -output writes: coefficient, pressure and, where there are some, subdomains. Of a cube the middle slice.

    ./bubbles -n 128 -output bubbles.vts && python3 bubbles.py bubbles.vts bubbles.png
"""

import re
import sys

try:
    import numpy
    import matplotlib
except ImportError as missing:
    sys.exit(f"bubbles: {missing} in {sys.executable}; the package is called python3-matplotlib")
matplotlib.use("Agg")
from matplotlib import colors, pyplot  # noqa: E402 (the backend is chosen first)


def read_fields(path):
    """The fields of a .vts or .vtr file of PETSc's, by name, as arrays [z, y, x]; each process has written a piece of them."""
    with open(path, "rb") as file:
        text, found, data = file.read().partition(b'<AppendedData encoding="raw">')
    if not found:
        sys.exit(f"bubbles: {path} is no .vts or .vtr file that PETSc has written")
    data = data[data.index(b"_") + 1:]
    text = text.decode()
    counter = numpy.dtype("<u8" if 'header_type="UInt64"' in text else "<u4")
    whole = extent(re.search(r'WholeExtent="([^"]*)"', text)[1])
    fields = {}
    for piece in re.findall(r"<Piece .*?</Piece>", text, re.S):
        place = extent(re.search(r'Extent="([^"]*)"', piece)[1])
        points = re.search(r"<PointData.*?</PointData>", piece, re.S)[0]
        for kind, name, offset in re.findall(r'<DataArray type="(\w+)" Name="(\w+)".*?offset="(\d+)"', points):
            start = int(offset) + counter.itemsize
            shape = [last - first + 1 for first, last in place]
            values = numpy.frombuffer(data, {"Float64": "<f8", "Float32": "<f4"}[kind], numpy.prod(shape), start)
            field = fields.setdefault(name, numpy.empty([last - first + 1 for first, last in whole]))
            field[tuple(slice(p[0] - w[0], p[1] - w[0] + 1) for p, w in zip(place, whole))] = values.reshape(shape)
    return fields


def extent(words):
    """First and last point in z, y, x."""
    numbers = list(map(int, words.split()))
    return [numbers[4:6], numbers[2:4], numbers[0:2]]


def draw_field(figure, panel, name, field):
    if name == "subdomains":
        # Neighbouring numbers get colours that differ
        shuffled = numpy.random.default_rng(1).permutation(int(field.max()) + 1)
        panel.imshow(shuffled[field.astype(int)], origin="lower", extent=(0, 1, 0, 1), cmap="tab20", interpolation="nearest")
    else:
        norm = colors.LogNorm() if name == "coefficient" and field.min() < field.max() else None
        image = panel.imshow(field, origin="lower", extent=(0, 1, 0, 1), norm=norm, cmap="viridis", interpolation="nearest")
        figure.colorbar(image, ax=panel, shrink=0.8)
    panel.set_title(f"{name}: {int(field.max()) + 1}" if name == "subdomains" else name)
    panel.set_xticks([0, 0.5, 1])
    panel.set_yticks([0, 0.5, 1])


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: python3 {sys.argv[0]} <file.vts or .vtr> <picture>")
    fields = read_fields(sys.argv[1])
    figure, panels = pyplot.subplots(1, len(fields), figsize=(4.5 * len(fields), 4), squeeze=False)
    for panel, (name, field) in zip(panels.flat, fields.items()):
        draw_field(figure, panel, name, field[field.shape[0] // 2])
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=120)


if __name__ == "__main__":
    main()
