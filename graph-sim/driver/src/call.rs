//! What every exported call does before and after its own work.
//!
//! A call that panics gives an error instead, a fault on request strikes here, and a context that an earlier
//! kernel broke answers every call with that kernel's error. A call newer than the driver that we present
//! ourselves as is refused.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::config::config;
use crate::faults;
use crate::state::{current_context, state};
use crate::status::{Result, Status};

/// How a call behaves around its own work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Needs `cuInit`, and a context that is not broken.
    Call,
    /// Ends something's life: it does so even if it then returns an error.
    Release,
    /// Needs neither, but the driver's state.
    Basic,
    /// Asks nothing of the driver's state.
    Query,
}

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function of the program from inside the driver: it may not call the driver.
pub fn outside<T>(function: impl FnOnce() -> T) -> T {
    let before = IN_CALLBACK.replace(true);
    let result = function();
    IN_CALLBACK.set(before);
    result
}

/// Prints a line on standard error, in one piece: the program has a standard library of its own, whose output is not
/// kept apart from ours.
pub fn print(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(format!("cuweave-sim: {text}\n").as_bytes());
}

/// Prints a line once for each text.
pub fn say_once(text: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.contains(&text) {
        print(&text);
        said.insert(text);
    }
}

/// Runs the work of a call; what it gives is the call's result code.
pub fn enter(name: &'static str, newer: bool, kind: Kind, body: impl FnOnce() -> Result) -> u32 {
    let work = AssertUnwindSafe(|| run(name, newer, kind, body));
    match catch_unwind(work) {
        Ok(Ok(())) => Status::SUCCESS.0,
        Ok(Err(status)) => status.0,
        Err(_) => {
            print(&format!("`{name}` met a fault of the simulator itself, shown above"));
            Status::UNKNOWN.0
        }
    }
}

fn run(name: &'static str, newer: bool, kind: Kind, body: impl FnOnce() -> Result) -> Result {
    if newer {
        let (major, minor) = config().version;
        say_once(format!(
            "`{name}` is newer than the CUDA {major}.{minor} that this driver presents itself as"
        ));
        return Err(Status::NOT_SUPPORTED);
    }
    if kind != Kind::Query && IN_CALLBACK.get() {
        return Err(Status::NOT_PERMITTED);
    }
    let fault = faults::strike(name);
    if let (Some(status), false) = (fault, kind == Kind::Release) {
        return Err(status);
    }
    let mut broken = None;
    if matches!(kind, Kind::Call | Kind::Release) {
        let state = state();
        if !state.initialised {
            return Err(Status::NOT_INITIALIZED);
        }
        broken = state.contexts.get(current_context()).and_then(|context| context.broken);
    }
    match (kind, broken) {
        (Kind::Call, Some(status)) => Err(status),
        _ => body().and(broken.or(fault).map_or(Ok(()), Err)),
    }
}

/// The first CUDA version that has a symbol; the oldest that we know for one in no list.
pub fn first_version(name: &str) -> (u32, u32) {
    let at = SYMBOLS.binary_search_by_key(&name, |symbol| symbol.name);
    at.map_or((11, 4), |at| SYMBOLS[at].first)
}

/// Whether a symbol is newer than the driver that we present ourselves as.
pub fn is_newer(name: &str) -> bool {
    first_version(name) > config().version
}

/// A symbol of the driver interface.
pub struct Symbol {
    /// Its name, suffix included.
    pub name: &'static str,
    /// The first CUDA version that has it.
    pub first: (u32, u32),
    /// The exported function.
    pub address: unsafe extern "C" fn(),
}

include!(concat!(env!("OUT_DIR"), "/symbols.rs"));

/// Refuses a call that has no implementation.
pub fn unsupported(name: &'static str) -> u32 {
    if let Some(status) = faults::strike(name) {
        return status.0;
    }
    say_once(format!("`{name}` is not simulated"));
    Status::NOT_SUPPORTED.0
}

/// Defines exported calls: `Kind fn name(arguments) { work }`, the work giving a [`Result`].
macro_rules! driver_calls {
    ($($(#[$attribute:meta])* $kind:ident fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$attribute])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
            static NEWER: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
            let newer = *NEWER.get_or_init(|| $crate::call::is_newer(stringify!($name)));
            if !$crate::trace::is_on() {
                return $crate::call::enter(stringify!($name), newer, $crate::call::Kind::$kind, || $body);
            }
            let arguments = vec![$($crate::trace::number(&$argument)),*];
            let result = $crate::call::enter(stringify!($name), newer, $crate::call::Kind::$kind, || $body);
            $crate::trace::keep(stringify!($name), arguments, result);
            result
        }
    )*};
}
pub(crate) use driver_calls;

/// Writes a result through a pointer of the program, null being an invalid value.
pub fn put<T>(place: *mut T, value: T) -> Result {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: a pointer that is not null points, by the contract of the C interface, to room for the value.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Writes a result that the program may not want.
pub fn offer<T>(place: *mut T, value: T) {
    let _ = put(place, value);
}

/// Reads an argument through a pointer of the program, null being an invalid value.
pub fn take<T: Copy>(place: *const T) -> Result<T> {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: a pointer that is not null points, by the contract of the C interface, to a value.
    Ok(unsafe { place.read_unaligned() })
}

/// Reads an array of the program, null being an invalid value unless nothing is wanted.
pub fn take_all<T: Copy>(place: *const T, count: usize) -> Result<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if place.is_null() || count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: as in `take`, for each element.
    Ok((0..count).map(|at| unsafe { place.add(at).read_unaligned() }).collect())
}

/// Reads a C string of the program.
pub fn take_text(place: *const std::ffi::c_char) -> Result<String> {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: by the contract of the C interface the text ends with a nul.
    Ok(unsafe { std::ffi::CStr::from_ptr(place) }.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_sorted_so_that_every_one_is_found() {
        assert!(SYMBOLS.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert_eq!(first_version("cuGraphAddNode_v2"), (12, 3));
        assert_eq!(first_version("cuInit"), (11, 4));
    }

    #[test]
    fn a_fault_of_our_own_is_an_error_and_no_crash() {
        let code = enter("cuTest", false, Kind::Query, || panic!("on purpose"));
        assert_eq!(code, Status::UNKNOWN.0);
    }
}
