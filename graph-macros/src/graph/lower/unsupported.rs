//! The messages and the help for Rust syntax that is not part of the language.

use syn::{BinOp, Expr, ExprMethodCall, Macro, Stmt};

/// Rust syntax outside the language: the subject of the message, and the help.
pub(super) struct UnsupportedSyntax {
    pub what: &'static str,
    pub help: &'static str,
}

const fn refused(what: &'static str, help: &'static str) -> UnsupportedSyntax {
    UnsupportedSyntax { what, help }
}

/// The default help: everything that may be a statement.
const STATEMENTS: &str = "statements are `let b = alloc::<T>(len);`, launches `kernel[config](args);`, `fill`, \
                          `copy`, `free`, `swap`, `h = y`, `host`, `record`, `wait`, `wait_value`, `write_value`, \
                          `wait_semaphore`, `signal`, calls of graph functions and of libraries, `let` of scalars \
                          and of parts of buffers, blocks, `for`, `if` and `match` on scalars, and `if`, `while` and \
                          `match` on a buffer `[u32; 1]`";

/// Returns the message for an expression that is not a statement. `named` is true if a `let` names it.
pub(super) fn expression(expr: &Expr, named: bool) -> UnsupportedSyntax {
    match expr {
        Expr::While(_) => refused(
            "`while` on scalars is",
            "write `for i in 0..n` with a scalar: the number of iterations is known when the graph is built; the \
             device decides about `while flag`, where `flag` is a buffer `[u32; 1]`",
        ),
        Expr::Loop(_) => refused(
            "`loop` is",
            "write `for i in 0..n` with a scalar: the number of iterations is known when the graph is built",
        ),
        Expr::Break(_) => refused(
            "`break` is",
            "end the range of the loop where it would leave, or put statements in an `if`",
        ),
        Expr::Continue(_) => refused("`continue` is", "put the rest of the iteration in an `if`"),
        Expr::Return(_) => refused(
            "`return` is",
            "put statements in an `if`, and end the body with the names of the allocations that it returns",
        ),
        Expr::Try(_) => refused(
            "`?` is",
            "delete it: the function that builds the graph returns all errors of its statements",
        ),
        Expr::Unsafe(_) => refused(
            "`unsafe` is",
            "write the statements without it: the block that declares a kernel vouches for it",
        ),
        Expr::Macro(call) => macro_call(&call.mac),
        Expr::Closure(_) => refused(
            "a closure is",
            "write a graph function for statements; call an ordinary function of scalars in expressions",
        ),
        Expr::MethodCall(call) => method(call),
        Expr::If(_) if named => refused(
            "the value of an `if` is",
            "write the type of a scalar, as in `let m: u32 = if ..`; write statements in the arms",
        ),
        Expr::Match(_) if named => refused(
            "the value of a `match` is",
            "write the type of a scalar, as in `let m: u32 = match ..`; write statements in the arms",
        ),
        Expr::Let(_) => refused("a pattern in a condition is", "write `match` on a scalar"),
        Expr::Repeat(_) => {
            refused("an array is", "write `let h = alloc::<f32>(len);` and `fill(&mut h, 0.0);`")
        }
        Expr::Array(_) => refused(
            "an array is",
            "give each a `let` of its own; memory of the device is `alloc::<T>(len)`, filled by `copy` from an \
                argument",
        ),
        Expr::Tuple(_) => refused(
            "a tuple is",
            "give each a `let` of its own; a launch configuration is a tuple of scalars: `let config = (grid, block);`",
        ),
        Expr::Struct(_) => {
            refused("a struct without its type is", "write the type, as in `let s: Shape = Shape { .. };`")
        }
        Expr::Field(_) => refused(
            "a name for a field is",
            "write its type, as in `let d: u32 = layer.d;`, or the field where it is used",
        ),
        Expr::Block(_) if named => refused(
            "the value of a block is",
            "write the type of a scalar, as in `let m: u32 = { .. }`; write statements without the block",
        ),
        Expr::Index(_) => refused("a launch without arguments is", "write `kernel[config](args);`"),
        Expr::Path(_) => refused(
            "a name without a statement is",
            "write a launch `kernel[config](args);` or a call `name(args);`",
        ),
        Expr::Binary(binary) if is_assignment(&binary.op) => refused(
            "an assignment with an operator is",
            "give the new value of a scalar a `let` of its own; arithmetic on buffers is a kernel's: \
                `add[per_item(n)](..)`",
        ),
        Expr::Await(_) | Expr::Async(_) => {
            refused("`async` is", "launch the exec on a stream: it does not wait")
        }
        _ => refused("this expression is", STATEMENTS),
    }
}

/// Returns the message for a statement that is neither a `let` nor an expression.
pub(super) fn statement(statement: &Stmt) -> UnsupportedSyntax {
    match statement {
        Stmt::Macro(call) => macro_call(&call.mac),
        _ => refused("an item is", "move it out of the graph function, or into a function around it"),
    }
}

/// The help for a pattern in a `let`.
pub(super) const LET_PATTERN: UnsupportedSyntax = refused("this pattern is", "give each a `let` of its own");

/// The help for a pattern in a `match` arm.
pub(super) const ARM_PATTERN: UnsupportedSyntax = refused(
    "this pattern of an arm is",
    "write literals, ranges, names and `_`, and compare scalars in a guard",
);

/// The help for the pattern of a loop.
pub(super) const LOOP_PATTERN: UnsupportedSyntax = refused(
    "this pattern of a loop is",
    "write `for i in 0..n`, `for x in &w` or `for (i, x) in w.iter().enumerate()`",
);

/// The help for a type annotation on the name of a buffer.
pub(super) const TYPED_LET: UnsupportedSyntax = refused(
    "a type on this `let` is",
    "memory of the device is `let b = alloc::<T>(len);`, and its type stands there",
);

/// The help for `let b;`.
pub(super) const LET_WITHOUT_VALUE: UnsupportedSyntax =
    refused("a `let` without a value is", "write the `let` where the value is: `let b = alloc::<T>(len);`");

/// The help for `let .. else`.
pub(super) const LET_ELSE: UnsupportedSyntax =
    refused("`let ... else` is", "write `match` on a scalar, or check it before the graph is built");

/// The help for a call whose callee is not a path.
pub(super) const UNSUPPORTED_CALLEE: UnsupportedSyntax = refused(
    "this call is",
    "write a launch `kernel[config](args);` or a call of a graph function `name(args);`",
);

/// Returns the help that belongs to a message's subject, or the default help.
pub(super) fn help(what: &str) -> &'static str {
    let named =
        [LET_PATTERN, ARM_PATTERN, LOOP_PATTERN, TYPED_LET, LET_WITHOUT_VALUE, LET_ELSE, UNSUPPORTED_CALLEE]
            .into_iter()
            .find(|refused| refused.what == what);
    named.map_or(STATEMENTS, |refused| refused.help)
}

fn macro_call(call: &Macro) -> UnsupportedSyntax {
    let name = call.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    match name.as_str() {
        "print" | "println" | "eprint" | "eprintln" | "dbg" => refused(
            "printing is",
            "print before the graph is built, or what a `copy` brought to the host after a launch",
        ),
        "vec" => refused("a `Vec` is", "write `let h = alloc::<f32>(len);` and `fill(&mut h, 0.0);`"),
        _ if name.contains("assert")
            || matches!(name.as_str(), "panic" | "todo" | "unimplemented" | "unreachable") =>
        {
            refused("an assertion is", "check it before the graph is built, in the function that builds it")
        }
        _ => refused(
            "a macro call is",
            "write the statements that it stands for; in expressions of scalars macros are allowed",
        ),
    }
}

fn method(call: &ExprMethodCall) -> UnsupportedSyntax {
    match call.method.to_string().as_str() {
        "launch" => refused("a method call is", "write `kernel[config](args);`"),
        "clone" | "copy_from" | "copy_from_slice" | "clone_from_slice" | "copy_to" | "to_owned" => {
            refused("a method call is", "write `copy(&a, &mut b);`")
        }
        "fill" => refused("a method call is", "write `fill(&mut b, value);`"),
        "swap" => refused("a method call is", "write `swap(&mut a, &mut b);`"),
        "push" => refused(
            "a method call is",
            "each allocation has a name of its own; take buffers by the number as a slice, `&[&mut [T; len]]`, or as \
             a field of the records of one, `&[Layer<'_>]`",
        ),
        "split_at" => refused("`split_at` is", "write `let (lo, hi) = x.split_at_mut(k);`"),
        _ => refused("a method call is", STATEMENTS),
    }
}

fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

#[cfg(test)]
mod tests {
    use cuweave_core::ir::StatementKind;

    use super::STATEMENTS;

    #[test]
    fn the_default_help_names_each_word() {
        let missing: Vec<&str> = StatementKind::words()
            .filter(|word| {
                !STATEMENTS.contains(&format!("`{word}`")) && !STATEMENTS.contains(&format!("{word}::<"))
            })
            .collect();
        assert!(missing.is_empty(), "the help of CW001 does not name {missing:?}");
    }
}
