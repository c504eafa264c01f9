//! Plans that are broken on purpose: the simulated driver must report each, or its results must differ.

use std::cell::RefCell;
use std::rc::Rc;

use cuweave::__private::{change_next_plan, change_next_tables};
use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, DimId, Launches, Memory, Mode, Program, Statement, StatementId};
use cuweave_core::launches::{Blocks, NodeLaunch, Tuning};
use cuweave_core::operation::{Operation, OperationId, OperationKind, Operations};
use cuweave_core::overlap;
use cuweave_ptx::rewrite::BatchTable;

use super::function::{Device, Inputs, Left, Printable, device};
use super::kernels::{KERNELS, STATELESS};
use super::program::Function;
use super::refused::{File, PLAIN, VOLUME};
use super::writer::{fork, fork_and_chain, random};

/// All kernels wait for their predecessors.
const WAITS: NodeLaunch = NodeLaunch { blocks: Blocks::new(1), threads: 1, wave: 1_056, waits: true };

/// The result of a broken graph.
#[derive(Debug, PartialEq)]
enum Caught {
    No,
    ByReport,
    ByBytes,
}

/// A device whose context is recreated after a fault has broken it, as on a GPU.
struct Devices(Option<Device>);

impl Devices {
    fn get(&mut self) -> &Device {
        self.0.get_or_insert_with(device)
    }

    /// Runs a program, and breaks the plan of its next build.
    fn broken(&mut self, function: Printable, inputs: &Inputs, right: &[Left]) -> Caught {
        let result = self.get().run(function, inputs);
        let reports = cuweave_sim::take_reports().expect("the simulated driver");
        if reports.iter().any(|report| report.error != 0) {
            assert!(result.is_err(), "{reports:#?}");
            self.0 = None;
            return Caught::ByReport;
        }
        match result.expect("no report, no error") {
            (left, ..) if left == right => Caught::No,
            _ => Caught::ByBytes,
        }
    }
}

/// Returns the simulated driver; prints a message on a real one.
fn simulated() -> Option<Devices> {
    let device = device();
    if !device.simulated {
        println!("not run: a real driver is given no broken graph");
        return None;
    }
    Some(Devices(Some(device)))
}

/// Returns true if two launches access the same first element and at least one writes it. Each launch touches the
/// first element of each of its parts, except for parts whose elements it selects.
fn certainly_conflict(a: &Statement, b: &Statement) -> bool {
    let first = |statement: &Statement| -> Vec<(BufferId, DimId, Mode)> {
        let counts = if statement.name == "count" { 0 } else { 2 };
        statement.accesses.iter().take(counts).map(|part| (part.buffer, part.lo, part.mode)).collect()
    };
    first(a).iter().any(|a| first(b).iter().any(|b| (a.0, a.1) == (b.0, b.1) && a.2.conflicts(b.2)))
}

/// Finds an operation that must wait before it accesses memory, because it conflicts with its predecessor on an
/// early edge.
fn early_conflict(program: &Program, list: &Vector<OperationId, Operation>) -> Option<OperationId> {
    let statement = |id: &StatementId| &program.statements[*id];
    let conflicts = |at: &OperationId| {
        let operation = &list[*at];
        let before = operation.programmatic.map(|before| &list[before].sources);
        before
            .into_iter()
            .flatten()
            .any(|a| operation.sources.iter().any(|b| certainly_conflict(statement(a), statement(b))))
    };
    list.ids().find(conflicts)
}

/// Drops the wait of a kernel or a batch after a programmatic edge.
#[test]
fn a_dropped_wait_is_told() {
    let Some(mut devices) = simulated() else { return };
    let mut broken = [0, 0];
    for seed in 0..150 {
        let [program, _] = random(seed);
        let inputs = Inputs::random(seed, &program, 1);
        for (at, form) in [Launches::AsWritten, Launches::Batched].into_iter().enumerate() {
            let function = Printable::new(&program.with(Some(form), Memory::Arena));
            devices.get().schedule(0);
            let (right, ..) = devices.get().run(function, &inputs).expect("it is sound");
            let chosen = Rc::new(RefCell::new(None));
            let choose = chosen.clone();
            change_next_plan(move |program, operations| {
                // These forms load functions without the wait.
                let waits =
                    |operation: &Operation| (operation.kind == OperationKind::KERNEL).then_some(WAITS);
                overlap::mark_programmatic_edges(
                    &mut operations.list,
                    &Tuning::for_capability((9, 0)),
                    waits,
                );
                let kept = early_conflict(program, &operations.list);
                for (at, operation) in operations.list.enumerate_mut() {
                    operation.programmatic = operation.programmatic.filter(|_| kept == Some(at));
                }
                let batched = kept.is_some_and(|at| operations.list[at].sources.len() > 1);
                choose.replace(kept.map(|_| batched));
            });
            devices.get().schedule(seed % 4);
            let caught = devices.broken(function, &inputs, &right);
            let chosen = *chosen.borrow();
            if let Some(batched) = chosen {
                broken[usize::from(batched)] += 1;
                assert_eq!(caught, Caught::ByReport, "program {seed}, {form:?}");
            } else {
                assert_eq!(caught, Caught::No, "program {seed}, {form:?}, form {at}");
            }
        }
    }
    println!("{broken:?} waits dropped: single launches, batches");
    assert!(broken[0] > 100 && broken[1] > 5, "{broken:?}");
}

/// A programmatic edge into a kernel that has its own wait, either before or after its first access.
#[test]
fn an_early_edge_into_a_late_wait_is_told() {
    let Some(mut devices) = simulated() else { return };
    let function = fork_and_chain(VOLUME);
    let inputs = Inputs::random(3, &function, 1);
    let function = Printable::new(&function.with(None, Memory::Arena));
    let waits = "griddepcontrol.wait;";
    for (file, expected) in
        [(File { then: waits, ..PLAIN }, Caught::ByReport), (File { first: waits, ..PLAIN }, Caught::No)]
    {
        let function = function.launching(file.launched());
        devices.get().schedule(0);
        let (right, report, _) = devices.get().run(function, &inputs).expect("it is sound");
        assert_eq!((report.batches.len(), report.overlapped), (0, 0), "{report}");
        change_next_plan(|_, operations| {
            assert_eq!(
                overlap::mark_programmatic_edges(
                    &mut operations.list,
                    &Tuning::for_capability((9, 0)),
                    |_| Some(WAITS)
                ),
                1
            );
        });
        assert_eq!(devices.broken(function, &inputs, &right), expected);
    }
}

/// Grids with a thread for each element: of the longest part, or of each part.
const EQUAL: [[u32; 3]; 3] = [[3, 1, 1]; 3];
const UNEQUAL: [[u32; 3]; 3] = [[2, 1, 1], [1, 1, 1], [3, 1, 1]];

/// Calls `each` for every kernel with equal and unequal grids, after checking that its batch gives the right
/// results.
fn forks(devices: &mut Devices, mut each: impl FnMut(&mut Devices, &Function, Printable, &Inputs, &[Left])) {
    for kernel in 0..STATELESS {
        for grids in [EQUAL, UNEQUAL] {
            let function = fork(kernel, grids);
            let inputs = Inputs::random(kernel as u64, &function, 1);
            let as_written = Printable::new(&function.with(Some(Launches::AsWritten), Memory::Arena));
            let batched = Printable::new(&function.with(Some(Launches::Batched), Memory::Arena));
            devices.get().schedule(0);
            let (right, ..) = devices.get().run(as_written, &inputs).expect("it is sound");
            let (left, report, flat) = devices.get().run(batched, &inputs).expect("it is sound");
            assert_eq!(left, right, "{report}");
            assert_eq!((report.batches.len(), flat), (1, usize::from(grids == UNEQUAL)), "{report}");
            each(devices, &function, batched, &inputs, &right);
        }
    }
}

#[test]
fn mixed_parameters_give_other_bytes() {
    let Some(mut devices) = simulated() else { return };
    let mut mixed = 0;
    forks(&mut devices, |devices, function, batched, inputs, right| {
        let name = first_of(function).name.clone();
        let parameters = KERNELS.iter().find(|launched| launched.kernel.name == name).map(|l| l.takes.len());
        for parameter in 0..parameters.expect("it is one of them") {
            change_next_tables(move |table, packed| {
                let of_parameter = table.parameters[parameter];
                let place = |member: u32| table.records + member * table.stride + of_parameter.offset;
                packed.swap(place(0), place(1), of_parameter.size);
            });
            let caught = devices.broken(batched, inputs, right);
            assert_ne!(caught, Caught::No, "`{name}`: parameter {parameter} of two members swapped");
            mixed += 1;
        }
    });
    println!("{mixed} parameters mixed");
}

#[test]
fn wrong_grids_and_first_blocks_give_other_bytes() {
    let Some(mut devices) = simulated() else { return };
    let swapped_grids = |table: &BatchTable, packed: &mut cuweave::__private::Packed| {
        let grid = table.grid.expect("grids are unequal");
        let place = |member: u32| table.records + member * table.stride + grid;
        packed.swap(place(0), place(1), 12);
    };
    let later_start = |table: &BatchTable, packed: &mut cuweave::__private::Packed| {
        packed.put_number(table.starts.expect("grids are unequal") + 4, 3);
    };
    forks(&mut devices, |devices, function, batched, inputs, right| {
        let statement = first_of(function);
        if function.begins_alike() {
            return;
        }
        // The result of a kernel that does not read its grid size does not depend on the grid, in one dimension.
        let asks = !matches!(&*statement.name, "staged" | "affine");
        change_next_tables(swapped_grids);
        let caught = devices.broken(batched, inputs, right) != Caught::No;
        assert_eq!(caught, asks, "`{}`: grids swapped", statement.name);
        change_next_tables(later_start);
        assert_ne!(
            devices.broken(batched, inputs, right),
            Caught::No,
            "`{}`: blocks of the next",
            statement.name
        );
        // Swap the order of the members' blocks, but not that of their records.
        change_next_plan(|_, operations| batch_of(operations).sources.swap(1, 2));
        assert_ne!(
            devices.broken(batched, inputs, right),
            Caught::No,
            "`{}`: members swapped",
            statement.name
        );
    });
}

fn first_of(function: &Function) -> &Statement {
    function.program.statements.iter().next().expect("there is a statement")
}

/// The operation of the only batch.
fn batch_of(operations: &mut Operations) -> &mut Operation {
    operations.list.iter_mut().find(|operation| operation.sources.len() > 1).expect("there is a batch")
}

#[test]
fn a_batch_that_is_dropped_after_planning_is_told() {
    let Some(mut devices) = simulated() else { return };
    forks(&mut devices, |devices, function, batched, inputs, right| {
        let name = &first_of(function).name;
        // Launch the members individually. The successors of the batch then wait only for the first.
        change_next_plan(|_, operations| {
            let batch = batch_of(operations);
            let members = batch.sources.split_off(1);
            let like = batch.clone();
            let more = members.into_iter().map(|member| Operation { sources: vec![member], ..like.clone() });
            operations.list.extend(more);
        });
        assert_eq!(devices.broken(batched, inputs, right), Caught::ByReport, "`{name}`: no batch any more");
        // Launch one member twice and another not at all.
        change_next_plan(|_, operations| {
            let batch = batch_of(operations);
            batch.sources[2] = batch.sources[1];
        });
        assert_ne!(devices.broken(batched, inputs, right), Caught::No, "`{name}`: a member is lost");
        // Let the successors of the batch not wait for it.
        change_next_plan(|_, operations| {
            let last = operations.list.iter_mut().last().expect("there is an operation");
            last.after.clear();
        });
        assert_eq!(devices.broken(batched, inputs, right), Caught::ByReport, "`{name}`: an edge is lost");
    });
}
