//! Functions of the program that the driver calls: host functions, callbacks and destructors.

use std::cell::Cell;

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function of the program from inside the driver. The function may not call the driver.
pub fn outside<T>(function: impl FnOnce() -> T) -> T {
    let before = IN_CALLBACK.replace(true);
    let result = function();
    IN_CALLBACK.set(before);
    result
}

/// Returns true if the calling thread is inside a function of the program that the driver called.
pub fn is_inside() -> bool {
    IN_CALLBACK.get()
}
