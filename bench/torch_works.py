"""The works of `attn bench` in PyTorch, timed in the same way.

Reads requests from standard input, one a line: SECONDS THREADS CASE; answers each with a line of JSON. The first line that it prints
describes PyTorch as it was loaded. compare_torch.py starts it, once for each environment.
"""
import ctypes
import json
import os
import statistics
import sys
import time

import torch

LEAST_RUNS, PATIENCE, MOST_RUNS = 5, 20, 20000  # as in src/cli/bench_measure.c


def random(*shape, dtype):
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


def dot(size, dtype, causal):
    """Scaled dot-product attention; heads are a batch, which is PyTorch's best layout."""
    n, length, width = size["B"] * size["H"], size["L"], size["d"]
    q, k, v = (random(n, length, width, dtype=dtype) for _ in range(3))
    hidden = torch.full((length, length), -torch.inf, dtype=dtype).triu(1) if causal else None

    def forward():
        scaled, keys = q * width**-0.5, k.transpose(1, 2)
        scores = torch.baddbmm(hidden, scaled, keys) if causal else torch.bmm(scaled, keys)
        return torch.bmm(torch.softmax(scores, -1), v)

    return forward, [q, k, v]


def additive(size, dtype, causal):
    b, heads, n, m, width = size["B"], size.get("H", 1), size["n"], size["m"], size["h"]
    q, k, v = (random(b, heads, rows, width, dtype=dtype) for rows in (n, m, m))
    w = random(heads, width, 1, dtype=dtype)

    def forward():
        hidden = torch.tanh(q[:, :, :, None, :] + k[:, :, None, :, :])
        scores = (hidden.view(b, heads, n * m, width) @ w).view(b, heads, n, m)
        return torch.softmax(scores, -1) @ v

    return forward, [q, k, v, w]


def layer(size, dtype, causal):
    """Self-attention with four projections, without biases."""
    b, length, width, heads = size["B"], size["L"], size["D"], size.get("H", 1)
    x = random(b, length, width, dtype=dtype)
    project = [torch.nn.Linear(width, width, bias=False, dtype=dtype) for _ in range(4)]
    head = width // heads
    hidden = torch.full((length, length), -torch.inf, dtype=dtype).triu(1) if causal else None

    def split(y):
        return y.view(b, length, heads, head).transpose(1, 2).reshape(b * heads, length, head)

    def forward():
        q, k, v = (split(linear(x)) for linear in project[:3])
        scaled, keys = q * head**-0.5, k.transpose(1, 2)
        weights = torch.softmax(torch.baddbmm(hidden, scaled, keys) if causal else torch.bmm(scaled, keys), -1)
        y = torch.bmm(weights, v).view(b, heads, length, head).transpose(1, 2).reshape(b, length, width)
        return project[3](y)

    return forward, [x] + [linear.weight for linear in project]


def matmul(size, dtype, causal):
    a, b = random(size["m"], size["k"], dtype=dtype), random(size["k"], size["n"], dtype=dtype)
    return lambda: a @ b, [a, b]


def softmax(size, dtype, causal):
    x = random(size["R"], size["C"], dtype=dtype)
    return lambda: torch.softmax(x, -1), [x]


def layer_norm(size, dtype, causal):
    width = size["D"]
    x, gamma, beta = (random(*shape, dtype=dtype) for shape in ((size["R"], width), (width,), (width,)))
    return lambda: torch.nn.functional.layer_norm(x, (width,), gamma, beta, 1e-5), [x, gamma, beta]


def cross_entropy(size, dtype, causal):
    x, targets = random(size["R"], size["C"], dtype=dtype), torch.randint(size["C"], (size["R"],))
    return lambda: torch.nn.functional.cross_entropy(x, targets), [x]


def embedding(size, dtype, causal):
    table, ids = random(size["V"], size["D"], dtype=dtype), torch.randint(size["V"], (size["R"],))
    return lambda: torch.nn.functional.embedding(ids, table), [table]


def adamw(size, dtype, causal):
    w = random(size["P"], dtype=dtype)
    w.grad = torch.randn_like(w)
    return torch.optim.AdamW([w], weight_decay=0.01).step, []


WORKS = {f.__name__: f for f in (dot, additive, layer, matmul, softmax, layer_norm, cross_entropy, embedding, adamw)}


def prepare(name):
    """What one run of the case is: a function without arguments."""
    work, how, parts = name.split("/")
    parts = parts.split("-")
    size = {part[0]: int(part[1:]) for part in parts if part not in ("causal", "f64")}
    dtype = torch.float64 if "f64" in parts else torch.float32
    forward, leaves = WORKS[work](size, dtype, "causal" in parts)
    if how == "forward":
        return torch.no_grad()(forward)
    if how == "step":
        return forward
    with torch.no_grad():
        cotangent = forward()
        cotangent = torch.randn_like(cotangent) if cotangent.dim() > 0 else torch.ones_like(cotangent)

    def step():
        for leaf in leaves:
            leaf.grad = None
        forward().backward(cotangent)

    return step


def measure(run, seconds):
    run()
    run()
    times, start = [], time.perf_counter()
    while len(times) < MOST_RUNS:
        begin = time.perf_counter()
        if times and begin - start >= (PATIENCE * seconds if len(times) < LEAST_RUNS else seconds):
            break
        run()
        times.append(time.perf_counter() - begin)
    return {"median_ms": 1e3 * statistics.median(times), "min_ms": 1e3 * min(times), "runs": len(times)}


def loaded(part):
    """Shared libraries of this process with `part` in their names."""
    with open("/proc/self/maps") as maps:
        files = {line.split()[-1] for line in maps}
    return sorted(f for f in files if part in os.path.basename(f))


def describe():
    about = {"torch": torch.__version__, "threads": torch.get_num_threads(), "allocator": "tcmalloc" if loaded("tcmalloc") else "malloc of the C library"}
    about["blas"], about["core"] = (loaded("blas") or ["unknown"])[0], "unknown"
    for library in loaded("blas"):
        name = getattr(ctypes.CDLL(library), "openblas_get_corename", None)
        if name is not None:
            name.restype = ctypes.c_char_p
            about["core"] = name().decode()
    return about


def main():
    torch.manual_seed(0)
    print(json.dumps(describe()), flush=True)
    for line in sys.stdin:
        seconds, threads, name = line.split()
        try:
            torch.set_num_threads(int(threads))
            answer = measure(prepare(name), float(seconds))
        except (RuntimeError, MemoryError) as why:
            answer = {"error": str(why).splitlines()[0]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
