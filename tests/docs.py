#!/usr/bin/env python3
"""The pages of the documentation do what they say.

docs.py run PAGE ATTN CC SOURCE BUILD    every program and session in the page, as a reader would type them, in an empty folder with data/ in it
docs.py links SOURCE                     every link and anchor in every page; every file in docs/ is reached from README.md
docs.py names ATTN SOURCE                every option that a page gives to a subcommand is one, every attn_name is in the source, every package that
                                         the set-up installs for building and testing is in README.md

A fenced block `c FILE`, or `python FILE`, is a program; if the FILE is one of the source tree, the block is that file without its first comment. A block `console`
is a session: what stands behind `$ ` is run by a shell, the lines below are what it prints. `...` there stands for anything, also for lines;
spaces are as many as they like; a number with a point may be 2 off in its last digit, by which instruction sets differ. A block `json COMMAND`
shows what the command prints: the same keys and types, where an element of an array stands for all.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")


def fail(message):
    print(message)
    fail.count += 1


fail.count = 0


# ---- programs and sessions ----


def blocks(text):
    """(line number, words behind the fence, lines) of each fenced block."""
    found, inside = [], None
    for number, line in enumerate(text.split("\n"), 1):
        if inside is None and line.startswith("```"):
            inside = (number, line[3:].split(), [])
        elif inside is not None and line == "```":
            found.append(inside)
            inside = None
        elif inside is not None:
            inside[2].append(line)
    return found


def same_number(expected, actual):
    digits = len(re.sub(r"e.*", "", expected).split(".")[1])
    exponent = int(expected.split("e")[1]) if "e" in expected else 0
    return abs(float(expected) - float(actual)) <= 2.001 * 10.0 ** (exponent - digits)


def same_line(expected, actual):
    """As `console` above says."""
    expected, actual = " ".join(expected.split()), " ".join(actual.split())
    parts = re.split("(" + NUMBER.pattern + ")", expected) # text, number, text, ...
    for i, part in enumerate(parts):
        parts[i] = "(" + NUMBER.pattern + ")" if i % 2 else re.escape(part).replace(re.escape("..."), ".*")
    match = re.fullmatch("".join(parts), actual)
    return match is not None and all(map(same_number, NUMBER.findall(expected), match.groups()))


def same_lines(expected, actual):
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(same_lines(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    return bool(actual) and same_line(expected[0], actual[0]) and same_lines(expected[1:], actual[1:])


def commands(lines):
    """(command, lines that it prints) of a session."""
    for line in lines:
        if line.startswith("$ "):
            yield_to = [line[2:], []]
            break
    else:
        return
    for line in lines[1:]:
        if line.startswith("$ "):
            yield yield_to
            yield_to = [line[2:], []]
        else:
            yield_to[1].append(line)
    yield yield_to


def same_shape(expected, actual, where="object"):
    """What differs in keys and types, or None."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if expected.keys() != actual.keys():
            return f"{where}: keys {sorted(expected.keys() ^ actual.keys())}"
        return next(filter(None, (same_shape(expected[key], actual[key], f"{where}.{key}") for key in expected)), None)
    if isinstance(expected, list) and isinstance(actual, list):
        return next(filter(None, (same_shape(expected[0], item, f"{where}[]") for item in actual if expected)), None)
    number = (int, float)
    same = type(expected) is type(actual) or isinstance(expected, number) and type(actual) in number
    return None if same else f"{where}: {json.dumps(expected)}, printed is {json.dumps(actual)}"


def is_file_of_tree(name, lines, source):
    path = source / name
    if "/" not in name:
        return False
    if not path.exists() or re.sub(r"\A/\*.*\*/\n", "", path.read_text()) != "\n".join(lines) + "\n":
        fail(f"the program is not {name}")
    return True


def environment(folder, attn, cc, build):
    """The tool, a compiler with the flags of the build, and an installed library, for those who type `attn`, `cc` and `pkg-config`."""
    (folder / "bin").mkdir()
    compiler = cc.split()
    compiler[0] = shutil.which(compiler[0])
    (folder / "bin/cc").write_text(f'#!/bin/sh\nexec {" ".join(compiler)} "$@"\n')
    (folder / "bin/cc").chmod(0o755)
    (folder / "bin/attn").symlink_to(attn)
    subprocess.run(["cmake", "--install", build, "--prefix", folder / "usr"], check=True, stdout=subprocess.DEVNULL)
    config = [str(path) for path in (folder / "usr").rglob("pkgconfig")]
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    library = str(pathlib.Path(config[0]).parent)
    return dict(os.environ, PATH=path, PKG_CONFIG_PATH=":".join(config), LD_LIBRARY_PATH=library, LC_ALL="C.UTF-8", TERM="dumb")


def run(page, attn, cc, source, build):
    source = pathlib.Path(source)
    done = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        env = environment(folder, attn, cc, build)
        work = folder / "work"
        work.mkdir()
        (work / "data").symlink_to(source / "data")
        for number, words, lines in blocks((source / page).read_text()):
            if words[:1] in (["c"], ["python"]) and len(words) == 2 and not is_file_of_tree(words[1], lines, source):
                (work / words[1]).write_text("\n".join(lines) + "\n")
            if words[:1] == ["json"] and len(words) > 1:
                command = " ".join(words[1:])
                result = subprocess.run(["bash", "-c", command], cwd=work, env=env, stdout=subprocess.PIPE, check=False)
                difference = result.returncode or same_shape(json.loads("\n".join(lines)), json.loads(result.stdout))
                if difference:
                    fail(f"{page}:{number}: $ {command}\n{difference}")
                done += 1
            for command, expected in commands(lines) if words == ["console"] else []:
                result = subprocess.run(["bash", "-c", command], cwd=work, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                actual = result.stdout.decode().rstrip("\n").split("\n") if result.stdout else []
                done += 1
                if result.returncode != 0 or not same_lines(expected, actual):
                    fail(f"{page}:{number}: $ {command}\nexit status {result.returncode}, printed\n" + "\n".join(actual))
            done += words[:1] in (["c"], ["python"])
    if done == 0:
        fail(f"{page}: nothing to run")
    print(f"{page}: {done} programs and commands")


# ---- links ----


def pages(source):
    """All pages but those that belong to a package of others."""
    names = subprocess.run(["git", "-C", source, "ls-files", "*.md"], stdout=subprocess.PIPE, check=False).stdout.decode().split()
    return [source / name for name in names] or [p for p in source.rglob("*.md") if not re.search(r"/(build[^/]*|node_modules)/", str(p))]


def without_code(text):
    text = re.sub(r"(?ms)^```.*?^```$", "", text)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """Those that GitHub makes of headings."""
    found = {}
    for heading in re.findall(r"(?m)^#+ +(.*)$", re.sub(r"(?ms)^```.*?^```$", "", text)):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading).strip().lower()).replace(" ", "-")
        found[slug + (f"-{found[slug]}" if slug in found else "")] = 0
        found[slug] += 1
    return found


def links(source):
    source = pathlib.Path(source).resolve()
    goes_to, checked, outside = {}, 0, 0
    for page in pages(source):
        text = page.read_text()
        goes_to[page] = set()
        for target in re.findall(r"\]\(([^)\s]*)[^)]*\)", without_code(text)):
            where = f"{page.relative_to(source)}: link to {target}"
            if re.match(r"[a-z]+:", target):
                url = urllib.parse.urlparse(target)
                outside += 1
                if url.scheme not in ("http", "https") or not re.fullmatch(r"([\w-]+\.)+[a-z]+", url.netloc):
                    fail(f"{where} is not well-formed")
                continue
            checked += 1
            path, _, anchor = target.partition("#")
            to = (page.parent / path).resolve() if path else page
            if not to.exists():
                fail(f"{where} leads nowhere")
            elif anchor and anchor not in anchors(to.read_text()):
                fail(f"{where}: no such heading")
            goes_to[page].add(to)
    reached, front = set(), {source / "README.md"}
    while front:
        reached |= front
        front = set().union(*(goes_to.get(page, set()) for page in front)) - reached
    for file in (source / "docs").rglob("*"):
        if file.is_file() and not {file, *file.parents} - {source, *source.parents} & reached:
            fail(f"{file.relative_to(source)} is not reached from README.md")
    print(f"{checked} links within, {outside} to elsewhere, in {len(goes_to)} pages")


# ---- options and names ----


def code_of(text):
    """Lines of code in blocks, indented or fenced, and between backticks."""
    fenced = [line for _, _, lines in blocks(text) for line in lines]
    return fenced + re.findall(r"(?m)^ {4}(.*)$", text) + re.findall(r"`([^`\n]+)`", text)


def names(attn, source):
    source = pathlib.Path(source).resolve()
    known, checked, found = {}, 0, set()
    code = (path for folder in ("include", "src", "tests", "examples") for path in (source / folder).rglob("*"))
    written = set(re.findall(r"\w+", " ".join(path.read_text() for path in code if path.suffix in (".c", ".h", ".inc", ".def", ".txt"))))
    for page in pages(source):
        for name in set(re.findall(r"\battn_\w*[a-z0-9]\b", "\n".join(code_of(page.read_text())))) - {"attn_x", "attn__x"}:
            found.add(name)
            if name not in written and not re.search(r"[A-Z]", name):
                fail(f"{page.relative_to(source)}: there is no {name}")
        for line in code_of(page.read_text()):
            for call in re.findall(r"(?:^|[ /|(])attn ([a-z]+)((?: [^|#&;]*)?)", line):
                given = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", call[1])
                if not given:
                    continue
                if call[0] not in known:
                    text = subprocess.run([attn, call[0], "--help"], stdout=subprocess.PIPE, check=False).stdout.decode()
                    known[call[0]] = set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", text))
                for option in given:
                    checked += 1
                    if option not in known[call[0]]:
                        fail(f"{page.relative_to(source)}: attn {call[0]} has no {option}")
    readme = (source / "README.md").read_text()
    packages = re.findall(r"(?m)^(?:build|tests|extra|browser|checks) (\S+)", (source / "scripts/setup.sh").read_text())
    for package in packages:
        if not re.search(rf"(?<![\w-]){re.escape(package)}(?![\w-])", readme):
            fail(f"README.md does not name the package {package}")
    if checked == 0 or not found or not packages:
        fail("nothing found")
    print(f"{checked} options, {len(found)} names, {len(packages)} packages")


{"run": run, "links": links, "names": names}[sys.argv[1]](*sys.argv[2:])
sys.exit(1 if fail.count else 0)
