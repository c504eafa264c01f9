//! The methods of a builder that add statements. Each forwards to `program` with the caller's source location.

use cuweave_core::codes::Code;

use crate::build::{CalledItem, LaunchedItem};
use crate::error::Result;
use crate::token::Token;

use super::config::ToConfiguration;
use super::declarations::Builder;
use super::handle::{CallSite, Handle, Statement, ToArgument, ToArguments, ToBuffer};
use super::program::StatementSite;

impl Builder<'_> {
    /// Launches a kernel: `kernel[config](arguments);`. The kernel is an item of a `#[kernels]` block: `nn::gelu {}`.
    ///
    /// # Errors
    ///
    /// Arguments that do not fit the declaration (CW401), handles of another builder (CW402), pinned memory (CW001).
    #[track_caller]
    pub fn launch<K: LaunchedItem>(
        &mut self,
        kernel: K,
        config: impl ToConfiguration,
        arguments: impl ToArguments,
    ) -> Result<Statement> {
        let _ = kernel;
        let (config, arguments) = (config.to_configuration(), arguments.to_arguments());
        self.program.launch(CallSite::caller(), K::kernel(Token), K::arguments, config, &arguments)
    }

    /// Sets every element of a buffer: `fill(&mut b, value);`.
    ///
    /// # Errors
    ///
    /// A value of the wrong type for the buffer's elements (CW401); a handle of another builder (CW402); an
    /// argument that is not a device buffer passed by `&mut` (CW001).
    #[track_caller]
    pub fn fill(&mut self, buffer: impl ToBuffer, value: impl ToArgument) -> Result<Statement> {
        self.program.fill(CallSite::caller(), &buffer.to_buffer(), &value.to_argument())
    }

    /// Copies from a buffer or pinned memory to another one: `copy(&a, &mut b);`.
    ///
    /// # Errors
    ///
    /// Buffers with different element types (CW401); handles of another builder (CW402); an argument that is
    /// not a buffer, or a destination passed by `&` (CW001).
    #[track_caller]
    pub fn copy(&mut self, from: impl ToBuffer, to: impl ToBuffer) -> Result<Statement> {
        self.program.copy(CallSite::caller(), &from.to_buffer(), &to.to_buffer())
    }

    /// Frees an allocation here instead of after its last use: `free(b);`.
    ///
    /// # Errors
    ///
    /// A handle of another builder (CW402). The build reports a buffer that is freed twice (CW103), does not
    /// belong to the graph (CW104), or is used later (CW102).
    #[track_caller]
    pub fn free(&mut self, buffer: Handle) -> Result<Statement> {
        self.program.free(CallSite::caller(), buffer)
    }

    /// Calls a graph function: `let h = layer(n, &w, &mut x);`. Its statements are inserted here.
    ///
    /// The function is named by the item that its macro generates beside it, `layer::layer {}`. Buffers are
    /// passed by reference, as to a launch. The bare handle of an allocation moves it into a parameter `[T;
    /// len]`. A host value `&T`, such as an event, is passed as an `Arc`, which the exec shares. Returns the
    /// allocations that the function returns.
    ///
    /// # Errors
    ///
    /// Arguments that do not fit the parameters (CW401); handles of another builder (CW402).
    #[track_caller]
    pub fn call<F: CalledItem>(&mut self, function: F, arguments: impl ToArguments) -> Result<Vec<Handle>> {
        let _ = function;
        let place = CallSite::caller();
        let arguments = arguments.to_arguments();
        match F::table(Token) {
            Some(table) => self.program.call(place, table, F::enter, &arguments),
            None => {
                let site = StatementSite { place, name: "call" };
                let message = "the graph function is of another version of cuweave";
                Err(self.program.refuse(&site, Code::CW001, message, None))
            }
        }
    }

    /// Makes an allocation an output, which each launch returns: one of this graph, or one that it has taken over.
    /// Outputs are numbered in the order of these calls.
    ///
    /// # Errors
    ///
    /// A handle of another builder (CW402); a borrowed argument of the function (CW001). The build reports a buffer
    /// that is already freed or returned (CW105), or never written (CW107).
    #[track_caller]
    pub fn output(&mut self, buffer: Handle) -> Result<()> {
        self.program.output(CallSite::caller(), buffer)
    }
}
