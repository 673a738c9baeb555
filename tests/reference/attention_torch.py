"""Attention by PyTorch in float64: outputs, weights, scores and all gradients of the configurations of attention_cases.py, by plain tensor
operations written from the formulas of include/attn/ops.h and attention.h, differentiated by autograd. Knows nothing of the library.

attention_torch.py write FOLDER: writes index.json (the configurations, and the names and shapes of their results) and values.npy (the
results one after the other).
attention_torch.py check FOLDER: computes them again and compares: the index byte for byte, the numbers within 1e-13 (another version of
PyTorch may add in another order) of the largest of their tensor, or of the configuration's largest gradient if the tensor is a gradient
that is zero but for rounding.
"""
import json
import math
import pathlib
import sys

import numpy
import torch

sys.dont_write_bytecode = True
import attention_cases as cases

LIMIT = 1e-13


def visible(c):
    """(B, Tq, Tk), true = may attend; each rule as it is defined, all joined by AND."""
    m, batch, queries, keys = c["mask"], c["batch"], c["queries"], cases.keys_of(c)
    i, j = torch.arange(queries)[None, :, None], torch.arange(keys)[None, None, :]
    see = torch.ones(batch, queries, keys, dtype=torch.bool)
    if "key_lengths" in m:
        see = see & (j < torch.tensor(m["key_lengths"]).view(batch, 1, 1))
    if "query_lengths" in m:
        see = see & (i < torch.tensor(m["query_lengths"]).view(batch, 1, 1))
    if "row_lengths" in m:
        see = see & (j < torch.tensor(m["row_lengths"]).view(batch, queries, 1))
    if "row_begins" in m:
        see = see & (j >= torch.tensor(m["row_begins"]).view(batch, queries, 1))
    if "offsets" in m:  # the number of sentences that have begun tells which one a row belongs to
        ends = torch.tensor(m["offsets"]).view(batch, 5, 1)
        sentence = (torch.arange(queries).view(1, 1, queries) >= ends).sum(1)
        see = see & (sentence[:, :, None] == sentence[:, None, :])
    if "allow" in m:
        allow = torch.tensor([bit == "1" for bit in m["allow"]], dtype=torch.bool)
        see = see & (allow.view(batch, 1, keys) if m["allow_form"] == "keys" else allow.view(batch, queries, keys))
    place = i + torch.tensor(m.get("positions", [0] * batch), dtype=torch.int64).view(batch, 1, 1)
    if m.get("causal") == "bottom-right":
        place = place + keys - queries
    if "causal" in m:
        see = see & (j <= place)
    left, right = m.get("window", [-1, -1])
    if left >= 0:
        see = see & (j >= place - left)
    if right >= 0:
        see = see & (j <= place + right)
    return see


def heads_of(x, kv_heads, heads):
    """(B, T, Hkv d) -> (B, T, H, d): query head h reads key/value head h / (H / Hkv)."""
    x = x.reshape(x.shape[0], x.shape[1], kv_heads, x.shape[2] // kv_heads)
    return x[:, :, [h // (heads // kv_heads) for h in range(heads)]]


def raw_scores(c, query, key, w):
    """(B, H, Tq, Tk)"""
    q, k = heads_of(query, c["heads"], c["heads"]), heads_of(key, c["kv_heads"], c["heads"])
    if c["score"] == "additive":
        return (w * torch.tanh(q[:, :, None] + k[:, None, :])).sum(-1).permute(0, 3, 1, 2)
    width = max(q.shape[-1], 1)
    factor = c["scale"] or (1 / math.sqrt(width) if c["score"] == "scaled-dot" else 1)
    return factor * (q[:, :, None] * k[:, None, :]).sum(-1).permute(0, 3, 1, 2)


def position_bias(c, table, first):
    """(B, H, Tq, Tk): table[h, clip(j - i - first[b], -C, C) + C]"""
    i, j = torch.arange(c["queries"])[None, :, None], torch.arange(cases.keys_of(c))[None, None, :]
    offset = j - i - torch.tensor(first, dtype=torch.int64).view(c["batch"], 1, 1)
    return table[:, offset.clamp(-c["clip"], c["clip"]) + c["clip"]].permute(1, 0, 2, 3)


def softmax(scores, see):
    """Over the visible keys; a row without any is zeros, and so is a row of nothing but -infinity."""
    nothing = torch.full((*scores.shape[:-1], 1), -math.inf, dtype=torch.float64)
    seen = torch.where(see, scores, nothing)
    largest = torch.cat([seen.detach(), nothing], -1).amax(-1, keepdim=True)
    powers = torch.exp(seen - torch.where(largest == -math.inf, torch.zeros_like(largest), largest))
    total = powers.sum(-1, keepdim=True)
    return powers / torch.where(total > 0, total, torch.ones_like(total))


def attend(c, x, first):
    """Results by name, of projected query, key and value in x."""
    key = torch.cat([x["past_key"], x["key"]], 1) if "past_key" in x else x["key"]
    value = torch.cat([x["past_value"], x["value"]], 1) if "past_value" in x else x["value"]
    see = visible(c)[:, None]
    zero = torch.zeros((), dtype=torch.float64)
    out = {}
    scores = torch.where(see, raw_scores(c, x["query"], key, x.get("w")), zero)
    if c["soft_cap"]:
        out["scaled"] = scores
        scores = c["soft_cap"] * torch.tanh(scores / c["soft_cap"])
    if "position" in x or "bias" in x:
        out["capped"] = scores
    if "position" in x:
        scores = scores + position_bias(c, x["position"], first)
    if "bias" in x:
        scores = scores + x["bias"]
    out["scores"] = torch.where(see, scores, zero)
    out["weights"] = softmax(scores, see)
    values = heads_of(value, c["kv_heads"], c["heads"])  # (B, Tk, H, dv)
    mixed = (out["weights"].permute(0, 2, 3, 1)[..., None] * values[:, None]).sum(2)
    out["output"] = mixed.reshape(c["batch"], c["queries"], c["heads"] * c["value_width"])
    return out


def project(x, matrix, bias):
    y = (x[..., None] * matrix).sum(-2)
    return y if bias is None else y + bias


def layer(c, x):
    """Results by name, of the layer's inputs and parameters in x."""
    key = x.get("key", x["query"])
    inner = dict(x)
    inner["query"] = project(x["query"], x["W_q"], x.get("b_q"))
    inner["key"] = project(key, x["W_k"], x.get("b_k"))
    inner["value"] = project(x.get("value", key), x["W_v"], x.get("b_v"))
    out = attend(c, inner, c.get("query_start", c["mask"].get("positions", [0] * c["batch"])))
    for stage in ["scaled", "capped"]:  # the layer does not show them
        out.pop(stage, None)
    if "W_o" in x:
        taking_part = visible(c).any(-1)[..., None]
        out["output"] = torch.where(taking_part, project(out["output"], x["W_o"], x.get("b_o")), torch.zeros((), dtype=torch.float64))
    return out


def shapes(c):
    """Shapes of everything that goes in, and of the output, by name."""
    batch, heads, kv, d, dv = c["batch"], c["heads"], c["kv_heads"], c["width"], c["value_width"]
    s = {"query": [batch, c["queries"], heads * d], "key": [batch, c["keys"], kv * d], "value": [batch, c["keys"], kv * dv]}
    output = heads * dv
    if c["layer"]:
        s["query"][2], s["key"][2], s["value"][2] = c["query_dim"], c["key_dim"], c["value_dim"]
        s["W_q"], s["W_k"], s["W_v"] = [c["query_dim"], heads * d], [c["key_dim"], kv * d], [c["value_dim"], kv * dv]
        if c["output_projection"]:
            s["W_o"] = [output, c["output_dim"]]
            output = c["output_dim"]
        for letter in "qkvo" if c["bias_vectors"] else "":
            if "W_" + letter in s:
                s["b_" + letter] = s["W_" + letter][1:]
        if c["self"]:
            del s["key"], s["value"]
    if c["past"] > 0:
        s["past_key"], s["past_value"] = [batch, c["past"], kv * d], [batch, c["past"], kv * dv]
    if c["score"] == "additive":
        s["w"] = [heads, d]
    if c["clip"] >= 0:
        s["position"] = [heads, 2 * c["clip"] + 1]
    if "bias" in c:
        s["bias"] = c["bias"]
    return s, [batch, c["queries"], output]


def inputs(c):
    """Everything that goes in, by name, as leaves of autograd; and the cotangent of the output."""
    x = {}
    all_shapes, output = shapes(c)
    for name, shape in all_shapes.items():
        values = cases.values(c["number"], name, shape, c["amplitude"] if name in ("query", "key", "past_key") else 1)
        if name == "bias":
            values.reshape(-1)[c.get("minus_infinity", [])] = -math.inf
        x[name] = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    return x, torch.tensor(cases.values(c["number"], "cotangent", output), dtype=torch.float64)


def results(c):
    """Values, then gradients under "d " and their name."""
    x, cotangent = inputs(c)
    out = layer(c, x) if c["layer"] else attend(c, x, c["mask"].get("positions", [0] * c["batch"]))
    (out["output"] * cotangent).sum().backward()
    values = {name: y.detach().numpy() for name, y in out.items()}
    for name, leaf in x.items():
        values["d " + name] = numpy.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy()
    for name, value in values.items():
        assert not numpy.isnan(value).any(), (c["number"], name)
    return values


def compute():
    """The text of the index, and the results of each configuration."""
    sample = [x.hex() for seed, stream in [(1, 2), (2**64 - 1, 2**40)] for x in cases.uniform(seed, stream, 4).tolist()]
    lines, everything = [], []
    for c in cases.configurations():
        everything.append(results(c))
        c["results"] = {name: list(value.shape) for name, value in everything[-1].items()}
        lines.append(json.dumps(c, separators=(",", ":")))
    text = '{"uniform":%s,\n"configurations":[\n%s\n]}\n' % (json.dumps(sample), ",\n".join(lines))
    return text, everything


def save(path, everything):
    numpy.save(path, numpy.concatenate([value.reshape(-1) for r in everything for value in r.values()])[None])


def largest(x):
    return numpy.abs(x[numpy.isfinite(x)]).max(initial=0)


def difference(old, new, largest_gradient):
    """Of one result, as a share of its scale; the same infinity is no difference."""
    apart = largest(old[old != new] - new[old != new]) if (numpy.isfinite(old) == numpy.isfinite(new)).all() else math.inf
    scale = largest(old)
    return apart / (scale if scale >= 1e-12 * largest_gradient else largest_gradient) if apart > 0 else 0


def check(folder, text, everything):
    """The largest difference from what is stored."""
    assert (folder / "index.json").read_text() == text, "other configurations"
    stored, at, worst = numpy.load(folder / "values.npy")[0], 0, 0
    for r in everything:
        largest_gradient = max([largest(value) for name, value in r.items() if name.startswith("d ")])
        for name, value in r.items():
            new = value.reshape(-1)
            worst = max(worst, difference(stored[at : at + new.size], new, largest_gradient if name.startswith("d ") else 0))
            at += new.size
    assert at == stored.size, "another number of results"
    return worst


def main(action, folder):
    torch.set_num_threads(1)
    text, everything = compute()
    if action == "write":
        (folder / "index.json").write_text(text)
        save(folder / "values.npy", everything)
    worst = check(folder, text, everything)
    print("PyTorch %s: largest difference from what is stored %.1e" % (torch.__version__, worst))
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
