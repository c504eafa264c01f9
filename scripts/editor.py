#!/usr/bin/env python3
"""Asks rust-analyzer about graph functions, as an editor does: usage: scripts/editor.py [TARGET [PATH]]

Makes a crate of ten graphs in a temporary folder, starts rust-analyzer (PATH, or the one on the search path) on it,
and prints a table: for each question, whether the answer is as it should be, and what the answer was. Each question
is asked of a complete function and of functions in which one statement is incomplete. The last rows are the times
from an edit to fresh diagnostics. The crate is built in TARGET, by default in target/editor. Exits with 1 if an
answer is wrong.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT = 300
EDITS = 10

KERNELS = """use cuweave::prelude::*;

#[cuweave::kernels("common.ptx")]
unsafe extern "ptx-kernel" {
    /// Multiplies each element.
    pub fn scale(x: &mut [f32; n], a: f32, n: u32);
    pub fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::arguments]
pub struct Layer {
    pub size: u32,
    pub factor: f32,
    pub weights: &[f32; size],
    pub moments: &mut [f32; size],
}

/// Doubles each element.
#[cuweave::graph]
pub fn doubled(count: u32, data: &mut [f32; count]) {
    scale[per_item(count)](&mut data, 2.0, count);
}
"""

# A mark is `/*name*/` and stands before the name that is asked about.
STEP = """
#[cuweave::graph]
pub fn step(/*count*/count: u32, by: f32, /*layer*/layer: Layer<'_>, input: &[f32; count], output: &mut [f32; count]) {
    let half: u32 = count / 2;
    let config = ((count.div_ceil(32), 1), 32);
    let /*hidden*/hidden = alloc::<f32>(count);
    copy(&input, &mut hidden);
    /*kernel*/scale[per_item(/*argument*/count)](&mut /*use*/hidden, by, count);
    let (low, high) = hidden.split_at_mut(/*scalar*/half);
    axpy[/*config*/config](/*by*/by, &low, &mut high, half);
    scale[per_item(/*record*/layer.size)](&mut layer./*field*/moments, layer.factor, layer.size);
    for round in 0..half {
        scale[per_item(count)](&mut hidden, /*round*/round as f32, count);
    }
    //CURSOR
    fill(&mut hidden, 0.0);
    /*callee*/doubled(count, &mut hidden);
    copy(&hidden, &mut output);
}
"""

# What is typed at the cursor, up to it, and names that must be among the completions.
COMPLETIONS = [
    ("copy(&hi", "hidden", ", &mut output);"),
    ("scale[per_item(hal", "half", ")](&mut hidden, by, count);"),
    ("scale[con", "config", "](&mut hidden, by, count);"),
    ("sca", "scale", "[config](&mut hidden, by, count);"),
    ("scale[config](&mut layer.mo", "moments", ", by, count);"),
    ("doub", "doubled", "(count, &mut hidden);"),
]
BROKEN = [
    ("scale[per_item(count)](&mut hid", "hidden"),
    ("scale[per_item(count)](&mut ", "hidden"),
    ("scale[per_item(hal", "half"),
    ("scale[", "config"),
    ("sca", "scale"),
    ("let y = al", "alloc"),
    ("let y = ", "alloc"),
    ("let y = &hid", "hidden"),
    ("copy(&layer.", "weights"),
    ("layer.", "moments"),
    ("doub", "doubled"),
    ("hidden.", "split_at_mut"),
    ("fill(&mut ", "hidden"),
    ("for i in 0..cou", "count"),
    ("if cou", "count"),
    ("let z: u32 = lay", "layer"),
    ("for i in 0..half { scale[config](&mut hid", "hidden"),
    ("if half > 1 { scale[config](&mut hid }", "hidden"),
]
# Statements that are incomplete while the rest of the function is asked about.
WHILE_TYPING = ["scale[per_item(count)](&mut hidden, ", "let y = all", "scal", "let y = ", "layer.", "x +", "for i in "]


class Server:
    """A rust-analyzer that is spoken to over its standard streams."""

    def __init__(self, path, folder, target):
        env = dict(os.environ, CARGO_TARGET_DIR=str(target))
        self.process = subprocess.Popen([path], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.changed = threading.Condition()
        self.answers, self.diagnostics, self.status, self.last = {}, {}, None, 0
        threading.Thread(target=self.read, daemon=True).start()
        options = {"cargo": {"targetDir": str(target)}, "checkOnSave": False, "procMacro": {"enable": True},
                   "cachePriming": {"enable": True}}
        capabilities = {
            "experimental": {"serverStatusNotification": True},
            "window": {"workDoneProgress": True},
            "textDocument": {"hover": {"contentFormat": ["markdown"]}, "publishDiagnostics": {"versionSupport": True},
                             "completion": {"completionItem": {"snippetSupport": False}}},
        }
        self.ask("initialize", {"processId": os.getpid(), "rootUri": folder.as_uri(), "capabilities": capabilities,
                                "initializationOptions": options,
                                "workspaceFolders": [{"uri": folder.as_uri(), "name": "editor"}]})
        self.tell("initialized", {})

    def read(self):
        stream = self.process.stdout
        while True:
            length = None
            while (line := stream.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length is None:
                return
            message = json.loads(stream.read(length))
            with self.changed:
                self.receive(message)
                self.changed.notify_all()

    def receive(self, message):
        method, params = message.get("method"), message.get("params")
        if method is None:
            self.answers[message["id"]] = message
        elif "id" in message:
            result = [None] * len(params["items"]) if method == "workspace/configuration" else None
            self.send({"id": message["id"], "result": result})
        elif method == "textDocument/publishDiagnostics":
            self.diagnostics[params["uri"]] = (params.get("version"), params["diagnostics"])
        elif method == "experimental/serverStatus":
            self.status = params

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def wait(self, until):
        with self.changed:
            if not self.changed.wait_for(until, TIMEOUT):
                raise TimeoutError("rust-analyzer does not answer")

    def ask(self, method, params):
        """Returns the result of a request, again if the server dropped it because of an edit. None for an error."""
        while True:
            self.last += 1
            number = self.last
            self.send({"id": number, "method": method, "params": params})
            self.wait(lambda: number in self.answers)
            answer = self.answers.pop(number)
            if answer.get("error", {}).get("code") not in (-32801, -32802):
                self.error = answer.get("error", {}).get("message")
                return answer.get("result")

    def loaded(self):
        self.wait(lambda: self.status and self.status.get("quiescent"))
        if self.status.get("health") != "ok":
            sys.exit(f"rust-analyzer could not load the crate: {self.status.get('message')}")

    def stop(self):
        try:
            self.ask("shutdown", None)
            self.tell("exit", None)
            self.process.wait(10)
        finally:
            self.process.kill()


class File:
    """An open file, whose text is replaced as a whole."""

    def __init__(self, server, path):
        self.server, self.uri, self.version = server, path.as_uri(), 0
        self.text = path.read_text()
        item = {"uri": self.uri, "languageId": "rust", "version": 0, "text": self.text}
        server.tell("textDocument/didOpen", {"textDocument": item})

    def change(self, text):
        self.text, self.version = text, self.version + 1
        self.server.tell("textDocument/didChange", {
            "textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": [{"text": text}]})

    def position(self, offset):
        before = self.text[:offset]
        return {"line": before.count("\n"), "character": offset - (before.rfind("\n") + 1)}

    def ask(self, method, offset, **more):
        return self.server.ask(f"textDocument/{method}", {
            "textDocument": {"uri": self.uri}, "position": self.position(offset), **more})

    def offset(self, position):
        lines = self.text.split("\n")
        return sum(len(line) + 1 for line in lines[:position["line"]]) + position["character"]

    def after_diagnostics(self, expected):
        """Waits for diagnostics of this version that are as expected. Returns the seconds."""
        start = time.monotonic()

        def fresh():
            version, found = self.server.diagnostics.get(self.uri, (None, []))
            return version == self.version and expected(found)
        self.server.wait(fresh)
        return time.monotonic() - start


class Table:
    def __init__(self):
        self.rows, self.failed = [], 0

    def add(self, question, passed, answer):
        self.failed += not passed
        answer = re.sub(r"\s+", " ", str(answer))
        row = f"{'pass' if passed else 'FAIL'}  {question:58}  {answer[:110]}"
        print(row, flush=True)


def mark(text, name):
    return text.index(f"/*{name}*/") + len(name) + 4


def completions(file, offset):
    found = file.ask("completion", offset, context={"triggerKind": 1})
    found = found["items"] if isinstance(found, dict) else found or []
    return [item["label"].split("(")[0].split("!")[0].strip() for item in found]


def hover(file, offset):
    found = file.ask("hover", offset)
    return found["contents"]["value"] if found else "nothing"


def definitions(file, offset):
    found = file.ask("definition", offset) or []
    found = [found] if isinstance(found, dict) else found
    places = []
    for one in found:
        uri = one.get("uri") or one["targetUri"]
        start = (one.get("range") or one["targetSelectionRange"])["start"]
        places.append(f"{uri.rsplit('/', 1)[-1]}:{start['line'] + 1}")
    return sorted(set(places))


def renamed(file, offset, name):
    """Returns the text of the file after a rename, or why there is none."""
    result = file.ask("rename", offset, newName=name)
    if result is None:
        return f"refused: {file.server.error}"
    edits = []
    for uri, some in (result.get("changes") or {}).items():
        edits += some if uri == file.uri else []
    for document in result.get("documentChanges") or []:
        edits += document["edits"] if document["textDocument"]["uri"] == file.uri else []
    text = file.text
    for edit in sorted(edits, key=lambda edit: -file.offset(edit["range"]["start"])):
        start, end = file.offset(edit["range"]["start"]), file.offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


def ask_all(file, table, base, typed):
    """Asks about the names of the function. `typed` is an incomplete statement at the cursor."""
    text = base.replace("//CURSOR", typed)
    file.change(text)
    state = f" while `{typed.strip()}`" if typed else ""
    hovers = [("hidden", "f32"), ("use", "f32"), ("scalar", "u32"), ("argument", "u32"), ("by", "f32"),
              ("kernel", "(x: &mut [f32; n], a: f32, n: u32)`. Multiplies each element"), ("record", "Layer"),
              ("field", "f32"), ("config", "u32"), ("callee", "Doubles each element"), ("round", "u32")]
    for name, expected in hovers:
        found = hover(file, mark(text, name))
        found = re.sub(r"\s+", " ", found)
        table.add(f"hover on `{name}`{state}", expected in found, found)
    line = {name: KERNELS[:KERNELS.index(name)].count("\n") + 1 for name in ("fn scale", "fn doubled", "moments")}
    here = {name: f"step.rs:{text[:mark(text, name)].count(chr(10)) + 1}" for name in ("hidden", "count", "layer")}
    places = [("kernel", f"lib.rs:{line['fn scale']}"), ("callee", f"lib.rs:{line['fn doubled']}"),
              ("field", f"lib.rs:{line['moments']}"), ("use", here["hidden"]), ("argument", here["count"]),
              ("record", here["layer"])]
    for name, place in places:
        found = definitions(file, mark(text, name))
        table.add(f"definition of `{name}`{state}", found == [place], found)
    for at, old in [("use", "hidden"), ("hidden", "hidden"), ("argument", "count"), ("count", "count"),
                    ("scalar", "half"), ("record", "layer"), ("config", "config"), ("round", "round")]:
        found = renamed(file, mark(text, at), "other")
        # A record's name is also a type's, and names in marks are none.
        expected = re.sub(rf"(?<![*\w])(?<![^.]\.){old}\b|(?<=[^/]\*/){old}\b", "other", text)
        changed = sum(a != b for a, b in zip(found.split("\n"), text.split("\n")))
        table.add(f"rename of `{at}`{state}", found == expected,
                  found if found.startswith("refused") else f"{changed} lines changed")


def complete(file, table, base):
    for typed, expected, rest in COMPLETIONS + [(typed, expected, None) for typed, expected in BROKEN]:
        text = base.replace("//CURSOR", typed + (rest or ""))
        file.change(text)
        found = completions(file, base.index("//CURSOR") + len(typed.removesuffix(" }")))
        state = "" if rest else " incomplete"
        table.add(f"complete{state} `{typed.strip()}|`", expected in found,
                  f"{expected} of {len(found)}: {', '.join(found[:6])}")


def times(file, table, base):
    broken = base.replace("copy(&input, &mut hidden);", "free(hidden);")
    seconds = []
    for _ in range(EDITS):
        file.change(broken)
        seconds.append(file.after_diagnostics(lambda found: any("CW102" in one["message"] for one in found)))
        file.change(base)
        seconds.append(file.after_diagnostics(lambda found: not found))
    first, rest = seconds[0], sorted(seconds[1:])
    middle, most = rest[len(rest) // 2], rest[-1]
    table.add("edit to diagnostics, crate of ten graphs", most <= 1,
              f"median {middle:.2f} s, largest {most:.2f} s, of {len(rest)}; the first {first:.2f} s")


def crate(folder):
    (folder / "src").mkdir()
    shutil.copy(ROOT / "tests/kernels/common.ptx", folder)
    shutil.copy(ROOT / "Cargo.lock", folder)
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "editor"\nversion = "0.1.0"\nedition = "2024"\n\n'
        f'[dependencies]\ncuweave = {{ path = "{ROOT}" }}\n\n[workspace]\n')
    step = "#![allow(dead_code)]\nuse cuweave::prelude::*;\n\nuse crate::*;\n" + STEP
    others = [f"other{i}" for i in range(8)]
    (folder / "src/lib.rs").write_text(
        KERNELS + "\nmod step;\n" + "".join(f"mod {name};\n" for name in others))
    for name in ["step"] + others:
        (folder / f"src/{name}.rs").write_text(step.replace("//CURSOR", ""))
    return step


def main():
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/editor").resolve()
    path = sys.argv[2] if len(sys.argv) > 2 else "rust-analyzer"
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        base = crate(folder)
        server = Server(path, folder, target)
        try:
            start = time.monotonic()
            server.loaded()
            print(f"loaded in {time.monotonic() - start:.0f} s", flush=True)
            file = File(server, folder / "src/step.rs")
            plain = base.replace("//CURSOR", "")
            file.change(plain)
            file.after_diagnostics(lambda found: True)
            found = server.diagnostics[file.uri][1]
            table.add("no diagnostics of a correct file", not found, [one["message"] for one in found])
            times(file, table, plain)
            ask_all(file, table, base, "")
            complete(file, table, base)
            for typed in WHILE_TYPING:
                ask_all(file, table, base, typed)
        finally:
            server.stop()
    print(f"{table.failed} failed")
    sys.exit(table.failed > 0)


if __name__ == "__main__":
    main()
