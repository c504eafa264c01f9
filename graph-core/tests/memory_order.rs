//! User-defined order of allocs and frees, in the plan and in the nodes.

use cuweave_core::compile::{self, BackendOptions};
use cuweave_core::index::Index;
use cuweave_core::ir::{BufferId, Memory, Mode, Order, Origin, StatementId, StatementKind};
use cuweave_core::operation::{BufferPlacement, OperationKind, Operations};
use cuweave_testkit::programs::{ProgramWriter, closure};

/// The temporaries `b` and `c`, each filled once, `c` after `b`; and a launch `k` that uses neither.
struct Program {
    operations: Operations,
    b: BufferId,
    c: BufferId,
    k: StatementId,
}

/// The `#[after]` of the program.
#[derive(Clone, Copy, PartialEq)]
enum After {
    /// No `#[after]`.
    Nothing,
    /// The free of `b` is after `k`.
    Free,
    /// `k` is after the alloc of `c`.
    Alloc,
    /// The alloc of `c` is after `k`.
    AllocBehind,
}

fn program(memory: Memory, after: After) -> Program {
    let mut writer = ProgramWriter::new(&[0, 64]);
    let x = writer.buffer("x", Origin::Device { mutable: true }, 64);
    let whole = |writer: &mut ProgramWriter, buffer| [writer.access(buffer, Mode::Write, (0, 64))];
    let launch = |writer: &mut ProgramWriter, after: &[StatementId]| {
        let all = [writer.access(x, Mode::ReadWrite, (0, 64))];
        writer.statement("k", StatementKind::Launch(()), &all, after)
    };
    let b = writer.alloc("b", 64);
    let filled = whole(&mut writer, b);
    let filled = writer.statement("fill", StatementKind::Fill(()), &filled, &[]);
    let k = (after != After::Alloc).then(|| launch(&mut writer, &[]));
    let of = |which: After| k.filter(|_| after == which).into_iter().collect::<Vec<_>>();
    writer.statement("free", StatementKind::Free(b), &[], &of(After::Free));
    let c = writer.buffer("c", Origin::Alloc(StatementId::new(writer.statements().len())), 64);
    let alloc = writer.statement("c", StatementKind::Alloc(c), &[], &of(After::AllocBehind));
    let k = k.unwrap_or_else(|| launch(&mut writer, &[alloc]));
    let whole = whole(&mut writer, c);
    writer.statement("fill", StatementKind::Fill(()), &whole, &[filled]);
    let values = writer.dims().clone();
    let (checked, found) = compile::front(writer.source("f", Order::Inferred, None));
    let checked = checked.unwrap_or_else(|| panic!("{found:?}"));
    let backend_options = BackendOptions { memory: Some(memory), ..BackendOptions::default() };
    let operations = compile::back(&checked, &values, &backend_options).expect("it is emitted");
    Program { operations, b, c, k }
}

impl Program {
    fn share_bytes(&self) -> bool {
        self.operations.places[self.b] == self.operations.places[self.c]
    }

    /// Returns the alloc or the free of a buffer's memory.
    fn memory(&self, of: BufferId, what: fn(cuweave_core::operation::MemoryId) -> OperationKind) -> usize {
        let BufferPlacement::Inside { memory, .. } = self.operations.places[of] else {
            panic!("it has no memory")
        };
        self.operations.list.position(|one| one.kind == what(memory)).expect("a node").index()
    }

    /// Returns true if there is a path from `k` to an operation.
    fn is_behind(&self, operation: usize) -> bool {
        let list = self.operations.list.as_slice();
        let edges: Vec<(usize, usize)> = (0..list.len())
            .flat_map(|to| list[to].after.iter().map(move |from| (from.index(), to)))
            .collect();
        let k = self.operations.operation_of[self.k].expect("an operation").index();
        closure(list.len(), &edges)[k][operation]
    }
}

#[test]
fn bytes_are_used_again_where_nothing_else_is_asked_for() {
    assert!(program(Memory::Arena, After::Nothing).share_bytes());
    assert!(program(Memory::Owned, After::AllocBehind).share_bytes());
}

/// `k` may access the bytes without declaring it: that is the purpose of this order.
#[test]
fn what_a_free_is_after_keeps_the_bytes() {
    for memory in [Memory::Arena, Memory::Owned] {
        assert!(!program(memory, After::Free).share_bytes(), "{memory:?}");
    }
    for memory in [Memory::Arena, Memory::Nodes] {
        let program = program(memory, After::Free);
        assert!(
            program.is_behind(program.memory(program.b, |memory| OperationKind::Free { memory })),
            "{memory:?}"
        );
    }
}

#[test]
fn what_is_after_an_alloc_has_the_bytes() {
    for memory in [Memory::Arena, Memory::Owned] {
        assert!(!program(memory, After::Alloc).share_bytes(), "{memory:?}");
    }
}

#[test]
fn an_alloc_is_behind_what_it_is_after() {
    let behind = program(Memory::Nodes, After::AllocBehind);
    assert!(behind.is_behind(behind.memory(behind.c, |memory| OperationKind::Alloc { memory })));
    let free = program(Memory::Nodes, After::Nothing);
    assert!(!free.is_behind(free.memory(free.c, |memory| OperationKind::Alloc { memory })));
}
