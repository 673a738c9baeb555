"""Reads a safetensors file by the published format and prints what it holds, one line a text and a tensor.

Written apart from the library, from github.com/huggingface/safetensors, README "Format":
8 bytes little-endian N; N bytes of JSON, which begins with '{' and may end with spaces; the rest is the data, row-major and
little-endian. Usage: read_safetensors.py FILE. Numbers are printed as hexadecimal floats, so that no bit is lost.
"""
import json
import struct
import sys

CODES = {"F32": ("f", 4), "F64": ("d", 8)}


def unique(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "a key occurs twice"
    return dict(pairs)


def main():
    with open(sys.argv[1], "rb") as stream:
        content = stream.read()
    (size,) = struct.unpack("<Q", content[:8])
    header = content[8 : 8 + size]
    data = content[8 + size :]
    assert len(header) == size and header[:1] == b"{", "no header"
    assert (8 + size) % 8 == 0, "the data is not aligned"
    entries = json.loads(header.decode("utf-8"), object_pairs_hook=unique)
    for key, value in entries.pop("__metadata__").items():
        print("text", json.dumps(key), json.dumps(value))
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
        code, width = CODES[entry["dtype"]]
        begin, stop = entry["data_offsets"]
        count = 1
        for extent in entry["shape"]:
            count *= extent
        assert begin == end and begin % width == 0 and stop - begin == count * width, name
        end = stop
        numbers = struct.unpack("<%d%s" % (count, code), data[begin:stop])
        print("tensor", json.dumps(name), entry["dtype"], entry["shape"], *[number.hex() for number in numbers])
    assert end == len(data), "data that belongs to no tensor"


main()
