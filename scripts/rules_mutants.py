#!/usr/bin/env python3
"""Breaks the code of each rule in docs/reference-rules.md, and runs the tests that its row names: usage: scripts/rules_mutants.py [ROW ..]

scripts/rules_mutants.txt has the mutants. All are compiled into one build, and an environment variable turns one of
them on, so the failure of a test has one cause. For each row of a mutant, one of the tests that the row names must
fail. Edits the sources while it runs, and restores them at the end. Exits with 1 if a mutant is not caught.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference-rules.md"
VARIABLE = "CUWEAVE_RULES_MUTANT"
CRATES = ["graph-core", "graph-ptx", "graph-runtime", "graph-sim/driver"]
SWITCH = f"""//! Says which mutant of scripts/rules_mutants.txt is on.

/// Returns true for the mutant that the environment names.
#[allow(dead_code)]
pub fn is_on(name: &str) -> bool {{
    static ON: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    ON.get_or_init(|| std::env::var("{VARIABLE}").ok()).as_deref() == Some(name)
}}
"""
BUILDS = [
    ["--test", "in_turn", "--test", "devices", "--test", "pass", "--test", "library_calls"],
    ["-p", "cuweave-sim", "--test", "rules", "--test", "settings", "--test", "managed", "--test", "managed_rules"],
    ["-p", "cuweave-sim-driver", "--lib"],
]


class Mutant:
    """One change: the rows that it breaks, the file, the lines to find, and those that replace them."""

    def __init__(self, name, rows):
        self.name, self.rows = name, rows
        self.file, self.old, self.new = None, [], []

    def pattern(self):
        return re.compile(r"[ \t]*" + r"\s*\n\s*".join(re.escape(line) for line in self.old))

    def text(self):
        return "\n".join(self.new).replace("MUTANT", f'crate::mutants::is_on("{self.name}")')


def mutants():
    found = []
    for line in (ROOT / "scripts/rules_mutants.txt").read_text().splitlines():
        if line.startswith("== "):
            rows = [row.strip() for row in line[3:].split(",")]
            found.append(Mutant(f"{len(found) + 1}: {rows[0]}", rows))
        elif line.startswith("- "):
            found[-1].old.append(line[2:].strip())
        elif line.startswith("+"):
            found[-1].new.append(line[2:])
        elif line.strip() and not line.startswith("#"):
            found[-1].file = line.strip()
    return found


def tests_of_rows():
    """Returns the names of the tests of each row: `cuMemAdvise 3`."""
    section, rows = "", {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("#"):
            words = re.findall(r"`([^`]+)`", line)
            section = words[0] if words else line.strip("# ")
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if len(cells) == 4 and cells[0].isdigit():
            rows[f"{section} {cells[0]}"] = re.findall(r"`(\w+)`", cells[3])
    return rows


def apply(chosen):
    """Changes the sources. Returns the old texts by file."""
    saved, changes = {}, {}
    for mutant in chosen:
        path = ROOT / mutant.file
        text = saved.setdefault(path, path.read_text())
        spans = [found.span() for found in mutant.pattern().finditer(text)]
        if len(spans) != 1:
            sys.exit(f"{mutant.name}: found {len(spans)} times in {mutant.file}: {mutant.old}")
        changes.setdefault(path, []).append((*spans[0], mutant))
    for path, spans in changes.items():
        spans.sort(key=lambda span: span[0])
        for (_, end, one), (start, _, other) in zip(spans, spans[1:]):
            if start < end:
                sys.exit(f"{one.name} and {other.name} change the same text")
    for crate in CRATES:
        path = ROOT / crate / "src/lib.rs"
        saved.setdefault(path, path.read_text())
    for path, old in saved.items():
        text = old
        for start, end, mutant in reversed(changes.get(path, [])):
            text = text[:start] + mutant.text() + text[end:]
        if path.name == "lib.rs":
            text += "\n#[allow(missing_docs)]\npub mod mutants;\n"
        path.write_text(text)
    for crate in CRATES:
        (ROOT / crate / "src/mutants.rs").write_text(SWITCH)
    return saved


def restore(saved):
    for path, text in saved.items():
        path.write_text(text)
    for crate in CRATES:
        (ROOT / crate / "src/mutants.rs").unlink(missing_ok=True)


def build():
    """Returns where each test is: its program, and its full name there."""
    places = {}
    for arguments in BUILDS:
        command = ["cargo", "test", "--no-run", "--message-format=json-render-diagnostics", *arguments]
        made = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        if made.returncode:
            sys.exit("the mutants do not compile")
        for line in made.stdout.splitlines():
            message = json.loads(line)
            program = message.get("executable")
            if message.get("reason") != "compiler-artifact" or not program or not message["profile"]["test"]:
                continue
            folder = Path(message["manifest_path"]).parent
            listed = subprocess.run([program, "--list"], cwd=folder, stdout=subprocess.PIPE, text=True).stdout
            for name in re.findall(r"^(\S+): test$", listed, re.M):
                places.setdefault(name.split("::")[-1], []).append((program, folder, name))
    return places


def passes(places, test, mutant):
    environment = {**os.environ, "CUWEAVE_DRIVER": "sim"}
    if mutant:
        environment[VARIABLE] = mutant
    for program, folder, name in places[test]:
        command = [program, "--exact", name]
        try:
            ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=90)
        except subprocess.TimeoutExpired:
            return False
        if ended.returncode or "1 passed" not in ended.stdout:
            return False
    return True


def main():
    chosen = [mutant for mutant in mutants() if not sys.argv[1:] or set(mutant.rows) & set(sys.argv[1:])]
    rows = tests_of_rows()
    unknown = [row for mutant in chosen for row in mutant.rows if not rows.get(row)]
    if unknown:
        sys.exit(f"rows without tests: {unknown}")
    saved = apply(chosen)
    try:
        places = build()
        tests = sorted({test for mutant in chosen for row in mutant.rows for test in rows[row]})
        missing = [test for test in tests if test not in places]
        if missing:
            sys.exit(f"no such tests: {missing}")
        broken = [test for test in tests if not passes(places, test, None)]
        if broken:
            sys.exit(f"these fail without a mutant: {broken}")
        missed = 0
        for mutant in chosen:
            failed = {test: not passes(places, test, mutant.name) for row in mutant.rows for test in rows[row]}
            for row in mutant.rows:
                caught = [test for test in rows[row] if failed[test]]
                missed += not caught
                print(f"{'caught' if caught else 'MISSED'}  {row}  ({mutant.name})  {' '.join(caught)}", flush=True)
        print(f"{len(chosen)} mutants, {missed} rows missed; {len(tests)} tests")
        return missed > 0
    finally:
        restore(saved)


if __name__ == "__main__":
    sys.exit(main())
