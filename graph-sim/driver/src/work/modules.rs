//! Loading and unloading of modules, and the lookup of their kernels.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::config::config;
use crate::base::log;
use crate::base::status::{Result, Status};
use crate::interp::GlobalVariable;
use crate::memory::{AllocationKind, Memory, MemoryPlace, copy};
use crate::state::State;
use crate::state::image::Image;
use crate::state::module::{KernelFunction, Module};

/// Loads an image into a context and initialises its variables.
pub fn load(state: &mut State, image: Image, context: u64) -> Result<u64> {
    let image = Arc::new(image);
    let device = state.context(context)?.device;
    let mut variables = BTreeMap::new();
    let mut failed = None;
    for variable in image.variables().iter().filter(|variable| !variable.external) {
        match allocate(&mut state.memory, variable, device, context) {
            Ok(address) => drop(variables.insert(variable.name.clone(), (address, variable.bytes))),
            Err(status) => failed = Some(status),
        }
    }
    if let Some(status) = failed {
        variables.values().for_each(|&(address, _)| drop(state.memory.free(address)));
        return Err(status);
    }
    for variable in image.variables().iter().filter(|variable| !variable.external) {
        let (address, bytes) = variables[&variable.name];
        let mut initial = variable.initial.clone();
        for (offset, name, addend) in &variable.addresses {
            let value = variables.get(name).map_or(0, |variable| variable.0.wrapping_add_signed(*addend));
            let room = initial.get_mut(*offset..).unwrap_or_default();
            room.iter_mut().zip(value.to_le_bytes()).for_each(|(byte, value)| *byte = value);
        }
        if let Ok(place) = state.memory.resolve_device(address, bytes) {
            copy(&place, &MemoryPlace::Host(initial.as_ptr() as u64), bytes.min(initial.len() as u64));
        }
        state.memory.name(address, variable.name.clone())?;
    }
    let count = image.kernels.len();
    let module = state.code.modules.insert(Module {
        context,
        image: Arc::clone(&image),
        functions: Vec::new(),
        variables,
    });
    let functions = (0..count).map(|kernel| {
        let (image, attributes) = (Arc::clone(&image), BTreeMap::new());
        state.code.functions.insert(KernelFunction {
            module,
            context,
            image,
            kernel,
            dynamic_shared: 48 << 10,
            attributes,
        })
    });
    let functions = functions.collect();
    if let Some(entry) = state.code.modules.get_mut(module) {
        entry.functions = functions;
    }
    Ok(module)
}

/// Allocates a variable.
fn allocate(memory: &mut Memory, variable: &GlobalVariable, device: usize, context: u64) -> Result<u64> {
    let bytes = variable.bytes.max(1);
    if !variable.managed {
        let kind = if variable.constant { AllocationKind::Constant } else { AllocationKind::Variable };
        return memory.allocate(bytes, kind, device, context);
    }
    if !config().managed {
        return Err(log::log_error(
            Status::NOT_SUPPORTED,
            format!("the variable `{}` in managed memory, which the device does not support", variable.name),
        ));
    }
    memory.allocate_managed(bytes, AllocationKind::ManagedVariable, false, device, context)
}

/// Unloads a module with its kernels and variables.
pub fn unload(state: &mut State, module: u64) -> Result {
    let module = state.code.modules.remove(module).ok_or(Status::INVALID_HANDLE)?;
    module.functions.into_iter().for_each(|function| drop(state.code.functions.remove(function)));
    module.variables.into_values().for_each(|(address, _)| drop(state.memory.free(address)));
    Ok(())
}

/// Returns a kernel of a module by name. Refuses a kernel that the interpreter cannot run, with a message.
pub fn find_function(state: &State, module: u64, name: &str) -> Result<u64> {
    let module = state.code.module(module)?;
    let at = module.image.kernels.iter().position(|kernel| kernel.name == name).ok_or(Status::NOT_FOUND)?;
    if let Err(why) = &module.image.kernels[at].supported {
        let what = format!("kernel `{name}` cannot be simulated: {why}");
        crate::base::console::print(&what);
        return Err(log::log_error(Status::NOT_SUPPORTED, what));
    }
    Ok(module.functions[at])
}
