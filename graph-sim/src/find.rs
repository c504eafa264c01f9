//! The search for the simulated driver's library.
//!
//! Cargo puts the library into `target/<profile>/deps`, with a hash in its name if this crate comes from a
//! registry. Tests and benches are in the same folder, binaries beside it, and examples in
//! `target/<profile>/examples`. Doc tests may be anywhere; for them the build script records the folder.

use std::path::{Path, PathBuf};

/// Returns the folders that may hold the library, nearest first, without duplicates.
pub(crate) fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut add = |folder: PathBuf| {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    };
    if let Some(beside) = std::env::current_exe().ok().as_deref().and_then(Path::parent) {
        add(beside.to_owned());
        add(beside.join("deps"));
        if let Some(above) = beside.parent() {
            add(above.join("deps"));
            add(above.to_owned());
        }
    }
    if !env!("CUWEAVE_SIM_DEPS").is_empty() {
        add(PathBuf::from(env!("CUWEAVE_SIM_DEPS")));
    }
    folders
}

/// Returns the libraries in a folder that may be the simulated driver, newest first.
pub(crate) fn candidates(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let named = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("libcuweave_sim_driver") && name.ends_with(".so")
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(named).collect();
    found.sort_by_key(|path| {
        let time = std::fs::metadata(path).and_then(|data| data.modified()).ok();
        (std::cmp::Reverse(time), path.clone())
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_drivers_libraries_are_candidates() {
        let folder = std::env::temp_dir().join(format!("cuweave-find-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for name in [
            "libcuweave_sim_driver.so",
            "libcuweave_sim_driver-1a2b.so",
            "libcuweave_sim_driver.rlib",
            "x.so",
        ] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let mut names: Vec<_> =
            candidates(&folder).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        names.sort();
        assert_eq!(names, ["libcuweave_sim_driver-1a2b.so", "libcuweave_sim_driver.so"]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
