//! The compiler, compared with brute force on small random programs: the emitted operations order exactly the
//! conflicting statements and the consequences, memory is alive while it is used, and it is freed as early as
//! possible.
//!
//! The checks share no code with the compiler: reachability is a plain search over the operations.

use cuweave_core::check::Checked;
use cuweave_core::codes::Code;
use cuweave_core::compile::{self, BackendOptions};
use cuweave_core::index::{Index, Vector, between};
use cuweave_core::ir::{
    Access, BufferId, DimId, Memory, Mode, Order, Origin, Program, StatementId, StatementKind,
};
use cuweave_core::operation::{BufferPlacement, OperationId, OperationKind, Operations};
use cuweave_core::order::LoweredProgram;
use cuweave_testkit::programs::{ProgramWriter, closure, conflict};
use proptest::prelude::*;

/// An argument of a random launch: the buffer, the mode, and which third of the buffer (or all of it).
#[derive(Clone, Debug)]
struct Use {
    buffer: usize,
    mode: Mode,
    part: usize,
}

#[derive(Clone, Debug)]
struct Random {
    allocs: usize,
    launches: Vec<(Vec<Use>, Vec<usize>)>,
    returned: Vec<bool>,
}

/// The lengths and bounds.
const DIMS: [u64; 4] = [0, 4, 8, 12];
/// The thirds of a buffer with 12 elements, and the whole buffer.
const PARTS: [(u64, u64); 4] = [(0, 12), (0, 4), (4, 8), (8, 12)];

fn random() -> impl Strategy<Value = Random> {
    (1usize..5, 1usize..9).prop_flat_map(|(allocs, launches)| {
        let mode = prop_oneof![
            3 => Just(Mode::Read),
            3 => Just(Mode::ReadWrite),
            1 => Just(Mode::Atomic)
        ];
        let one =
            (0..allocs + 1, mode, 0usize..4).prop_map(|(buffer, mode, part)| Use { buffer, mode, part });
        let launch = (prop::collection::vec(one, 1..4), prop::collection::vec(0usize..launches, 0..2));
        (prop::collection::vec(launch, launches), prop::collection::vec(any::<bool>(), allocs))
            .prop_map(move |(launches, returned)| Random { allocs, launches, returned })
    })
}

/// Buffer 0 is an argument; the others are allocated first. Each allocation is filled before all launches, so that
/// nothing is read uninitialised.
fn source(random: &Random, order: Order) -> LoweredProgram {
    let mut writer = ProgramWriter::new(&DIMS);
    writer.buffer("x", Origin::Device { mutable: true }, 12);
    for i in 0..random.allocs {
        let buffer = writer.alloc(&format!("b{i}"), 12);
        let whole = writer.access(buffer, Mode::Write, (0, 12));
        // With explicit order, the fills are ordered by `#[after]`, so that only the launches matter.
        let alloc = StatementId::new(writer.statements().len() - 1);
        let after: &[StatementId] = if order == Order::Explicit { &[alloc] } else { &[] };
        writer.statement("fill", StatementKind::Fill(()), &[whole], after);
    }
    let first = writer.statements().len();
    for (i, (uses, after)) in random.launches.iter().enumerate() {
        let mut accesses: Vec<Access> = Vec::new();
        for one in uses {
            let (lo, hi) = PARTS[one.part];
            let access = writer.access(BufferId::new(one.buffer), one.mode, (lo, hi));
            let clash = accesses.iter().any(|other| {
                other.buffer == access.buffer
                    && (other.mode != Mode::Read || access.mode != Mode::Read)
                    && DIMS[other.lo.index()] < hi
                    && lo < DIMS[other.hi.index()]
            });
            if !clash {
                accesses.push(access);
            }
        }
        let fills = (0..if order == Order::Explicit { random.allocs } else { 0 }).map(|fill| 2 * fill + 1);
        let after = after.iter().filter(|&&j| j < i).map(|&j| first + j).chain(fills);
        let after: Vec<StatementId> = after.map(StatementId::new).collect();
        writer.statement(&format!("k{i}"), StatementKind::Launch(()), &accesses, &after);
    }
    for i in (0..random.allocs).filter(|&i| random.returned[i]) {
        writer.output(BufferId::new(i + 1));
    }
    writer.source("random", order, Some(Memory::Nodes))
}

fn checked(random: &Random) -> Checked {
    let (checked, found) = compile::front(source(random, Order::Inferred));
    checked.unwrap_or_else(|| panic!("{found:?}"))
}

fn values() -> Vector<DimId, u64> {
    DIMS.into_iter().collect()
}

/// Returns the required order: the transitive closure of the conflicts and the user's order.
fn wanted(program: &Program) -> Vec<Vec<bool>> {
    let n = program.statements.len();
    let mut edges = Vec::new();
    for b in 0..n {
        for a in 0..b {
            if conflict(&program.statements.as_slice()[a], &program.statements.as_slice()[b], &DIMS) {
                edges.push((a, b));
            }
        }
        edges.extend(program.statements.as_slice()[b].after.iter().map(|&a| (a.index(), b)));
    }
    closure(n, &edges)
}

fn emitted(checked: &Checked) -> Operations {
    emitted_as(checked, Memory::Nodes)
}

fn emitted_as(checked: &Checked, memory: Memory) -> Operations {
    let backend_options = BackendOptions { memory: Some(memory), ..BackendOptions::default() };
    compile::back(checked, &values(), &backend_options).expect("it can be emitted")
}

fn operation_of(operations: &Operations, statement: usize) -> usize {
    operations
        .list
        .as_slice()
        .iter()
        .position(|operation| operation.sources == [StatementId::new(statement)])
        .expect("emitted")
}

fn reach_of(operations: &Operations) -> Vec<Vec<bool>> {
    let edges: Vec<(usize, usize)> = operations
        .list
        .iter()
        .enumerate()
        .flat_map(|(to, operation)| operation.after.iter().map(move |&from| (from.index(), to)))
        .collect();
    closure(operations.list.len(), &edges)
}

fn lowering() -> impl Strategy<Value = Memory> {
    prop_oneof![Just(Memory::Nodes), Just(Memory::Arena), Just(Memory::Owned)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn operations_order_what_conflicts_and_nothing_else(random in random(), memory in lowering()) {
        let checked = checked(&random);
        let program = checked.program();
        let operations = emitted_as(&checked, memory);
        let (wanted, reach) = (wanted(program), reach_of(&operations));
        let work: Vec<usize> =
            (0..program.statements.len()).filter(|&s| !program.statements.as_slice()[s].kind.is_memory()).collect();
        for &a in &work {
            for &b in &work {
                let is = reach[operation_of(&operations, a)][operation_of(&operations, b)];
                prop_assert_eq!(is, wanted[a][b], "s{} before s{}", a, b);
            }
        }
    }

    #[test]
    fn the_order_has_no_redundant_edge(random in random()) {
        let checked = checked(&random);
        let n = checked.program().statements.len();
        let edges: Vec<(usize, usize)> =
            checked.edges().iter().map(|&(a, b)| (a.index(), b.index())).collect();
        let all = closure(n, &edges);
        for i in 0..edges.len() {
            let mut fewer = edges.clone();
            fewer.remove(i);
            prop_assert_ne!(&closure(n, &fewer), &all, "{:?} is redundant", edges[i]);
        }
    }

    #[test]
    fn memory_lives_exactly_as_long_as_it_is_used(random in random()) {
        let checked = checked(&random);
        let program = checked.program();
        let operations = emitted(&checked);
        let reach = reach_of(&operations);
        for (at, operation) in operations.list.iter().enumerate() {
            let mut after = operation.after.clone();
            after.dedup();
            prop_assert_eq!(&after, &operation.after);
            prop_assert!(operation.after.iter().all(|&before| before.index() < at));
        }
        for (buffer, place) in operations.places.enumerate() {
            let BufferPlacement::Inside { memory, .. } = place else { continue };
            let find = |kind: OperationKind| {
                operations.list.as_slice().iter().position(|operation| operation.kind == kind)
            };
            let alloc = find(OperationKind::Alloc { memory: *memory }).expect("an alloc");
            let free = find(OperationKind::Free { memory: *memory });
            prop_assert_eq!(free.is_none(), program.outputs.contains(&buffer));
            let users: Vec<usize> = (0..program.statements.len())
                .filter(|&s| program.statements.as_slice()[s].accesses.iter().any(|access| access.buffer == buffer))
                .map(|s| operation_of(&operations, s))
                .collect();
            for &user in &users {
                prop_assert!(reach[alloc][user]);
                prop_assert!(free.is_none_or(|free| reach[user][free]));
            }
            // As early as possible: the direct predecessors of a free are only maximal users and other frees.
            if let Some(free) = free {
                for &before in &operations.list[OperationId::new(free)].after {
                    let before = before.index();
                    let maximal = users.contains(&before) && users.iter().all(|&other| !reach[before][other]);
                    let memory = matches!(operations.list[OperationId::new(before)].kind, OperationKind::Free { .. });
                    prop_assert!(maximal || memory);
                }
            }
        }
    }

    #[test]
    fn memories_that_may_share_bytes_are_never_alive_at_once(random in random()) {
        let checked = checked(&random);
        let program = checked.program();
        let operations = emitted(&checked);
        let wanted = wanted(program);
        let reach = reach_of(&operations);
        let users = |buffer: BufferId| -> Vec<usize> {
            (0..program.statements.len())
                .filter(|&s| program.statements.as_slice()[s].accesses.iter().any(|access| access.buffer == buffer))
                .collect()
        };
        // The driver may reuse the bytes of a free for an alloc if there is a path between them.
        for (b, place) in operations.places.enumerate() {
            let BufferPlacement::Inside { memory: mb, .. } = place else { continue };
            for (c, place) in operations.places.enumerate() {
                let BufferPlacement::Inside { memory: mc, .. } = place else { continue };
                let find = |kind: OperationKind| {
                    operations.list.as_slice().iter().position(|operation| operation.kind == kind)
                };
                let free = find(OperationKind::Free { memory: *mb });
                let (Some(free), Some(alloc)) = (free, find(OperationKind::Alloc { memory: *mc }))
                else {
                    continue;
                };
                if reach[free][alloc] {
                    for &u in &users(b) {
                        for &v in &users(c) {
                            prop_assert!(wanted[u][v], "b{} and b{} may share bytes, s{} and s{} overlap", b, c, u, v);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn buffers_that_share_bytes_of_an_arena_are_never_alive_at_once(random in random(), node in any::<bool>()) {
        let checked = checked(&random);
        let program = checked.program();
        let operations = emitted_as(&checked, if node { Memory::Arena } else { Memory::Owned });
        let wanted = wanted(program);
        let reach = reach_of(&operations);
        let users = |buffer: BufferId| -> Vec<usize> {
            (0..program.statements.len())
                .filter(|&s| program.statements.as_slice()[s].accesses.iter().any(|access| access.buffer == buffer))
                .collect()
        };
        let range = |buffer: BufferId| match operations.places[buffer] {
            BufferPlacement::Inside { memory, offset } => Some((memory, offset, offset + 48)),
            _ => None,
        };
        for b in program.buffers.ids() {
            let Some((memory, lo, hi)) = range(b) else { continue };
            prop_assert!(hi <= operations.memories[memory].bytes);
            prop_assert_eq!(lo % 256, 0);
            let find = |kind: OperationKind| {
                operations.list.as_slice().iter().position(|operation| operation.kind == kind)
            };
            let returned = program.outputs.contains(&b);
            let (alloc, free) = (find(OperationKind::Alloc { memory }), find(OperationKind::Free { memory }));
            prop_assert_eq!(alloc.is_some(), node || returned);
            prop_assert_eq!(free.is_some(), node && !returned);
            for &user in &users(b) {
                let user = operation_of(&operations, user);
                prop_assert!(alloc.is_none_or(|alloc| reach[alloc][user]));
                prop_assert!(free.is_none_or(|free| reach[user][free]));
            }
            for c in between(BufferId::new(0), b) {
                let Some((other, start, end)) = range(c) else { continue };
                if other == memory && lo < end && start < hi {
                    let over = |first: BufferId, then: BufferId| {
                        users(first).iter().all(|&u| users(then).iter().all(|&v| wanted[u][v]))
                    };
                    prop_assert!(over(b, c) || over(c, b), "b{} and b{} share bytes", b, c);
                }
            }
        }
    }

    #[test]
    fn explicit_order_is_accepted_exactly_where_it_suffices(random in random()) {
        // The same programs with `#[after]` alone: accepted iff the user's edges order every conflict.
        let source = source(&random, Order::Explicit);
        let program = source.program.clone();
        let n = program.statements.len();
        let edges: Vec<(usize, usize)> = (0..n)
            .flat_map(|b| program.statements.as_slice()[b].after.iter()
                .map(move |&a| (a.index(), b)).collect::<Vec<_>>())
            .collect();
        let reach = closure(n, &edges);
        let conflicts = (0..n).all(|b| {
            (0..b).all(|a| {
                !conflict(&program.statements.as_slice()[a], &program.statements.as_slice()[b], &DIMS)
                    || reach[a][b]
                    || reach[b][a]
            })
        });
        let (checked, found) = compile::front(source);
        prop_assert_eq!(checked.is_some(), conflicts, "{:?}", found);
        prop_assert_eq!(found.iter().any(|diagnostic| diagnostic.code == Code::CW202), !conflicts);
    }
}
