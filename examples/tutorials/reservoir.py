#!/usr/bin/python3
"""Draws what reservoir -output writes: pressure and permeability in a layer, above, and in a vertical section through the middle row, below.
Or makes a field to begin with: log-normal permeability that varies smoothly in layers of rock, in a body with ragged edges.

    ./reservoir -file reservoir.grdecl -wells 6,6,1,5,bhp,250,15,9,1,3,rate,-100 -output reservoir.vts && python3 reservoir.py reservoir.vts reservoir.png
    python3 reservoir.py --make 100,100,20 field.grdecl --inactive 0.6 --seed 1
"""

import argparse
import itertools
import sys

try:
    import numpy
    import matplotlib
except ImportError as missing:
    sys.exit(f"reservoir: {missing} in {sys.executable}; the package is called python3-matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402 (the backend is chosen first)
from bubbles import read_fields  # noqa: E402


def draw(source, picture, layer):
    fields = read_fields(source)
    inactive = fields.pop("active") == 0
    layers, rows, columns = inactive.shape
    layer, row = layer - 1 if layer else layers // 2, rows // 2
    if layer not in range(layers):
        sys.exit(f"reservoir: there is no layer {layer + 1} in {source}, which has {layers}")
    figure, panels = pyplot.subplots(2, len(fields), figsize=(5.5 * len(fields), 7), squeeze=False)
    for (name, field), (above, below) in zip(fields.items(), panels.T):
        field = numpy.ma.array(field, mask=inactive)
        scale = {"vmin": field.min(), "vmax": field.max(), "cmap": "viridis", "shading": "flat"}
        image = above.pcolormesh(numpy.arange(columns + 1) + 0.5, numpy.arange(rows + 1) + 0.5, field[layer], **scale)
        below.pcolormesh(numpy.arange(columns + 1) + 0.5, numpy.arange(layers + 1) + 0.5, field[:, row], **scale)
        above.set(title=f"{name.replace('_', ' ')}, layer {layer + 1}", xlabel="column", ylabel="row")
        below.set(title=f"row {row + 1}", xlabel="column", ylabel="layer")
        below.invert_yaxis()
        for panel in (above, below):
            figure.colorbar(image, ax=panel)
            panel.locator_params(integer=True)
    figure.tight_layout()
    figure.savefig(picture, dpi=120)


def smooth_noise(generator, shape, length):
    """Random numbers of mean 0 and variance 1, correlated over LENGTH cells in each direction."""
    frequencies = numpy.meshgrid(*[numpy.fft.fftfreq(n) for n in shape], indexing="ij")
    damping = numpy.exp(-2 * sum((numpy.pi * f * cells) ** 2 for f, cells in zip(frequencies, length)))
    noise = numpy.fft.ifftn(numpy.fft.fftn(generator.standard_normal(shape)) * damping).real
    return (noise - noise.mean()) / max(noise.std(), 1e-30)


def write_numbers(file, keyword, numbers):
    digits = (numpy.format_float_positional(x, precision=2, fractional=False, trim="-") for x in numbers.flat)
    words = [f"{count}*{word}" if count > 1 else word for word, count in ((word, len(list(group))) for word, group in itertools.groupby(digits))]
    file.write(f"{keyword}\n" + "\n".join(" ".join(words[i:i + 12]) for i in range(0, len(words), 12)) + " /\n\n")


def make(sizes, path, inactive, seed):
    generator = numpy.random.default_rng(seed)
    nx, ny, nz = sizes
    # ln k = mean of the layer + variations in it; every fifth layer is shale
    layers = generator.normal(4, 1, (nz, 1, 1))
    logarithm = layers + 1.5 * smooth_noise(generator, (nz, ny, nx), (0.5, ny / 10, nx / 10))
    shale = numpy.arange(nz) % 5 == 3
    logarithm[shale] = -2
    z, y, x = numpy.meshgrid(*[(numpy.arange(n) + 0.5) / n - 0.5 for n in (nz, ny, nx)], indexing="ij")
    distance = x * x + y * y + 0.2 * z * z + 0.03 * smooth_noise(generator, (nz, ny, nx), (1, ny / 16, nx / 16))
    active = distance <= numpy.quantile(distance, 1 - inactive)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"-- python3 reservoir.py --make {nx},{ny},{nz} {path} --inactive {inactive} --seed {seed}\n")
        file.write(f"-- Permeability in mD, cells in m\nDIMENS\n{nx} {ny} {nz} /\n\nDXV\n{nx}*100 /\n\nDYV\n{ny}*100 /\n\nDZV\n{nz}*5 /\n\n")
        write_numbers(file, "PERMX", numpy.exp(logarithm))
        write_numbers(file, "PERMZ", 0.1 * numpy.exp(logarithm))
        write_numbers(file, "ACTNUM", active.astype(int))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="a .vts or .vtr file and a picture; with --make the file to write")
    parser.add_argument("--layer", type=int, default=0, help="the layer to draw, from 1; by default the middle one")
    parser.add_argument("--make", metavar="NX,NY,NZ", help="make a field of these numbers of cells")
    parser.add_argument("--inactive", type=float, default=0.3, help="part of the cells that is inactive")
    parser.add_argument("--seed", type=int, default=1, help="another field")
    options = parser.parse_args()
    if options.make:
        sizes = [int(word) for word in options.make.split(",")]
        if len(sizes) != 3 or min(sizes) < 1 or not 0 <= options.inactive < 1 or len(options.files) != 1:
            parser.error("--make takes three sizes of at least 1, one file, and --inactive at least 0 and less than 1")
        make(sizes, options.files[0], options.inactive, options.seed)
    elif len(options.files) != 2:
        parser.error("give the file that reservoir has written, and the picture")
    else:
        draw(*options.files, options.layer)


if __name__ == "__main__":
    main()
