#!/usr/bin/env python3
"""Checks the figures and links of the documentation and makes the manual pages.

  python3 conf/docs.py             fails when a page quotes a number that its CSV file does not hold, or has
                                   a dead link; then writes docs/manual
  python3 conf/docs.py --check     only checks

A page says where figures come from:

    <!-- figures: bench/results/ratios.csv -->              a word after the name: only lines that have it as a cell
    | case | PCMG | ... |            numbers of a table or a paragraph
    <!-- end -->

Each number in between must be in the file, rounded to the digits that are quoted. If the
first cell of a table's line is in the file, only the file's lines with that cell count. If a head is the beginning of
names of columns, only those columns count. Code, heads and first cells are not looked at.
In the pages of COMPLETE a number with a unit must be in such a block.

A link to a file of the project must lead to a file, and its anchor to a heading there.
"""
import argparse
import csv
import decimal
import os
import re
import shutil
import sys

from lint import Tree

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMPLETE = ("README.md", "docs/performance.md")
BLOCK = re.compile(r"<!-- figures: (\S+)(?: (\S+))? -->\n(.*?)<!-- end -->", re.S)
CODE = re.compile(r"```.*?```|`[^`\n]*`|^    [^\n]*$|\]\([^)]*\)", re.S | re.M)
NUMBER = re.compile(r"(?<![\w.^])\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w^]|\.\d)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
UNIT = re.compile(r"(?<![\w.^])\d[\d.]*(?:\s?(?:ms|s|GB/s|%|MiB|MB|GB|times|iterations|cycles|doubles|bytes)(?!\w)"
                  r"|x\b)")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def has(cells, number):
    """Is a cell this number, rounded to as many digits after the point?"""
    wanted = decimal.Decimal(number)
    for cell in cells:
        for word in NUMBER.findall(cell):
            value = decimal.Decimal(word)
            rounding = decimal.Decimal(1).scaleb(wanted.as_tuple().exponent) / 2
            if value == wanted or ("e" not in number and abs(value - wanted) <= rounding):
                return True
    return False


def plain(cell):
    return re.sub(r"[*`]", "", cell).strip()


def check_table(lines, rows):
    """(line in the block, number) of all that are not in the file"""
    heads = [plain(cell) for cell in lines[0][1].strip().strip("|").split("|")]
    for offset, line in lines[2:]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        own = [row for row in rows if plain(cells[0]) in row.values()] or rows
        for head, cell in list(zip(heads, cells))[1:]:
            column = [name for name in rows[0] if head and name.startswith(head)] or list(rows[0])
            for number in NUMBER.findall(CODE.sub(blank, cell)):
                if not has([row[name] for row in own for name in column], number):
                    yield offset, number


def check_block(text, rows):
    lines = list(enumerate(text.splitlines()))
    while lines:
        table = []
        while lines and lines[0][1].startswith("|"):
            table.append(lines.pop(0))
        if len(table) > 2:
            yield from check_table(table, rows)
        elif lines:
            offset, line = lines.pop(0)
            for number in NUMBER.findall(CODE.sub(blank, line)):
                if not has([cell for row in rows for cell in row.values()], number):
                    yield offset, number


def check_page(path):
    with open(os.path.join(TOP, path)) as file:
        text = file.read()
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(3)) + 1
        source = os.path.join(TOP, block[1])
        if not os.path.exists(source):
            yield first - 1, f"there is no {block[1]}"
            continue
        with open(source, newline="") as file:
            rows = [row for row in csv.DictReader(file) if block[2] is None or block[2] in row.values()]
        if not rows:
            yield first - 1, f"no line of {block[1]} has the cell {block[2]}"
            continue
        for offset, number in check_block(block[3], rows):
            yield first + offset, f"{number} is not in {block[1]}"
    if path in COMPLETE:
        rest = CODE.sub(blank, BLOCK.sub(lambda match: "\n" * match[0].count("\n"), text))
        for match in UNIT.finditer(rest):
            yield rest.count("\n", 0, match.start()) + 1, (f"{match[0]!r} comes from no file: put it between <!-- "
                                                           f"figures: FILE.csv --> and <!-- end -->")


def pages():
    """README, CONTRIBUTING, CHANGELOG and docs/, but for the manual pages, which are made"""
    found = [name for name in sorted(os.listdir(TOP)) if name.endswith(".md")]
    for folder, folders, names in os.walk(os.path.join(TOP, "docs")):
        folders[:] = sorted(name for name in folders if name != "manual")
        found += [os.path.relpath(os.path.join(folder, name), TOP) for name in sorted(names) if name.endswith(".md")]
    return found


def anchors(path):
    """Those that headings have, as GitHub makes them"""
    with open(path) as file:
        text = re.sub(r"```.*?```", blank, file.read(), flags=re.S)
    heads = re.findall(r"^#+ +(.*?) *$", text, re.M)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def check_links(path):
    with open(os.path.join(TOP, path)) as file:
        text = re.sub(r"```.*?```|`[^`\n]*`|^    [^\n]*$", blank, file.read(), flags=re.S | re.M)
    for match in LINK.finditer(text):
        name, _, anchor = match[1].partition("#")
        if re.match(r"[a-z]+:", name):
            continue
        target = os.path.normpath(os.path.join(TOP, os.path.dirname(path), name)) if name else os.path.join(TOP, path)
        if not os.path.exists(target) or target.startswith(os.path.join(TOP, "docs", "manual")):
            yield text.count("\n", 0, match.start()) + 1, f"dead link: there is no {name}"
        elif anchor and (not target.endswith(".md") or anchor not in anchors(target)):
            yield text.count("\n", 0, match.start()) + 1, f"dead link: {name or path} has no heading #{anchor}"


def check_pages():
    """Prints what is wrong with figures and links; was nothing?"""
    found, good = pages(), True
    for check, what in (check_page, "figures without a source"), (check_links, "dead links"):
        faults = [f"{path}:{line}: {message}" for path in found for line, message in check(path)]
        print("\n".join(faults + [f"docs: {len(found)} pages, {len(faults)} {what}"]))
        good = good and not faults
    return good


# Manual pages


def purpose(page):
    """What comes after the name, up to the first empty line"""
    return " ".join(re.match(r"\s*\w+ - (.*?)(?:\n[ \t]*\n|$)", page.text, re.S)[1].split())


def declaration(page, tree):
    source, function = tree.definitions.get(page.name, (None, None))
    if page.kind != "@" or function is None:
        return ""
    start = source.bare.rfind(function.head, 0, function.open)
    return f"```c\n#include <petsckcycle.h>\n{' '.join(source.strings[start:function.open].split())};\n```\n\n"


def markdown(page, tree):
    """A manual page as Markdown; PETSc's lists are marked + . -"""
    text = re.sub(r"^  ", "", re.sub(r"\n {6,}(?=\S)", " ", page.text), flags=re.M)
    text = re.sub(r"^[+.-] +(.*)", r"- \1", text, flags=re.M)
    text = re.sub(r"^\.seealso: ", "**See also:** ", text, flags=re.M)
    text = re.sub(r"^((?:[A-Z][\w/ ]* )?(?:Parameters?|Keys?|Values|Notes?|Level|References?)):", r"**\1:**", text,
                  flags=re.M)
    known = {p.name for p in tree.pages}
    text = re.sub(r"`(\w+)(\(\))?`", lambda m: f"[`{m[1]}{m[2] or ''}`]({m[1]}.md)" if m[1] in known
                  and m[1] != page.name else m[0], text)
    rest = re.split(r"\n[ \t]*\n", text.strip(), 1)[1]
    return f"# {page.name}\n\n{purpose(page)}\n\n{declaration(page, tree)}{rest.strip()}\n\nDefined in {page.path}\n"


def write_manual(folder):
    os.chdir(TOP)
    tree = Tree()
    pages = sorted((p for p in tree.pages if p.name), key=lambda p: (p.kind != "M", p.name))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for page in pages:
        with open(os.path.join(folder, page.name + ".md"), "w") as file:
            file.write(markdown(page, tree))
    with open(os.path.join(folder, "index.md"), "w") as file:
        file.write("# Manual pages\n\n")
        for page in pages:
            file.write(f"- [{page.name}]({page.name}.md): {purpose(page)}\n")
    print(f"docs: {len(pages)} manual pages in {os.path.relpath(folder)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="no manual pages")
    check = parser.parse_args().check
    good = check_pages()
    if not check:
        write_manual(os.path.join(TOP, "docs", "manual"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
