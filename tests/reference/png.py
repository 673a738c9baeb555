"""A strict reader of PNG (8-bit RGB, not interlaced), by the specification and zlib alone: what other programs see in our files.

    png.py FILE      width, height, and the CRC-32 of all pixels, row by row
"""
import struct
import sys
import zlib


def chunks(data):
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG signature")
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        (crc,) = struct.unpack(">I", data[at + 8 + size:at + 12 + size])
        if len(body) != size or zlib.crc32(kind + body) != crc:
            raise ValueError(f"chunk {kind} is damaged")
        yield kind, body
        at += 12 + size


def paeth(left, up, corner):
    guess = left + up - corner
    return min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]


def unfilter(kind, line, above):
    out = bytearray(line)
    for i, byte in enumerate(line):
        left, corner = (out[i - 3], above[i - 3]) if i >= 3 else (0, 0)
        up = above[i]
        out[i] = (byte + (0, left, up, (left + up) // 2, paeth(left, up, corner))[kind]) & 255
    return out


def decode(data):
    """Width, height, rows of RGB."""
    found = list(chunks(data))
    kinds = [kind for kind, _ in found]
    if kinds[0] != b"IHDR" or kinds[-1] != b"IEND" or set(kinds[1:-1]) != {b"IDAT"}:
        raise ValueError(f"unexpected chunks {kinds}")
    width, height, depth, color, compression, filters, interlaced = struct.unpack(">IIBBBBB", found[0][1])
    if (depth, color, compression, filters, interlaced) != (8, 2, 0, 0, 0):
        raise ValueError("not 8-bit RGB")
    inflate = zlib.decompressobj()
    raw = inflate.decompress(b"".join(body for kind, body in found if kind == b"IDAT"))
    size = 3 * width + 1
    if not inflate.eof or inflate.unused_data or len(raw) != size * height:
        raise ValueError("wrong number of pixels")
    rows, above = [], bytes(3 * width)
    for y in range(height):
        above = unfilter(raw[y * size], raw[y * size + 1:(y + 1) * size], above)
        rows.append(bytes(above))
    return width, height, rows


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        width, height, rows = decode(file.read())
    print(width, height, f"{zlib.crc32(b''.join(rows)):08x}")
