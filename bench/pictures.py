"""Pictures of the scripts of this folder, by matplotlib."""

import os
import sys


def pyplot_or_none():
    try:
        import matplotlib
    except ImportError as missing:
        print(f"no pictures: {missing} in {sys.executable}; the package is called python3-matplotlib")
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot
    return pyplot


def save(figure, path):
    for panel in figure.axes:
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=140)
    pyplot_or_none().close(figure)


def draw(path, panels, columns=3, size=(4.6, 3.8)):
    """PANELS: title, words of both axes, which of them are logarithmic ("", "x", "y", "xy"), and curves: label, x, y,
    and if wanted words of style. A curve without points is
    left out. The legend is that of the first panel, and of each that has other labels"""
    pyplot = pyplot_or_none()
    if pyplot is None:
        return
    columns = min(columns, len(panels))
    figure, axes = pyplot.subplots(-(-len(panels) // columns), columns,
                                   figsize=(size[0] * columns, size[1] * -(-len(panels) // columns)), squeeze=False)
    known = []
    for panel, (title, x, y, logarithmic, curves) in zip(axes.flat, panels):
        for label, xs, ys, *style in curves:
            if len(xs):
                panel.plot(xs, ys, *style or ["o-"], label=label, markersize=3, linewidth=1.3)
        panel.set_title(title, fontsize=9)
        panel.set_xlabel(x)
        panel.set_ylabel(y)
        panel.set_xscale("log" if "x" in logarithmic else "linear")
        panel.set_yscale("log" if "y" in logarithmic else "linear")
        labels = panel.get_legend_handles_labels()[1]
        if labels and labels != known:
            panel.legend(fontsize=7, frameon=False)
            known = labels
    for panel in axes.flat[len(panels):]:
        panel.set_visible(False)
    save(figure, path)


def fewer_colours(path, most=60000):
    """A palette makes a picture three times as small; MOST: bytes that it may have"""
    from PIL import Image

    Image.open(path).convert("RGB").quantize(64, dither=0).save(path, optimize=True)
    if os.path.getsize(path) > most:
        sys.exit(f"{path} has {os.path.getsize(path)} bytes, more than {most}")
