//! Random nested programs of conditional nodes, compared with their direct evaluation. Statements that share no
//! word are unordered, so nodes of many bodies and outside them run in any order.

use cuweave_testkit::random::Random;
use cuweave_testkit::raw::*;

use super::kernels::Setup;

const WORDS: usize = 3;
/// The maximum number of iterations of a launch in the evaluation. Programs with more are skipped.
const MAX_ITERATIONS: u32 = 200;

enum Statement {
    /// `words[.0] = 31 * words[.0] + .1`.
    Mix(usize, u32),
    /// Runs one body or none, depending on a word divided by 16, modulo a number.
    Choice { on: usize, number: u32, kind: Choice, bodies: Vec<Vec<Statement>> },
    /// Iterates `iterations` times.
    Count { iterations: u32, body: Vec<Statement> },
    /// Iterates until a word divided by 16 is a multiple of a number.
    Until { on: usize, number: u32, body: Vec<Statement> },
}

#[derive(Clone, Copy, PartialEq)]
enum Choice {
    If,
    IfElse,
    Switch,
}

fn list(random: &mut Random, depth: u32) -> Vec<Statement> {
    (0..1 + random.below(4)).map(|_| statement(random, depth)).collect()
}

fn statement(random: &mut Random, depth: u32) -> Statement {
    let on = random.below(WORDS);
    let kind = if depth == 0 { 0 } else { random.below(8) };
    match kind {
        0..=2 => Statement::Mix(on, random.below(1000_u32)),
        3 => Statement::Count { iterations: random.below(4_u32), body: list(random, depth - 1) },
        4 => {
            let mut body = list(random, depth - 1);
            body.push(Statement::Mix(on, random.below(1000_u32)));
            Statement::Until { on, number: 2 + random.below(2_u32), body }
        }
        kind => {
            let kind = [Choice::If, Choice::IfElse, Choice::Switch][kind as usize - 5];
            let count = match kind {
                Choice::If => 1,
                Choice::IfElse => 2,
                Choice::Switch => 1 + random.below(4_u32),
            };
            let number = if kind == Choice::Switch { count + 1 } else { 2 };
            let bodies = (0..count).map(|_| list(random, depth - 1)).collect();
            Statement::Choice { on, number, kind, bodies }
        }
    }
}

/// The state of the direct evaluation.
struct Machine {
    words: [u32; WORDS],
    iterations: u32,
}

impl Machine {
    /// Counts an iteration. Returns `None` if there are too many.
    fn count_iteration(&mut self) -> Option<()> {
        self.iterations += 1;
        (self.iterations <= MAX_ITERATIONS).then_some(())
    }

    fn run(&mut self, statements: &[Statement]) -> Option<()> {
        for statement in statements {
            match statement {
                Statement::Mix(word, value) => {
                    self.words[*word] = self.words[*word].wrapping_mul(31).wrapping_add(*value);
                }
                Statement::Choice { on, number, kind, bodies } => {
                    let value = self.words[*on] / 16 % number;
                    let body = if *kind == Choice::Switch { value as usize } else { usize::from(value == 0) };
                    if let Some(body) = bodies.get(body) {
                        self.run(body)?;
                    }
                }
                Statement::Count { iterations, body } => {
                    for _ in 0..*iterations {
                        self.count_iteration()?;
                        self.run(body)?;
                    }
                }
                Statement::Until { on, number, body } => {
                    while !(self.words[*on] / 16).is_multiple_of(*number) {
                        self.count_iteration()?;
                        self.run(body)?;
                    }
                }
            }
        }
        Some(())
    }
}

impl Statement {
    fn bodies(&self) -> &[Vec<Statement>] {
        match self {
            Statement::Mix(..) => &[],
            Statement::Choice { bodies, .. } => bodies,
            Statement::Count { body, .. } | Statement::Until { body, .. } => std::slice::from_ref(body),
        }
    }

    /// Marks the words that the statement touches.
    fn touches(&self, touched: &mut [bool; WORDS]) {
        match self {
            Statement::Mix(on, _) | Statement::Choice { on, .. } | Statement::Until { on, .. } => {
                touched[*on] = true;
            }
            Statement::Count { .. } => {}
        }
        self.bodies().iter().flatten().for_each(|inner| inner.touches(touched));
    }
}

/// The state of the construction of a graph.
struct Builder<'a> {
    setup: &'a Setup,
    words: [u64; WORDS],
    /// The outermost graph.
    top: &'a Graph,
    random: Random,
}

impl Builder<'_> {
    /// Fills a graph and returns the last node of each word.
    fn fill(&mut self, graph: &Graph, statements: &[Statement]) -> [Option<Node>; WORDS] {
        let mut last = [None; WORDS];
        for statement in statements {
            let mut touched = [false; WORDS];
            statement.touches(&mut touched);
            let own = |last: &[Option<Node>; WORDS]| -> Vec<Node> {
                let pairs = last.iter().zip(touched);
                let mut nodes: Vec<Node> = pairs.filter(|pair| pair.1).filter_map(|pair| *pair.0).collect();
                nodes.sort_unstable();
                nodes.dedup();
                nodes
            };
            let after = own(&last);
            let node = self.add(graph, &after, statement);
            last.iter_mut().zip(touched).filter(|pair| pair.1).for_each(|pair| *pair.0 = Some(node));
        }
        last
    }

    fn add(&mut self, graph: &Graph, after: &[Node], statement: &Statement) -> Node {
        let setup = self.setup;
        // A handle may also belong to the outermost graph.
        let owner = if self.random.one_in(2) { graph } else { self.top };
        let handle = |default| owner.handle(&setup.context, default);
        match statement {
            Statement::Mix(word, value) => {
                setup.add(graph, after, "mix", &[self.words[*word], (*value).into()])
            }
            Statement::Choice { on, number, kind, bodies } => {
                let handle = handle(None);
                let set = setup.add(graph, after, "set_modulo", &[handle, self.words[*on], (*number).into()]);
                let after = [&[set], after].concat();
                let type_ = match kind {
                    Choice::Switch => CU_GRAPH_COND_TYPE_SWITCH,
                    Choice::If | Choice::IfElse => CU_GRAPH_COND_TYPE_IF,
                };
                let size = bodies.len() as u32;
                let made = graph.try_conditional(&setup.context, &after, handle, (type_, size));
                let (node, graphs) = made.unwrap();
                for (graph, body) in graphs.iter().zip(bodies) {
                    self.fill(graph, body);
                }
                node
            }
            Statement::Count { iterations, body } => {
                let (handle, count) = (handle(None), setup.word(0));
                let put = setup.add(graph, after, "put", &[count, (*iterations).into()]);
                let set = setup.add(graph, &[put], "set_from", &[handle, count]);
                let (node, inside) = graph.run_while(&setup.context, &[set], handle);
                self.fill(&inside, body);
                setup.add(&inside, &[], "count_down", &[handle, count]);
                node
            }
            Statement::Until { on, number, body } => {
                let (handle, number) = (handle(None), u64::from(*number));
                let word = self.words[*on];
                let set = setup.add(graph, after, "set_modulo", &[handle, word, number]);
                let after = [&[set], after].concat();
                let (node, inside) = graph.run_while(&setup.context, &after, handle);
                let last = self.fill(&inside, body);
                let after: Vec<Node> = last[*on].into_iter().collect();
                setup.add(&inside, &after, "set_modulo", &[handle, word, number]);
                node
            }
        }
    }
}

const STARTS: [[u32; WORDS]; 3] = [[0, 16, 35], [1000, 77, 5], [u32::MAX, 123_456, 48]];

/// Runs a random program from each initial state. Returns the maximum number of iterations of a launch; `None` if
/// there are too many.
fn check(setup: &Setup, case: u64) -> Option<u32> {
    let mut random = Random::new(case);
    let program = list(&mut random, 3);
    let results: Option<Vec<Machine>> = STARTS
        .iter()
        .map(|&words| {
            let mut machine = Machine { words, iterations: 0 };
            machine.run(&program).map(|()| machine)
        })
        .collect();
    let results = results?;
    let memory = setup.context.upload(&[0_u32; WORDS]);
    let words = [0, 1, 2].map(|at| memory + 4 * at);
    let graph = Graph::new();
    Builder { setup, words, top: &graph, random }.fill(&graph, &program);
    let exec = graph.exec();
    for (start, result) in STARTS.iter().zip(&results) {
        setup.context.write(memory, start);
        assert_eq!(exec.run(&setup.context), OK, "case {case}");
        assert_eq!(setup.context.download::<u32>(memory, WORDS), result.words, "case {case}, from {start:?}");
    }
    results.iter().map(|machine| machine.iterations).max()
}

#[test]
fn random_programs_run_as_they_read() {
    let setup = Setup::new();
    let mut most = 0;
    let mut done = 0;
    for case in 0..120 {
        if setup.context.simulated {
            cuweave_sim::set_seed(case % 5).unwrap();
            cuweave_sim::set_parallel(case % 3 == 2).unwrap();
        }
        let Some(iterations) = check(&setup, case) else { continue };
        most = most.max(iterations);
        done += 1;
    }
    assert!(done >= 80 && most >= 20, "{done} programs of up to {most} iterations say little");
}
