"""Puts numbers into a model: set_tensors.py MODEL TENSORS.json, {"NAME": {"INDEX,INDEX": number}}; all other elements become 0,
but neighbours stay unless they are named.
An index may also be a word of the vocabulary ("=river": its row)."""
import json
import struct
import sys

model, wanted = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))
data = bytearray(open(model, "rb").read())
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
words = json.loads(header["__metadata__"]["attn.vocabulary"])
for name, about in header.items():
    if name == "__metadata__":
        continue
    if name == "neighbours" and name not in wanted:
        continue
    begin, end = about["data_offsets"]
    data[8 + size + begin:8 + size + end] = bytes(end - begin)
    for index, number in wanted.pop(name, {}).items():
        at = 0
        for part, dim in zip(index.split(","), about["shape"]):
            i = words.index(part[1:]) + 1 if part.startswith("=") else int(part)
            assert 0 <= i < dim, (name, index)
            at = at * dim + i
        struct.pack_into("<f", data, 8 + size + begin + 4 * at, number)
assert not wanted, wanted
open(model, "wb").write(data)
