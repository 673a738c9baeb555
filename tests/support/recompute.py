"""Computes a prediction again from the numbers that attn explain --json shows: recompute.py EXPLANATION.json PREDICTION.json
Only query, keys, w, position, values, matrix, bias, prior and neighbours are used; every other number must follow from them."""
import json
import math
import sys

shown, predicted = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
worst = 0.0


def close(what, a, b):
    global worst
    for x, y in zip(a, b, strict=True):
        worst = max(worst, abs(x - y))
        assert abs(x - y) <= 1e-6 * max(1, abs(y)), (what, x, y)


def softmax(x):
    e = [math.exp(v - max(x)) for v in x]
    return [v / sum(e) for v in e]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def head_parts(head):
    q = head["query"]
    if shown["score"] == "additive":
        raw = [dot(head["w"], [math.tanh(a + b) for a, b in zip(q, k, strict=True)]) for k in head["keys"]]
    else:
        raw = [dot(q, k) for k in head["keys"]]
    scale = 1 / math.sqrt(shown["head_dim"]) if shown["score"] == "scaled-dot" else 1
    scaled = [scale * x for x in raw]
    scores = [x + b for x, b in zip(scaled, head.get("position", [0] * len(scaled)), strict=True)]
    weights = softmax(scores)
    mixed = [dot(weights, column) for column in zip(*head["values"], strict=True)]
    parts = [dot(mixed, column) for column in zip(*head["matrix"], strict=True)]
    for name, numbers in (("raw", raw), ("scaled", scaled), ("scores", scores), ("weights", weights), ("mixed", mixed), ("part", parts)):
        close(name, head[name], numbers)
    assert len(weights) == shown["count"] == len(shown["known"])
    return parts


def member_probabilities(member):
    parts = [head_parts(head) for head in member["heads"]]
    logits = [sum(column) for column in zip(*parts, member["bias"], member["prior"], *shown.get("neighbours", []), strict=True)]
    close("logits", member["logits"], logits)
    p = softmax(logits)
    close("probabilities", member["probabilities"], p)
    return p


members = [member_probabilities(member) for member in shown["members"]]
mean = [sum(column) / len(members) for column in zip(*members, strict=True)]
close("prediction", [predicted["probabilities"][sense] for sense in shown["senses"]], mean)
for name in ("sentence", "target", "sense", "probabilities"):
    assert shown[name] == predicted[name], name
for h, head in enumerate(shown["members"][0]["heads"]):
    weights = predicted["attention"][h][shown["begin"]:shown["begin"] + shown["count"]]
    close("attention", weights, [dot([1 / len(members)] * len(members), column)
                                 for column in zip(*(m["heads"][h]["weights"] for m in shown["members"]), strict=True)])
print(f"{worst:.1e}")
