//! Tests of reads from registers: only accesses to the same bytes set a register, and a declared read that reads
//! nothing needs none.

use cuweave_check::certificate::NodeWork;
use cuweave_check::{Certificate, Rule, check};

/// A kernel that is declared to read and write but reads nothing needs no register.
#[test]
fn what_reads_nothing_needs_no_register() {
    let certificate: Certificate = include_str!("registers/settable.txt").parse().expect("a certificate");
    assert_eq!(check(&certificate), Ok(()));
}

/// A write to one temporary does not set the register of another.
#[test]
fn registers_are_set_by_accesses_to_the_same_bytes() {
    let certificate: Certificate = include_str!("registers/late.txt").parse().expect("a certificate");
    assert_eq!(check(&certificate), Ok(()));
    let mut changed = certificate;
    let NodeWork::Run { forwards, .. } = &mut changed.plan.nodes[0].work else { panic!("one kernel") };
    // `add` reads `a` of `first`, but gets the value that `iota` wrote into `b`.
    forwards[1].writer = 1;
    assert_eq!(check(&changed).map_err(|refusal| refusal.rule), Err(Rule::Registers));
}
