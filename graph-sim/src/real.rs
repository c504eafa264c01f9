//! The search for a real driver.

use crate::driver::Driver;

type Init = unsafe extern "C" fn(u32) -> u32;
type Number = unsafe extern "C" fn(*mut i32) -> u32;

/// Opens the real driver if it initialises and has a device. The error is the reason if not.
///
/// The library's first name is one that the simulated driver does not have: its SONAME is `libcuda.so`. A driver
/// that does not work is closed again.
pub(crate) fn open() -> Result<Driver, String> {
    let mut reason = String::new();
    for name in ["libcuda.so.1", "libcuda.so", "nvcuda.dll"] {
        // SAFETY: opening the library runs the driver's initialisers, as in every CUDA program.
        match unsafe { libloading::Library::new(name) } {
            Ok(library) => match probe(&library) {
                Ok(driver) => {
                    // The process keeps its driver open.
                    std::mem::forget(library);
                    return Ok(driver);
                }
                Err(why) => reason = format!("`{name}`: {why}"),
            },
            Err(error) if reason.is_empty() => reason = error.to_string(),
            Err(_) => {}
        }
    }
    Err(reason)
}

fn probe(library: &libloading::Library) -> Result<Driver, String> {
    // SAFETY: these functions have these signatures in every version of the driver.
    unsafe {
        if library.get::<extern "C" fn() -> u64>(b"cuweaveSimNonce").is_ok() {
            return Err("it is a simulated one".to_owned());
        }
        let symbol = |error: libloading::Error| error.to_string();
        let init = library.get::<Init>(b"cuInit").map_err(symbol)?;
        let version = library.get::<Number>(b"cuDriverGetVersion").map_err(symbol)?;
        let count = library.get::<Number>(b"cuDeviceGetCount").map_err(symbol)?;
        let call = |name: &str, code: u32| match code {
            0 => Ok(()),
            code => Err(format!("`{name}` gives CUDA error {code}")),
        };
        let (mut number, mut devices) = (0, 0);
        call("cuInit", init(0))?;
        call("cuDriverGetVersion", version(&mut number))?;
        call("cuDeviceGetCount", count(&mut devices))?;
        if devices == 0 {
            return Err("it has no device".to_owned());
        }
        let number = number as u32;
        Ok(Driver { simulated: false, version: (number / 1000, number % 1000 / 10) })
    }
}
