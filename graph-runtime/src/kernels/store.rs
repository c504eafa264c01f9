//! The cache of machine code on disk, shared between processes. Each text has a file, named by the digest of
//! everything that its code depends on.
//!
//! No operation here fails. A file that cannot be read, is not the user's own or has a wrong digest is treated
//! as missing, and is replaced if possible. A file is written under a temporary name and then renamed, so other
//! processes see it completely or not at all.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

/// The key of cached code: a digest of everything that the code depends on.
pub(crate) type CodeKey = [u8; 32];

/// The environment variable with the cache folder, or `0` or `off` to disable the cache.
const CACHE_VARIABLE: &str = "CUWEAVE_CODE_CACHE";
/// The first bytes of a file. The key, the digest of the code and the code follow.
const MAGIC: &[u8; 16] = b"cuweave code 1\n\0";
const HEADER: usize = MAGIC.len() + 2 * size_of::<CodeKey>();
/// The maximum total size of all files, in bytes. Beyond it, the least recently used are removed.
const MAX_DISK_BYTES: u64 = 256 << 20;
/// The number of files written between two checks of the folder's size.
const WRITES_BETWEEN_PRUNES: u32 = 16;
/// The interval at which uses of a file update its modification time, and the age at which unfinished files are
/// removed.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The folder in which machine code is cached between processes. See [`set_code_cache`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeCache {
    /// The user's cache folder: `$XDG_CACHE_HOME/cuweave` or `$HOME/.cache/cuweave`; on Windows
    /// `%LOCALAPPDATA%\cuweave`. The simulated driver compiles nothing and stores nothing there.
    #[default]
    Default,
    /// No cache on disk.
    Off,
    /// This folder, which is created if it does not exist. It and its files must belong to the user, and nobody
    /// else may have write access.
    At(PathBuf),
}

static CHOSEN: Mutex<CodeCache> = Mutex::new(CodeCache::Default);

/// Sets the folder in which later builds of this process look for machine code and store it.
///
/// The driver compiles PTX when a graph is built. The code is stored in files, up to 256 MiB, so that another
/// process can load it within milliseconds. The files belong to the user alone (mode 0600) and are checked when
/// they are read. A file that is damaged or not the user's own is replaced, and a failure of the disk never
/// fails a build.
///
/// The environment variable `CUWEAVE_CODE_CACHE` takes precedence: a folder, or `0` or `off`.
pub fn set_code_cache(cache: CodeCache) {
    *CHOSEN.lock().unwrap_or_else(PoisonError::into_inner) = cache;
}

/// Returns the cache folder. `None` if nothing is to be stored.
fn folder(simulated: bool) -> Option<PathBuf> {
    let chosen = match std::env::var_os(CACHE_VARIABLE) {
        Some(value) if value.is_empty() || value == "0" || value == "off" => CodeCache::Off,
        Some(value) => CodeCache::At(value.into()),
        None => CHOSEN.lock().unwrap_or_else(PoisonError::into_inner).clone(),
    };
    match chosen {
        CodeCache::Off => None,
        CodeCache::At(folder) => Some(folder),
        CodeCache::Default if simulated => None,
        CodeCache::Default => {
            let absolute = |name: &str| {
                let path = PathBuf::from(std::env::var_os(name)?);
                path.is_absolute().then_some(path)
            };
            let base = if cfg!(windows) {
                absolute("LOCALAPPDATA")
            } else {
                absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
            };
            Some(base?.join("cuweave"))
        }
    }
}

/// Returns the path of a key's file.
fn path(folder: &Path, key: &CodeKey) -> PathBuf {
    let mut name: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    name.push_str(".cubin");
    folder.join(name)
}

/// Returns the stored code of a key.
pub(crate) fn read(key: &CodeKey, simulated: bool) -> Option<Vec<u8>> {
    let path = path(&folder(simulated)?, key);
    let mut file = File::open(&path).ok()?;
    let code = contents(&mut file, key);
    match &code {
        None => drop(fs::remove_file(&path)),
        Some(_) => note_use(&file, &path),
    }
    code
}

/// Returns the code of an open file, if the file is the user's own and intact.
fn contents(file: &mut File, key: &CodeKey) -> Option<Vec<u8>> {
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() > MAX_DISK_BYTES || !is_own(&about) {
        return None;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let (header, code) = bytes.split_at_checked(HEADER)?;
    let expected = [MAGIC.as_slice(), key, &Sha256::digest(code)].concat();
    (header == expected && !code.is_empty()).then(|| code.to_vec())
}

/// Removes the code of a key.
pub(crate) fn remove(key: &CodeKey, simulated: bool) {
    if let Some(folder) = folder(simulated) {
        let _ = fs::remove_file(path(&folder, key));
    }
}

/// Stores the code of a key, if possible.
pub(crate) fn write(key: &CodeKey, code: &[u8], simulated: bool) {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let Some(folder) = folder(simulated) else { return };
    if make_folder(&folder).is_none() {
        return;
    }
    let nth = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let unfinished = folder.join(format!(".{}-{nth}.unfinished", std::process::id()));
    let written = new_file(&unfinished).and_then(|mut file| {
        file.write_all(MAGIC)?;
        file.write_all(key)?;
        file.write_all(&Sha256::digest(code))?;
        file.write_all(code)
    });
    if written.and_then(|()| fs::rename(&unfinished, path(&folder, key))).is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    if nth.is_multiple_of(WRITES_BETWEEN_PRUNES) {
        prune(&folder);
    }
}

/// Creates a file that only the user can access.
fn new_file(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates the folder if needed, and checks that only the user can write to it.
fn make_folder(folder: &Path) -> Option<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).ok()?;
    is_own(&fs::metadata(folder).ok()?).then_some(())
}

/// Returns true if a file or folder belongs to this process's user and nobody else may write to it.
#[cfg(unix)]
fn is_own(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = fs::metadata("/proc/self").map(|process| process.uid());
    about.mode() & 0o022 == 0 && user.is_ok_and(|user| user == about.uid())
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

/// Updates the modification time of a used file once a day, for [`prune`].
fn note_use(file: &File, path: &Path) {
    let used = file.metadata().and_then(|about| about.modified());
    if used.is_ok_and(|used| used.elapsed().is_ok_and(|ago| ago > DAY))
        && let Ok(file) = File::options().write(true).open(path)
    {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Removes abandoned unfinished files. If the files exceed the limit, removes the least recently used until
/// three quarters of it remain.
fn prune(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut kept = Vec::new();
    for entry in entries.flatten() {
        let (path, Ok(about)) = (entry.path(), entry.metadata()) else { continue };
        let Ok(used) = about.modified() else { continue };
        match path.extension() {
            Some(kind) if kind == "cubin" && about.is_file() => kept.push((used, about.len(), path)),
            Some(kind) if kind == "unfinished" && used.elapsed().is_ok_and(|ago| ago > DAY) => {
                let _ = fs::remove_file(path);
            }
            _ => {}
        }
    }
    let mut bytes = kept.iter().fold(0u64, |all, file| all.saturating_add(file.1));
    if bytes <= MAX_DISK_BYTES {
        return;
    }
    kept.sort();
    for (_, size, path) in kept {
        if bytes <= MAX_DISK_BYTES / 4 * 3 {
            return;
        }
        if fs::remove_file(path).is_ok() {
            bytes -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beyond the limit the least recently used files are removed; other files are left alone.
    #[test]
    #[cfg(unix)]
    fn the_folder_is_bounded() {
        let folder = std::env::temp_dir().join(format!("cuweave-store-{}", std::process::id()));
        make_folder(&folder).expect("a folder");
        let now = SystemTime::now();
        let many = 6;
        for nth in 0..many {
            let file = new_file(&folder.join(format!("{nth}.cubin"))).expect("a file");
            file.set_len(MAX_DISK_BYTES / 5).expect("room, with holes");
            file.set_modified(now - Duration::from_secs(60 * (many - nth))).expect("a time");
        }
        let other = new_file(&folder.join("other.txt")).expect("a file");
        other.set_len(MAX_DISK_BYTES).expect("room, with holes");
        prune(&folder);
        let left = |nth: u64| folder.join(format!("{nth}.cubin")).exists();
        assert_eq!([0, 1, 2, 3, 4, 5].map(left), [false, false, false, true, true, true]);
        assert!(folder.join("other.txt").exists());
        fs::remove_dir_all(&folder).expect("the folder goes");
    }
}
