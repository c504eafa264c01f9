//! The statements of a builder.

use cuweave_core::codes::Code;

use crate::build::{CalledItem, LaunchedItem};
use crate::error::Result;
use crate::token::Token;

use super::config::ToConfiguration;
use super::declarations::Builder;
use super::handle::{Handle, Place, Statement, ToArgument, ToArguments, ToBuffer};
use super::program::Site;

impl Builder<'_> {
    /// Launches a kernel: `kernel[config](arguments);`. The kernel is the item that a `#[kernels]` block declares, `nn::gelu {}`.
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
        self.program.launch(Place::caller(), K::kernel(Token), K::arguments, config, &arguments)
    }

    /// Sets every element of a buffer: `fill(&mut b, value);`.
    ///
    /// # Errors
    ///
    /// A value that is no value of the buffer's elements (CW401), a handle of another builder (CW402), what is no buffer of the
    /// device that `&mut` lends (CW001).
    #[track_caller]
    pub fn fill(&mut self, buffer: impl ToBuffer, value: impl ToArgument) -> Result<Statement> {
        self.program.fill(Place::caller(), &buffer.to_buffer(), &value.to_argument())
    }

    /// Copies a buffer of the device or of pinned memory to another one: `copy(&a, &mut b);`.
    ///
    /// # Errors
    ///
    /// Buffers with elements of two types (CW401), handles of another builder (CW402), what is no buffer, and a destination that
    /// `&` lends (CW001).
    #[track_caller]
    pub fn copy(&mut self, from: impl ToBuffer, to: impl ToBuffer) -> Result<Statement> {
        self.program.copy(Place::caller(), &from.to_buffer(), &to.to_buffer())
    }

    /// Frees an allocation here, and not after its last use: `free(b);`.
    ///
    /// # Errors
    ///
    /// A handle of another builder (CW402). That the buffer is freed twice (CW103), is not the graph's (CW104), or is used later
    /// (CW102) are errors of the build.
    #[track_caller]
    pub fn free(&mut self, buffer: Handle) -> Result<Statement> {
        self.program.free(Place::caller(), buffer)
    }

    /// Calls a graph function: `let h = layer(n, &w, &mut x);`. Its statements stand in the place of the call.
    ///
    /// The function is the item beside it, `layer::layer {}`. A buffer is lent as in a launch; the bare handle of an allocation
    /// hands it over to a parameter `[T; len]`. Returns the allocations that the function returns.
    ///
    /// # Errors
    ///
    /// Arguments that do not fit the parameters (CW401), handles of another builder (CW402).
    #[track_caller]
    pub fn call<F: CalledItem>(&mut self, function: F, arguments: impl ToArguments) -> Result<Vec<Handle>> {
        let _ = function;
        let place = Place::caller();
        let arguments = arguments.to_arguments();
        match F::table(Token) {
            Some(table) => self.program.call(place, table, F::enter, &arguments),
            None => {
                let site = Site { place, name: "call" };
                let message = "the graph function is of another version of cuweave";
                Err(self.program.refuse(&site, Code::CW001, message, None))
            }
        }
    }

    /// Lets an allocation leave the graph: each launch returns it. Outputs are numbered as they are declared.
    ///
    /// # Errors
    ///
    /// A handle of another builder (CW402), an argument (CW001). That the buffer is freed or returned already (CW105), or not
    /// written (CW107), are errors of the build.
    #[track_caller]
    pub fn output(&mut self, buffer: Handle) -> Result<()> {
        self.program.output(Place::caller(), buffer)
    }
}
