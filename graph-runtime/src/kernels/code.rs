//! Machine code from PTX. Each text is linked once and cached in memory, and on disk for other processes
//! (`store.rs`).
//!
//! Loading PTX makes the driver compile under a lock, but its linker does not lock. So the texts that a build
//! needs are linked in parallel, and machine code is loaded afterwards. If linking fails for any reason, the
//! PTX is loaded directly, and the driver's failure is returned.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cudarc::driver::CudaContext;
use sha2::{Digest, Sha256};

use crate::cuda::{self, Context, Driver, Failure, RawModule, Simulator};

use super::store::{self, CodeKey};

/// The maximum size of the code cached in memory, in bytes.
const MAX_MEMORY_BYTES: usize = 64 << 20;
/// The maximum number of texts linked in parallel.
const MAX_LINK_THREADS: usize = 16;

/// The code in memory. Least recently used first.
static MEMORY_CACHE: Mutex<Vec<(CodeKey, Arc<[u8]>)>> = Mutex::new(Vec::new());

/// The result of loading a module. A failure has the log of the driver's compiler.
pub(crate) type Load = std::result::Result<RawModule, (Failure, String)>;

type ChangeCode = Box<dyn FnMut(&str) -> Option<String>>;

thread_local! {
    static CHANGE: RefCell<Option<ChangeCode>> = const { RefCell::new(None) };
}

/// Makes later loads on this thread load another text where `change` returns one, for tests that a verification finds
/// a kernel that computes otherwise. `None` ends the changes.
pub fn change_code(change: Option<ChangeCode>) {
    CHANGE.set(change);
}

/// Loads PTX into a context, and makes the context current.
pub(crate) fn load(driver: &Driver, ctx: &CudaContext, text: &str) -> Load {
    let changed = CHANGE.with_borrow_mut(|change| change.as_mut().and_then(|change| change(text)));
    let text = changed.as_deref().unwrap_or(text);
    driver.enter(Context::from_cudarc(ctx)).map_err(|failure| (failure, String::new()))?;
    if !is_linked(text) {
        return driver.load_module(text.as_bytes());
    }
    let key = key(driver, ctx, text);
    if let Some(code) = known(&key) {
        match driver.load_module(&code) {
            Ok(module) => return Ok(module),
            Err(_) => forget(&key),
        }
    } else if let Ok(code) = driver.link(text)
        && let Ok(module) = driver.load_module(&code)
    {
        keep(key, Arc::from(code));
        return Ok(module);
    }
    driver.load_module(text.as_bytes())
}

/// Links the texts that are not cached yet, in parallel. Ignores failures: loading the text reports them.
pub(crate) fn link_all(driver: &'static Driver, ctx: &CudaContext, texts: &[&str]) {
    let missing: Vec<(CodeKey, &str)> = texts
        .iter()
        .filter(|text| is_linked(text))
        .map(|&text| (key(driver, ctx, text), text))
        .filter(|(key, _)| known(key).is_none())
        .collect();
    if missing.len() < 2 {
        return;
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(MAX_LINK_THREADS).min(missing.len());
    let (next, context) = (AtomicUsize::new(0), Context::from_cudarc(ctx));
    let work = || {
        while let Some((key, text)) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Ok(code) = driver.link(text) {
                keep(*key, Arc::from(code));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let helper = || {
                if driver.enter(context).is_ok() {
                    work();
                }
            };
            // If no thread can be started, this one does all the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, helper);
        }
        work();
    });
}

/// Returns true if a text can be linked on its own. Kernels that set conditions need the device's library,
/// which only loading adds.
fn is_linked(text: &str) -> bool {
    !text.contains("cudaGraphSetConditional")
}

/// Returns the digest of everything that the code of a text depends on.
fn key(driver: &Driver, ctx: &CudaContext, text: &str) -> CodeKey {
    static RELEASE: OnceLock<Vec<u8>> = OnceLock::new();
    let release = RELEASE.get_or_init(|| {
        let simulated = if Simulator::get().is_some() { "simulated" } else { "" };
        let (major, minor) = cuda::version().unwrap_or((0, 0));
        // The driver's release, which is finer than its CUDA version.
        let release = std::fs::read("/proc/driver/nvidia/version").unwrap_or_default();
        [format!("{simulated} {major}.{minor}\n").into_bytes(), release].concat()
    });
    // CUdevice_attribute: compute capability, major and minor.
    let capability = [75, 76].map(|attribute| driver.device_attribute(ctx, attribute).unwrap_or(0));
    let [major, minor] = capability.map(u32::to_le_bytes);
    let length = cuweave_core::index::wide(release.len()).to_le_bytes();
    let parts: [&[u8]; 6] = [b"cuweave code 1", &major, &minor, &length, release, text.as_bytes()];
    parts.iter().fold(Sha256::new(), Sha256::chain_update).finalize().into()
}

/// Returns the cached code of a key.
fn known(key: &CodeKey) -> Option<Arc<[u8]>> {
    let mut kept = MEMORY_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = kept.iter().position(|(known, _)| known == key) {
        let found = kept.remove(at);
        let code = found.1.clone();
        kept.push(found);
        return Some(code);
    }
    drop(kept);
    let code: Arc<[u8]> = Arc::from(store::read(key, Simulator::get().is_some())?);
    remember(*key, code.clone());
    Some(code)
}

/// Caches code in memory and on disk.
fn keep(key: CodeKey, code: Arc<[u8]>) {
    store::write(&key, &code, Simulator::get().is_some());
    remember(key, code);
}

fn remember(key: CodeKey, code: Arc<[u8]>) {
    let mut kept = MEMORY_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    kept.retain(|(known, _)| *known != key);
    kept.push((key, code));
    let mut bytes: usize = kept.iter().map(|(_, code)| code.len()).sum();
    while bytes > MAX_MEMORY_BYTES {
        bytes -= kept.remove(0).1.len();
    }
}

/// Removes code that the driver has rejected.
fn forget(key: &CodeKey) {
    MEMORY_CACHE.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _)| known != key);
    store::remove(key, Simulator::get().is_some());
}
