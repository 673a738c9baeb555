"""NumPy on its own and on our side of the .npy format.

npy.py write FOLDER: saves arrays of many kinds, and next to each a text of its rows, numbers as hexadecimal floats.
npy.py read FILE: prints the array of FILE in the same way, after checking that numpy.save would have written the same bytes.
"""
import io
import pathlib
import sys

import numpy

VALUES = numpy.array([[0, 1, 2], [100, 64.5, 3]])
DTYPES = ["<f8", ">f8", "<f4", ">f4", "<f2", ">f2", "<i8", ">i8", "<i4", ">i4", "<i2", "|i1", "|u1", "<u2", ">u4", "<u8", "|b1"]


def rows(array):
    array = numpy.atleast_2d(array).astype(numpy.float64)
    return "".join(" ".join(float(x).hex() for x in row) + "\n" for row in array)


def save(folder, name, array, version=None):
    with open(folder / (name + ".npy"), "wb") as stream:
        numpy.lib.format.write_array(stream, array, version=version)
    (folder / (name + ".txt")).write_text(rows(array))


def write(folder):
    for dtype in DTYPES:
        name = dtype.replace("<", "little_").replace(">", "big_").replace("|", "byte_")
        array = VALUES.astype(dtype)
        if dtype[1] in "if":
            array[0, 0] = -7
        save(folder, name + "_c", array)
        save(folder, name + "_fortran", numpy.asfortranarray(array))
        save(folder, name + "_row", array[0].copy())
    special = numpy.array([[numpy.inf, -numpy.inf, -0.0], [5e-324, 1e308, 0.1]])
    for version in [(1, 0), (2, 0), (3, 0)]:
        save(folder, "version_%d" % version[0], special, version)
    save(folder, "transposed", special.T)
    save(folder, "half", numpy.array([6e-8, -6.1e-5, 65504, numpy.inf, 0.333], dtype="<f2"))
    save(folder, "integers", numpy.array([[-(2**63), 2**63 - 1, -1]], dtype="<i8"))
    save(folder, "naturals", numpy.array([[2**64 - 1, 2**63, 1]], dtype="<u8"))


def read(path):
    array = numpy.load(path)
    again = io.BytesIO()
    numpy.save(again, array)
    assert again.getvalue() == pathlib.Path(path).read_bytes(), "numpy.save writes other bytes"
    sys.stdout.write(rows(array))


if sys.argv[1] == "write":
    write(pathlib.Path(sys.argv[2]))
else:
    read(sys.argv[2])
