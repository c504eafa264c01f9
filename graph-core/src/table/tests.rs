use std::any::TypeId;

use super::*;
use crate::index::{Index, Vector, narrow};
use crate::ir::{
    Access, Buffer, Device, Grant, Launches, Memory, Mode, Options, Order, Origin, Program, Rows, Statement,
    StatementId, StatementKind, View,
};
use crate::structure::{
    Argument, ArgumentPart, Call, CallPosition, Choice, EnclosingLoop, Item, Loop, LoopRange, PathStep,
    Structure, Variable,
};

fn id<I: Index>(number: usize) -> I {
    I::new(number)
}

fn list<I: Index>(numbers: &[usize]) -> Vec<I> {
    numbers.iter().map(|&number| I::new(number)).collect()
}

fn statement(kind: StatementKind, accesses: &[Access], after: &[usize]) -> Statement {
    Statement {
        name: format!("{kind:?}").into(),
        line: 300 + narrow(after.len()),
        column: 0,
        file: None,
        kind,
        accesses: accesses.to_vec().into(),
        after: list(after).into(),
        on: after.first().map(|&on| id(on)),
        device: Device::FIRST,
        switchable: after.len() > 1,
    }
}

/// A program with at least one of each variant.
fn program() -> Program {
    let buffer = |name: &str, origin| Buffer {
        name: name.to_owned().into(),
        line: 7,
        column: 0,
        file: None,
        origin,
        len: id(1),
        element: 4,
        align: 2,
    };
    let access = |buffer, mode, relied_on: bool| {
        let (buffer, lo, hi) = (id(buffer), id(0), id(200));
        let rows = relied_on.then(|| Rows::from_dims([id(3), id(200), id(1), id(0), id(4)]));
        Access { buffer, mode, lo, hi, relied_on, rows }
    };
    Program {
        name: "große".into(),
        file: "src/main.rs".into(),
        options: Options {
            collective: true,
            check: true,
            order: Order::Explicit,
            memory: Some(Memory::Owned),
            launches: Some(Launches::Batched),
            budget: Some(id(2)),
            width: Some(id(0)),
            devices: Some(id(1)),
            line: 9,
        },
        dims: vec!["0".into(), "n * k".into(), "x".into()].into(),
        buffers: vec![
            buffer("a", Origin::Device { mutable: false }),
            buffer("b", Origin::Device { mutable: true }),
            buffer("p", Origin::Pinned { mutable: false }),
            buffer("q", Origin::Pinned { mutable: true }),
            buffer("t", Origin::Taken),
            buffer("part", Origin::Part(id(0))),
            buffer("a", Origin::Alloc(StatementId::NONE)),
        ]
        .into(),
        statements: vec![
            statement(StatementKind::Alloc(id(5)), &[], &[]),
            statement(StatementKind::Fill(()), &[access(5, Mode::Write, true)], &[0]),
            statement(
                StatementKind::Copy(()),
                &[access(0, Mode::Read, false), access(1, Mode::Write, false)],
                &[0, 1],
            ),
            statement(
                StatementKind::Launch(()),
                &[access(1, Mode::Atomic, false), access(5, Mode::ReadWrite, false)],
                &[],
            ),
            statement(StatementKind::Free(id(5)), &[], &[3]),
            statement(StatementKind::Call(id(7)), &[access(0, Mode::Read, false)], &[]),
        ]
        .into(),
        views: vec![View {
            buffer: id(1),
            line: 9,
            column: 0,
            file: None,
            lo: id(0),
            hi: id(1),
            of: (id(2), id(3)),
        }]
        .into(),
        outputs: list(&[5, 4]).into(),
        grants: vec![Grant { buffer: id(4), on: Some(id(1)), device: Device::FIRST }].into(),
    }
}

fn structure() -> Structure {
    let turn = |body| Loop { line: 3, variable: id(1), range: LoopRange::Elements(id(0)), body };
    let arms = vec![
        vec![Item::Statement(id(1))],
        vec![],
        vec![Item::Swap(id(1), id(2)), Item::Rename { to: id(3), from: id(4) }],
    ];
    let range = Loop {
        line: 2,
        variable: id(0),
        range: LoopRange::Range(id(0), id(300)),
        body: vec![Item::Statement(id(2))],
    };
    let variable = |name: &'static str, dims: &[usize]| Variable { name: name.into(), dims: list(dims) };
    Structure {
        body: vec![
            Item::Needs(id(1)),
            Item::Loop(range),
            Item::Loop(turn(vec![Item::Choice(Choice { line: 9, number: 128, arms })])),
        ],
        parts: vec![ArgumentPart {
            argument: id(3),
            path: vec![PathStep::Index(id(1)), PathStep::Field("q".into())],
        }]
        .into(),
        variables: vec![variable("i", &[1, 200]), variable("layer", &[])].into(),
        calls: vec![Call {
            arguments: vec![
                Argument::Scalar { of: list(&[0, 1]), value: Some(id(2)) },
                Argument::Scalar { of: vec![], value: None },
                Argument::Access(2),
                Argument::Moved(id(5)),
                Argument::Part(id(0)),
            ],
            results: list(&[4]),
            around: vec![
                EnclosingLoop::Value(-3),
                EnclosingLoop::Up(id(0)),
                EnclosingLoop::Down(id(1), id(0), id(300)),
            ],
            place: CallPosition::Column(9),
        }]
        .into(),
        returned: vec![(id(5), id(1), id(2))],
        leaf_variables: vec![list(&[0, 1]), vec![]].into(),
        at_most: vec![("n".into(), id(0), id(1))],
        at_least: vec![("n".into(), id(300), 1 << 40)],
        leaf_scalars: vec![vec![], list(&[1, 300])].into(),
    }
}

fn everything() -> (Vec<u8>, DecodedFunction) {
    let dims = vec![
        vec![BoundOp::Constant(u64::MAX)],
        vec![
            BoundOp::Leaf(id(0)),
            BoundOp::Leaf(id(128)),
            BoundOp::Mul,
            BoundOp::Constant(1),
            BoundOp::Sub,
            BoundOp::Constant(0),
            BoundOp::Add,
        ],
        vec![
            BoundOp::Leaf(id(1)),
            BoundOp::Leaf(id(2)),
            BoundOp::Div,
            BoundOp::Leaf(id(3)),
            BoundOp::Rem,
            BoundOp::Variable(id(1)),
            BoundOp::Length(id(200)),
            BoundOp::Add,
        ],
    ];
    let scalars = vec![
        Scalar {
            name: "n".into(),
            argument: id(0),
            path: vec![],
            line: 3,
            setting: Setting::Fixed,
            leaf: Some(id(128)),
            statements: vec![],
            grids: vec![],
            blocks: vec![],
            parameters: vec![],
        },
        Scalar {
            name: "layers.by".into(),
            argument: id(3),
            path: vec!["by".into()],
            line: 4,
            setting: Setting::Free,
            leaf: None,
            statements: list(&[1, 300]),
            grids: list(&[1]),
            blocks: list(&[300]),
            parameters: vec![(id(1), 0), (id(1), 4), (id(300), 2)],
        },
    ];
    let (program, steps) = (program(), vec![0, 1, 2, 1, 0, 3]);
    let structure = structure();
    let parameters = vec![
        ("a".to_owned(), Parameter::Buffer(id(0))),
        ("n".to_owned(), Parameter::Scalar(id(1))),
        ("w".to_owned(), Parameter::Array(id(2), 300)),
        ("layers".to_owned(), Parameter::Part),
        ("caches".to_owned(), Parameter::Buffers(id(300))),
    ];
    let printed = PrintedFunction {
        program: &program,
        layouts: &[0; 7],
        dims: &dims,
        steps: &steps,
        scalars: &scalars,
        parameters: &parameters,
        structure: &structure,
    };
    let bytes = encode(&printed);
    let arguments = parameters.iter().map(|(name, _)| name.clone().into()).collect();
    let parameters = parameters.into_iter().map(|(_, one)| one).collect();
    let elements = Vector::filled(TypeId::of::<[u16; 2]>(), 7);
    let (dims, steps, scalars) = (dims.into(), steps.into(), scalars.into());
    (bytes, DecodedFunction { program, elements, dims, steps, scalars, arguments, parameters, structure })
}

const LAYOUTS: &[ElementLayout] = &[ElementLayout::of::<[u16; 2]>()];

#[test]
fn what_is_written_is_read() {
    let (bytes, expected) = everything();
    assert_eq!(DecodedFunction::read(bytes.leak(), LAYOUTS), Some(expected));
}

#[test]
fn other_bytes_are_no_table() {
    let bytes: &'static [u8] = everything().0.leak();
    for end in 0..bytes.len() {
        assert_eq!(DecodedFunction::read(&bytes[..end], LAYOUTS), None, "{end} of {} bytes", bytes.len());
    }
    assert_eq!(DecodedFunction::read(bytes, &[]), None, "of types that are not there");
    // Reading terminates for any bytes.
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut changed = bytes.to_vec();
            changed[at] ^= flip;
            let _ = DecodedFunction::read(changed.leak(), LAYOUTS);
        }
    }
}
