//! Reports of many launches are short, and `all` has every line.

use cudarc::driver::CudaSlice;
use cuweave::builder::Builder;
use cuweave::prelude::*;
use cuweave::report::{Report, UnfusedPair, UnfusedReason};
use cuweave_testkit::device::{Device, device};

#[cuweave::kernels("tests/kernels/fused.ptx")]
unsafe extern "ptx-kernel" {
    fn linear(x: &mut [u32; n], a: u32, b: u32, n: u32);
    fn mixed(a: &[u32; n], b: &[u32; n], out: &mut [MaybeUninit<u32>; n], n: u32);
    fn sums(x: &mut [u32; n], n: u32);
    fn gathered(x: &[u32; n], at: &[u32; n], y: &mut [MaybeUninit<u32>; n], n: u32);
}

/// Elements of each buffer.
const N: u32 = 256;

/// Returns the report of a graph with 100 launches with different names: forks, joins, and different grids.
fn report(device: &Device) -> Report {
    let buffer = || -> CudaSlice<u32> { device.upload(&vec![0_u32; N as usize]) };
    let mut b = Builder::with_name(&device.ctx, "many");
    let at = b.shared("at", N, buffer());
    let x = b.exclusive("x", N, buffer());
    let [one, other] = ["one", "other"].map(|name| b.exclusive(name, N, buffer()));
    for i in 0..20 {
        let h = b.named(&format!("h{i}")).alloc::<u32>(N);
        b.named(&format!("linear{i}"))
            .launch(linear {}, (4, 64), (x.write(), i, 1_u32, N))
            .expect("a launch");
        let mixing = format!("mixed{i}");
        b.named(&mixing).launch(mixed {}, (4, 64), (&x, &at, h.write(), N)).expect("a launch");
        let gathering = format!("gathered{i}");
        b.named(&gathering).launch(gathered {}, (8, 32), (&x, &at, one.write(), N)).expect("a launch");
        b.named(&format!("sums{i}")).launch(sums {}, (2, 128), (one.write(), N)).expect("a launch");
        let to = if i % 2 == 0 { other } else { x };
        b.named(&format!("join{i}")).launch(mixed {}, (4, 64), (&h, &one, to.write(), N)).expect("a launch");
    }
    b.build().expect("it builds").report()
}

#[test]
fn a_report_of_100_launches_has_12_lines() {
    let device = device();
    let report = report(&device);
    assert_eq!(report.launches, 100);
    let (brief, all) = (report.to_string(), report.all().to_string());
    println!("{brief}\n\n{all}");
    assert!(brief.lines().count() <= 12, "{brief}");
    assert!(all.lines().count() > 40, "{all}");
    for subject in ["not fused", "full edge"] {
        let lines = |text: &str| text.lines().filter(|line| line.trim_start().starts_with(subject)).count();
        let entries = if subject == "not fused" { report.unfused.len() } else { report.full_edges.len() };
        assert_eq!(lines(&all), entries, "{all}");
        assert!((1..=4).contains(&lines(&brief)), "{brief}");
    }
}

#[test]
fn what_has_one_reason_is_one_line() {
    let device = device();
    let report = report(&device);
    let brief = report.to_string();
    let behind =
        brief.lines().filter(|line| line.contains("not fused") && line.contains("would have to wait for"));
    assert_eq!(behind.count(), 1, "{brief}");
    let is_it = |entry: &&UnfusedPair| matches!(entry.reason, UnfusedReason::OtherSuccessor(_));
    let times: usize = report.unfused.iter().filter(is_it).map(|entry| entry.times).sum();
    let line = format!("not fused, {times} times: other statements also depend on the first");
    assert!(brief.contains(&line), "{brief}");
    assert!(brief.contains(" more pairs"), "{brief}");
}
