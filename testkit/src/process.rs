//! Runs tests in a separate process.
//!
//! This is needed because an error of the simulated driver invalidates its context, because its settings are read
//! from the environment only once, and because other tests of the same process hold memory and modules.

use std::path::Path;
use std::process::Command;
use std::sync::Once;

/// Returns true with `UPDATE=1`: expected texts are written. This program then runs again, in a process whose
/// environment says so in the words of trybuild and insta, and ends with it.
pub fn updating() -> bool {
    static AGAIN: Once = Once::new();
    let updating = std::env::var_os("UPDATE").is_some_and(|value| value == "1");
    if updating && std::env::var_os("TRYBUILD").is_none() {
        AGAIN.call_once(|| {
            let this = std::env::current_exe().expect("the path of this program");
            let settings = [("TRYBUILD", "overwrite"), ("INSTA_UPDATE", "always")];
            let again = Command::new(this).args(std::env::args_os().skip(1)).envs(settings).status();
            std::process::exit(again.expect("it runs").code().unwrap_or(1));
        });
    }
    updating
}

/// Compares a text with a snapshot by insta, which `UPDATE=1` writes.
#[macro_export]
macro_rules! assert_snapshot {
    ($($compared:tt)*) => {{
        $crate::process::updating();
        insta::assert_snapshot!($($compared)*);
    }};
}

/// Runs an ignored test of this program in a separate process, with these environment variables. Returns its
/// output.
pub fn apart(test: &str, settings: &[(&str, &str)]) -> String {
    run(&["--exact", test, "--ignored", "--nocapture"], settings, "1 passed")
}

/// Runs all ignored tests of this program in a separate process, one after the other, with these environment
/// variables. The process looks for libraries in `folder` first. Returns its output.
pub fn ignored(folder: &Path, settings: &[(&str, &str)]) -> String {
    let path = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let path = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(path).expect("a path").into_string().expect("a path");
    let settings = [&[("LD_LIBRARY_PATH", path.as_str())], settings].concat();
    let text = run(&["--ignored", "--nocapture", "--test-threads=1"], &settings, " passed; 0 failed");
    assert!(!text.contains("running 0 tests"));
    text
}

/// Runs this program with these arguments and environment variables. Returns its output, which must contain
/// `passed`.
fn run(arguments: &[&str], settings: &[(&str, &str)], passed: &str) -> String {
    let this = std::env::current_exe().expect("the path of this program");
    let output = Command::new(this).args(arguments).envs(settings.iter().copied()).output().expect("it runs");
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    println!("{text}");
    let passed = output.status.success() && text.contains(passed);
    assert!(passed, "{arguments:?}, in a process of its own, fails");
    text
}
