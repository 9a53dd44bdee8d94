#!/usr/bin/env python3
"""Checks the prose of README, CHANGELOG, CONTRIBUTING and docs/: lines of at most 120 columns, one sentence a line, no
private words.

  python3 conf/prose.py FILE...    prints file:line: message for everything wrong; conf/lint.py does so for all pages

Tables, lines that are one link or picture, and blocks that are made from the code are exempt. Of code only the length
is checked.
"""
import re
import sys

PAGES = r"README\.md|CHANGELOG\.md|CONTRIBUTING\.md|docs/.*\.md"
MAX_COLUMNS = 120
MAX_WORDS = 25

GENERATED = re.compile(r"<!-- generated -->\n.*?<!-- end -->", re.S)
EXEMPT = re.compile(r"\||<!--|\s*(?:[-*] )?!?\[[^\]]*\]\([^)]*\)[.,;]?$")
LABEL = re.compile(r"\s*(?:[-*] |\d+\. )")
INLINE = re.compile(r"`[^`]*`|\]\([^)]*\)|<[^>]*>")
# A full stop, a capital letter after it; not an initial or an abbreviation
NEXT = re.compile(r"(?<!\b[A-Z])(?<!\be\.g)(?<!\bi\.e)(?<!\bal)[.!?][)*\"]* +(?=[A-Z*\"(])")
END = re.compile(r"[.:;!?][)*_\"]*$")

# The word, and what to write instead
BANNED = [(re.compile(rf"\b(?:{word})\b", re.I), instead) for word, instead in (
    ("nobody", "say who: no process, no program; a point without couplings is isolated"),
    ("knows", "say what is stored, or what is read"),
    ("stands?(?!-in| for\b)", "is"),
    ("lives?", "is stored in"),
    ("so many", "a number, or: as many as"),
    ("(?:goes|go|going|went) on on", "is agglomerated on"),
    ("behind", "after"),
    ("besides?", "next to, compared with, or: and"),
    ("of (?:its|their|our|your|one's) own", "its own ..., or leave it out"),
    ("fewer processes go on", "the level is agglomerated"),
    ("lone|coupled to nobody", "isolated point"),
    ("tapes?", "recorded cycle"),
    ("sift(?:s|ed|ing)?|sieves?", "prefilter"),
    ("found left", "unreduced error"),
    ("come again|comeagain", "revisits coarse levels"),
    ("lends?|borrows?", "use the caller's array"),
    ("kills?|killed", "reject"),
    ("rough", "seed"),
    ("bottom(?!-)", "coarse sub-cycle"),
    ("dictionary", "shared coefficients"),
    ("dear", "expensive"),
)]


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def paragraphs(lines):
    """(number, line, whether the next line goes on with the same paragraph) of all lines of prose"""
    fenced = False
    for number, line in enumerate(lines, 1):
        fenced ^= line.lstrip().startswith("```")
        code = fenced or line.startswith("    ") or line.lstrip().startswith("```")
        if code or line.startswith("#") or not line.strip() or EXEMPT.match(line):
            continue
        after = lines[number] if number < len(lines) else ""
        ends = not after.strip() or LABEL.match(after) or after.startswith(("#", "|", "<!--", "```"))
        yield number, line, not ends


def check(text):
    """(line, message) of all that is wrong"""
    text = GENERATED.sub(lambda m: "\n" * m[0].count("\n"), text)
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS and not EXEMPT.match(line):
            yield number, f"more than {MAX_COLUMNS} columns"
    for number, line, goes_on in paragraphs(lines):
        bare = INLINE.sub(lambda m: re.sub(r"[^\n ]", "x", m[0]).replace(" ", "x"), LABEL.sub("", line, 1)).strip()
        if NEXT.search(bare):
            yield number, "more than one sentence in a line"
        if goes_on and not END.search(bare):
            yield number, "a sentence goes on in the next line: one sentence a line"
        if len(bare.split()) > MAX_WORDS:
            yield number, f"{len(bare.split())} words: at most {MAX_WORDS} in a sentence"
    prose = re.sub(r"```.*?```|`[^`\n]*`|^    [^\n]*$|\]\([^)]*\)|<!--.*?-->", blank, text, flags=re.S | re.M)
    for number, line in enumerate(prose.splitlines(), 1):
        for pattern, instead in BANNED:
            for match in pattern.finditer(line):
                yield number, f"{match[0]!r} is not a word of these pages: {instead}"


def main():
    faults = []
    for path in sys.argv[1:]:
        with open(path) as file:
            faults += [f"{path}:{line}: {message}" for line, message in check(file.read())]
    print("\n".join(faults + [f"prose: {len(sys.argv) - 1} pages, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
