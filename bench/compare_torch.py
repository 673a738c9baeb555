#!/usr/bin/python3
"""Times the works of `attn bench` on attn and on PyTorch, in turn, in one run.

    sh scripts/setup.sh --bench
    /usr/bin/python3 bench/compare_torch.py build/attn [CASE...] [--rounds N] [--seconds X] [--threads N] [--core NAME]
        [--json FILE]

PyTorch runs twice: as installed, and tuned, which is OpenBLAS for OpenMP with the kernels that are fastest here, and tcmalloc. In every
round each of the three measures the case once; a ratio is the median over the rounds of the ratios within a round, so that what slows
the machine for a while slows both sides of it.
"""
import argparse
import glob
import json
import os
import platform
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CHOOSE_BY = "dot/forward_backward/B1-H8-L1024-d64"
FOREIGN = ("LD_PRELOAD", "LD_LIBRARY_PATH", "OMP_", "GOMP_", "OPENBLAS_", "MKL_", "MALLOC_", "TCMALLOC_")


class Torch:
    """A process that times works in PyTorch, in an environment of its own."""

    def __init__(self, **environment):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "torch_works.py")], env={**clean, **environment},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.environment = environment
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else None  # None: it ended

    def time(self, name, seconds, threads):
        try:
            self.process.stdin.write(f"{seconds} {threads} {name}\n")
            self.process.stdin.flush()
            return self.answer() or {"error": "PyTorch ended"}
        except BrokenPipeError:
            return {"error": "PyTorch has ended"}

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Attn:
    """The other side; each measurement is a process of its own."""

    def __init__(self, program, threads):
        self.program, self.threads, self.machine = program, threads, {}

    def run(self, *arguments):
        done = subprocess.run([self.program, "bench", *arguments], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(2)  # it has said why
        return done.stdout

    def time(self, name, seconds, threads):
        measured = json.loads(self.run("--json", "--seconds", str(seconds), "--threads", str(self.threads), name))
        machine = measured["machine"]  # its speeds: the best that were ever seen
        self.machine = {k: max(v, self.machine.get(k, v)) if isinstance(v, float) else v for k, v in machine.items()}
        return measured["cases"][0]


def cores():
    """OpenBLAS chooses its kernels by the processor, not always the fastest; what else it may be told to take."""
    if platform.machine() != "x86_64":
        return [None]
    with open("/proc/cpuinfo") as info:
        flags = info.read()
    return [None, "Haswell", "Zen"] + (["SkylakeX"] if "avx512vl" in flags else [])


def tuned(seconds, threads, core):
    """PyTorch with what makes it fast; of several OpenBLAS kernels, those that are the fastest at attention."""
    folder = glob.glob("/usr/lib/*/openblas-openmp")
    if not folder:
        sys.exit("compare_torch: no OpenBLAS for OpenMP; sh scripts/setup.sh --bench installs it")
    common = {"LD_LIBRARY_PATH": folder[0], "LD_PRELOAD": "libtcmalloc_minimal.so.4", "OMP_NUM_THREADS": str(threads)}
    candidates = [Torch(**common, **({"OPENBLAS_CORETYPE": c} if c else {})) for c in ([core] if core else cores())]
    candidates = [c for c in candidates if c.about]
    if not candidates:
        sys.exit("compare_torch: PyTorch does not start; sh scripts/setup.sh --bench installs it")
    if len(candidates) == 1:
        return candidates[0]
    best = {c: float("inf") for c in candidates}
    for _ in range(5):
        for c in candidates:
            best[c] = min(best[c], c.time(CHOOSE_BY, seconds, threads).get("min_ms", float("inf")))
    chosen = min(candidates, key=best.get)
    for c in candidates:
        print(f"tuning: OpenBLAS kernels {c.about['core']}: {best[c]:.1f} ms{' (chosen)' if c is chosen else ''}", file=sys.stderr)
        if c is not chosen:
            c.end()
    return chosen


def threads_of(name, threads):
    named = [int(part[1:]) for part in name.split("-") if part[0] == "t" and part[1:].isdigit()]
    return named[0] if named else threads


def compare(sides, name, rounds, seconds, threads):
    """Times of one case: for each side those of every round; each round begins with another side."""
    times = {side: [] for side in sides}
    result = {"name": name, "threads": threads_of(name, threads)}
    order = list(sides)
    for _ in range(rounds):
        for side in order:
            if f"{side}_error" not in result:
                answer = sides[side].time(name, seconds, result["threads"])
                if "error" in answer:
                    result[f"{side}_error"] = answer["error"]
                else:
                    times[side].append(answer["median_ms"])
        order.append(order.pop(0))
    for side in sides:
        whole = len(times[side]) == rounds
        result[f"{side}_ms"] = statistics.median(times[side]) if whole else None
        result[f"{side}_rounds_ms"] = times[side]
        if side != "attn":
            ratios = [other / own for own, other in zip(times["attn"], times[side])]
            result[f"{side}_ratio"] = statistics.median(ratios) if whole else None
    return result


def cell(value, form):
    return format(value, form) if value is not None else "-"


def print_row(r):
    print(f"{r['name']:<48} {cell(r['attn_ms'], '11.4f')} {cell(r['tuned_ms'], '11.4f')} {cell(r['installed_ms'], '11.4f')}"
          f" {cell(r['tuned_ratio'], '8.2f')} {cell(r['installed_ratio'], '9.2f')}", flush=True)
    for side in ("tuned", "installed"):
        if f"{side}_error" in r:
            print(f"    {side}: {r[f'{side}_error']}", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("attn", help="the program, as build/attn")
    options.add_argument("case", nargs="*", help="as for attn bench (default: the standard cases)")
    options.add_argument("--rounds", type=int, default=5, help="default 5")
    options.add_argument("--seconds", type=float, default=0.5, help="of measuring a case on a side in a round (default 0.5)")
    options.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="default: all processors")
    options.add_argument("--core", help="OpenBLAS kernels of the tuned side, as Haswell (default: the fastest in a trial)")
    options.add_argument("--json", metavar="FILE", help="write the numbers there too, schema attn.compare/1")
    given = options.parse_intermixed_args()

    attn = Attn(given.attn, given.threads)
    names = attn.run("--list", "--threads", str(given.threads), *given.case).split()
    sides = {"attn": attn, "tuned": tuned(given.seconds, given.threads, given.core), "installed": Torch()}
    print(f"{'case':<48} {'attn ms':>11} {'tuned ms':>11} {'installed':>11} {'tuned/':>8} {'installed/':>9}", flush=True)
    results = []
    for name in names:
        results.append(compare(sides, name, given.rounds, given.seconds, given.threads))
        print_row(results[-1])
    about = {side: {**sides[side].about, "environment": sides[side].environment} for side in ("tuned", "installed")}
    if given.json:
        with open(given.json, "w") as out:
            json.dump({"schema": "attn.compare/1", "machine": attn.machine, "torch": about, "rounds": given.rounds,
                       "seconds": given.seconds, "cases": results}, out, indent=1)
            out.write("\n")
    for side in ("tuned", "installed"):
        print(f"{side}: {about[side]}")
        sides[side].end()


if __name__ == "__main__":
    main()
