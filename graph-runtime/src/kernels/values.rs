//! The values of declared module variables, for modules that are loaded later.

use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cuda::{Context, Driver, Outcome, RawModule};
use crate::error::{PlanFault, Result, VariableFault};

/// The value of a variable in a context.
struct VariableValue {
    context: Context,
    variable: &'static str,
    bytes: Arc<[MaybeUninit<u8>]>,
}

/// The values of a file's variables, as the host has set them or an unloaded module has left them.
pub(super) struct VariableValues {
    list: Mutex<Vec<VariableValue>>,
}

impl VariableValues {
    pub const fn new() -> VariableValues {
        VariableValues { list: Mutex::new(Vec::new()) }
    }

    /// Sets the value that a variable has in modules that are loaded later.
    pub fn set(&self, context: Context, variable: &'static str, bytes: &Arc<[MaybeUninit<u8>]>) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|known| known.context != context || known.variable != variable);
        list.push(VariableValue { context, variable, bytes: bytes.clone() });
    }

    /// Writes the values into a module that was just loaded.
    pub fn write(&self, driver: &Driver, context: Context, raw: RawModule, path: &str) -> Result<()> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        for VariableValue { variable, bytes, .. } in list.iter().filter(|known| known.context == context) {
            if let Some(address) = address(driver, raw, variable, bytes.len(), path)? {
                driver.in_new_stream(|stream| driver.write_value(address, bytes, stream))?;
            }
        }
        Ok(())
    }

    /// Keeps the values of variables in a module that is about to be unloaded.
    pub fn keep(
        &self,
        driver: &Driver,
        context: Context,
        raw: RawModule,
        variables: &[&'static str],
    ) -> Outcome<()> {
        for &variable in variables {
            if let Some((address, bytes)) = driver.module_variable(raw, variable)? {
                let mut value = vec![0u8; bytes];
                driver.in_new_stream(|stream| driver.read_value(address, &mut value, stream))?;
                self.set(context, variable, &value.into_iter().map(MaybeUninit::new).collect());
            }
        }
        Ok(())
    }
}

/// Returns the address of a variable of `bytes` bytes in a loaded module. `None` if the module has not got it.
pub(super) fn address(
    driver: &Driver,
    raw: RawModule,
    variable: &str,
    bytes: usize,
    path: &str,
) -> Result<Option<u64>> {
    match driver.module_variable(raw, variable)? {
        Some((_, found)) if found != bytes => {
            let reason = VariableFault::Size { bytes: found, declared: bytes };
            Err(PlanFault::Variable { variable: variable.to_owned(), path: path.to_owned(), reason }.into())
        }
        found => Ok(found.map(|(address, _)| address)),
    }
}
