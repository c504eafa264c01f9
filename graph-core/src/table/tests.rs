use super::*;
use crate::structure::{Argument, Call, Choice, Item, Loop, Part, Step, Turns, Variable};

fn statement(kind: Kind, accesses: &[Access], after: &[StatementId]) -> Statement {
    Statement {
        name: format!("{kind:?}").into(),
        line: 300 + after.len() as u32,
        file: None,
        kind,
        accesses: accesses.to_vec().into(),
        after: after.to_vec().into(),
    }
}

/// One of everything.
fn program() -> Program {
    let buffer = |name: &str, origin| Buffer {
        name: name.to_owned().into(),
        line: 7,
        file: None,
        origin,
        len: 1,
        element: 4,
        align: 2,
    };
    let access = |buffer, mode, relied_on| Access { buffer, mode, lo: 0, hi: 200, relied_on };
    Program {
        name: "große".into(),
        file: "src/main.rs".into(),
        options: Options {
            order: Order::Explicit,
            memory: Some(Memory::Owned),
            launches: Some(Launches::Batched),
            budget: Some(2),
        },
        dims: vec!["0".into(), "n * k".into(), "x".into()].into(),
        buffers: vec![
            buffer("a", Origin::Device { mutable: false }),
            buffer("b", Origin::Device { mutable: true }),
            buffer("p", Origin::Pinned { mutable: false }),
            buffer("q", Origin::Pinned { mutable: true }),
            buffer("t", Origin::Taken),
            buffer("part", Origin::Part(0)),
            buffer("a", Origin::Alloc(u32::MAX)),
        ]
        .into(),
        statements: vec![
            statement(Kind::Alloc(5), &[], &[]),
            statement(Kind::Fill(()), &[access(5, Mode::Write, true)], &[0]),
            statement(
                Kind::Copy(()),
                &[access(0, Mode::Read, false), access(1, Mode::Write, false)],
                &[0, 1],
            ),
            statement(
                Kind::Launch(()),
                &[access(1, Mode::Atomic, false), access(5, Mode::ReadWrite, false)],
                &[],
            ),
            statement(Kind::Free(5), &[], &[3]),
            statement(Kind::Call(7), &[access(0, Mode::Read, false)], &[]),
        ]
        .into(),
        views: vec![View { buffer: 1, line: 9, lo: 0, hi: 1, of: (2, 3) }].into(),
        outputs: vec![5, 4].into(),
    }
}

fn structure() -> Structure {
    let turn = |body| Loop { line: 3, variable: 1, turns: Turns::Elements(0), body };
    let arms =
        vec![vec![Item::Statement(1)], vec![], vec![Item::Swap(1, 2), Item::Rename { to: 3, from: 4 }]];
    let range = Loop { line: 2, variable: 0, turns: Turns::Range(0, 300), body: vec![Item::Statement(2)] };
    let variable = |name: &'static str, dims: &[u32]| Variable { name: name.into(), dims: dims.to_vec() };
    Structure {
        body: vec![
            Item::Loop(range),
            Item::Loop(turn(vec![Item::Choice(Choice { line: 9, number: 128, arms })])),
        ],
        parts: vec![Part { argument: 3, path: vec![Step::Index(1), Step::Field("q".into())] }],
        variables: vec![variable("i", &[1, 200]), variable("layer", &[])],
        calls: vec![Call {
            arguments: vec![
                Argument::Scalar(vec![0, 1]),
                Argument::Access(2),
                Argument::Moved(5),
                Argument::Part(0),
            ],
            results: vec![4],
        }],
        returned: vec![(5, 1, 2)],
        leaf_variables: vec![vec![0, 1], vec![]],
    }
}

fn everything() -> (Vec<u8>, Decoded) {
    let dims = vec![
        vec![Op::Constant(u64::MAX)],
        vec![Op::Leaf(0), Op::Leaf(128), Op::Mul, Op::Constant(1), Op::Sub, Op::Constant(0), Op::Add],
        vec![
            Op::Leaf(1),
            Op::Leaf(2),
            Op::Div,
            Op::Leaf(3),
            Op::Rem,
            Op::Variable(1),
            Op::Length(200),
            Op::Add,
        ],
    ];
    let scalars = vec![
        Scalar { name: "n".into(), line: 3, dims: true, statements: vec![], grids: vec![], blocks: vec![] },
        Scalar {
            name: "by".into(),
            line: 4,
            dims: false,
            statements: vec![1, 300],
            grids: vec![1],
            blocks: vec![300],
        },
    ];
    let (program, steps) = (program(), vec![0, 1, 2, 1, 0, 3]);
    let structure = structure();
    let parameters = vec![
        ("a".to_owned(), Parameter::Buffer(0)),
        ("n".to_owned(), Parameter::Scalar(1)),
        ("w".to_owned(), Parameter::Array(2, 300)),
        ("layers".to_owned(), Parameter::Part),
    ];
    let printed = Printed {
        program: &program,
        layouts: &[0; 7],
        dims: &dims,
        steps: &steps,
        scalars: &scalars,
        parameters: &parameters,
        structure: &structure,
    };
    let bytes = encode(&printed);
    let (arguments, parameters) = parameters.into_iter().map(|(name, one)| (name.into(), one)).unzip();
    let elements = vec![TypeId::of::<[u16; 2]>(); 7];
    (bytes, Decoded { program, elements, dims, steps, scalars, arguments, parameters, structure })
}

const LAYOUTS: &[Layout] = &[Layout::of::<[u16; 2]>()];

#[test]
fn what_is_written_is_read() {
    let (bytes, expected) = everything();
    assert_eq!(Decoded::read(bytes.leak(), LAYOUTS), Some(expected));
}

#[test]
fn other_bytes_are_no_table() {
    let bytes: &'static [u8] = everything().0.leak();
    for end in 0..bytes.len() {
        assert_eq!(Decoded::read(&bytes[..end], LAYOUTS), None, "{end} of {} bytes", bytes.len());
    }
    assert_eq!(Decoded::read(bytes, &[]), None, "of types that are not there");
    // Reading ends for all contents.
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut changed = bytes.to_vec();
            changed[at] ^= flip;
            let _ = Decoded::read(changed.leak(), LAYOUTS);
        }
    }
}
