//! Arguments and results passed through pointers of the program.

use super::status::{Result, Status};

/// Writes a result. Returns an error if the pointer is null.
pub fn write_result<T>(place: *mut T, value: T) -> Result {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: by the contract of the C interface, a non-null pointer points to room for the value.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Writes an optional result. Does nothing if the pointer is null.
pub fn write_optional<T>(place: *mut T, value: T) {
    let _ = write_result(place, value);
}

/// Reads an argument. Returns an error if the pointer is null.
pub fn read_argument<T: Copy>(place: *const T) -> Result<T> {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: by the contract of the C interface, a non-null pointer points to a value.
    Ok(unsafe { place.read_unaligned() })
}

/// Reads an array of `count` elements. Returns an error if the pointer is null and `count` is not 0.
pub fn read_array<T: Copy>(place: *const T, count: usize) -> Result<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if place.is_null() || count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: as in `take`, for each element.
    Ok((0..count).map(|at| unsafe { place.add(at).read_unaligned() }).collect())
}

/// Reads a C string.
pub fn read_text(place: *const std::ffi::c_char) -> Result<String> {
    if place.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: by the contract of the C interface, the text is nul-terminated.
    Ok(unsafe { std::ffi::CStr::from_ptr(place) }.to_string_lossy().into_owned())
}
