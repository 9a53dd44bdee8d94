"""Matrices and vectors in files: PETSc's binary format, and Matrix Market's, which is turned into the former."""

import array
import os
import struct
import sys

MATRIX, VECTOR = 1211216, 1211214  # the first number of PETSc's files
MOST_BYTES = 8.0  # of a float there


def fail(text):
    sys.exit(f"compare: {text}")


def binary_header(path, file, size):
    """Rows and columns of a matrix in PETSc's format; a vector has no columns"""
    for width, code in ((4, ">i"), (8, ">q")):
        file.seek(0)
        head = file.read(4 * width)
        numbers = [struct.unpack(code, head[k:k + width])[0] for k in range(0, len(head) - width + 1, width)]
        if numbers[:1] == [VECTOR] and len(numbers) > 1:
            if size < 2 * width + MOST_BYTES * numbers[1]:
                fail(f"{path} ends before its {numbers[1]} numbers do: write it again")
            return numbers[1], None
        if numbers[:1] == [MATRIX] and len(numbers) > 3:
            rows, columns, entries = numbers[1:4]
            if entries < 0:
                fail(f"{path} is a dense matrix: write it from a matrix of type aij")
            if size < width * (4 + rows + entries) + MOST_BYTES * entries:
                fail(f"{path} ends before its {entries} entries do: write it again")
            return rows, columns
    return None


def market_header(path, file):
    """Words of the first line, and the sizes"""
    first = file.readline().lower().split()
    if "complex" in first or "pattern" in first:
        fail(f"{path} has {'complex numbers' if 'complex' in first else 'no numbers'}: real ones are needed")
    for line in file:
        if line.strip() and not line.startswith("%"):
            words = line.split()
            if len(words) != (2 if "array" in first else 3) or not all(word.isdigit() for word in words):
                fail(f"{path}: no sizes in the line {line.strip()}")
            return first, [int(word) for word in words]
    return fail(f"{path} ends before its sizes")


def is_market(path):
    with open(path, "rb") as file:
        return file.read(14) == b"%%MatrixMarket"


def sizes(path):
    """Rows and columns of what is in a file"""
    try:
        if is_market(path):
            with open(path, errors="replace") as file:
                return market_header(path, file)[1][:2]
        with open(path, "rb") as file:
            found = binary_header(path, file, os.path.getsize(path))
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}")
    if not found:
        fail(f"{path} has an unknown format: neither PETSc's binary one (MatView() to a binary viewer) nor Matrix "
             "Market's (its first word is %%MatrixMarket); a compressed file must be unpacked")
    return found


def market_entries(path, file, first, rows, columns, number):
    """Places, row by row, and values; of a symmetric matrix both halves"""
    places, values, mirror = array.array("q"), array.array("d"), {"symmetric": 1, "skew-symmetric": -1}.get(first[-1])
    for e in range(1, number + 1):
        try:
            i, j, value = file.readline().split()
            i, j, value = int(i) - 1, int(j) - 1, float(value)
        except ValueError:
            fail(f"{path} ends at entry {e} of {number}, or that is no entry: write the file again")
        if not (0 <= i < rows and 0 <= j < columns):
            fail(f"{path}: entry {e} is at {i + 1}, {j + 1} of a matrix of {rows} rows")
        places.append(i * columns + j)
        values.append(value)
        if mirror and i != j:
            places.append(j * columns + i)
            values.append(mirror * value)
    return places, values


def from_market(path, to, integer, real):
    """Writes it in PETSc's format, whose numbers are of these types of array; entries of the same place are added up"""
    with open(path, errors="replace") as file:
        first, (rows, columns, *number) = market_header(path, file)
        if "array" in first:
            try:
                numbers = array.array(real, map(float, file.read().split()))
            except ValueError:
                numbers = []
            if columns != 1 or len(numbers) != rows:
                fail(f"{path} is no array of {rows} x 1 numbers")
            parts = [array.array(integer, [VECTOR, rows]), numbers]
        else:
            places, values = market_entries(path, file, first, rows, columns, *number)
            counts, there, sums, last = array.array(integer, [0]) * rows, array.array(integer), array.array(real), None
            for k in sorted(range(len(places)), key=places.__getitem__):
                if places[k] == last:
                    sums[-1] += values[k]
                    continue
                last = places[k]
                counts[last // columns] += 1
                there.append(last % columns)
                sums.append(values[k])
            parts = [array.array(integer, [MATRIX, rows, columns, len(sums)]), counts, there, sums]
    with open(to, "wb") as file:
        for part in parts:
            if sys.byteorder == "little":
                part.byteswap()
            part.tofile(file)
