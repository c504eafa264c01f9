//! The driver's error log, which `cuLogsDumpToMemory` returns.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::{Mutex, PoisonError};

use super::status::Status;

/// `CUlogsCallback`.
pub type Callback = unsafe extern "C" fn(*mut c_void, c_uint, *mut c_char, usize);

/// The number of lines kept. The real driver's buffer holds some hundreds.
const MAX_LINES: usize = 256;

struct Log {
    /// The number of lines ever written. The C interface uses it as its iterator.
    written: u32,
    lines: std::collections::VecDeque<String>,
    callbacks: Vec<(u64, Callback, usize)>,
    next_callback: u64,
}

static LOG: Mutex<Log> = Mutex::new(Log {
    written: 0,
    lines: std::collections::VecDeque::new(),
    callbacks: Vec::new(),
    next_callback: 1,
});

/// Logs an error and returns it.
pub fn log_error(status: Status, text: impl Into<String>) -> Status {
    let line = format!("[{}] {}", status.name(), text.into());
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    if log.lines.len() == MAX_LINES {
        log.lines.pop_front();
    }
    log.lines.push_back(line.clone());
    log.written = log.written.wrapping_add(1);
    let callbacks = log.callbacks.clone();
    drop(log);
    for (_, callback, data) in callbacks {
        let mut text = line.clone().into_bytes();
        text.push(0);
        // SAFETY: the program registered this function to be called with this argument.
        super::callback::call_program(|| unsafe {
            callback(data as *mut c_void, 0, text.as_mut_ptr().cast(), text.len() - 1)
        });
    }
    status
}

/// Registers a function that is called with every line, and returns its handle.
pub fn register(callback: Callback, data: *mut c_void) -> u64 {
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let handle = log.next_callback;
    log.next_callback += 1;
    log.callbacks.push((handle, callback, data as usize));
    handle
}

/// Unregisters a function. Returns false if the handle is unknown.
pub fn unregister(handle: u64) -> bool {
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let before = log.callbacks.len();
    log.callbacks.retain(|callback| callback.0 != handle);
    log.callbacks.len() < before
}

/// Returns the number of lines ever written.
pub fn position() -> u32 {
    LOG.lock().unwrap_or_else(PoisonError::into_inner).written
}

/// Returns the lines since a position, oldest first, and the position after them.
pub fn since(position: u32) -> (Vec<String>, u32) {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = (log.written.wrapping_sub(position) as usize).min(log.lines.len());
    (log.lines.iter().skip(log.lines.len() - wanted).cloned().collect(), log.written)
}
