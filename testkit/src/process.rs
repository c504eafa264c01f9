//! Tests in a process of their own: an error of the simulated driver breaks its context, its settings are read from the
//! environment once, and other tests of the process keep memory and modules.

use std::process::Command;

/// Runs an ignored test of this program in a process of its own, with these environment variables. Returns its output.
pub fn apart(test: &str, settings: &[(&str, &str)]) -> String {
    let this = std::env::current_exe().expect("the path of this program");
    let output = Command::new(this)
        .args(["--exact", test, "--ignored", "--nocapture"])
        .envs(settings.iter().copied())
        .output()
        .expect("it runs");
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    println!("{text}");
    assert!(output.status.success() && text.contains("1 passed"), "`{test}`, in a process of its own, fails");
    text
}
