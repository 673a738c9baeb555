"""Random configurations of attention, the same on every machine: which options, which sizes, and the numbers that go in.

A configuration is a dictionary that says everything but the numbers of its inputs; those are values(number, name, shape, amplitude). All
randomness is Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011, SC'11), as in include/attn/random.h, so that C computes the same numbers.
"""
import numpy

ATTEND = 255  # configurations of projected queries, keys and values
LAYER = 85  # configurations of the whole layer
PAIRS = 220  # largest number of query-key pairs, all heads and sentences together
ROOM = 750  # largest number of inputs

SCORES = ["scaled-dot", "dot", "additive"]
# What a configuration must have, one after the other; the rest is drawn.
MASKS = ["none", "key_lengths", "query_lengths", "row_lengths", "row_begins", "pairs", "keys", "top-left", "bottom-right", "position",
         "window", "packed", "bias", "minus_infinity", "several", "no_key", "no_row"]
INPUTS = ["query", "key", "value", "past_key", "past_value", "w", "bias", "position", "cotangent", "W_q", "W_k", "W_v", "W_o", "b_q", "b_k",
          "b_v", "b_o"]
LENGTHS = [0, 1, 1, 2, 3, 3, 4, 5, 6, 7, 7, 8, 11, 13]
WIDTHS = [0, 1, 1, 2, 3, 3, 4, 5, 7, 8, 13]

WORD = (1 << 32) - 1


def uniform(seed, stream, count):
    """`count` numbers in [0, 1), multiples of 2^-53: attn_random_uniform(seed, stream, 0 ..)."""
    u64 = numpy.uint64
    position = numpy.arange(count, dtype=u64)
    c = [position & u64(WORD), position >> u64(32), numpy.full(count, stream & WORD, u64), numpy.full(count, stream >> 32, u64)]
    k0, k1 = seed & WORD, seed >> 32
    for _ in range(10):
        p0, p1 = u64(0xD2511F53) * c[0], u64(0xCD9E8D57) * c[2]
        c = [(p1 >> u64(32)) ^ c[1] ^ u64(k0), p1 & u64(WORD), (p0 >> u64(32)) ^ c[3] ^ u64(k1), p0 & u64(WORD)]
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return (((c[0] << u64(32)) | c[1]) >> u64(11)).astype(numpy.float64) * 2.0**-53


def values(number, name, shape, amplitude=1):
    """Numbers in [-amplitude, amplitude), a power of two, that float32 holds exactly: fill_random of tests/support/tensors.h."""
    u = uniform(100 * number + INPUTS.index(name), 77, int(numpy.prod(shape)))
    return (-amplitude + 2 * amplitude * u).astype(numpy.float32).astype(numpy.float64).reshape(shape)


class Draw:
    """Decisions, one after the other."""

    def __init__(self, number, attempt):
        self.numbers = iter(uniform(number, 1000 + attempt, 4000).tolist())

    def below(self, n):
        return int(next(self.numbers) * n)

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, probability):
        return next(self.numbers) < probability

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def lengths(self, n, limit):
        return [self.between(0, limit) for _ in range(n)]

    def bits(self, n, share):
        return "".join("1" if self.chance(share) else "0" for _ in range(n))


# ---- masks: each adds what it is named after to the configuration ----


def add_packed(d, c):
    ends = [sorted(d.lengths(3, c["queries"])) for _ in range(c["batch"])]
    c["mask"]["offsets"] = [[0] + e + [c["queries"]] for e in ends]


def add_row_begins(d, c):
    c["mask"]["row_begins"] = d.lengths(c["batch"] * c["queries"], keys_of(c))
    if d.chance(0.5):
        add_row_lengths(d, c)


def add_row_lengths(d, c):
    c["mask"]["row_lengths"] = d.lengths(c["batch"] * c["queries"], keys_of(c))


def add_allow(d, c, form, share=0.6):
    per_batch = keys_of(c) * (c["queries"] if form == "pairs" else 1)
    c["mask"].update(allow_form=form, allow=d.bits(c["batch"] * per_batch, share))


def add_causal(d, c, alignment):
    c["mask"]["causal"] = alignment
    c["mask"].pop("positions", None)
    if alignment == "position":
        add_positions(d, c)


def add_positions(d, c):
    c["mask"]["positions"] = [d.between(-2, keys_of(c)) for _ in range(c["batch"])]


def add_window(d, c):
    c["mask"]["window"] = d.pick([[d.below(5), d.below(5)], [d.below(5), -1], [-1, d.below(5)], [d.below(3), 0]])
    if "causal" not in c["mask"] and d.chance(0.4):
        add_positions(d, c)


def add_bias(d, c):
    full = [c["batch"], c["heads"], c["queries"], keys_of(c)]
    c["bias"] = [n if d.chance(0.7) else 1 for n in full][d.below(4):]


def add_minus_infinity(d, c):
    add_bias(d, c)
    c["minus_infinity"] = [i for i in range(int(numpy.prod(c["bias"]))) if d.chance(0.3)]


def add_no_row(d, c):
    """The first, a middle or the last query of each sentence sees nothing; the other queries see everything."""
    rows = []
    for _ in range(c["batch"]):
        blind = d.pick([0, c["queries"] // 2, c["queries"] - 1])
        rows += [0 if i == blind else 1 for i in range(c["queries"])]
    c["mask"].update(allow_form="pairs", allow="".join(str(r) * keys_of(c) for r in rows))


def add_several(d, c):
    kinds = ["key_lengths", "query_lengths", "row_lengths", "pairs", "keys", "top-left", "bottom-right", "position", "window", "bias"]
    for _ in range(d.between(2, 4)):
        add_mask(d, c, d.pick(kinds))


def add_mask(d, c, kind):
    mask, batch = c["mask"], c["batch"]
    {
        "none": lambda: None,
        "key_lengths": lambda: mask.update(key_lengths=d.lengths(batch, keys_of(c))),
        "query_lengths": lambda: mask.update(query_lengths=d.lengths(batch, c["queries"])),
        "row_lengths": lambda: add_row_lengths(d, c),
        "row_begins": lambda: add_row_begins(d, c),
        "pairs": lambda: add_allow(d, c, "pairs"),
        "keys": lambda: add_allow(d, c, "keys"),
        "top-left": lambda: add_causal(d, c, "top-left"),
        "bottom-right": lambda: add_causal(d, c, "bottom-right"),
        "position": lambda: add_causal(d, c, "position"),
        "window": lambda: add_window(d, c),
        "packed": lambda: add_packed(d, c),
        "bias": lambda: add_bias(d, c),
        "minus_infinity": lambda: add_minus_infinity(d, c),
        "several": lambda: add_several(d, c),
        "no_key": lambda: mask.update(key_lengths=[0] * batch),
        "no_row": lambda: add_no_row(d, c),
    }[kind]()


# ---- configurations ----


def keys_of(c):
    """Keys in the mask's eyes."""
    return c["past"] + c["keys"]


def elements(c):
    rows, keys = c["batch"] * c["queries"], c["batch"] * keys_of(c)
    if c["layer"]:
        return rows * c["query_dim"] + keys * (c["key_dim"] + c["value_dim"]) + c["heads"] * c["width"] * c["query_dim"]
    return rows * c["heads"] * (c["width"] + c["value_width"]) + keys * c["kv_heads"] * (c["width"] + c["value_width"])


def add_widths(d, c):
    """The layer's widths are positive; self-attention has one sequence for all."""
    for name in ["query_dim", "key_dim", "value_dim", "output_dim"]:
        c[name] = d.between(1, 7)
    c.update(bias_vectors=d.chance(0.5), output_projection=d.chance(0.75), self=d.chance(0.3))
    if c["self"]:
        c.update(keys=c["queries"], key_dim=c["query_dim"], value_dim=c["query_dim"])


def draw(number, attempt):
    d, kind = Draw(number, attempt), MASKS[number // 3 % len(MASKS)]
    c = {"number": number, "kind": kind, "layer": number >= ATTEND, "score": SCORES[number % 3], "mask": {}}
    c["batch"] = d.pick([0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3])
    c["queries"], c["keys"] = d.pick(LENGTHS), d.pick(LENGTHS)
    c["past"] = d.between(0, 5) if d.chance(0.3) and kind != "packed" else 0
    if kind == "packed":
        c["keys"] = c["queries"]
    c["heads"] = d.between(1, 4)
    c["kv_heads"] = d.pick([n for n in range(1, 5) if c["heads"] % n == 0])
    c["width"], c["value_width"] = (d.pick(WIDTHS[1 if c["layer"] else 0:]) for _ in range(2))
    if c["layer"]:
        add_widths(d, c)
    c["scale"] = d.pick([0.7, -0.3, 2.0]) if d.chance(0.25) and c["score"] != "additive" else 0
    c["soft_cap"] = d.pick([0.5, 1.5, 10.0]) if d.chance(0.3) else 0
    c["clip"] = d.between(1 if c["layer"] else 0, 4) if d.chance(0.35) else -1
    # A cap that saturates at every pair leaves nothing but rounding errors of the gradient, on both sides.
    c["amplitude"] = 1 if c["layer"] else d.pick([0.5, 1] if c["soft_cap"] else [0.5, 1, 1, 2, 4])
    add_mask(d, c, kind)
    if c["clip"] >= 0 and "causal" not in c["mask"] and d.chance(0.5):
        add_positions(d, c)
    if c["clip"] >= 0 and c["layer"] and d.chance(0.5):
        c["query_start"] = [d.between(-2, 5) for _ in range(c["batch"])]
    return c


def fits(c):
    if c["layer"] and "minus_infinity" in c:
        return False  # what b_o adds to a row of nothing else is for the tests of the layer
    empty = 0 in (c["batch"], c["queries"], keys_of(c), c["width"], c["value_width"])
    if empty and c["number"] % 4 != 0:  # not too many
        return False
    return c["batch"] * c["heads"] * c["queries"] * keys_of(c) <= PAIRS and elements(c) <= ROOM


def configurations():
    for number in range(ATTEND + LAYER):
        if number >= ATTEND and MASKS[number // 3 % len(MASKS)] == "minus_infinity":
            continue
        yield next(c for c in (draw(number, attempt) for attempt in range(1000)) if fits(c))
