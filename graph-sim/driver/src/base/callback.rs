//! Calls into the program: host functions, stream callbacks and destructors.

use std::cell::Cell;

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function of the program from inside the driver. The function must not call the driver.
pub fn call_program<T>(function: impl FnOnce() -> T) -> T {
    let before = IN_CALLBACK.replace(true);
    let result = function();
    IN_CALLBACK.set(before);
    result
}

/// Returns true if the calling thread is inside a program function that the driver called.
pub fn is_in_callback() -> bool {
    IN_CALLBACK.get()
}
