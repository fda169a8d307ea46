#!/usr/bin/env python3
"""Measures build times of this repository in a temporary clone of the last commit, compared with a program on candle.

    benches/build/measure.py [cold] [programs] [edits] [tests]

Without arguments, all parts except `tests`, which is the README's second command. Run nothing else on the machine. Prints one line per figure:
its name, wall seconds, CPU seconds or megabytes, the target, and `pass` or `missed`.
"""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD_FOLDER = pathlib.Path("benches/build")
DIGITS = ["cargo", "run", "--quiet", "--release", "--example", "digits"]
TESTS = ["cargo", "test", "--quiet", "--workspace", "--exclude", "dispatch-inspect-browser"]

# The file to edit, the line after which a line is inserted, the inserted line, and the targets in seconds for the dev and release profiles.
EDITS = {
    "one line of the example": (
        "examples/digits/main.rs",
        "fn main() -> Result<()> {\n",
        '    eprintln!("edited {}");\n',
        (3, 10),
    ),
    "one CPU kernel": (
        "kernels-cpu/elementwise/src/glu.rs",
        "fn glu(plan: &GluHalves, out: &mut Tensor) -> Result<()> {\n",
        '    std::hint::black_box("{}");\n',
        (10, 25),
    ),
    "one definition": (
        "aten/src/families/elementwise/glu.rs",
        "/// The gated linear unit: the first half of a dimension, times the sigmoid of the second.\n",
        "/// Edited {}.\n",
        (20, 45),
    ),
    "one line of the runtime": (
        "dispatch-runtime/src/spec/mod.rs",
        "    pub fn pointwise(operands: &[&Tensor], dtype: DType) -> Result<Self, OperandError> {\n",
        '        std::hint::black_box("{}");\n',
        (30, 60),
    ),
}


def run(command, folder, target):
    """Runs a command, which must succeed, and returns its wall-clock and CPU seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_TERM_COLOR": "never"}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} in {folder} failed:\n{result.stdout[-2000:]}\n{result.stderr[-4000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - start, cpu


def report(name, figure, unit, target):
    verdict = "" if target is None else f"target {target:6.1f} {unit:5}  {'pass' if figure <= target else 'missed'}"
    print(f"{name:44} {figure:8.2f} {unit:5}  {verdict}", flush=True)


def stripped_size(program):
    """Returns the size of a program without symbols, in megabytes."""
    copy = program.with_suffix(".stripped")
    subprocess.run(["strip", "-o", copy, program], check=True)
    return copy.stat().st_size / 1e6


def measure_cold_build(clone, target):
    subprocess.run(["cargo", "fetch", "--quiet"], cwd=clone, check=True)
    candle = clone / BUILD_FOLDER / "candle"
    subprocess.run(["cargo", "fetch", "--quiet"], cwd=candle, check=True)
    wall, cpu = run(["cargo", "run", "--quiet", "--release"], candle, target / "candle")
    report("candle: first build", wall, "s", None)
    report("candle: first build, CPU", cpu, "s", None)
    report("candle: program, stripped", stripped_size(target / "candle/release/candle-digits"), "MB", None)
    own_wall, own_cpu = run(DIGITS, clone, target / "main")
    report("digits: first command", own_wall, "s", wall)
    report("digits: first command, CPU", own_cpu, "s", cpu)


def measure_programs(clone, target):
    run(["cargo", "build", "--quiet", "--release", "--example", "digits"], clone, target / "main")
    report("digits, stripped", stripped_size(target / "main/release/examples/digits"), "MB", 12)
    run(["cargo", "build", "--quiet", "--profile", "dist", "--example", "digits"], clone, target / "main")
    report("digits, stripped, profile dist", stripped_size(target / "main/dist/examples/digits"), "MB", None)
    for name, limit in [("two-operators", 1), ("ten-operators", 8)]:
        run(["cargo", "run", "--quiet", "--release"], clone / BUILD_FOLDER / name, target / name)
        report(f"{name}, stripped", stripped_size(target / name / "release" / name), "MB", limit)


def measure_edits(clone, target):
    user = clone / BUILD_FOLDER / "ten-operators"
    wall, _ = run(["cargo", "check", "--quiet"], user, target / "check")
    report("a user's crate: first check", wall, "s", 90)
    insert_line(user / "src/main.rs", "fn main() -> Result<()> {\n", '    eprintln!("edited");\n')
    wall, _ = run(["cargo", "check", "--quiet"], user, target / "check")
    report("a user's crate: check after an edit", wall, "s", 3)
    for i, (profile, flags) in enumerate([("dev", []), ("release", ["--release"])]):
        build = ["cargo", "build", "--quiet", *flags, "--example", "digits"]
        run(build, clone, target / "main")
        for name, (file, before, line, targets) in EDITS.items():
            insert_line(clone / file, before, line.format(profile))
            wall, _ = run(build, clone, target / "main")
            report(f"{name}, {profile}", wall, "s", targets[i])


def insert_line(file, before, line):
    """Inserts a line after another one."""
    text = file.read_text()
    if before not in text:
        sys.exit(f"{file} has no line `{before.strip()}`: choose another line to edit")
    file.write_text(text.replace(before, before + line, 1))


def measure_tests(clone, target):
    wall, cpu = run(TESTS, clone, target / "main")
    report("the README's second command", wall, "s", 600)
    report("the README's second command, CPU", cpu, "s", None)


def main():
    parts = {"cold": measure_cold_build, "programs": measure_programs, "edits": measure_edits, "tests": measure_tests}
    selected = sys.argv[1:] or ["cold", "programs", "edits"]
    if unknown := [part for part in selected if part not in parts]:
        sys.exit(f"there is no part {', '.join(unknown)}; the parts are {', '.join(parts)}")
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="build-"))
    try:
        clone = scratch / "clone"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        for part in selected:
            parts[part](clone, scratch / "target")
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
