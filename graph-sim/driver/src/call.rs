//! The prologue and epilogue of every exported function.
//!
//! A panic becomes an error code. Injected faults strike here. Once a kernel has broken a context, every call
//! returns that kernel's error. A function newer than the simulated CUDA version is refused.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use crate::base::callback;
use crate::base::config::config;
use crate::base::console::{print, print_once};
use crate::base::faults;
use crate::base::status::{Result, Status};
use crate::base::trace;
use crate::state::{current_context, state};

/// The checks made before a function runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// Needs `cuInit`, and a context that is not broken.
    Call,
    /// Destroys or frees an object, even if it then returns an error.
    Release,
    /// Needs the driver's state, but neither `cuInit` nor a context.
    Basic,
    /// Does not use the driver's state.
    Query,
}

/// An exported function of the driver API.
pub struct Exported {
    name: &'static str,
    kind: CallKind,
    /// True if the function is newer than the simulated CUDA version.
    newer: OnceLock<bool>,
}

impl Exported {
    pub const fn new(name: &'static str, kind: CallKind) -> Exported {
        Exported { name, kind, newer: OnceLock::new() }
    }

    /// Runs the body of a function and returns its result code. `arguments` collects the arguments for the trace.
    /// Takes trait objects: a generic function would be compiled for each of the hundreds of exported functions.
    pub fn call(&self, arguments: &dyn Fn() -> Vec<u64>, body: &mut dyn FnMut() -> Result) -> u32 {
        let newer = *self.newer.get_or_init(|| is_newer(self.name));
        if !trace::is_on() {
            return enter(self.name, newer, self.kind, body);
        }
        let arguments = arguments();
        let result = enter(self.name, newer, self.kind, body);
        trace::keep(self.name, arguments, result);
        result
    }
}

/// Functions answered in every version, each with the older form that does the same. Bindings choose between the
/// two forms at compile time, so a program built with bindings of a newer CUDA would otherwise lose a call that
/// every driver has.
const SAME_AS_OLDER: [(&str, &str); 1] = [("cuEventElapsedTime_v2", "cuEventElapsedTime")];

/// Refuses a function newer than the simulated CUDA version, unless an older form of it does the same.
fn refuse_newer(name: &'static str) -> Result {
    let (major, minor) = config().version;
    let newer =
        format!("`{name}` is newer than the CUDA {major}.{minor} that this driver presents itself as");
    match SAME_AS_OLDER.iter().find(|(call, older)| *call == name && !is_newer(older)) {
        Some((_, older)) => {
            print_once(format!(
                "{newer}: it is answered as `{older}`, but a real driver of that version does not have it; help: \
                 build the program with bindings for CUDA {major}.{minor}, for cudarc the feature \
                 `cuda-{major}0{minor}0`"
            ));
            Ok(())
        }
        None => {
            print_once(newer);
            Err(Status::NOT_SUPPORTED)
        }
    }
}

/// Runs the body of a function after the checks of its kind, and returns its result code.
pub fn enter(name: &'static str, newer: bool, kind: CallKind, body: &mut dyn FnMut() -> Result) -> u32 {
    let work = AssertUnwindSafe(|| run(name, newer, kind, body));
    match catch_unwind(work) {
        Ok(Ok(())) => Status::SUCCESS.0,
        Ok(Err(status)) => status.0,
        Err(_) => {
            print(&format!("`{name}` failed because of a bug in the simulator, shown above"));
            Status::UNKNOWN.0
        }
    }
}

fn run(name: &'static str, newer: bool, kind: CallKind, body: &mut dyn FnMut() -> Result) -> Result {
    if newer {
        refuse_newer(name)?;
    }
    if kind != CallKind::Query && callback::is_in_callback() {
        return Err(Status::NOT_PERMITTED);
    }
    let fault = faults::count_call(name);
    if let (Some(status), false) = (fault, kind == CallKind::Release) {
        return Err(status);
    }
    let mut sticky_error = None;
    if matches!(kind, CallKind::Call | CallKind::Release) {
        let state = state();
        if !state.initialised {
            return Err(Status::NOT_INITIALIZED);
        }
        sticky_error = state.contexts.get(current_context()).and_then(|context| context.sticky_error);
    }
    match (kind, sticky_error) {
        (CallKind::Call, Some(status)) => Err(status),
        _ => body().and(sticky_error.or(fault).map_or(Ok(()), Err)),
    }
}

/// Returns the first CUDA version that has a symbol; 11.4 if the table does not list it.
pub fn first_version(name: &str) -> (u32, u32) {
    let at = VERSIONS.binary_search_by_key(&name, |symbol| symbol.0);
    at.map_or((11, 4), |at| VERSIONS[at].1)
}

/// Returns true if a symbol is newer than the simulated CUDA version.
pub fn is_newer(name: &str) -> bool {
    first_version(name) > config().version
}

include!(concat!(env!("OUT_DIR"), "/versions.rs"));

/// Refuses a call to a function that is not implemented.
pub fn unsupported(name: &'static str) -> u32 {
    if let Some(status) = faults::count_call(name) {
        return status.0;
    }
    print_once(format!("`{name}` is not simulated"));
    Status::NOT_SUPPORTED.0
}

/// Defines exported functions: `Kind fn name(arguments) { body }`, where the body returns a [`Result`].
macro_rules! driver_calls {
    ($($(#[$attribute:meta])* $kind:ident fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$attribute])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
            static EXPORTED: $crate::call::Exported =
                $crate::call::Exported::new(stringify!($name), $crate::call::CallKind::$kind);
            EXPORTED.call(&|| vec![$($crate::base::trace::number(&$argument)),*], &mut || $body)
        }
    )*};
}
pub(crate) use driver_calls;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_sorted_so_that_every_one_is_found() {
        assert!(VERSIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(first_version("cuGraphAddNode_v2"), (12, 3));
        assert_eq!(first_version("cuInit"), (11, 4));
    }

    #[test]
    fn a_fault_of_our_own_is_an_error_and_no_crash() {
        let code = enter("cuTest", false, CallKind::Query, &mut || panic!("on purpose"));
        assert_eq!(code, Status::UNKNOWN.0);
    }
}
