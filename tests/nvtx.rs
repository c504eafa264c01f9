//! Ranges of NVTX: each node is added in one that names its statements, each launch is in one that names the function.

#![cfg(target_os = "linux")]

use cuweave::prelude::*;
use cuweave_testkit::device::{alone, ramp};
use cuweave_testkit::{process, stand_in};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn copy_to(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

/// Two launches side by side, which become one node, and one after them.
#[cuweave::graph]
fn ranged(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    scale[per_item(n)](&mut x, 2.0, n);
    scale[per_item(n)](&mut y, 3.0, n);
    let sum = axpy[per_item(n)](1.0, &h, &mut y, n);
}

#[test]
#[ignore = "it runs in a process of its own, with a profiler"]
fn in_ranges() {
    let device = alone();
    let (mut x, mut y) = (device.upload(&ramp(100)), device.upload(&ramp(100)));
    let mut exec =
        ranged(&device.ctx, 100, &mut x, &mut y).expect("it builds").instantiate().expect("an exec");
    for _ in 0..2 {
        exec.launch(&device.stream).expect("it launches");
    }
    drop(exec);
    assert_eq!(device.download(&y)[1], 3.0 * (3.0 + 1.0) + 2.0);
}

#[test]
fn nodes_and_launches_are_in_ranges() {
    let folder = stand_in::folder("nvtx", &["profiler"]);
    let (library, file) = (folder.join("libprofiler.so"), folder.join("ranges"));
    let [library, ranges] = [&library, &file].map(|path| path.to_str().expect("a path"));
    process::apart("in_ranges", &[("NVTX_INJECTION64_PATH", library), ("CUWEAVE_TEST_NVTX", ranges)]);
    let text = std::fs::read_to_string(&file).expect("ranges");
    println!("{text}");
    let begun: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    assert_eq!(text.lines().filter(|line| *line == "<").count(), begun.len(), "each range ends");
    assert_eq!(begun.iter().filter(|name| **name == "ranged").count(), 2, "each launch");
    for named in ["`h` (", "`copy_to` (", "`sum` ("] {
        assert!(
            begun.iter().any(|name| name.starts_with(named) && name.contains("tests/nvtx.rs:")),
            "{named}"
        );
    }
    let _ = std::fs::remove_dir_all(folder);
}
