//! Generates a crate outside the workspace: it must compile, and its test must pass on the simulated
//! driver.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn new(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cuweave-new")).args(arguments).output().unwrap()
}

/// A folder outside the workspace, removed on drop.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn folder(name: &str) -> Folder {
    let folder = std::env::temp_dir().join(format!("cuweave-new-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    Folder(folder)
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A fake nvcc. It checks that its input is the template's file, and outputs the PTX that nvcc 13.0 makes
/// of it.
const NVCC: &str = r#"#!/bin/sh
here=$(dirname "$0")
if [ "$1" = --version ]; then echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit; fi
for last; do :; done
cmp "$last" "$here/soften.cu" || exit 1
while [ $# -gt 0 ]; do case "$1" in --output-file) out=$2;; esac; shift; done
cp "$here/soften.ptx" "$out"
"#;

#[cfg(unix)]
#[test]
fn a_new_crate_passes_its_test() {
    use std::os::unix::fs::PermissionsExt;
    let owned = folder("new");
    let folder = &owned.0;
    let made = folder.join("my-graph");
    let output = new(&[made.to_str().unwrap(), "--cuweave", ROOT]);
    assert!(output.status.success(), "{}", text(&output));
    let nvcc = folder.join("nvcc");
    fs::write(&nvcc, NVCC).unwrap();
    fs::set_permissions(&nvcc, fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(format!("{ROOT}/graph-new/template/kernels/soften.cu"), folder.join("soften.cu")).unwrap();
    fs::copy(format!("{ROOT}/graph-new/tests/soften.ptx"), folder.join("soften.ptx")).unwrap();
    // The workspace's lock file, whose versions are available offline.
    fs::copy(format!("{ROOT}/Cargo.lock"), made.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline"])
        .current_dir(&made)
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated"))
        .env("NVCC", &nvcc)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("test the_graph_is_the_sum_of_its_kernels ... ok"), "{}", text(&output));
}

#[test]
fn mistakes_are_told() {
    let owned = folder("mistakes");
    let folder = &owned.0;
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let told = |arguments: &[&str]| {
        let output = new(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        text(&output).replace(folder.to_str().unwrap(), "FOLDER")
    };
    let usage = "usage: cuweave-new PATH [--name NAME] [--cuweave CHECKOUT]\n";
    assert_eq!(told(&[]), format!("error: where?\n{usage}"));
    assert_eq!(told(&["a", "--lib"]), format!("error: there is no option `--lib`\n{usage}"));
    assert_eq!(told(&["a", "--name"]), format!("error: `--name` takes a value\n{usage}"));
    assert!(told(&[&at("3d")]).starts_with("error: `3d` is no name of a package: use letters"));
    fs::create_dir(folder.join("old")).unwrap();
    assert_eq!(told(&[&at("old")]), "error: `FOLDER/old` is there already\n");
    assert!(told(&[&at("new"), "--cuweave", &at("old")]).contains("is no checkout of cuweave's repository"));
    assert!(!folder.join("new").exists());
}
