//! The context stack of the calling thread.

use std::cell::RefCell;

thread_local! {
    static CURRENT: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Returns the calling thread's current context, or 0.
pub fn current_context() -> u64 {
    CURRENT.with_borrow(|stack| stack.last().copied().unwrap_or(0))
}

/// Sets the calling thread's current context.
pub fn set_current_context(handle: u64) {
    CURRENT.with_borrow_mut(|stack| {
        stack.pop();
        if handle != 0 {
            stack.push(handle);
        }
    });
}

/// Pushes a context on the calling thread's stack.
pub fn push_context(handle: u64) {
    CURRENT.with_borrow_mut(|stack| stack.push(handle));
}

/// Pops a context off the calling thread's stack.
pub fn pop_context() -> Option<u64> {
    CURRENT.with_borrow_mut(Vec::pop)
}
