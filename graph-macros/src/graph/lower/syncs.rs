//! Lowers waits for values and semaphores, their writes and signals.

use cuweave_core::ir::{Kind, Mode};
use cuweave_core::kind::SyncWord;
use proc_macro2::Ident;
use syn::{Attribute, ExprCall};

use super::{LaunchArgument, Lower, Lowering};

/// Lowers `wait_value(&flag, value);`.
pub(super) fn wait_value(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> Lower<()> {
    lowering.sync(SyncWord::WaitValue, call, name, attributes)
}

/// Lowers `write_value(&flag, value);`.
pub(super) fn write_value(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> Lower<()> {
    lowering.sync(SyncWord::WriteValue, call, name, attributes)
}

/// Lowers `wait_semaphore(&semaphore, value);`.
pub(super) fn wait_semaphore(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> Lower<()> {
    lowering.sync(SyncWord::WaitSemaphore, call, name, attributes)
}

/// Lowers `signal(&semaphore, value);`.
pub(super) fn signal(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> Lower<()> {
    lowering.sync(SyncWord::Signal, call, name, attributes)
}

impl Lowering<'_> {
    fn sync(
        &mut self,
        word: SyncWord,
        call: &ExprCall,
        name: Option<&Ident>,
        attributes: &[Attribute],
    ) -> Lower<()> {
        self.outside_bodies(call, &format!("`{}`", word.name()))?;
        let target = &call.args[0];
        let (mut arguments, mut accesses) = (Vec::new(), Vec::new());
        match self.host(target) {
            Some(host) if host.is_lent_mutably() && !host.is_resource() => {
                let (name, word) = (&host.name, word.name());
                let message = format!("`{name}` is shared with others, and is passed by `&`");
                return Err(self.refuse(target, &message, &format!("write `{word}(&{name}, ..)`")));
            }
            Some(host) => {
                let what = if word.is_value() { "a flag" } else { "a semaphore" };
                arguments.push(LaunchArgument::Scalar(Box::new(self.kept(&host, what)?)));
            }
            None if word.is_value() => {
                let mode = if word.waits() { Mode::Read } else { Mode::Write };
                let access = self.buffer_argument(target, word.name(), mode)?;
                let buffer = &self.buffers[access.0.buffer];
                // Batch memory operations take no memory of pools, which cudarc allocates from, nor of graphs.
                if !buffer.origin.is_pinned() {
                    let message = format!(
                        "`{}` is memory of the device, where a graph neither waits for values nor writes them by launch",
                        buffer.name
                    );
                    let help =
                        "take it as `&mut Pinned<[u32; 1]>`, or use a flag of the caller, `&Flag<u32>`";
                    return Err(self.refuse(target, &message, help));
                }
                accesses.push(access);
                arguments.push(LaunchArgument::Buffer(0));
            }
            None => {
                let word = word.name();
                let help =
                    format!("declare it as an argument, `done: &Semaphore`, and write `{word}(&done, 1);`");
                return Err(self.refuse(target, &format!("`{word}` takes a semaphore of the caller"), &help));
            }
        }
        for value in call.args.iter().skip(1) {
            arguments.push(LaunchArgument::Scalar(Box::new(self.substituted(value))));
        }
        self.push_word(call, name, attributes, Kind::Sync(word, ()), arguments, accesses);
        Ok(())
    }
}
