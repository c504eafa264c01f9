//! A stand-in for cuBLAS and cuBLASLt, for tests on the simulated driver. It exports the functions that cuweave
//! calls, with their C signatures.
//!
//! It computes no products: a product copies its first factor to the result and overwrites the workspace. It checks
//! the kind of every handle and description, counts the live ones, records its calls as notes, and fails where a
//! test requests it. Functions named `cublasTest..` are for tests; `note` describes the notes.

#![allow(non_snake_case, unsafe_code)]
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "C has no unsafe functions")]
#![allow(missing_docs, reason = "the functions are those of the manual of cuBLAS")]

mod driver;
mod state;

use std::ffi::{c_char, c_int, c_void};
use std::slice::from_raw_parts_mut;

use cuweave_testkit::stand_in::{LineCallback, is_capturing, pass};

use state::{INVALID, Kind, Object, State, alone, enter, note};

/// A handle or a description, by the number of its object.
type Id = usize;

/// An algorithm that the heuristic returns.
#[repr(C)]
pub struct Heuristic {
    algorithm: [u64; 8],
    workspace: usize,
    state: u32,
    waves: f32,
    reserved: [c_int; 4],
}

/// The first word of every algorithm.
const ALGORITHM: u64 = 0x616c_676f;

fn create(name: &str, made: *mut Id, object: Object) -> u32 {
    enter(name, |state| {
        // SAFETY: the caller's pointer to a handle.
        unsafe { *made = state.add(object) };
        0
    })
}

/// Destroys an object even if the call fails, because the caller cannot try again.
fn destroy(name: &str, id: Id, kind: Kind) -> u32 {
    alone(|state| state.remove(name, id, kind));
    enter(name, |_| 0)
}

fn set(name: &str, id: Id, kind: Kind, attribute: u32, value: *const c_void, bytes: usize) -> u32 {
    enter(name, |state| {
        // SAFETY: the caller's pointer to a value of that size.
        let value = match bytes {
            4 => u64::from(unsafe { value.cast::<u32>().read_unaligned() }),
            8 => unsafe { value.cast::<u64>().read_unaligned() },
            _ => return INVALID,
        };
        match state.object(name, id, kind) {
            Some(object) => drop(object.attributes.insert(attribute, value)),
            None => return INVALID,
        }
        0
    })
}

macro_rules! objects {
    ($($kind:ident: $create:ident($($arg:ident: $ty:ty),*), $destroy:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $create(made: *mut Id, $($arg: $ty),*) -> u32 {
            create(stringify!($create), made, Object::new(Kind::$kind, &[$($arg as u64),*]))
        }
        #[unsafe(no_mangle)]
        pub extern "C" fn $destroy(id: Id) -> u32 {
            destroy(stringify!($destroy), id, Kind::$kind)
        }
    )*};
}
objects! {
    Handle: cublasCreate_v2(), cublasDestroy_v2;
    Lt: cublasLtCreate(), cublasLtDestroy;
    Operation: cublasLtMatmulDescCreate(compute: u32, scale: u32), cublasLtMatmulDescDestroy;
    Layout: cublasLtMatrixLayoutCreate(ty: u32, rows: u64, columns: u64, leading: i64), cublasLtMatrixLayoutDestroy;
    Preference: cublasLtMatmulPreferenceCreate(), cublasLtMatmulPreferenceDestroy;
}

macro_rules! setters {
    ($($name:ident: $kind:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(id: Id, attribute: u32, value: *const c_void, bytes: usize) -> u32 {
            set(stringify!($name), id, Kind::$kind, attribute, value, bytes)
        }
    )*};
}
setters! {
    cublasLtMatmulDescSetAttribute: Operation;
    cublasLtMatrixLayoutSetAttribute: Layout;
    cublasLtMatmulPreferenceSetAttribute: Preference;
}

#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetVersion() -> usize {
    130_100
}

#[unsafe(no_mangle)]
pub extern "C" fn cublasGetProperty(property: u32, value: *mut c_int) -> u32 {
    enter("cublasGetProperty", |_| {
        // SAFETY: the caller's pointer.
        unsafe { *value = [13, 1, 0].get(property as usize).copied().unwrap_or_default() };
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cublasSetStream_v2(id: Id, stream: usize) -> u32 {
    enter("cublasSetStream_v2", |state| match state.object("cublasSetStream_v2", id, Kind::Handle) {
        Some(handle) => {
            // Setting the stream resets the workspace to the handle's own, as in cuBLAS.
            handle.numbers = vec![stream as u64, 0, 0];
            0
        }
        None => INVALID,
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cublasSetWorkspace_v2(id: Id, workspace: usize, bytes: usize) -> u32 {
    enter("cublasSetWorkspace_v2", |state| {
        match state.object("cublasSetWorkspace_v2", id, Kind::Handle).map(|handle| &mut handle.numbers) {
            Some(numbers) if numbers.len() == 3 => {
                numbers[1..].copy_from_slice(&[workspace as u64, bytes as u64]);
                0
            }
            _ => INVALID,
        }
    })
}

/// Writes 2 to each element of b and overwrites the workspace.
#[unsafe(no_mangle)]
pub extern "C" fn cublasStrsm_v2(
    id: Id,
    _side: u32,
    _fill: u32,
    _operation: u32,
    _diagonal: u32,
    m: c_int,
    n: c_int,
    _alpha: *const f32,
    _a: u64,
    _lda: c_int,
    b: u64,
    _ldb: c_int,
) -> u32 {
    enter("cublasStrsm_v2", |state| {
        let Some(handle) = state.object("cublasStrsm_v2", id, Kind::Handle) else { return INVALID };
        let &[stream, workspace, bytes] = handle.numbers.as_slice() else { return INVALID };
        state.lines.push(note::own(workspace, bytes, is_capturing(stream)));
        let filled = driver::fill_words(b, 0x4000_0000, m as usize * n as usize, stream);
        driver::overwrite(workspace, bytes, stream).and(filled).map_or(13, |()| 0)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cublasLtMatmulAlgoGetHeuristic(
    handle: Id,
    operation: Id,
    a: Id,
    b: Id,
    c: Id,
    _d: Id,
    preference: Id,
    wanted: c_int,
    answers: *mut Heuristic,
    count: *mut c_int,
) -> u32 {
    const NAME: &str = "cublasLtMatmulAlgoGetHeuristic";
    enter(NAME, |state| {
        let Some(found) = described(state, NAME, handle, operation, [a, b, c]) else { return INVALID };
        let Some(preference) = state.object(NAME, preference, Kind::Preference).cloned() else {
            return INVALID;
        };
        // The real library loads code on the first query, which is not allowed while the thread captures.
        if driver::allocates().is_err() {
            return 3;
        }
        let limit = preference.attributes.get(&note::MAX_WORKSPACE).copied().unwrap_or_default();
        let workspace = state.workspace.min(limit);
        state.algorithms += 1;
        state.lines.push(note::asked(&found, &preference, state.algorithms, workspace));
        // SAFETY: the caller's array has this length.
        let answers = unsafe { from_raw_parts_mut(answers, wanted.max(0) as usize) };
        if let Some(answer) = answers.first_mut() {
            let algorithm = [ALGORITHM, state.algorithms, workspace, 0, 0, 0, 0, 0];
            let (waves, reserved) = (1.0, [0; 4]);
            *answer = Heuristic { algorithm, workspace: workspace as usize, state: 0, waves, reserved };
        }
        // SAFETY: the caller's pointer.
        unsafe { *count = 1 };
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cublasLtMatmul(
    handle: Id,
    operation: Id,
    alpha: *const c_void,
    a: u64,
    a_layout: Id,
    b: u64,
    b_layout: Id,
    beta: *const c_void,
    c: u64,
    c_layout: Id,
    d: u64,
    d_layout: Id,
    algorithm: *const [u64; 8],
    workspace: u64,
    bytes: usize,
    stream: u64,
) -> u32 {
    const NAME: &str = "cublasLtMatmul";
    enter(NAME, |state| {
        let layouts = [a_layout, b_layout, c_layout];
        let Some(found) = described(state, NAME, handle, operation, layouts) else { return INVALID };
        if [alpha, beta].iter().any(|scale| scale.is_null())
            || algorithm.is_null()
            || (c, c_layout) != (d, d_layout)
        {
            return INVALID;
        }
        // SAFETY: the algorithm comes from the heuristic.
        let [mark, number, needs, ..] = unsafe { *algorithm };
        if mark != ALGORITHM
            || needs > bytes as u64
            || (needs > 0 && !workspace.is_multiple_of(256))
            || a == 0
            || b == 0
        {
            state.violation(format!("{NAME}: algorithm {number} was given {bytes} bytes at {workspace:#x}"));
            return INVALID;
        }
        state.lines.push(note::product(number, (workspace, bytes as u64), is_capturing(stream)));
        let [from, _, to] = found.layouts.map(|layout| layout.bytes());
        let copied = driver::copy(a, c, from.min(to), stream);
        driver::overwrite(workspace, bytes as u64, stream).and(copied).map_or(13, |()| 0)
    })
}

/// The objects that describe a product.
struct ProductDescription {
    operation: Object,
    layouts: [Object; 3],
}

fn described(
    state: &mut State,
    name: &str,
    handle: Id,
    operation: Id,
    layouts: [Id; 3],
) -> Option<ProductDescription> {
    state.object(name, handle, Kind::Lt)?;
    let operation = state.object(name, operation, Kind::Operation)?.clone();
    let [a, b, c] = layouts.map(|layout| state.object(name, layout, Kind::Layout).cloned());
    Some(ProductDescription { operation, layouts: [a?, b?, c?] })
}

/// Lets the `nth` next call of a function fail with a status. 0 requests no failure.
#[unsafe(no_mangle)]
pub extern "C" fn cublasTestFail(name: *const c_char, nth: u32, status: u32) {
    // SAFETY: the test's text.
    alone(|state| unsafe { state.calls.fail(name, nth, status) });
}

/// Sets the workspace that the heuristic requests if the limit allows it.
#[unsafe(no_mangle)]
pub extern "C" fn cublasTestWorkspace(bytes: u64) {
    alone(|state| state.workspace = bytes);
}

/// Returns the number of live handles and descriptions.
#[unsafe(no_mangle)]
pub extern "C" fn cublasTestLive() -> u64 {
    alone(|state| state.live() as u64)
}

/// Passes on the notes since the last call, then the number of calls of each function.
#[unsafe(no_mangle)]
pub extern "C" fn cublasTestTake(hear: LineCallback, data: *mut c_void) {
    pass(&alone(State::take), hear, data);
}
