//! Lowers waits for flags and semaphores, and their writes and signals.

use cuweave_core::ir::{Mode, StatementKind};
use cuweave_core::kind::SyncOperation;
use proc_macro2::Ident;
use syn::{Attribute, ExprCall};

use super::accesses::buffer_argument;
use super::host_statements::{kept_value, push_word, reject_in_device_body};
use super::hosts::host_value;
use super::lowering::{LowerResult, Lowering};
use super::syntax::LaunchArgument;

/// Lowers a word such as `wait_value(&flag, value);`.
pub(super) fn sync_statement(
    lowering: &mut Lowering<'_>,
    word: SyncOperation,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> LowerResult<()> {
    reject_in_device_body(lowering, call, &format!("`{}`", word.name()))?;
    let target = &call.args[0];
    let (mut arguments, mut accesses) = (Vec::new(), Vec::new());
    match host_value(&lowering.scope, target) {
        Some(host) if host.is_borrowed_mutably() && !host.is_resource() => {
            let (name, word) = (&host.name, word.name());
            let message = format!("`{name}` is shared with others, and is passed by `&`");
            return Err(lowering.refuse(target, &message, &format!("write `{word}(&{name}, ..)`")));
        }
        Some(host) => {
            let what = if word.is_value() { "a flag" } else { "a semaphore" };
            arguments.push(LaunchArgument::Scalar(Box::new(kept_value(lowering, &host, what)?)));
        }
        None if word.is_value() => {
            let mode = if word.waits() { Mode::Read } else { Mode::Write };
            let access = buffer_argument(lowering, target, word.name(), mode)?;
            let buffer = lowering.program.buffer(access.access.buffer);
            // Batch memory operations support neither memory from pools, which cudarc uses, nor memory of
            // alloc nodes.
            if !buffer.origin.is_pinned() {
                let message = format!(
                    "`{}` is memory of the device, where a graph neither waits for values nor writes them by launch",
                    buffer.name
                );
                let help = "take it as `&mut Pinned<[u32; 1]>`, or use a flag of the caller, `&Flag<u32>`";
                return Err(lowering.refuse(target, &message, help));
            }
            accesses.push(access);
            arguments.push(LaunchArgument::Buffer(0));
        }
        None => {
            let word = word.name();
            let help =
                format!("declare it as an argument, `done: &Semaphore`, and write `{word}(&done, 1);`");
            return Err(lowering.refuse(target, &format!("`{word}` takes a semaphore of the caller"), &help));
        }
    }
    for value in call.args.iter().skip(1) {
        arguments.push(LaunchArgument::Scalar(Box::new(lowering.substituted(value))));
    }
    push_word(lowering, call, name, attributes, StatementKind::Sync(word, ()), arguments, accesses);
    Ok(())
}
