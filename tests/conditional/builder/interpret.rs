//! Reads the programs of `random`, whose statements stand a line each, and writes them by a builder.

use std::collections::BTreeMap;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice};
use cuweave::Graph;
use cuweave::builder::{Args, Builder, Handle, Launches, Memory, Scalar, Size, ToSize, View};
use cuweave::prelude::*;

use crate::decide::{count_down, mix, mixed, modulo};

/// Returns the index of the line that ends the block in which the lines stand.
fn block(lines: &[&str]) -> usize {
    let mut depth = 1;
    for (at, line) in lines.iter().enumerate() {
        depth -= usize::from(line.starts_with('}'));
        if depth == 0 {
            return at;
        }
        depth += usize::from(line.ends_with('{'));
    }
    panic!("a block has no end");
}

/// Builds the program of a text by a builder.
pub fn build<'a>(
    ctx: &Arc<CudaContext>,
    name: &str,
    text: &str,
    words: &'a mut [CudaSlice<u32>; 4],
) -> cuweave::Result<Graph<Args<'a>>> {
    let lines: Vec<&str> = text.lines().collect();
    let [attribute, _, lines @ .., _] = lines.as_slice() else { panic!("no program: {text}") };
    let mut b = Builder::with_name(ctx, name);
    let has = |option: &str| attribute.contains(option);
    for (option, memory) in
        [("\"owned\"", Memory::Owned), ("\"nodes\"", Memory::Nodes), ("\"arena\"", Memory::Arena)]
    {
        if has(option) {
            b.memory(memory);
        }
    }
    let launches =
        [("as-written", Launches::AsWritten), ("batched", Launches::Batched), ("fused", Launches::Fused)];
    for (option, launches) in launches {
        if has(option) {
            b.launches(launches);
        }
    }
    if let Some((_, budget)) = attribute.split_once("budget = ") {
        let factors = budget.trim_end_matches(")]").split(" * ").map(|factor| factor.parse::<u64>());
        b.budget(factors.map(|factor| factor.expect("a number")).product::<u64>());
    }
    let n = b.scalar("n", super::N as u32);
    b.scalar("two", 2u32);
    let mut names = BTreeMap::new();
    for (at, buffer) in words.iter_mut().enumerate() {
        names.insert(format!("x{at}"), b.exclusive(&format!("x{at}"), n, buffer));
    }
    Reader { n, i: None }.statements(&mut b, lines, &mut names)?;
    b.build()
}

type Names = BTreeMap<String, Handle>;

struct Reader {
    n: Scalar<u32>,
    /// The variable of the enclosing literal loop.
    i: Option<u32>,
}

impl Reader {
    fn statements(&self, b: &mut Builder<'_>, lines: &[&str], names: &mut Names) -> cuweave::Result<()> {
        let (mut at, mut at_most) = (0, None);
        while let Some(&line) = lines.get(at) {
            at += 1;
            let words: Vec<&str> = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
            if line.starts_with("#[at_most") {
                at_most = words.iter().find_map(|word| word.parse::<u32>().ok());
                continue;
            }
            if !line.ends_with('{') {
                self.statement(b, line, names)?;
                continue;
            }
            let inside = &lines[at..at + block(&lines[at..])];
            at += inside.len() + 1;
            let name = |line: &str| -> Handle {
                let name = line.trim_end_matches(" {").rsplit([' ', '!']).next().unwrap_or_default();
                *names.get(name).unwrap_or_else(|| panic!("there is no `{name}`"))
            };
            let body = |lines: &[&str], b: &mut Builder<'_>| self.statements(b, lines, &mut names.clone());
            match words[0] {
                "for" if line == "for _ in 0..two {" => (0..2).try_for_each(|_| body(inside, b))?,
                "for" => {
                    let end = line.split("..").nth(1).and_then(|end| end.strip_suffix("u32 {"));
                    for i in 0..end.and_then(|end| end.parse().ok()).expect("a literal") {
                        let turn = Reader { n: self.n, i: Some(i) };
                        turn.statements(b, inside, &mut names.clone())?;
                    }
                }
                "while" => {
                    let statement = match at_most.take() {
                        Some(most) => b.while_at_most(&name(line), most, |b| body(inside, b))?,
                        None => b.while_(&name(line), |b| body(inside, b))?,
                    };
                    let _ = statement;
                }
                "if" => {
                    let flag = name(line);
                    let decision = if line.starts_with("if !") { !flag } else { !!flag };
                    // The block of an `if` ends at `} else {`.
                    if lines[at - 1] == "} else {" {
                        let otherwise = &lines[at..at + block(&lines[at..])];
                        at += otherwise.len() + 1;
                        b.if_else(decision, |b| body(inside, b), |b| body(otherwise, b))?;
                    } else {
                        b.if_(decision, |b| body(inside, b))?;
                    }
                }
                "match" => {
                    let (mut choice, mut arm) = (b.match_(&name(line)), 0);
                    loop {
                        let head = &inside[arm];
                        let statements = &inside[arm + 1..arm + 1 + block(&inside[arm + 1..])];
                        arm += statements.len() + 2;
                        if head.starts_with('_') {
                            break choice.otherwise(|b| body(statements, b))?;
                        }
                        let values = head.split_once(" =>").expect("a pattern").0.split(" | ");
                        let values: Vec<u32> =
                            values.map(|value| value.parse().expect("a literal")).collect();
                        choice = choice.arm(values, |b| body(statements, b));
                    }
                }
                other => panic!("a block of `{other}`: {line}"),
            }
        }
        Ok(())
    }

    fn statement(&self, b: &mut Builder<'_>, line: &str, names: &mut Names) -> cuweave::Result<()> {
        if let Some(line) = line.strip_prefix("let ") {
            let (name, rest) = line.split_once(" = ").expect("an allocation");
            let len = rest.strip_prefix("alloc::<u32>(").and_then(|rest| rest.strip_suffix(");"));
            let len = b.named(name).alloc::<u32>(self.size(len.expect("a length")));
            names.insert(name.to_owned(), len);
            return Ok(());
        }
        let (word, rest) = line.split_once(['[', '(']).expect("a call");
        let arguments = match word {
            "fill" => rest,
            _ => rest.split_once("](").expect("arguments").1,
        };
        let arguments: Vec<&str> = arguments.trim_end_matches(");").split(", ").collect();
        let handle = |at: usize| -> View {
            let text = arguments[at].trim_start_matches('&').trim_start_matches("mut ");
            let (name, part) = text.split_once('[').unwrap_or((text, ""));
            let handle = *names.get(name).unwrap_or_else(|| panic!("there is no `{name}`: {line}"));
            let Some((lo, hi)) = part.trim_end_matches(']').split_once("..") else {
                return View::from(handle);
            };
            match (lo, hi) {
                ("", hi) => handle.range(0, self.size(hi)),
                (lo, "") => handle.split_at_mut(self.size(lo)).1,
                (lo, hi) => handle.range(self.size(lo), self.size(hi)),
            }
        };
        let number = |at: usize| -> u32 {
            let (number, i) = arguments[at]
                .split_once(" + i")
                .map_or((arguments[at], 0), |(number, _)| (number, self.i.expect("a turn")));
            number.trim_end_matches("u32").parse::<u32>().expect("a number") + i
        };
        let n = self.n;
        match word {
            "mix" => b.launch(mix {}, per_item(n), (handle(0).write(), number(1), n))?,
            "mixed" => {
                b.launch(mixed {}, per_item(n), (handle(0).read(), handle(1).write(), number(2), n))?
            }
            "count_down" => b.launch(count_down {}, (1, 1), (handle(0).write(),))?,
            "modulo" => b.launch(modulo {}, (1, 1), (handle(0).read(), handle(1).write(), number(2)))?,
            "fill" => b.fill(handle(0).write(), number(1))?,
            other => panic!("`{other}`: {line}"),
        };
        Ok(())
    }

    /// Returns the expression of a length or a bound.
    fn size(&self, text: &str) -> Size {
        if let Some((one, other)) = text.split_once(" * ") {
            return self.size(one) * self.size(other);
        }
        match text {
            "n" => self.n.to_size(),
            "i" => self.i.expect("a turn").to_size(),
            "(i + 1)" => self.i.expect("a turn").to_size() + 1u32,
            number => number.parse::<u32>().expect("a number").to_size(),
        }
    }
}
