//! Options as they are written at first.

use cuweave::prelude::*;

#[cuweave::graph(explicit)] //~ CW001
fn bare() {}

#[cuweave::graph(order = explicit)] //~ CW001
fn unquoted() {}

#[cuweave::graph(launches = "Batched")] //~ CW001
fn upper() {}

#[cuweave::graph(budget = "1 MiB")] //~ CW001
fn text() {}

#[cuweave::graph(width = "8")] //~ CW001
fn quoted() {}

#[cuweave::graph(width = 0)] //~ CW001
fn nothing() {}

#[cuweave::graph(order = "explicit", order = "inferred")] //~ CW001
fn twice() {}

fn main() {}
