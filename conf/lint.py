#!/usr/bin/env python3
"""Checks layout, names, error checking, manual pages, the prose of pages (conf/prose.py) and the option table.

  python3 conf/lint.py             prints file:line: message for everything wrong, or one line that says: clean
  python3 conf/lint.py --fix       first reformats the sources and rewrites the options and messages in
                                   docs/reference.md
  python3 conf/lint.py --options   prints the options

A rule is a row of PATTERNS (a regular expression that must not match) or a function in CHECKS.
"""
import argparse
import bisect
import collections
import os
import re
import shutil
import subprocess
import sys

import prose

CLANG_FORMAT_MAJOR = 14
MAX_LINES = 60
MAX_COLUMNS = 120
MAX_ARGUMENTS = 7
CALLBACK = r"(?:Mat|PC|KSP)[A-Z]\w*_[A-Z]\w+$"  # PETSc says what arguments these have
MAX_README_LINES = 100
PUBLIC_HEADER = "include/petsckcycle.h"
REFERENCE = "docs/reference.md"
BLOCK = re.compile(r"(<!-- generated -->\n).*?(<!-- end -->)", re.S)

SOURCE = r"(?:src|include|tests|examples|bench)/.*\.(?:c|h|cu|cuh|cpp|hpp)$"
SCRIPT = r".*\.(?:py|sh|mk)$|makefile$|\.ci/run$"
SHORT_SCRIPT = r"(?:bench|conf|tests)/.*\.(?:py|sh)$"  # folders whose scripts keep to MAX_COLUMNS
ANY = r".*"

# files, view of the file, what must not occur there, message
PATTERNS = [
    (SOURCE, "text", r"\t", "tab"),
    (f"{SOURCE}|{SCRIPT}", "text", r"[ \t\r]+$", "white space at the end of the line"),
    (SHORT_SCRIPT, "text", rf"(?<=^.{{{MAX_COLUMNS}}}).+$", f"more than {MAX_COLUMNS} columns"),
    (SOURCE, "comments", r"(?:/\*|//)[ \t]*[-=*#_~+]{4,}", "separator comment"),
    (SOURCE, "comments", r"\b(?:TODO|FIXME)\b(?!.*(?:#|\bissue )\d)", "TODO without the number of an issue"),
    (r"(?!include/petsckcycle/private/compat\.h$)" + SOURCE, "code", r"\bPETSC_VERSION_\w+",
     "PETSc versions are known to include/petsckcycle/private/compat.h only"),
    (SOURCE, "strings", r'#\s*include\s*[<"](?:\.\./)+src/', "include only public headers and <petsc/private/...>"),
    (r"src/kernel/(?!cuda/).*", "strings", r'#[ \t]*include(?![ \t]*(?:<petsckcycle/private/(?:kernel|systems)impl\.h>'
     r'|"\w+\.h"))', "kernels include kernelimpl.h and systemsimpl.h only"),
    (r"src/kernel/cuda/.*|include/petsckcycle/private/(?:fp)?cudaimpl\.h$", "strings",
     r'#[ \t]*include(?![ \t]*(?:<petsckcycle/private/(?:(?:kernel|systems|cuda|runtime|fpcuda)impl|fppoint)\.h>'
     r'|"\w+cuda\.h"|<string\.h>))',
     "kernels for devices include cudaimpl.h, fpcudaimpl.h, runtimeimpl.h and each other only"),
    (r"include/petsckcycle/private/(?:kernelimpl|point|threads)\.h$", "strings",
     r"#[ \t]*include[ \t]*<(?!petsckcycle/private/(?:point|threads)\.h|petscmacros\.h|petscsystypes\.h"
     r"|string\.h|omp\.h)",
     "kernels include no header of PETSc but those with macros and the types of numbers"),
    (r"src/(?!kernel/|mat/stencil/|level/(?:single|device/devicestencil)\.c).*", "code",
     r"\b(?:s[bct])->(?:kind|block|classes|shared|own)\b",
     "lines find their coefficients by the functions of kernelimpl.h"),
    (r"src/.*", "code", r"\b(?:malloc|calloc|realloc|free|exit|abort)\s*\(",
     "use PetscMalloc(), PetscFree() and error codes"),
    (r"(?!include/petsckcycle\.h$)(?:src|include)/.*\.[ch]$", "code",
     r"\bPETSC_EXTERN\b(?!\s+PetscErrorCode\s+PetscDLLibraryRegister_|\s+(?:const\s+)?\w+\s+\*?KCycle(?:Line(?:Gather"
     r"|Coefficients|Compute)|BoxExchange|StencilOf)\()", f"PETSC_EXTERN outside {PUBLIC_HEADER}: use PETSC_INTERN"),
    (ANY, "text", r"(?<![\w.$})\]*~<-])/(?:work|root|home)\b(?![-.])", "path of one machine"),
    (ANY, "text", r"\b(?:pypi\.org|pythonhosted\.org|(?:deb|security|ftp|archive)\.debian\.org|archive\.ubuntu\.com"
                  r"|conda\.anaconda\.org"
     r"|download\.(?:nvidia|pytorch)\.(?:com|org)|registry\.npmjs\.org|crates\.io|(?:ftp\.mcs|web\.cels)\.anl\.gov)\b",
     "address of a package host"),
]

LEXEME = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)(?:[^\n\\]|\\.)*", re.M | re.S)
TOKEN = re.compile(DIRECTIVE.pattern + r"|[{};]", re.M | re.S)

Function = collections.namedtuple("Function", "name head params open close line lines")
Page = collections.namedtuple("Page", "kind name path line end text")
Option = collections.namedtuple("Option", "name kind args path line")
Type = collections.namedtuple("Type", "macro prefix path line")


# Reading C


def spaces(text):
    return re.sub(r"[^\n]", " ", text)


def matching(text, pos):
    """Position of the parenthesis that closes text[pos], or opens it when text[pos] is a closing one"""
    step, depth = (1, 0) if text[pos] == "(" else (-1, 0)
    while 0 <= pos < len(text):
        depth += {"(": 1, ")": -1}.get(text[pos], 0)
        if depth == 0:
            return pos
        pos += step
    return None


def split_commas(code, text):
    """Splits text at the commas of code (the same text, strings blanked) that no bracket encloses"""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(code):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()] if text.strip() else []


def parameter_name(declaration):
    match = re.search(r"\(\s*\*\s*(?:const\s+)?(\w+)", declaration)
    match = match or re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", declaration)
    return match[1] if match else declaration


class Source:
    """A file in views of equal length: code (no comments, strings empty), strings (no comments), comments, bare (code
    without directives)"""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        self.path, self.binary, self.text = path, b"\0" in data, data.decode("utf-8", "replace")
        self.line_starts = [0] + [m.end() for m in re.finditer("\n", self.text)]
        self.is_c = re.match(SOURCE, path) is not None
        self.functions = []
        if self.is_c:
            self.strings = LEXEME.sub(lambda m: spaces(m[0]) if m[0][0] == "/" else m[0], self.text)
            self.code = LEXEME.sub(lambda m: spaces(m[0]) if m[0][0] == "/" else
                                   m[0][0] + spaces(m[0][1:-1]) + m[0][-1], self.text)
            self.comments = "".join(t if t != s or t == "\n" else " " for t, s in zip(self.text, self.strings))
            self.bare = DIRECTIVE.sub(lambda m: spaces(m[0]), self.code)
            self.functions = list(self.find_functions())

    def line(self, pos):
        return bisect.bisect_right(self.line_starts, pos)

    def body(self, function):
        return self.bare[function.open:function.close]

    def find_functions(self):
        """Matches braces; of #if branches each starts at the depth of its #if; struct, namespace and extern "C"
        do not count"""
        depth, head, branches, opened = 0, 0, [], None
        for token in TOKEN.finditer(self.code):
            if token[1]:
                if token[1].startswith("if"):
                    branches.append(depth)
                elif token[1].startswith("el") and branches:
                    depth = branches[-1]
                elif token[1] == "endif" and branches:
                    branches.pop()
                head = head if depth else token.end()
            elif token[0] == "{" and depth == 0 and self.is_transparent(head, token.start()):
                head = token.end()
            elif token[0] == "{":
                opened = opened if depth else (head, token.start())
                depth += 1
            elif token[0] == "}" and depth > 1:
                depth -= 1
            elif depth == 0 or token[0] == "}":
                if depth == 1:
                    yield from self.make_function(*opened, token.start())
                depth, head = 0, token.end()

    def is_transparent(self, start, end):
        return re.search(r'\b(?:struct|class|union|namespace)\b[^=()]*$|\bextern\s+"[^"]*"\s*$',
                         self.bare[start:end]) is not None

    def make_function(self, start, opening, closing):
        head = self.bare[start:opening]
        match = re.search(r"\)\s*(?:const\s*)?$", head)
        left = matching(head, match.start()) if match else None
        name = re.search(r"(\w+|operator\s*\(\s*\))\s*$", head[:left]) if left else None
        if name:
            params = split_commas(head[left + 1:match.start()], head[left + 1:match.start()])
            lines = max(0, self.code.count("\n", opening, closing) - 1)
            yield Function(name[1], head.strip(), [p for p in params if p != "void"], opening, closing,
                           self.line(start + name.start()), lines)


# Reading the project


def list_files():
    """What git tracks or would add; in an unpacked tarball every file that is not built"""
    git = shutil.which("git")
    ask = [git, "ls-files", "-co", "--exclude-standard"]
    run = subprocess.run(ask, capture_output=True, text=True) if git else None
    if run and run.returncode == 0:
        return sorted(f for f in set(run.stdout.splitlines()) if os.path.isfile(f) and not os.path.islink(f))
    walk = [os.path.relpath(os.path.join(d, f)) for d, _, names in os.walk(".") for f in names]
    return sorted(f for f in walk if not re.match(r"\.git/|build/|(?:.*/)?__pycache__/", f))


class Tree:
    """Everything the checks look at"""

    def __init__(self):
        self.files = [f for f in map(Source, list_files()) if not f.binary]
        self.sources = [f for f in self.files if f.is_c]
        self.src = [f for f in self.sources if f.path.startswith("src/")]
        self.public = self.find_public()
        self.pages = list(self.find_pages())
        self.definitions = {f.name: (s, f) for s in self.src for f in s.functions}
        self.types = list(self.find_types())
        self.options = list(self.find_options())

    def find_public(self):
        headers = [s for s in self.sources if s.path == PUBLIC_HEADER]
        return {m[1]: s.line(m.start()) for s in headers
                for m in re.finditer(r"\bPETSC_EXTERN\s[\w\s*]*?\b(\w+)\s*\(", s.bare)}

    def find_pages(self):
        for s in self.src:
            for m in re.finditer(r"/\*(@C?|MC)[ \t]*\n(.*?)[@M]\*/", s.text, re.S):
                name = re.match(r" *(\w+) - \S", m[2])
                yield Page(m[1][0], name[1] if name else None, s.path, s.line(m.start()), m.end(), m[2])

    def page(self, kind, name):
        return next((p for p in self.pages if p.kind == kind and p.name == name), None)

    def find_types(self):
        defines = dict(m.groups() for s in self.sources
                       for m in re.finditer(r'^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+"(\w+)"', s.strings, re.M))
        for s in self.src:
            for m in re.finditer(r'\b(PC|KSP|Mat|SNES|DM|Vec)Register\s*\(\s*(?:"(\w+)"|(\w+))\s*,', s.strings):
                yield Type(m[3], f"-{m[1].lower()}_{m[2] or defines.get(m[3], '?')}_", s.path, s.line(m.start()))

    def find_options(self):
        for s in self.src:
            for m in re.finditer(r'\bPetscOptions(?!Get|Has|Set|Deprecated|Insert|Clear)(\w+)\s*(\()\s*"', s.strings):
                end = matching(s.code, m.start(2))
                args = split_commas(s.code[m.end(2):end], s.strings[m.end(2):end])
                if args[0].startswith('"-') and len(args) >= 3:
                    yield Option(literal(args[0]), m[1], args, s.path, s.line(m.start()))

    def type_of(self, option_name):
        return next((t for t in self.types if option_name.startswith(t.prefix)), None)


def literal(arg):
    """The text of a string constant, pieces joined"""
    return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', arg)).replace('\\"', '"')


def items(text, heading):
    """The (mark, text) pairs of a list in a manual page"""
    match = re.search(rf"^[ \t]*(?:{heading}):[ \t]*\n((?:[ \t]*\S.*\n)*)", re.sub(r"\n {6,}(?=\S)", " ", text), re.M)
    return re.findall(r"^[ \t]*([-+.])[ \t]+(.*)", match[1], re.M) if match else []


OPTION_KEYS = "Options Database Keys?"


# Layout


def clang_format():
    for name in (f"clang-format-{CLANG_FORMAT_MAJOR}", "clang-format"):
        program = shutil.which(name)
        if program:
            version = re.search(r"version (\d+)",
                                subprocess.run([program, "--version"], capture_output=True, text=True).stdout)
            if version and int(version[1]) == CLANG_FORMAT_MAJOR:
                return program
    return None


def check_format(tree):
    program = clang_format()
    if program is None:
        yield ".clang-format", 1, (f"needs clang-format {CLANG_FORMAT_MAJOR}, other versions lay out differently: "
                                   f"install clang-format-{CLANG_FORMAT_MAJOR}")
    elif tree.sources:
        run = subprocess.run([program, "--style=file", "--dry-run", "-Werror"] + [s.path for s in tree.sources],
                             capture_output=True, text=True)
        places = re.findall(r"^(\S+?):(\d+):\d+: error: code should", run.stderr, re.M)
        for path, line in {p: n for p, n in reversed(places)}.items():
            yield path, int(line), "layout differs from clang-format's: make lint FIX=1"
        if run.returncode and not places:
            yield ".clang-format", 1, run.stderr.strip().splitlines()[0]


def check_patterns(tree):
    for files, view, pattern, message in PATTERNS:
        for f in tree.files:
            if re.match(files, f.path) and (f.is_c or view == "text"):
                for m in re.finditer(pattern, getattr(f, view), re.M):
                    yield f.path, f.line(m.start()), f"{message}: {m[0].strip()}" if m[0].strip() else message


def check_files(tree):
    seen = {}
    for s in tree.sources:
        if re.search(r"\.(?:h|cuh|hpp)$", s.path) and not re.search(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", s.code, re.M):
            yield s.path, 1, "no #pragma once"
        if s.path.endswith(".cu"):
            other = seen.setdefault(os.path.basename(s.path), s.path)
            if other != s.path:
                yield s.path, 1, f"same base name as {other}"


# Sources of a folder use those before it
FOLDERS = ("src/kernel/", "src/dm/", "src/plan/", "src/level/", "src/mat/", "src/mat/stencil/", "src/mat/transfer/",
           "src/pc/", "src/pc/relax/", "src/pc/kcycle/", "src/pc/deflsub/", "src/pc/incpoisson/", "src/pc/fastpoisson/",
           "src/ksp/", "src/")
PRIVATE = "petsckcycle/private/"


def folder_of(path):
    return max((f for f in FOLDERS if path.startswith(f)), key=len)


def check_flow(tree):
    """No call to a later folder, but of public functions; a header that one folder uses lies in it"""
    homes = {}
    for s in tree.src:
        for f in s.functions:
            if f.name not in tree.public and not re.search(r"\b(?:static|KC_POINT)\b", f.head):
                homes[f.name] = folder_of(s.path)
    for s in tree.src:
        own = {f.name for f in s.functions}
        here = FOLDERS.index(folder_of(s.path))
        for m in re.finditer(r"\b([A-Z]\w+)\b", s.bare):
            home = homes.get(m[1])
            if home and m[1] not in own and FOLDERS.index(home) > here:
                yield s.path, s.line(m.start()), f"{m[1]}() is in {home}, which {FOLDERS[here]} comes before"
    users = {}
    for s in tree.sources:
        for m in re.finditer(rf'#[ \t]*include[ \t]*<{PRIVATE}(\w+\.h)>', s.strings):
            home = folder_of(s.path) if s.path.startswith("src/") else s.path
            users.setdefault(m[1], set()).add(home)
    for s in tree.sources:
        if f"include/{PRIVATE}" in s.path:
            found = users.get(os.path.basename(s.path), set())
            if len(found) == 1 and min(found).startswith("src/"):
                yield s.path, 1, f"only {min(found)} includes it: it belongs there"


def check_prose(tree):
    for f in tree.files:
        if re.fullmatch(prose.PAGES, f.path):
            for line, message in prose.check(f.text):
                yield f.path, line, message


def check_length(tree):
    for f in tree.files:
        if f.path == "README.md" and len(f.line_starts) > MAX_README_LINES:
            yield f.path, MAX_README_LINES, (f"more than {MAX_README_LINES} lines, which are two screens: move details "
                                             f"to docs/")
    for s in tree.files:
        tests = s.text.find("/*TEST\n")
        text = s.text[:tests if tests >= 0 else None] if s.is_c or s.path.endswith(".F90") else ""
        for m in re.finditer(rf"^.{{{MAX_COLUMNS + 1},}}$", text, re.M):
            yield s.path, s.line(m.start()), f"more than {MAX_COLUMNS} columns"
    for s in tree.sources:
        for f in s.functions:
            if f.lines > MAX_LINES:
                yield s.path, f.line, f"{f.name}() has {f.lines} lines, at most {MAX_LINES} are allowed"
            if len(f.params) > MAX_ARGUMENTS and re.match("src/|include/", s.path) and not re.match(CALLBACK, f.name):
                yield s.path, f.line, f"{f.name}() has {len(f.params)} arguments, at most {MAX_ARGUMENTS} are allowed"


# Error checking

STATEMENT_MACROS = re.compile(
    r"Petsc(?:Call|FunctionReturn|Check|Assert|Valid|Try(?:Type)?Method|Use(?:Type)?Method|Options(?:Head)?(?:Begin"
    r"|End)|ObjectOptionsBegin"
    r"|ObjectParameterSetDefault|Unreachable|Stack|Pragma|Prefetch|PreLoad|Kernel)\w*|(?:PC|KSP|SNES|TS|DM|Mat|Vec"
    r"|IS)Check\w*")
CHECKING_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\((?=(?:[^\n\\]|\\.)*\b(?:PetscCall|return ierr_))",
                            re.M | re.S)
CALL = re.compile(r"\b((?:Petsc|PC|KSP|SNES|TS|DM|Mat|Vec|IS|AO|KCycle|MPIU_|cu(?:fft|blas|sparse"
                  r"|solver))[A-Z]\w*)\s*\((?!\s*\*\s*\w*\s*\)\s*\()")
MPI_CALL = re.compile(r"\bMPI_(?!W|Init\b|Finalize\b|\w+_(?:f2c|c2f)\b)[A-Z][a-z]\w*\s*\((?!\s*\*)")
CUDA_CALL = re.compile(r"\bcuda(?!GetError)[A-Z]\w*\s*\(")


def starts_statement(code, pos):
    before = code[:pos].rstrip()
    label = r"\b(?:else|do)$|(?:^|[;{}\n])\s*(?:case\b[^?;]*|default\s*):$"
    if before.endswith((";", "{", "}")) or re.search(label, before[-200:]):
        return True
    left = matching(before, len(before) - 1) if before.endswith(")") else None
    return left is not None and re.search(r"\b(?:if|for|while|switch)\s*$", before[:left]) is not None


def check_ignored_errors(tree):
    void = {name for s in tree.sources for name in re.findall(r"\bvoid\s+(\w+)\s*\(", s.bare)}
    void |= {m[1] for s in tree.sources for m in re.finditer(CHECKING_MACRO, s.code)}
    void |= {name for s in tree.sources for name in re.findall(r"^PETSC_INTERN[^;{}()]*\*\s*(\w+)\s*\(", s.bare, re.M)}
    for s in tree.sources:
        for f in s.functions:
            body = s.body(f)
            for m in CALL.finditer(body):
                if not STATEMENT_MACROS.fullmatch(m[1]) and m[1] not in void and starts_statement(body, m.start()):
                    yield s.path, s.line(f.open + m.start()), (f"error code of {m[1]}() is ignored: wrap it in "
                                                               f"PetscCall()")
            for pattern, wrapper in ((MPI_CALL, r"PetscCallMPI(?:Abort)?\((?:\w+,)?\s*$"),
                                     (CUDA_CALL, r"\w*CallCUDA\(\s*$|\breturn\s*$|[^=!<>]=\s*$")):
                for m in pattern.finditer(body):
                    if not re.search(wrapper, body[:m.start()][-80:]):
                        wanted = "PetscCallMPI()" if pattern is MPI_CALL else "PetscCallCUDA()"
                        yield s.path, s.line(f.open + m.start()), f"{m[0].rstrip('( ')}() outside {wanted}"


def check_function_frames(tree):
    for s in tree.sources:
        for f in s.functions:
            body, returns_code = s.body(f), re.search(r"\bPetscErrorCode\b[^(]*$", f.head[:f.head.rfind(f.name)])
            begin = re.search(r"\bPetscFunctionBegin(?:User|Hot)?\b", body)
            if begin and "PetscFunctionReturn" not in body and f.name != "main":
                yield s.path, f.line, f"{f.name}() has PetscFunctionBegin and no PetscFunctionReturn"
            if not begin and "PetscFunctionReturn" in body:
                yield s.path, f.line, f"{f.name}() has PetscFunctionReturn and no PetscFunctionBegin"
            if not begin and returns_code and re.search(r"\bPetscCall\w*\s*\(", body):
                yield s.path, f.line, f"{f.name}() has no PetscFunctionBegin"
            bare = re.search(r"\breturn\b", body[begin.end():]) if begin and f.name != "main" else None
            if bare:
                yield (s.path, s.line(f.open + begin.end() + bare.start()),
                       "return after PetscFunctionBegin: use PetscFunctionReturn()")
            void = re.search(r"\bPetscCall\w*Void\s*\(", body) if returns_code else None
            if void:
                yield s.path, s.line(f.open + void.start()), (f"{void[0].rstrip('( ')}() in a function that can return "
                                                              f"the error")
            launch = body.rfind("<<<")
            if launch >= 0 and not re.search(r"\bcuda(?:Get|Peek)LastError\b|\bPetscCUPMLaunch\w*"
                                             r"|\bPetscCUDAGetLastError\b", body[launch:]):
                yield s.path, s.line(f.open + launch), "kernel launch without cudaGetLastError()"


# Names and manual pages


def check_names(tree):
    for name, line in tree.public.items():
        if not re.fullmatch(r"(?:KCycle|PC|KSP|Mat|DM)[A-Z][A-Za-z0-9]*", name) or name.startswith("PCMG"):
            yield PUBLIC_HEADER, line, (f"{name}(): public names are KCycle..., PC<Type>..., KSP<Type>..., "
                                        f"Mat<Type>... or DM... in CamelCase")
        setter = re.fullmatch(r"(\w+?)Set((?!FromOptions|Up$|Values)[A-Z]\w*)", name)
        if setter and f"{setter[1]}Get{setter[2]}" not in tree.public:
            yield PUBLIC_HEADER, line, f"{name}() has no {setter[1]}Get{setter[2]}()"
    for s in tree.src:
        for f in s.functions if s.path.endswith(".c") else []:
            declared = re.compile(rf"\bPETSC_(?:INTERN|EXTERN)\b[^;{{}}]*\b{f.name}\s*\(")
            shared = not re.search(r"\bstatic\b|\bKC_POINT\b|\bPETSC_(?:INTERN|EXTERN)\b", f.head)
            if shared and not any(declared.search(o.bare) for o in tree.sources):
                yield s.path, f.line, f"{f.name}() is neither static nor declared PETSC_INTERN in a header"


def check_guards(tree):
    """Public functions of an object check it and dispatch to the type's function"""
    for name in tree.public:
        source, f = tree.definitions.get(name, (None, None))
        first = re.fullmatch(r"(PC|KSP|Mat)\s+(\w+)", f.params[0]) if f and f.params else None
        if not first or not name.startswith(first[1]):
            continue
        body = source.body(f)
        if re.search(r"\bKC_PC_(?:GET|SET\w*)\(", body):
            continue
        if not re.search(rf"\bPetscValidHeaderSpecific\w*\(\s*{first[2]}\b", body):
            yield source.path, f.line, f"{name}() does not check {first[2]} with PetscValidHeaderSpecific()"
        if not re.search(r"\bPetsc(?:Try|Use)Method\b|\b(?:KCycleOf|PCKCycleGetContext|KCycleRelaxOf|GetRelax"
                         r"|KCyclePC(?:Query|Require)|KC_PC_[GS]ET|KC_KCYCLE_\w+|GetSetUp)\b", body):
            yield source.path, f.line, (f"{name}() does not look at the type of {first[2]}: use PetscTryMethod(), "
                                        f"PetscUseMethod(), or the accessor of the type")
        page = tree.page("@", name)
        plain = any(re.match(r"Petsc(?:Int|Real|Scalar|Bool)\s+\w+$", p) for p in f.params)
        if plain and page and "Logically Collective" in page.text and "PetscValidLogicalCollective" not in body:
            yield source.path, f.line, f"{name}() is logically collective and has no PetscValidLogicalCollective...()"


def check_pages_exist(tree):
    for name, line in tree.public.items():
        if tree.page("@", name) is None:
            yield PUBLIC_HEADER, line, f"{name}() has no manual page /*@ ... @*/ under src/"
    for t in tree.types:
        if t.macro is None:
            yield t.path, t.line, "registered by a string: give the type a name in the public header"
        elif tree.page("M", t.macro) is None:
            yield t.path, t.line, f"{t.macro} has no manual page /*MC ... M*/"


def check_page_form(tree):
    prefixes = {re.match(r"(.+?)(?:Set|Get|Compute|Initialize|Finalize|Create|View|$)", name)[1]
                for name in tree.public}
    own = re.compile(rf"`((?:{'|'.join(sorted(prefixes))})\w*)\(\)`") if prefixes else None
    for page in tree.pages:
        here = lambda message: (page.path, page.line, f"page of {page.name}: {message}")
        if page.name is None:
            yield page.path, page.line, "manual page does not begin with '  Name - purpose'"
            continue
        collective = r"^ *(?:Not Collective|Collective|Logically Collective)\b"
        if page.kind == "@" and not re.search(collective, page.text, re.M):
            yield here("no line Collective, Logically Collective or Not Collective")
        if not re.search(r"^ *Level: (?:beginner|intermediate|advanced|developer|deprecated)$", page.text, re.M):
            yield here("no Level:")
        if not re.search(r"^ *\.seealso: \S", page.text, re.M):
            yield here("no .seealso:")
        for heading in r"Input Parameters?", r"Output Parameters?", r"Input/Output Parameters?", OPTION_KEYS:
            marks = "".join(mark for mark, _ in items(page.text, heading))
            if marks and not re.fullmatch(r"\.|\+\.*-", marks):
                yield here(f"a list is marked + . - (one item: .), not {' '.join(marks)}")
        for name in own.findall(page.text) if own else []:
            if name not in tree.public:
                yield here(f"{name}() is not a public function")


def check_page_arguments(tree):
    for page in tree.pages:
        if page.kind != "@" or page.name is None:
            continue
        source = next(s for s in tree.src if s.path == page.path)
        below = min((f for f in source.functions if f.open > page.end), key=lambda f: f.open, default=None)
        if below is None or below.name != page.name:
            yield page.path, page.line, f"page of {page.name} is not directly above {page.name}()"
            continue
        found = [text for heading in ("Input Parameters?", "Output Parameters?", "Input/Output Parameters?")
                 for _, text in items(page.text, heading)]
        named = [re.sub(r"\[.*?\]", "", n).strip() for text in found for n in re.split(r"\s+-\s", text)[0].split(",")]
        params = [parameter_name(p) for p in below.params]
        for name in params:
            if name not in named:
                yield page.path, page.line, f"page of {page.name}: argument {name} is not described"
        for name in named:
            if name not in params:
                yield page.path, page.line, f"page of {page.name}: describes {name}, which is no argument"


# Options

DEFAULT_ARGUMENT = {"Enum": 4, "EList": 5, "FList": 4}
UNITS = {"Int": "integer", "Real": "real", "Scalar": "scalar", "Bool": "bool"}
NO_VALUE = {"Name", "BoolGroup", "BoolGroupBegin", "BoolGroupEnd"}


def choices(tree, option):
    """The words that an Enum or EList accepts, and the prefix of the enum's constants"""
    listed = option.kind in ("Enum", "EList")
    array = rf"\b{re.escape(option.args[3])}\s*\[[^\]]*\]\s*=\s*\{{([^}}]*)\}}" if listed else None
    match = next((m for s in tree.src for m in re.finditer(array, s.strings)), None) if array else None
    words = re.findall(r'"([^"]*)"', match[1]) if match else []
    return (words[:-2], words[-1]) if option.kind == "Enum" and words else (words, "")


def documented(tree, option):
    """The line of the option in the page of its type: how its value is written, the default, the text.
    The default is given as (default: x), or in PETSc's way as <x> where x is a number, a truth value or a choice"""
    kind = tree.type_of(option.name)
    page = tree.page("M", kind.macro) if kind else None
    for _, text in items(page.text, OPTION_KEYS) if page else []:
        match = re.match(r"(-\w+)\s*(.*?)\s+-\s(.*)", text)
        if match and match[1] == option.name:
            value, default = match[2], re.search(r"\(default:? ([^()]*)\)", match[3])
            word = value[1:-1] if value.startswith("<") else ""
            if word in choices(tree, option)[0] or re.fullmatch(r"true|false|-?[\d.]+(?:e-?\d+)?", word):
                return "", word, match[3]
            among = re.fullmatch(r"\(<([\d.]+)>(\|.*)", value)
            if among:
                return f"(<number>{among[2]}", among[1], match[3]
            return value, default[1].strip("`'\"") if default else "", match[3]
    return "", "", ""


def value_of(tree, option):
    """What follows the option on the command line"""
    words, _ = choices(tree, option)
    unit = re.sub(r"^(?:Bounded|Range)", "", option.kind)
    if words:
        return f"({'|'.join(words)})"
    if option.kind in NO_VALUE:
        return ""
    return documented(tree, option)[0] or f"<{UNITS.get(unit, unit.lower())}>"


def initial_value(tree, option, expression):
    """Follows a local variable to its initial value, a field to what create functions of its folder set, else zero"""
    source = next(s for s in tree.src if s.path == option.path)
    caller = max((f for f in source.functions if f.line <= option.line), key=lambda f: f.line, default=None)
    body = source.strings[caller.open:caller.close] if caller else ""
    if expression.isidentifier() and re.search(rf"\bPetscSNPrintf\(\s*{expression}\b", body):
        return expression  # computed
    local = None
    if expression.isidentifier():
        local = re.search(rf"\b{expression}\s*(?:\[\w*\]\s*)?=\s*([^;,=]+)[;,]", body)
    expression = local[1].strip() if local else expression
    field = re.fullmatch(r"\w+->(\w+)", expression)
    if field is None:
        return expression
    folder = os.path.dirname(option.path)
    bodies = [s.strings[f.open:f.close] for s in tree.src if os.path.dirname(s.path) == folder for f in s.functions
              if "Create_" in f.name]
    values = {m[1].strip() for body in bodies for m in re.finditer(rf"->{field[1]}\s*=\s*([^;=]+);", body)}
    return values.pop() if len(values) == 1 else "0" if bodies and not values else expression


def default_in_code(tree, option):
    """The default as the program has it, or None when it is computed"""
    if option.kind in NO_VALUE:
        return "off"
    if option.kind.endswith("Array") or option.kind == "Viewer":
        return None
    words, prefix = choices(tree, option)
    expression = initial_value(tree, option, re.sub(r"^\([\w\s*]+\)\s*", "",
                                                    option.args[DEFAULT_ARGUMENT.get(option.kind, 3)]))
    if prefix and expression.startswith(prefix):
        word = expression[len(prefix):].lower()
        return word if word in words else next((w for w in words if word.endswith("_" + w)), word)
    if words and expression.isdigit():
        return words[int(expression)]
    if option.kind == "FList" and expression == "0" and "auto" in documented(tree, option)[0]:
        return "auto"
    if option.kind == "String" and expression == "0":
        return "chosen"
    if option.kind == "Bool" and expression == "0":
        return "false"
    named = {"PETSC_TRUE": "true", "PETSC_FALSE": "false", "PETSC_DECIDE": "automatic", "PETSC_DETERMINE": "automatic",
             "-1": "automatic"}
    known = named.get(expression) or (literal(expression) if expression.startswith('"') else None)
    return known or (expression if re.fullmatch(r"-?[\d.]+(?:e-?\d+)?", expression) else None)


def default_of(tree, option):
    return default_in_code(tree, option) or documented(tree, option)[1]


# Whom an option is for: the first line that its name matches, or the level of its function's manual page
AUDIENCES = (
    ("For devices", r"-pc_kcycle_(?:place|host_below|block_below|matrix_below|graph|overlap_above|tile_above)$"),
    ("For experts", r"-ksp_kcg_|-pc_kcycle_(?:count_bytes|ghost_points|fmg_monitor)$"
                    r"|-pc_relax_(?:order|degree|directions)$|-pc_deflsub_coarse$|-pc_incpoisson_"))


def audience(tree, option):
    page = tree.page("@", literal(option.args[2]))
    advanced = page and re.search(r"^ *Level: (?:advanced|developer)$", page.text, re.M)
    titles = [title for title, names in AUDIENCES if re.match(names, option.name)]
    return (titles + ["For experts" if advanced else "For users"])[0]


def option_table(tree):
    """The options in docs/reference.md, which are made from the code"""
    lines = []
    for title in "For users", "For experts", "For devices":
        own = sorted((o for o in tree.options if audience(tree, o) == title),
                     key=lambda o: (tree.type_of(o.name) or Type("", "", "", 0)).prefix)
        if not own:
            continue
        lines += ["", f"### {title}", "", "| Option | Value | Default | Meaning | Set by |", "|---|---|---|---|---|"]
        for o in own:
            man = literal(o.args[2])
            cells = [o.name, value_of(tree, o), default_of(tree, o), man + "()" if man in tree.public else man]
            cells = [f"`{c}`" if c else "" for c in cells]
            cells.insert(3, literal(o.args[1]))
            lines.append("| " + " | ".join(c.replace("|", r"\|") for c in cells) + " |")
    return "\n".join(lines[1:] or ["The code has no options."]) + "\n"


def check_option_calls(tree):
    for o in tree.options:
        here, man = (o.path, o.line), literal(o.args[2])
        if tree.type_of(o.name) is None:
            yield *here, f"{o.name} has the prefix of no registered type ({', '.join(t.prefix for t in tree.types)})"
            continue
        value, stated, text = documented(tree, o)
        words, in_code = choices(tree, o)[0], default_in_code(tree, o)
        if words and value and set(re.findall(r"[\w-]+", value)) != set(words):
            yield *here, f"{o.name} takes {'|'.join(words)}, the page of its type says {value}"
        if o.kind == "String" and text and not value:
            yield *here, f"{o.name} takes a string: the page of its type must say which, as (a|b) or <word>"
        if stated and in_code and stated != in_code:
            yield *here, f"{o.name} is {in_code} by default, the page of its type says {stated}"
        if in_code is None and not stated and text:
            yield *here, f"{o.name}: its default is computed, so the page of its type must say (default ...)"
        if man in tree.public:
            page, source = tree.page("@", man), next(s for s in tree.src if s.path == o.path)
            keys = [re.split(r"\s", text)[0] for _, text in items(page.text, OPTION_KEYS)] if page else []
            if page and o.name not in keys:
                yield page.path, page.line, f"page of {man}: {o.name} is missing under Options Database Key"
            if not re.search(rf"\bPetscCall\(\s*{man}\s*\(", source.bare):
                yield *here, f"{o.name} names {man}() and the file never calls it"
        elif man.startswith(("KCycle", "PCKCycle")) or re.search(r"[a-z]Set[A-Z]", man):
            yield *here, f"{o.name} names {man}(), which is not a public function"


def check_option_pages(tree):
    names = {o.name for o in tree.options}
    for t in tree.types:
        page = tree.page("M", t.macro)
        keys = {re.split(r"\s", text)[0] for _, text in items(page.text, OPTION_KEYS)} if page else set()
        for o in tree.options:
            if page and o.name.startswith(t.prefix) and o.name not in keys:
                yield page.path, page.line, f"page of {t.macro}: {o.name} is missing under Options Database Keys"
    texts = [(p.path, p.line, p.text) for p in tree.pages]
    texts += [(f.path, 1, f.text) for f in tree.files if re.fullmatch(r"README\.md|docs/.*\.md", f.path)]
    prefixes = "|".join(t.prefix for t in tree.types)
    for path, first, text in texts if prefixes else []:
        for number, line in enumerate(text.splitlines()):
            for name in re.findall(rf"(?<![\w-])(?:{prefixes})\w+\b(?!\*)", line):
                if name not in names and not re.search(r"mis-?spel", line):
                    yield path, first + number + (path.startswith("src/")), f"{name} is not an option of the code"
    for s in tree.src:
        for m in re.finditer(r'\bPetscOptions(?:Get\w+|HasName)\s*\([^;]*?"(-\w+)"', s.strings):
            if tree.type_of(m[1]) and m[1] not in names:
                yield s.path, s.line(m.start()), (f"{m[1]} is read here and not declared with PetscOptions...() in a "
                                                  f"setfromoptions")


def check_reference(tree):
    page = next((f for f in tree.files if f.path == REFERENCE), None)
    blocks = list(BLOCK.finditer(page.text)) if page else []
    if len(blocks) != 2:
        yield REFERENCE, 1, "must have two blocks <!-- generated --> ... <!-- end -->: the options, the messages"
        return
    for block, made, what in zip(blocks, (option_table, message_list), ("table of options differs", "messages differ")):
        if block[0] != f"{block[1]}\n{made(tree)}\n{block[2]}":
            yield REFERENCE, page.line(block.start()), f"the {what} from the code: make lint FIX=1"


# Messages

ROOMS = (("src/pc/kcycle/", "PCKCYCLE"), ("src/pc/relax/", "PCRELAX"), ("src/pc/deflsub/", "PCDEFLSUB"),
         ("src/ksp/dpcg/", "KSPDPCG"), ("src/ksp/kcg/", "KSPKCG"), ("src/pc/incpoisson/", "PCINCPOISSON"),
         ("src/pc/fastpoisson/", "PCFASTPOISSON"),
         ("src/mat/", "MATSTENCIL and MATSTENCILTRANSFER"), ("src/dm/", "Grids and subdomains"), ("src/", "Loading"))
# Errors; reasons why levels are not structured; what -info tells; the position of the text among the arguments
MESSAGE = re.compile(r"\b(?:(PetscCheck)|(SETERRQ)|(PetscInfo|PetscSNPrintf))\s*(\()")


def sentence(arg):
    """A format as people read it: N for a whole number, ... for anything else"""
    joined = re.sub(r'"\s*PetscInt(?:64)?_FMT(\s*")?', lambda m: "d" if m[1] else 'd"', arg)
    text = re.sub(r"%[-+.0-9]*[diu]", "N", literal(joined))
    text = re.sub(r"%[-+.0-9]*[a-zA-Z]", "...", text.replace("\\n", " "))
    return " ".join(text.split())


def messages(tree):
    """(part, kind, sentence) of all that the library says when something is wrong or not as expected"""
    for s in tree.src:
        room = next(name for folder, name in ROOMS if s.path.startswith(folder))
        for m in MESSAGE.finditer(s.bare):
            end = matching(s.code, m.start(4))
            args = split_commas(s.code[m.end(4):end], s.strings[m.end(4):end])
            if m[3] == "PetscSNPrintf" and args[0] != "why":
                continue
            text = sentence(args[{"PetscCheck": 3, "SETERRQ": 2, "PetscInfo": 1,
                                  "PetscSNPrintf": 2}[m[0].rstrip("( ")]])
            if re.search(r"[a-z]{3}", text) and "PETSC_ERR_PLIB" not in args:
                yield room, "error" if not m[3] else "info" if m[3] == "PetscInfo" else "reason", text
        # Texts that are kept to be shown by -ksp_view
        for m in re.finditer(r'\bstatic\s+const\s+char\s+\w+\[\]\s*=\s*((?:"[^;]*?"|\s|PetscInt_FMT)+);', s.strings):
            if len(sentence(m[1]).split()) > 4 and "@" not in m[1]:
                yield room, "failure", sentence(m[1])


def message_list(tree):
    """The messages in docs/reference.md, which are made from the code"""
    kinds = (("error", "Errors"), ("failure", "The solve fails, `-ksp_view` and `-info` say"),
             ("reason", "`-ksp_view` says why levels are not as wished"), ("info", "`-info` says"))
    lines, found = [], set(messages(tree))
    for _, room in ROOMS:
        for kind, title in kinds:
            own = sorted(text for where, what, text in found if (where, what) == (room, kind))
            lines += ["", f"### {room}" if title == "Errors" else f"**{title}**", ""] if own else []
            lines += [f"- {text}" for text in own]
    return "\n".join(lines[1:]) + "\n"


# Tests


def check_tests_use(tree):
    """Every public function is called in a test, and every option given on a command line there"""
    folders = r"(?:tests|examples/tutorials)/.*"
    calls = {name for s in tree.sources if re.match(folders, s.path) for name in re.findall(r"\b(\w+)\s*\(", s.bare)}
    for name, line in tree.public.items():
        if name not in calls:
            yield PUBLIC_HEADER, line, f"no test calls {name}()"
    blocks = [m[0] for s in tree.sources if re.match(folders, s.path)
              for m in re.finditer(r"/\*TEST\n.*?TEST\*/", s.text, re.S)]
    given = "\n".join(blocks + [f.text for f in tree.files if re.match(folders + r"\.sh$", f.path)])
    for o in tree.options:
        if not re.search(rf"-\w*?{o.name[1:]}\b", given):
            yield o.path, o.line, f"no test gives {o.name}"


POLICY = "include/petsckcycle/private/policyimpl.h"


def check_policy(tree):
    """Every threshold is used, has a reason, an option that there is, and a test that there is; the sources keep none
    of their own."""
    header = next(s for s in tree.files if s.path == POLICY)
    tests = {os.path.splitext(os.path.basename(f.path))[0] for f in tree.files if f.path.startswith("tests/")}
    documented = "".join(f.text for f in tree.files if f.path.startswith("docs/"))
    table = header.text[:header.text.index("#define KCYCLE_POLICY_NONE")]
    entries = list(re.finditer(r'\b(?:REAL|INT)\((\w+), [^,]+,\s*"([^"]*)",\s*"([^"]*)",\s*"([^"]*)"\)',
                               re.sub(r'"\s+"', "", re.sub(r"\s*\\\n\s*", " ", table))))
    if len(entries) != len(re.findall(r"^ *(?:REAL|INT)\(KC", table, re.M)):
        yield POLICY, 1, "an entry of the table is not: name, value, reason, option, test"
    users = [s for s in tree.sources if s.path.startswith(("src/", "include/")) and s.path != POLICY]
    for m in entries:
        where = header.line(header.text.index(m[1]))
        if not any(re.search(rf"\b{m[1]}\b", s.code) for s in users):
            yield POLICY, where, f"{m[1]} is not used"
        if m[3] and m[3] not in documented:
            yield POLICY, where, f"{m[1]}: no page in docs names {m[3]}"
        if m[4] not in tests:
            yield POLICY, where, f"{m[1]}: there is no test called {m[4]}"
    cases = next(f for f in tree.files if f.path == "bench/battery_cases.py")
    for m in re.finditer(r"\bKC[A-Z_0-9]+\b", cases.text):
        if not any(re.search(rf"\b{m[0]}\b", s.bare) for s in tree.sources):
            yield cases.path, cases.text.count("\n", 0, m.start()) + 1, (f"no threshold is called {m[0]}: keep the "
                                                                         f"case, without the name")


CHECKS = [check_policy, check_format, check_patterns, check_files, check_flow, check_prose, check_length,
          check_ignored_errors, check_function_frames, check_names, check_guards, check_pages_exist, check_page_form,
          check_page_arguments, check_option_calls, check_option_pages, check_reference, check_tests_use]


def fix(tree):
    program = clang_format()
    if program and tree.sources:
        subprocess.run([program, "--style=file", "-i"] + [s.path for s in tree.sources])
    if os.path.exists(REFERENCE):
        with open(REFERENCE) as f:
            text = f.read()
        made = iter((option_table(tree), message_list(tree)))
        with open(REFERENCE, "w") as f:
            f.write(BLOCK.sub(lambda m: f"{m[1]}\n{next(made)}\n{m[2]}", text, 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true",
                        help="reformat the sources and rewrite the table of options first")
    parser.add_argument("--options", action="store_true", help="print the table of options and stop")
    args = parser.parse_args()
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    tree = Tree()
    if args.options:
        print(option_table(tree), end="")
        return 0
    if args.fix:
        fix(tree)
        tree = Tree()
    problems = sorted({problem for check in CHECKS for problem in check(tree)})
    for path, line, message in problems:
        print(f"{path}:{line}: {message}")
    functions = sum(len(s.functions) for s in tree.sources)
    counts = f"{len(tree.sources)} files, {functions} functions, {len(tree.options)} options"
    verdict = f"{len(problems)} fault{'s' if len(problems) > 1 else ''}" if problems else "clean"
    print(f"lint: {counts}: {verdict}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
