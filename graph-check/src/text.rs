//! Certificates as text, with a line for each entry, in the order of the lists.
//!
//! `Display` writes the text, and `FromStr` reads it. `docs/trust.md` describes the grammar.

use crate::certificate::*;
use std::fmt::{self, Display, Write as _};
use std::str::FromStr;

/// A line that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Its line number, starting at 1.
    pub line: usize,
    /// Its text.
    pub text: String,
}

impl Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is not a line of a certificate: `{}`", self.line, self.text)
    }
}

impl std::error::Error for ParseError {}

const KINDS: [(StatementKind, &str); 10] = [
    (StatementKind::Kernel, "kernel"),
    (StatementKind::Fill, "fill"),
    (StatementKind::Copy, "copy"),
    (StatementKind::Call, "call"),
    (StatementKind::Decision, "decision"),
    (StatementKind::KernelDecision, "decided"),
    (StatementKind::LoopDecision, "again"),
    (StatementKind::AfterAll, "after-all"),
    (StatementKind::BeforeAll, "before-all"),
    (StatementKind::Host, "host"),
];

/// Writes ` word value ..` if there are values.
fn list<T: Display>(f: &mut fmt::Formatter<'_>, word: &str, values: &[T]) -> fmt::Result {
    if !values.is_empty() {
        write!(f, " {word}")?;
    }
    values.iter().try_for_each(|value| write!(f, " {value}"))
}

fn spans(f: &mut fmt::Formatter<'_>, word: &str, spans: Option<&Vec<Span>>) -> fmt::Result {
    let Some(spans) = spans else { return writeln!(f, "    {word} any") };
    for Span { start, bytes, axes, within } in spans {
        write!(f, "    {word} {bytes} from {start}")?;
        for Axis { first, count, stride } in axes {
            write!(f, " blocks {first} {count} by {stride}")?;
        }
        within.iter().try_for_each(|(step, count)| write!(f, " within {count} by {step}"))?;
        writeln!(f)?;
    }
    Ok(())
}

impl Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Certificate { source, plan } = self;
        writeln!(f, "cuweave certificate 1")?;
        for Memory { name, bytes, origin, returned } in &source.memories {
            let returned = if *returned { " returned" } else { "" };
            match origin {
                Origin::Temporary(body) => write!(f, "memory {bytes} temporary {body}")?,
                Origin::Operand(address) => write!(f, "memory {bytes} operand {address}")?,
                Origin::Taken(address) => write!(f, "memory {bytes} taken {address}")?,
                Origin::State => write!(f, "memory {bytes} state 0")?,
            }
            writeln!(f, "{returned} name {name}")?;
        }
        for Body { parent, decided_by, repeats, exhaustive } in &source.bodies {
            let (repeats, exhaustive) =
                (if *repeats { " repeats" } else { "" }, if *exhaustive { " total" } else { "" });
            writeln!(f, "body in {parent} by {decided_by}{repeats}{exhaustive}")?;
        }
        for CallRegion { caller, explicit } in &source.regions {
            writeln!(f, "region in {caller}{}", if *explicit { " explicit" } else { "" })?;
        }
        for Statement { name, line, body, region, device, multi_block, kind, accesses, numbers } in
            &source.statements
        {
            let kind = KINDS.iter().find(|one| one.0 == *kind).map_or("", |one| one.1);
            let multi_block = if *multi_block { " wide" } else { "" };
            write!(f, "statement {kind} in {body} region {region} on {device} line {line}{multi_block}")?;
            list(f, "numbers", numbers)?;
            writeln!(f, " name {name}")?;
            for Access { memory, lo, hi, effect } in accesses {
                let mut class = String::new();
                let word = match effect {
                    Effect::Read => "read",
                    Effect::Write => "write",
                    Effect::MayWrite => "may-write",
                    Effect::Modify => "modify",
                    Effect::Update(of) => {
                        write!(class, " {of}")?;
                        "update"
                    }
                };
                writeln!(f, "  {word} {memory} {lo} {hi}{class}")?;
            }
        }
        for (before, after) in &source.after {
            writeln!(f, "after {before} {after}")?;
        }
        for Block { address, bytes, node } in &plan.blocks {
            writeln!(f, "block {bytes} at {address}{}", if *node { " node" } else { "" })?;
        }
        for MemoryPlacement { at, devices } in &plan.places {
            match at {
                Storage::In { block, offset } => write!(f, "place block {block} {offset}")?,
                Storage::Own => write!(f, "place own")?,
                Storage::Registers(node) => write!(f, "place registers {node}")?,
                Storage::Unused => write!(f, "place unused")?,
            }
            list(f, "devices", devices)?;
            writeln!(f)?;
        }
        for Node { name, body, device, waits, work } in &plan.nodes {
            let waits = if *waits { " waits" } else { "" };
            let (members, forwards): (&[Member], &[ForwardedRead]) = match work {
                NodeWork::Run { members, forwards, .. } => (members, forwards),
                _ => (&[], &[]),
            };
            write!(f, "node in {body} on {device}{waits}")?;
            match work {
                NodeWork::Alloc(block) => write!(f, " alloc {block}")?,
                NodeWork::Free(block) => write!(f, " free {block}")?,
                NodeWork::FreeTaken(memory, address) => write!(f, " free-taken {memory} {address}")?,
                NodeWork::Branch(bodies) => list(f, "branch", bodies)?,
                NodeWork::Run { .. } => write!(f, " run")?,
            }
            writeln!(f, " name {name}")?;
            for Member { statement, lane, addresses, numbers, elided, touches } in members {
                write!(f, "  member {statement} lane {lane}")?;
                list(f, "addresses", addresses)?;
                list(f, "numbers", numbers)?;
                list(f, "left-out", elided)?;
                writeln!(f)?;
                for TouchedBytes { reads, writes } in touches {
                    writeln!(f, "   touches")?;
                    spans(f, "reads", reads.as_ref())?;
                    spans(f, "writes", writes.as_ref())?;
                }
            }
            for ForwardedRead { access, reader, writer } in forwards {
                writeln!(f, "  forward {access} to {reader} from {writer}")?;
            }
        }
        for Edge { from, to, port } in &plan.edges {
            writeln!(f, "edge {from} {to}{}", if *port == Port::Early { " early" } else { "" })?;
        }
        Ok(())
    }
}

/// The remaining words of a line.
struct Words<'t>(std::iter::Peekable<std::str::SplitWhitespace<'t>>);

impl Words<'_> {
    /// Takes the next word as a value.
    fn value<T: FromStr>(&mut self) -> Option<T> {
        self.0.next()?.parse().ok()
    }

    /// Takes the word if it is the next one.
    fn has(&mut self, word: &str) -> bool {
        self.0.next_if_eq(&word).is_some()
    }

    /// Takes the word and the value after it.
    fn after<T: FromStr>(&mut self, word: &str) -> Option<T> {
        if self.has(word) { self.value() } else { None }
    }

    /// Takes the word and all values after it. Empty if the word is not next.
    fn list<T: FromStr>(&mut self, word: &str) -> Vec<T> {
        let mut values = Vec::new();
        if self.has(word) {
            while let Some(value) = self.0.peek().and_then(|word| word.parse().ok()) {
                values.push(value);
                self.0.next();
            }
        }
        values
    }

    fn end(&mut self) -> Option<()> {
        self.0.next().is_none().then_some(())
    }
}

impl FromStr for Certificate {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Certificate, ParseError> {
        let mut all = Certificate::default();
        for (at, line) in text.lines().enumerate() {
            let parsed =
                if at == 0 { (line == "cuweave certificate 1").then_some(()) } else { entry(&mut all, line) };
            parsed.ok_or_else(|| ParseError { line: at + 1, text: line.to_owned() })?;
        }
        Ok(all)
    }
}

/// Adds the entry that a line describes.
fn entry(Certificate { source, plan }: &mut Certificate, line: &str) -> Option<()> {
    let (words, name) = line.split_once(" name ").unwrap_or((line, ""));
    let (name, mut words) = (name.to_owned(), Words(words.split_whitespace().peekable()));
    match words.0.next()? {
        "memory" => {
            let (bytes, word): (u64, String) = (words.value()?, words.value()?);
            let origin = match word.as_str() {
                "temporary" => Origin::Temporary(words.value()?),
                "operand" => Origin::Operand(words.value()?),
                "taken" => Origin::Taken(words.value()?),
                "state" => words.value::<u64>().map(|_| Origin::State)?,
                _ => return None,
            };
            source.memories.push(Memory { name, bytes, origin, returned: words.has("returned") });
        }
        "body" => {
            let (parent, decided_by) = (words.after("in")?, words.after("by")?);
            let (repeats, exhaustive) = (words.has("repeats"), words.has("total"));
            source.bodies.push(Body { parent, decided_by, repeats, exhaustive });
        }
        "region" => {
            source.regions.push(CallRegion { caller: words.after("in")?, explicit: words.has("explicit") });
        }
        "statement" => {
            let word: String = words.value()?;
            let kind = KINDS.iter().find(|one| one.1 == word)?.0;
            let (body, region) = (words.after("in")?, words.after("region")?);
            let (device, line, multi_block) = (words.after("on")?, words.after("line")?, words.has("wide"));
            let (accesses, numbers) = (Vec::new(), words.list("numbers"));
            source.statements.push(Statement {
                name,
                line,
                body,
                region,
                device,
                multi_block,
                kind,
                accesses,
                numbers,
            });
        }
        word @ ("read" | "write" | "may-write" | "modify" | "update") => {
            let (memory, lo, hi) = (words.value()?, words.value()?, words.value()?);
            let effect = match word {
                "read" => Effect::Read,
                "write" => Effect::Write,
                "may-write" => Effect::MayWrite,
                "modify" => Effect::Modify,
                _ => Effect::Update(words.value()?),
            };
            source.statements.last_mut()?.accesses.push(Access { memory, lo, hi, effect });
        }
        "after" => source.after.push((words.value()?, words.value()?)),
        "block" => {
            plan.blocks.push(Block {
                bytes: words.value()?,
                address: words.after("at")?,
                node: words.has("node"),
            });
        }
        "place" => {
            let at = match words.0.next()? {
                "block" => Storage::In { block: words.value()?, offset: words.value()? },
                "own" => Storage::Own,
                "registers" => Storage::Registers(words.value()?),
                "unused" => Storage::Unused,
                _ => return None,
            };
            plan.places.push(MemoryPlacement { at, devices: words.list("devices") });
        }
        "node" => {
            let (body, device, waits) = (words.after("in")?, words.after("on")?, words.has("waits"));
            let work = match *words.0.peek()? {
                "alloc" => NodeWork::Alloc(words.after("alloc")?),
                "free" => NodeWork::Free(words.after("free")?),
                "free-taken" => NodeWork::FreeTaken(words.after("free-taken")?, words.value()?),
                "branch" => NodeWork::Branch(words.list("branch")),
                "run" => {
                    words.0.next();
                    NodeWork::Run { members: Vec::new(), forwards: Vec::new() }
                }
                _ => return None,
            };
            plan.nodes.push(Node { name, body, device, waits, work });
        }
        word => {
            if let "edge" = word {
                let (from, to) = (words.value()?, words.value()?);
                let port = if words.has("early") { Port::Early } else { Port::End };
                plan.edges.push(Edge { from, to, port });
                return words.end();
            }
            let NodeWork::Run { members, forwards, .. } = &mut plan.nodes.last_mut()?.work else {
                return None;
            };
            match word {
                "member" => {
                    let (statement, lane) = (words.value()?, words.after("lane")?);
                    let (addresses, numbers) = (words.list("addresses"), words.list("numbers"));
                    let elided = words.list("left-out");
                    members.push(Member { statement, lane, addresses, numbers, elided, touches: Vec::new() });
                }
                "touches" => {
                    let known = TouchedBytes { reads: Some(Vec::new()), writes: Some(Vec::new()) };
                    members.last_mut()?.touches.push(known);
                }
                "forward" => {
                    let (access, reader, writer) = (words.value()?, words.after("to")?, words.after("from")?);
                    forwards.push(ForwardedRead { access, reader, writer });
                }
                "reads" | "writes" => {
                    let touches = members.last_mut()?.touches.last_mut()?;
                    let list = if word == "reads" { &mut touches.reads } else { &mut touches.writes };
                    if words.has("any") {
                        *list = None;
                        return words.end();
                    }
                    let (bytes, start) = (words.value()?, words.after("from")?);
                    let mut axes = [Axis { first: 0, count: 1, stride: 0 }; 3];
                    for axis in &mut axes {
                        *axis = Axis {
                            first: words.after("blocks")?,
                            count: words.value()?,
                            stride: words.after("by")?,
                        };
                    }
                    let mut within = Vec::new();
                    while let Some(count) = words.after("within") {
                        within.push((words.after("by")?, count));
                    }
                    list.as_mut()?.push(Span { start, bytes, axes, within });
                }
                _ => return None,
            }
        }
    }
    words.end()
}
