#!/usr/bin/env python3
"""Writes the tables of docs/performance.md, and the pictures in it, from what was measured.

    build/attn bench all --json >bench.json
    /usr/bin/python3 bench/compare_torch.py build/attn --json compare.json
    python3 bench/tables.py build/attn bench.json compare.json

A table goes between the lines <!-- NAME --> and <!-- end NAME -->; what stands there is replaced. The pictures are drawn by attn itself.
"""
import argparse
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def table(head, rows):
    """Markdown; the first column is text, the others are numbers."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(x):
    """Three digits that count."""
    if x is None:
        return "-"
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}" if x >= 1 else f"{x:.3f}" if x >= 0.1 else f"{x:.4f}"


def percent(x):
    return f"{100 * x:.1f} %" if x < 0.1 else f"{100 * x:.0f} %"


def size(n):
    return f"{n / 1e6:.2f} MB" if n >= 1e6 else f"{n / 1e3:.1f} KB"


def machine(bench, compare):
    m, torch = bench["machine"], compare["torch"]
    tuned = torch["tuned"]
    rows = [
        ["processor", m["cpu"]],
        ["instruction set, threads", f"{m['isa']}, {m['threads']}"],
        ["peak, float32", f"{number(m['fma_peak_gflops'])} GFLOP/s"],
        ["peak, float64", f"{number(m['fma_peak_gflops_f64'])} GFLOP/s"],
        ["memory", f"{number(m['memory_gbytes_per_s'])} GB/s"],
        ["largest cache", size(m["cache_bytes"])],
        ["load before", number(m["load"])],
        ["PyTorch", tuned["torch"]],
        ["PyTorch tuned", f"OpenBLAS kernels {tuned['core']}, {tuned['allocator']}"],
        ["PyTorch as installed", f"OpenBLAS kernels {torch['installed']['core']}, {torch['installed']['allocator']}"],
    ]
    return table(["what", "measured or found"], rows)


def speed(bench, standard):
    rows = [[f"`{c['name']}`", number(c["median_ms"]), number(c["min_ms"]), number(c["gflops"]), percent(c["peak_fraction"]),
             number(c["gbytes_per_s"]), size(c["workspace_bytes"])] for c in bench["cases"] if c["name"] in standard]
    return table(["case", "median ms", "least ms", "GFLOP/s", "of the peak", "GB/s", "workspace"], rows)


def against_torch(compare):
    rows = [[f"`{c['name']}`", number(c["attn_ms"]), number(c["tuned_ms"]), number(c["installed_ms"]), number(c["tuned_ratio"]),
             number(c["installed_ratio"])] for c in compare["cases"]]
    return table(["case", "attn ms", "PyTorch tuned", "as installed", "tuned / attn", "as installed / attn"], rows)


def roofline(bench, standard):
    """What a case could reach at most: the lesser of the peak and of its operations a byte times the bandwidth, where memory matters."""
    m, rows = bench["machine"], []
    peaks = {"float32": m["fma_peak_gflops"], "float64": m["fma_peak_gflops_f64"]}
    for c in bench["cases"]:
        if c["name"] in standard and c["threads"] == m["threads"]:
            peak, density = peaks[c["dtype"]], c["flops"] / c["bytes"]
            roof = min(peak, density * m["memory_gbytes_per_s"])
            cached = c["bytes"] + c["workspace_bytes"] < m["cache_bytes"]
            limit = "the peak" if roof == peak else "neither: all of it fits into the cache" if cached else "memory"
            shown = ["-", number(c["gflops"]), "-"] if roof < peak and cached else [number(roof), number(c["gflops"]), percent(c["gflops"] / roof)]
            rows.append([f"`{c['name']}`", number(density)] + shown + [limit])
    return table(["case", "operations a byte", "roof, GFLOP/s", "reached", "of the roof", "the roof is"], rows)


def curve(bench, pattern, columns):
    """Rows of a scaling table: `pattern` has a group for what varies."""
    cases = [(int(re.fullmatch(pattern, c["name"])[1]), c) for c in bench["cases"] if re.fullmatch(pattern, c["name"])]
    return [[str(n)] + [form(c) for form in columns] for n, c in sorted(cases, key=lambda x: x[0])]


SHOWN = [lambda c: number(c["median_ms"]), lambda c: number(c["gflops"]), lambda c: percent(c["peak_fraction"]),
         lambda c: size(c["workspace_bytes"])]
CURVES = {
    "length": [("L", r"dot/forward/B1-H1-L(\d+)-d64"), ("L", r"dot/forward_backward/B1-H1-L(\d+)-d64"),
               ("n = m", r"additive/forward_backward/B1-n(\d+)-m\d+-h64")],
    "threads": [("threads", name + r"-t(\d+)") for name in (
        "dot/forward/B1-H8-L2048-d64", "dot/forward_backward/B1-H8-L2048-d64", "additive/forward_backward/B1-n2048-m2048-h64",
        "layer/forward_backward/B16-L128-D128", "matmul/forward/m1024-n1024-k1024")],
    "heads": [("H", r"dot/forward_backward/B1-H(\d+)-L1024-d64")],
    "width": [("d", r"dot/forward_backward/B1-H4-L1024-d(\d+)"), ("h", r"additive/forward_backward/B1-n1024-m1024-h(\d+)")],
}


PICTURES = """![Part of the peak: forward, and forward and backward, by length](images/speed-by-length.png)

![Workspace in MB, by length](images/memory-by-length.png)

"""


def curves(bench, name):
    parts = []
    for letter, pattern in CURVES[name]:
        rows = curve(bench, pattern, SHOWN)
        if rows:
            title = re.sub(r"\(?\\d\+\)?", "N", pattern)
            parts.append(f"`{title}`\n\n" + table([letter, "median ms", "GFLOP/s", "of the peak", "workspace"], rows))
    return "\n\n".join(parts)


def draw(attn, bench, value, picture, what, *options):
    """A heatmap: works down, lengths across."""
    rows = {"dot forward": 0, "dot both": 1, "additive both": 2}
    points = [{int(n): float(x) for n, x in curve(bench, pattern, [lambda c: repr(value(c))])} for _, pattern in CURVES["length"]]
    lengths = sorted(set().union(*points))
    matrix = {"values": [[points[i].get(n) for n in lengths] for i in rows.values()], "rows": list(rows), "columns": [str(n) for n in lengths]}
    subprocess.run([attn, "heatmap", "--matrix", "-", "-o", picture, "--annotate", "all", "--row-title", "pass", "--column-title", "length",
                    "--bar-title", what, *options], input=json.dumps(matrix), text=True, check=True)


def fill(page, name, text):
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not pattern.search(page):
        sys.exit(f"tables: no place for {name}")
    return pattern.sub(lambda m: f"{m[1]}\n{text}\n\n{m[2]}", page)


def load(path, schema):
    with open(path) as file:
        measured = json.load(file)
    if measured.get("schema") != schema:
        sys.exit(f"tables: {path}: schema {measured.get('schema')}, expected {schema}")
    return measured


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("attn", help="the program, as build/attn")
    options.add_argument("bench", help="what `attn bench all --json` printed")
    options.add_argument("compare", help="what bench/compare_torch.py wrote")
    given = options.parse_args()
    bench, compare = load(given.bench, "attn.bench/1"), load(given.compare, "attn.compare/1")
    standard = subprocess.run([given.attn, "bench", "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    path, images = os.path.join(ROOT, "docs", "performance.md"), os.path.join(ROOT, "docs", "images")
    with open(path) as file:
        page = file.read()
    page = fill(page, "machine", machine(bench, compare))
    page = fill(page, "speed", speed(bench, standard))
    page = fill(page, "torch", against_torch(compare))
    page = fill(page, "roofline", roofline(bench, standard))
    for name in CURVES:
        page = fill(page, name, (PICTURES if name == "length" else "") + curves(bench, name))
    draw(given.attn, bench, lambda c: c["peak_fraction"], os.path.join(images, "speed-by-length.png"), "part of the peak")
    draw(given.attn, bench, lambda c: c["workspace_bytes"] / 1e6, os.path.join(images, "memory-by-length.png"), "workspace, MB",
         "--digits", "1", "--vmax", str(max(c["workspace_bytes"] for c in bench["cases"]) / 1e6))
    with open(path, "w") as file:
        file.write(page)


if __name__ == "__main__":
    main()
