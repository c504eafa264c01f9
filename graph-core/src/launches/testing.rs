//! Programs of launches, for the tests of decisions.

use crate::ir::{Device, Options, Program, Statement, StatementKind};

/// Returns a program of `count` launches without accesses.
pub(crate) fn program(count: usize) -> Program {
    let statement = Statement {
        name: "k".into(),
        line: 1,
        column: 0,
        file: None,
        kind: StatementKind::Launch(()),
        accesses: Vec::new().into(),
        after: Vec::new().into(),
        on: None,
        device: Device::FIRST,
        switchable: false,
    };
    Program {
        name: "f".into(),
        file: "f.rs".into(),
        options: Options::default(),
        dims: Vec::new().into(),
        buffers: Vec::new().into(),
        statements: vec![statement; count].into(),
        outputs: Vec::new().into(),
        grants: Vec::new().into(),
        views: Vec::new().into(),
    }
}
