"""Reads our SVG with Python's XML parser.

    svg.py texts FILE              the content of every <text>, a line each, as hexadecimal code points
    svg.py colors FILE X Y ...     what lies at these points: RRGGBB, or the name of a pattern
"""
import base64
import functools
import re
import sys
import xml.etree.ElementTree as ElementTree

import png

SVG = "{http://www.w3.org/2000/svg}"


def texts(root):
    for element in root.iter(SVG + "text"):
        print(" ".join(f"{ord(c):X}" for c in "".join(element.itertext())))


def rectangles(path):
    """The rectangles of M x y h w v h h -w z, one after the other."""
    for x, y, w, h in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-\d+z", path.get("d")):
        yield int(x), int(y), int(x) + int(w), int(y) + int(h)


@functools.lru_cache
def decoded(data):
    return png.decode(base64.b64decode(data, validate=True))


def pixel(image, x, y):
    x0, y0, wide, high = (int(image.get(name)) for name in ("x", "y", "width", "height"))
    if not (x0 <= x < x0 + wide and y0 <= y < y0 + high):
        return None
    data = image.get("{http://www.w3.org/1999/xlink}href").removeprefix("data:image/png;base64,")
    width, height, rows = decoded(data)
    row, column = rows[(y - y0) * height // high], (x - x0) * width // wide
    return row[3 * column:3 * column + 3].hex()


def color(root, x, y):
    """Of the last shape there; shapes in <defs> are not drawn."""
    found = None
    defined = set(root.find(SVG + "defs").iter())
    for element in root.iter():
        if element in defined:
            continue
        if element.tag == SVG + "path" and any(a <= x < c and b <= y < d for a, b, c, d in rectangles(element)):
            found = element.get("fill").lstrip("#")
        elif element.tag == SVG + "image":
            found = pixel(element, x, y) or found
    return found


if __name__ == "__main__":
    root = ElementTree.parse(sys.argv[2]).getroot()
    if sys.argv[1] == "texts":
        texts(root)
    else:
        points = [int(a) for a in sys.argv[3:]]
        for at in range(0, len(points), 2):
            print(color(root, points[at], points[at + 1]))
