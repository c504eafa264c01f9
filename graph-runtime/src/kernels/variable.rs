//! Module variables that the host sets and reads.
//!
//! A variable lives in the module that a context has loaded. Its value is also kept with the declaration, when it is
//! set and when the module is unloaded, and written into modules that are loaded later. Uses are ordered as launches
//! that share a written variable are, by the notes of the loaded module.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaStream, DeviceRepr};
use cuweave_core::launches::Allowed;

use crate::context::refuse_capture;
use crate::cuda::{self, AnyBits, Context, FilledValue, Stream, value_bytes};
use crate::error::{Error, PlanFault, Result, VariableFault};
use crate::token::Token;
use crate::waits::{HeldStream, OwnedEvent};

use super::declaration::{Kernel, KernelItem};
use super::module::LoadedModule;
use super::notes::{LaunchNote, VariableUses, drop_completed};
use super::text::{TextForm, programmatic};

/// A type that a module variable can be read as: one of which all bits are values.
#[diagnostic::on_unimplemented(
    message = "the host cannot read a module variable of type `{Self}`",
    label = "not all bits are a value of `{Self}`",
    note = "a kernel may have written any bits; declare integers, or say so of a type of your own by `unsafe impl \
        cuweave::AnyBits`"
)]
pub trait ReadVariable: AnyBits {}

#[diagnostic::do_not_recommend]
impl<T: AnyBits> ReadVariable for T {}

/// Held while a variable is set, so that the last value of two threads is the same on the device and for modules
/// that are loaded later.
static SETTING: Mutex<()> = Mutex::new(());

/// A `__constant__` or `__device__` variable of a file of kernels, declared as `static NAME: [f32; 64];` in its
/// `#[kernels]` block.
///
/// Each context has its own. It has the value of the file at first, and keeps what the host sets and the kernels of the
/// block write, also from one graph to the next. Each `#[kernels]` block has its own, too.
pub struct Variable<T> {
    kernel: fn(Token) -> &'static Kernel,
    name: &'static str,
    value: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for Variable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = (self.kernel)(Token).module.path();
        f.debug_struct("Variable").field("name", &self.name).field("path", &path).finish_non_exhaustive()
    }
}

/// Returns the variable `name` of the file of a kernel.
pub const fn variable<K: KernelItem, T>(name: &'static str) -> Variable<T> {
    Variable { kernel: K::kernel, name, value: PhantomData }
}

impl<T: DeviceRepr> Variable<T> {
    /// Sets the variable in the context of a stream, in the order of that stream. Launches of graphs whose kernels
    /// use the variable come before or after it as the program says, also in other streams and threads.
    ///
    /// # Errors
    ///
    /// [`Error::BufferCapturing`] for a capturing stream; [`PlanFault::Variable`] if the file is machine code and
    /// has no such variable; a failed driver call.
    pub fn set(&self, stream: &Arc<CudaStream>, value: &T) -> Result<()> {
        refuse_capture(stream)?;
        let ctx = stream.context();
        let bytes: Arc<[MaybeUninit<u8>]> = value_bytes(value).into();
        let _one = SETTING.lock().unwrap_or_else(PoisonError::into_inner);
        let module = (self.kernel)(Token).module;
        // Before the loaded modules are looked up: one that is loaded meanwhile then has the value.
        module.values().set(Context::from_cudarc(ctx), self.name, &bytes);
        let Some(module) = module.loaded_variables(ctx) else { return Ok(()) };
        self.ordered(&module, stream, true, |address| {
            module.driver.write_value(address, &bytes, Stream::from_cudarc(stream))
        })
    }

    /// Returns the value in the context of a stream. It waits for the work in the stream, and for all launches that
    /// write the variable.
    ///
    /// # Errors
    ///
    /// As [`Variable::set`].
    pub fn get(&self, stream: &Arc<CudaStream>) -> Result<T>
    where
        T: ReadVariable,
    {
        refuse_capture(stream)?;
        let (driver, ctx) = (cuda::driver()?, stream.context());
        let module = (self.kernel)(Token).module;
        let module = match module.loaded_variables(ctx) {
            Some(loaded) => loaded,
            None => module.load(
                driver,
                ctx,
                TextForm::for_edges(&programmatic(driver, ctx, Allowed::by(None))),
            )?,
        };
        module.load_variables()?;
        let mut value = FilledValue::<T>::zeroed();
        let raw = Stream::from_cudarc(stream);
        let mut read = false;
        let enqueued = self.ordered(&module, stream, false, |address| {
            read = true;
            driver.read_value(address, value.as_bytes_mut(), raw)
        });
        // Also after a failure, so that no copy is in flight when the value is dropped.
        driver.synchronize(raw)?;
        enqueued?;
        if !read {
            return Err(self.fault(&module, VariableFault::Missing));
        }
        Ok(value.into_inner())
    }

    fn fault(&self, module: &LoadedModule, reason: VariableFault) -> Error {
        let (variable, path) = (self.name.to_owned(), module.module.path().to_owned());
        PlanFault::Variable { variable, path, reason }.into()
    }

    /// Enqueues a use of the variable, by its address in each part that has it, between those of other launches.
    fn ordered(
        &self,
        module: &LoadedModule,
        stream: &Arc<CudaStream>,
        writes: bool,
        mut enqueue: impl FnMut(u64) -> cuda::Outcome<()>,
    ) -> Result<()> {
        let driver = module.driver;
        let addresses = module.variable(self.name, size_of::<T>())?;
        let done = Arc::new(OwnedEvent::new(driver, stream.context())?);
        let mut next = LaunchNote { done: done.clone(), stream: HeldStream::new(stream), held: true };
        let mut notes = module.notes.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = notes.entry(self.name).or_default();
        let read = known.read.iter().filter(|_| writes);
        known.written.iter().chain(read).try_for_each(|note| note.order(driver, &next))?;
        let enqueued = addresses.into_iter().try_for_each(&mut enqueue);
        let recorded = driver.record(done.raw(), next.stream.raw());
        next.held = recorded.is_ok();
        if writes {
            *known = VariableUses { written: Some(next), read: Vec::new() };
        } else {
            drop_completed(driver, &mut known.read);
            known.read.push(next);
        }
        module.keep_loaded_until(&done);
        Ok(enqueued.and(recorded)?)
    }
}
