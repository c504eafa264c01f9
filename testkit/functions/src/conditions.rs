//! Generates random programs of nested device-side conditionals, each as a graph function and as plain Rust.

use std::fmt::Write;

use cuweave_testkit::random::Random;

/// The buffers of a program.
const WORDS: usize = 4;
const PROGRAMS: u64 = 42;
const OPTIONS: [&str; 7] = [
    "",
    "(memory = \"owned\")",
    "(memory = \"nodes\")",
    "(launches = \"as-written\")",
    "(launches = \"batched\")",
    "(launches = \"fused\", memory = \"nodes\")",
    "(memory = \"arena\", budget = 256 * 6)",
];

/// A program under construction.
struct Writer {
    random: Random,
    graph: String,
    plain: String,
    names: usize,
}

impl Writer {
    fn both(&mut self, text: &str) {
        self.graph.push_str(text);
        self.plain.push_str(text);
    }

    fn name(&mut self) -> usize {
        self.names += 1;
        self.names
    }

    fn list(&mut self, depth: u32) {
        for _ in 0..1 + self.random.below(2) {
            self.statement(depth);
        }
    }

    fn mix(&mut self) {
        let (x, by) = (self.random.below(WORDS), self.random.below(100_u32));
        let _ = writeln!(self.graph, "mix[per_item(n)](&mut x{x}, {by}, n);");
        let _ = writeln!(self.plain, "x[{x}] = step(x[{x}], {by});");
    }

    /// Adds equal launches on different parts of a buffer.
    fn wide(&mut self) {
        let ((from, to), by, h) = (self.pair(), self.random.below(100_u32), self.name());
        let (count, more) = (2 + self.random.below(4_u32), self.random.below(100_u32));
        let each = |launch: &str| format!("for i in 0..{count}u32 {{\n{launch}\n}}\n");
        let part = format!("&mut h{h}[i * n..(i + 1) * n]");
        let _ = writeln!(self.graph, "let h{h} = alloc::<u32>({count} * n);");
        self.graph.push_str(&each(&format!("mixed[per_item(n)](&x{from}, {part}, {by} + i, n);")));
        self.graph.push_str(&each(&format!("mix[per_item(n)]({part}, {more}, n);")));
        let last = count - 1;
        let _ = writeln!(self.graph, "mixed[per_item(n)](&h{h}[{last} * n..], &mut x{to}, {by}, n);");
        let _ = writeln!(self.plain, "let h{h} = step(step(x[{from}], {}), {more});", by + last);
        let _ = writeln!(self.plain, "x[{to}] = step(h{h}, {by});");
    }

    /// Returns two different buffers.
    fn pair(&mut self) -> (usize, usize) {
        let from = self.random.below(WORDS);
        (from, (from + 1 + self.random.below(WORDS - 1)) % WORDS)
    }

    /// Begins a block with a decision by a buffer. Returns the buffer's name and the expression of its value.
    fn decision(&mut self) -> (String, String) {
        let (name, x, by) =
            (format!("f{}", self.name()), self.random.below(WORDS), 2 + self.random.below(3_u32));
        let _ = writeln!(self.graph, "let {name} = alloc::<u32>(1);");
        let modulo = format!("modulo[(1, 1)](&x{x}[..1], &mut {name}, {by});");
        let _ = writeln!(self.graph, "{modulo}");
        (name, format!("x[{x}] / 16 % {by}|{modulo}"))
    }

    fn statement(&mut self, depth: u32) {
        let kind = if depth == 0 { self.random.choose(&[0, 1, 9, 10]) } else { self.random.below(11_u32) };
        match kind {
            0 => self.mix(),
            9 => self.wide(),
            10 => {
                let x = self.random.below(WORDS);
                for by in 0..2 + self.random.below(3_u32) {
                    let _ = writeln!(self.graph, "mix[per_item(n)](&mut x{x}, {by}, n);");
                    let _ = writeln!(self.plain, "x[{x}] = step(x[{x}], {by});");
                }
            }
            1 | 2 => {
                let ((from, to), by, t) = (self.pair(), self.random.below(100_u32), self.name());
                let _ = writeln!(
                    self.graph,
                    "let t{t} = alloc::<u32>(n);\nmixed[per_item(n)](&x{from}, &mut t{t}, {by}, n);"
                );
                let _ = writeln!(self.plain, "let t{t} = step(x[{from}], {by});");
                if kind == 2 {
                    self.list(depth - 1);
                }
                let _ = writeln!(self.graph, "mixed[per_item(n)](&t{t}, &mut x{to}, {by}, n);");
                let _ = writeln!(self.plain, "x[{to}] = step(t{t}, {by});");
            }
            3 | 4 => {
                let (name, value) = self.decision();
                let value = value.split('|').next().unwrap_or_default().to_owned();
                let not = if self.random.below(2_u32) == 0 { "!" } else { "" };
                let test = if not.is_empty() { "!=" } else { "==" };
                let _ = writeln!(self.graph, "if {not}{name} {{");
                let _ = writeln!(self.plain, "if {value} {test} 0 {{");
                self.list(depth - 1);
                if kind == 4 {
                    self.both("} else {\n");
                    self.list(depth - 1);
                }
                self.both("}\n");
            }
            5 => {
                let (name, value) = self.decision();
                let value = value.split('|').next().unwrap_or_default().to_owned();
                let _ = writeln!(self.graph, "match {name} {{");
                let _ = writeln!(self.plain, "match {value} {{");
                for pattern in [["0", "0 | 2", "1"][self.random.below(3_usize)], "_"] {
                    self.both(&format!("{pattern} => {{\n"));
                    if pattern == "_" && self.random.below(3_u32) == 0 {
                        self.both("}\n");
                        continue;
                    }
                    self.list(depth - 1);
                    self.both("}\n");
                }
                self.both("}\n");
            }
            6 => {
                let (name, turns) = (format!("c{}", self.name()), self.random.below(4_u32));
                let _ = writeln!(
                    self.graph,
                    "let {name} = alloc::<u32>(1);\nfill(&mut {name}, {turns}u32);\nwhile {name} {{"
                );
                let _ = writeln!(self.plain, "for _ in 0..{turns} {{");
                self.list(depth - 1);
                let _ = writeln!(self.graph, "count_down[(1, 1)](&mut {name});");
                self.both("}\n");
            }
            7 => {
                let (name, value) = self.decision();
                let (value, again) =
                    value.split_once('|').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap_or_default();
                let most = 1 + self.random.below(4_u32);
                let _ = writeln!(self.graph, "#[at_most({most})]\nwhile {name} {{");
                let _ = writeln!(self.plain, "for _ in 0..{most} {{\nif {value} == 0 {{ break; }}");
                self.list(depth - 1);
                let _ = writeln!(self.graph, "{again}");
                self.both("}\n");
            }
            _ => {
                let _ = writeln!(self.graph, "for _ in 0..two {{");
                let _ = writeln!(self.plain, "for _ in 0..2 {{");
                self.list(depth - 1);
                self.both("}\n");
            }
        }
    }
}

/// Returns the programs with their meanings, and the macro `each`: it calls another macro with the names of a program
/// and its meaning, and the text of the program, whose statements stand a line each.
pub fn text() -> String {
    let (mut items, mut each) = (String::new(), String::new());
    for number in 0..PROGRAMS {
        let (program, meaning) = program(number);
        let _ = writeln!(each, "$with!(p{number}, m{number}, {program:?});");
        items += &(program + &meaning);
    }
    format!("{items}macro_rules! each {{ ($with:ident) => {{ {each} }} }}\npub(crate) use each;")
}

/// Returns a program and its meaning.
fn program(number: u64) -> (String, String) {
    let mut writer =
        Writer { random: Random::new(977 + number), graph: String::new(), plain: String::new(), names: 0 };
    writer.list(3);
    writer.statement(3);
    let Writer { graph, plain, .. } = writer;
    let arguments: Vec<String> = (0..WORDS).map(|at| format!("x{at}: &mut [u32; n]")).collect();
    let arguments = arguments.join(", ");
    let options = OPTIONS[(number % 7) as usize];
    (
        format!(
            "#[cuweave::graph{options}]\npub fn p{number}(n: u32, two: u32, {arguments}) {{\n{graph}}}\n"
        ),
        format!("pub fn m{number}(x: &mut [u32; {WORDS}]) {{\n{plain}}}\n"),
    )
}
