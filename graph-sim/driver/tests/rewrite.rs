//! Rewritten kernels behave like the originals. Every kernel of the corpus that runs here is launched member by
//! member as written, and as one launch of each of its rewritten forms; both must leave equal bytes.

use cuweave_ptx::rewrite::{
    Axis, Batch, BatchTable, GridShape, Refusal, batchable, batched, free_name, waiting,
};
use cuweave_ptx::{self as ptx, Analysis, Function, Module, TypeClass};
use cuweave_sim_driver::interp::{Fault, Launch, Program, RunOptions, run, run_until_wait};
use cuweave_testkit::files;
use std::path::PathBuf;

mod buffers;

use buffers::{Buffers, small_numbers};

/// The size of each buffer in bytes.
const SIZE: usize = 1 << 14;
const MEMBERS: usize = 3;

/// Returns the files with kernels to rewrite.
fn files() -> Vec<PathBuf> {
    let others = ["examples/kernels", "benches/kernels", "graph-sim/driver/tests/ptx"];
    files::ptx(files::CORPUS.iter().chain(&others))
}

/// The arguments of the members.
struct Members {
    grids: [[u32; 3]; MEMBERS],
    block: [u32; 3],
    /// The parameters of each member.
    arguments: Vec<Vec<Vec<u8>>>,
}

/// Allocates buffers for each member, and chooses arguments that differ between members.
fn members(
    function: &Function<'_>,
    pointers: &[bool],
    grids: [[u32; 3]; MEMBERS],
    memory: &mut Buffers,
) -> Members {
    let rule = function.performance(".reqntid").map(<[u32]>::to_vec);
    let block = match rule {
        Some(rule) => [0, 1, 2].map(|at| rule.get(at).copied().unwrap_or(1)),
        None if function.performance(".maxntid").is_some_and(|most| most[0] < 64) => [32, 1, 1],
        None => [32, 2, 1],
    };
    let mut arguments = Vec::new();
    for member in 0..MEMBERS as u64 {
        let mut of_member = Vec::new();
        for (at, parameter) in function.parameters.iter().enumerate() {
            let value = match (pointers[at], parameter.class()) {
                (true, _) => memory.add(small_numbers(SIZE, member)),
                (_, TypeClass::Float) if parameter.size() == 4 => {
                    u64::from((1.5f32 + member as f32).to_bits())
                }
                (_, TypeClass::Float) => (1.5f64 + member as f64).to_bits(),
                _ => 40 - member,
            };
            let mut bytes = value.to_le_bytes().to_vec();
            bytes.resize(parameter.size() as usize, member as u8);
            of_member.push(bytes);
        }
        arguments.push(of_member);
    }
    Members { grids, block, arguments }
}

/// Allocates the variables of a program with their initial values.
fn variables(program: &Program, memory: &mut Buffers) -> Vec<u64> {
    let mut addresses: Vec<u64> = Vec::new();
    let first = memory.data.len();
    for variable in &program.variables {
        let mut initial = variable.initial.clone();
        initial.resize((variable.bytes.max(1) as usize).next_multiple_of(8), 0);
        let words =
            initial.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        addresses.push(memory.add(words));
    }
    for (at, variable) in program.variables.iter().enumerate() {
        for (offset, name, addend) in &variable.addresses {
            let target = program.variables.iter().position(|other| other.name == *name).unwrap();
            memory.data[first + at][offset / 8] = addresses[target].wrapping_add_signed(*addend);
        }
    }
    addresses
}

/// Runs a launch to its end. A kernel that waits is first run up to its wait, before which it must not touch
/// anything.
fn go(launch: &Launch<'_>, memory: &Buffers, waits: bool) -> Result<(), String> {
    // One host thread, so that float atomics execute in a fixed order.
    let options = RunOptions {
        limit: 100_000,
        threads: Some(1),
        initialised: false,
        conflicts: false,
        dependent: false,
        ..RunOptions::default()
    };
    let fault = |fault: Fault| fault.to_string();
    if waits {
        let marks = |memory: &Buffers| memory.shadow.iter().flatten().filter(|&&flags| flags != 0).count();
        let before = marks(memory);
        let options = RunOptions { dependent: true, ..options };
        let paused = run_until_wait(launch, memory, &options).map_err(fault)?;
        if !paused.pre_wait().is_empty() || marks(memory) != before {
            return Err("it touches memory before the wait".to_owned());
        }
    }
    // Restarted from its beginning: paused blocks would continue in another order, which could expose races.
    run(launch, memory, &options, None).map(|_| ()).map_err(fault)
}

/// Returns the members' buffers in the order of their allocation.
fn bytes(memory: &Buffers, count: usize) -> Vec<Vec<u64>> {
    memory.data[..count].to_vec()
}

/// Launches each member as written. Returns `None` if a launch is refused or does not finish.
fn one_by_one(
    program: &Program,
    function: &Function<'_>,
    pointers: &[bool],
    grids: [[u32; 3]; MEMBERS],
    waits: bool,
) -> Option<Vec<Vec<u64>>> {
    let number = program.entry(function.name)?;
    let entry = &program.entries[number];
    if entry.supported.is_err() {
        return None;
    }
    let mut memory = Buffers::default();
    let members = members(function, pointers, grids, &mut memory);
    let count = memory.data.len();
    let variables = variables(program, &mut memory);
    for (arguments, grid) in members.arguments.iter().zip(members.grids) {
        let mut parameters = vec![0u8; entry.parameter_bytes];
        for (&(offset, size), argument) in entry.parameters.iter().zip(arguments) {
            parameters[offset..offset + size].copy_from_slice(argument);
        }
        let launch = Launch {
            program,
            entry: number,
            grid,
            block: members.block,
            dynamic_shared: 4096,
            parameters: &parameters,
            variables: &variables,
        };
        go(&launch, &memory, waits).ok()?;
    }
    Some(bytes(&memory, count))
}

/// Launches all members in one launch of a rewritten form.
fn at_once(
    program: &Program,
    function: &Function<'_>,
    form: &Batch,
    pointers: &[bool],
    grids: [[u32; 3]; MEMBERS],
) -> Result<Vec<Vec<u64>>, String> {
    let number = program.entry(&form.name).unwrap();
    let entry = &program.entries[number];
    entry.supported.clone()?;
    let mut memory = Buffers::default();
    let members = members(function, pointers, grids, &mut memory);
    let count = memory.data.len();
    let variables = variables(program, &mut memory);
    let table = BatchTable::new(&function.parameters, form.capacity, form.shape).unwrap();
    let mut parameters = vec![0u8; table.bytes as usize];
    let (mut blocks, mut firsts) = (0u32, Vec::new());
    for (member, (arguments, grid)) in members.arguments.iter().zip(members.grids).enumerate() {
        let member = member as u32;
        for (at, argument) in arguments.iter().enumerate() {
            parameters[table.parameter(member, at)].copy_from_slice(argument);
        }
        if let Some(place) = table.grid(member) {
            let extents: Vec<u8> = grid.iter().flat_map(|extent| extent.to_le_bytes()).collect();
            parameters[place].copy_from_slice(&extents);
            firsts.push(blocks);
            blocks += grid.iter().product::<u32>();
        }
    }
    for (offset, value) in table.search_words(&firsts, blocks) {
        parameters[offset as usize..][..4].copy_from_slice(&value.to_le_bytes());
    }
    let grid = match form.shape {
        GridShape::Flat => [blocks, 1, 1],
        GridShape::Axis(axis) => {
            let mut grid = grids[0];
            grid[axis.index()] = MEMBERS as u32;
            grid
        }
    };
    let launch = Launch {
        program,
        entry: number,
        grid,
        block: members.block,
        dynamic_shared: 4096,
        parameters: &parameters,
        variables: &variables,
    };
    go(&launch, &memory, form.waits)?;
    Ok(bytes(&memory, count))
}

const LINE: [u32; 3] = [3, 1, 1];
const PLANE: [u32; 3] = [2, 2, 1];
const SPACE: [u32; 3] = [2, 1, 3];

/// The grid shapes, each with the members' grids.
const CASES: [(GridShape, [[u32; 3]; MEMBERS]); 6] = [
    (GridShape::Axis(Axis::Y), [LINE; MEMBERS]),
    (GridShape::Axis(Axis::Y), [SPACE; MEMBERS]),
    (GridShape::Axis(Axis::Z), [PLANE; MEMBERS]),
    (GridShape::Flat, [LINE; MEMBERS]),
    (GridShape::Flat, [[2, 3, 2], [1, 1, 1], [3, 1, 2]]),
    (GridShape::Flat, [[4, 1, 1], [2, 1, 1], [1, 2, 1]]),
];

/// Returns a form for each case of each entry that can be rewritten, and the program that contains them.
fn variants(module: &Module<'_>) -> (Program, Vec<Batch>) {
    let stem = free_name(module, "variant");
    let mut forms = Vec::new();
    for entry in module.entries().filter(|entry| batchable(module, entry.name).is_ok()) {
        for (case, (shape, _)) in CASES.into_iter().enumerate() {
            forms.push(Batch {
                entry: entry.name.to_owned(),
                name: format!("{stem}_{}", forms.len()),
                // Capacities above the number of members, some of them odd.
                capacity: 3 + case as u32,
                shape,
                waits: case.is_multiple_of(2),
                registers: None,
            });
        }
    }
    let mut text = batched(module, &forms);
    if matches!(text, Err(Refusal::Head(_))) {
        // The target version cannot be raised.
        forms.iter_mut().for_each(|form| form.waits = false);
        text = batched(module, &forms);
    }
    let text = text.unwrap_or_else(|why| panic!("{why}"));
    (Program::decode(&ptx::parse(&text).unwrap()), forms)
}

#[test]
fn one_launch_does_what_the_members_do() {
    let (mut kernels, mut compared, mut changed) = (0, 0, 0);
    let mut wrong = Vec::new();
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap().replacen(", debug", "", 1);
        let module = ptx::parse(&text).unwrap();
        let made = waiting(&module);
        let written = Program::decode(&module);
        let early = Program::decode(&ptx::parse(&made.text).unwrap());
        let (variants, forms) = variants(&module);
        let mut analysis = Analysis::new(&module);
        for entry in module.entries() {
            let pointers = analysis.pointers(entry);
            let waits = made.waits.iter().any(|name| name == entry.name);
            let mut ran = false;
            for (case, (shape, grids)) in CASES.into_iter().enumerate() {
                let Some(expected) = one_by_one(&written, entry, &pointers, grids, false) else { break };
                let place = format!("{}: {}: {shape:?} {grids:?}", file.display(), entry.name);
                if case == 1 && one_by_one(&early, entry, &pointers, grids, waits).as_ref() != Some(&expected)
                {
                    wrong.push(format!("{place}: with the wait"));
                }
                let mut of_entry = forms.iter().filter(|form| form.entry == entry.name);
                let Some(form) = of_entry.nth(case) else { continue };
                ran = true;
                compared += 1;
                match at_once(&variants, entry, form, &pointers, grids) {
                    Ok(found) if found == expected => {
                        changed += usize::from(is_changed(entry, &pointers, &found));
                    }
                    Ok(_) => wrong.push(format!("{place}: other bytes")),
                    Err(why) => wrong.push(format!("{place}: {why}")),
                }
            }
            kernels += usize::from(ran);
        }
    }
    println!("{kernels} kernels, {compared} batches, {changed} of them wrote something");
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    assert!(kernels >= 100 && changed >= 500, "{kernels} kernels, {changed} changed");
}

/// Returns true if the launches wrote something.
fn is_changed(function: &Function<'_>, pointers: &[bool], found: &[Vec<u64>]) -> bool {
    let mut memory = Buffers::default();
    members(function, pointers, [LINE; MEMBERS], &mut memory);
    memory.data != found
}
