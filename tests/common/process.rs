//! Tests that need a process of their own: what the simulated driver finds breaks its context, what it is has to be said
//! before it is loaded, and what other tests keep is kept for the process.

use std::process::Command;

/// Runs an ignored test of this program in a process of its own, under these environment variables. Gives what it
/// printed.
pub fn apart(test: &str, settings: &[(&str, &str)]) -> String {
    let this = std::env::current_exe().expect("this program");
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
