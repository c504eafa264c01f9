//! Launches must write all elements of their write-only parameters. Too few threads are an error if later reads
//! rely on these elements, and otherwise appear in the report. The kernels come from nvcc, NVRTC and the tests
//! themselves.

use cuweave::Error;
use cuweave::error::ShortLaunch;
use cuweave::prelude::*;
use cuweave::report::DeclaredPart;
use cuweave_testkit::device::alone;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

mod nvcc {
    #[cuweave::kernels("tests/ptx-corpus/nvrtc/basic.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn fill_value(out: &mut [MaybeUninit<f64>; n], value: f64, n: u64);
        pub fn vector_add4(
            a: &[f32; 4 * n4],
            b: &[f32; 4 * n4],
            out: &mut [MaybeUninit<f32>; 4 * n4],
            n4: i32,
        );
        pub fn transpose_tiled(
            input: &[f32; rows * cols],
            out: &mut [MaybeUninit<f32>; rows * cols],
            rows: i32,
            cols: i32,
        );
        pub fn bytes_lookup(table: &[bool; 256], x: &[u8; n], out: &mut [MaybeUninit<bool>; n], n: u64);
    }
    use std::mem::MaybeUninit;
}

mod newer {
    #[cuweave::kernels("tests/ptx-corpus/nvrtc/basic.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn split_sign(
            x: &[f32; n],
            pos: &mut [MaybeUninit<f32>; n],
            neg: &mut [MaybeUninit<f32>; n],
            n: u32,
        );
    }
    use std::mem::MaybeUninit;
}

mod reductions {
    #[cuweave::kernels("tests/ptx-corpus/nvrtc/reduce.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn reduce_block(x: &[f32; n], partial: &mut [MaybeUninit<f32>; 4], n: u32);
    }
    use std::mem::MaybeUninit;
}

#[cuweave::graph]
fn sum(n: u32, grid: u32, x: &[f32; n], y: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    add[(grid, 32)](&x, &y, &mut h, n);
    scale[per_item(n)](&mut h, 2.0, n);
    h
}

/// A program that leaves half of `h` unwritten, and reads it.
#[test]
fn a_launch_of_too_few_threads_is_an_error_that_names_them() {
    let device = alone();
    let x = device.stream.clone_htod(&[1.0_f32; 64]).unwrap();
    let error = sum(&device.ctx, 64, 1, &x, &x).expect_err("half of `h` is not written");
    let Error::Short(short) = &error else { panic!("{error}") };
    let ShortLaunch { at, buffer, extent, written, missing, threads, needed, .. } = &**short;
    assert_eq!((at.name.as_str(), buffer.as_str()), ("add", "h"));
    assert!(at.file.ends_with("coverage.rs"));
    assert_eq!((*extent, *written, *missing), (64, 32, 32));
    assert_eq!((*threads, *needed), (32, Some(64)));
    let line = at.line;
    assert_eq!(
        error.to_string(),
        format!(
            "`add` ({}:{line}): `add` leaves elements of `h` unwritten: a launch of 32 threads writes 32 of the 64 \
             elements of its parameter `out`, and not element 32; 64 threads are needed",
            at.file
        )
    );
    let mut exec = sum(&device.ctx, 64, 2, &x, &x).unwrap().instantiate().unwrap();
    let out = exec.launch(&device.stream).unwrap();
    assert_eq!(device.stream.clone_dtoh(&out).unwrap(), [4.0; 64]);
}

#[cuweave::graph]
fn over(n: u32, grid: u32, out: &mut [f32; n]) {
    set[(grid, 32)](&mut out, 1.0, n);
}

/// All elements of an argument are already initialized.
#[test]
fn what_was_written_before_may_stay() {
    let device = alone();
    let mut out = device.stream.alloc_zeros::<f32>(100).unwrap();
    let graph = over(&device.ctx, 100, 3, &mut out).unwrap();
    let report = graph.report();
    let [short] = &report.unwritten_outputs[..] else { panic!("{report}") };
    assert_eq!((short.written, short.missing, short.parameter.as_str()), (96, 96, "out"));
    assert!(report.to_string().contains("not all written: `set` (line "), "{report}");
    drop(graph);
    assert_eq!(over(&device.ctx, 100, 4, &mut out).unwrap().report().unwritten_outputs, []);
}

#[cuweave::graph]
fn blocks(grid: u32, count: u32, out: &mut [f32; 64]) {
    let h = alloc::<f32>(64);
    set[(grid, 32)](&mut h, 1.0, 64);
    copy(&h, &mut out);
    set[(count, 1)](&mut out, 2.0, 64);
}

/// A setter checks coverage again. If it is refused, the exec is unchanged.
#[test]
fn setters_are_held_to_it() {
    let device = alone();
    let mut out = device.stream.alloc_zeros::<f32>(64).unwrap();
    let mut exec = blocks(&device.ctx, 2, 1, &mut out).unwrap().instantiate().unwrap();
    assert!(matches!(exec.set_grid(1), Err(Error::Short(short)) if short.written == 32));
    assert_eq!(exec.report().unwritten_outputs[0].written, 1);
    exec.set_count(5).unwrap();
    assert_eq!(exec.report().unwritten_outputs[0].written, 5);
    exec.set_count(64).unwrap();
    assert_eq!(exec.report().unwritten_outputs, []);
    exec.set_grid(3).unwrap();
    exec.launch(&device.stream).unwrap();
}

#[cuweave::graph]
fn forms(
    grid: u32,
    tiles: u32,
    table: &[bool; 256],
    x: &[u8; 1000],
    m: &[f32; 1000],
) -> ([bool; 1000], [f32; 1000], [f32; 4], [f64; 1000]) {
    let flags = alloc::<bool>(1000);
    nvcc::bytes_lookup[(grid, 128)](&table, &x, &mut flags, 1000);
    let t = alloc::<f32>(1000);
    nvcc::transpose_tiled[((2, tiles), (32, 8))](&m, &mut t, 25, 40);
    let part = alloc::<f32>(4);
    reductions::reduce_block[(4, 64)](&m, &mut part, 1000);
    let d = alloc::<f64>(1000);
    nvcc::fill_value[(grid, 128)](&mut d, 1.0, 1000);
    let quads = alloc::<f32>(1000);
    nvcc::vector_add4[(2, 125)](&m, &t, &mut quads, 250);
    copy(&quads, &mut t);
    (flags, t, part, d)
}

/// Element types with invalid bit patterns are accepted only if coverage is proved.
#[test]
fn kernels_of_nvcc_and_nvrtc_are_followed() {
    let device = alone();
    let (table, x) =
        (device.stream.clone_htod(&[true; 256]).unwrap(), device.stream.alloc_zeros::<u8>(1000).unwrap());
    let m = device.stream.clone_htod(&[1.0_f32; 1000]).unwrap();
    let graph = forms(&device.ctx, 8, 1, &table, &x, &m).unwrap();
    let report = graph.report();
    let open: Vec<_> =
        report.assumed_declarations.iter().filter(|entry| entry.what == DeclaredPart::Coverage).collect();
    assert!(open.is_empty() && report.unwritten_outputs.is_empty(), "{report}");
    let mut exec = graph.instantiate().unwrap();
    let (flags, t, part, _) = exec.launch(&device.stream).unwrap();
    device.stream.synchronize().unwrap();
    if device.simulated {
        // Only elements that a kernel has written are read.
        let reports = cuweave_sim::take_reports().unwrap();
        assert!(reports.is_empty(), "{reports:?}");
    }
    assert_eq!(device.stream.clone_dtoh(&flags).unwrap(), [true; 1000]);
    assert_eq!(device.stream.clone_dtoh(&t).unwrap(), [2.0; 1000]);
    assert_eq!(device.stream.clone_dtoh(&part).unwrap().iter().sum::<f32>(), 1000.0);
    drop((flags, t, part));
    let error = forms(&device.ctx, 7, 1, &table, &x, &m).err().unwrap();
    assert!(
        matches!(&error, Error::Short(short) if (short.written, short.needed) == (896, Some(1024))),
        "{error}"
    );
}

#[cuweave::graph]
fn signs(n: u32, x: &[f32; n]) -> ([f32; n], [f32; n]) {
    let pos = alloc::<f32>(n);
    let neg = alloc::<f32>(n);
    newer::split_sign[per_item(n)](&x, &mut pos, &mut neg, n);
    (pos, neg)
}

/// Coverage that depends on data is assumed, and the report says why.
#[test]
fn what_is_not_proved_is_listed_with_its_reason() {
    let device = alone();
    let x = device.stream.clone_htod(&[1.0_f32; 64]).unwrap();
    let report = signs(&device.ctx, 64, &x).unwrap().report();
    let open: Vec<_> =
        report.assumed_declarations.iter().filter(|entry| entry.what == DeclaredPart::Coverage).collect();
    assert_eq!(open.len(), 2, "{report}");
    assert_eq!((open[0].kernel.as_str(), open[0].parameter.as_str()), ("split_sign", "neg"));
    assert!(open[0].reason.contains("depends on `setp.ltu.f32"), "{}", open[0].reason);
    assert!(report.to_string().contains("assumed, not proved: split_sign.neg: that all of it is written: "));
}

mod rows {
    #[cuweave::kernels("tests/ptx-corpus/nvrtc/nn.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn softmax_rows(x: &[f32; rows], y: &mut [MaybeUninit<f32>; rows], rows: i32);
    }
    use std::mem::MaybeUninit;
}

#[cuweave::graph]
fn softmax(n: i32, x: &[f32; n], y: &mut [f32; n]) {
    rows::softmax_rows[(1, 32)](&x, &mut y, n);
}

/// A length that the PTX neither proves nor refutes appears in the report.
#[test]
fn extents_that_are_not_proved_are_listed() {
    let device = alone();
    let x = device.stream.alloc_zeros::<f32>(64).unwrap();
    let mut y = device.stream.alloc_zeros::<f32>(64).unwrap();
    let report = softmax(&device.ctx, 64, &x, &mut y).unwrap().report();
    let extents: Vec<_> =
        report.assumed_declarations.iter().filter(|entry| entry.what == DeclaredPart::Extent).collect();
    assert_eq!(extents.len(), 2, "{report}");
    assert!(extents[0].reason.contains("has no bound over the parameters"), "{}", extents[0].reason);
}

mod marks {
    #[cuweave::kernels("tests/kernels/marks.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn scatter(to: &[u32; n], out: &mut [MaybeUninit<u8>; n], n: u32);
        pub fn mark(to: &[u32; n], out: &mut [MaybeUninit<bool>; n], n: u32);
    }
    use std::mem::MaybeUninit;

    /// The same with elements for which all bit patterns are valid.
    pub mod bytes {
        #[cuweave::kernels("tests/kernels/marks.ptx")]
        unsafe extern "ptx-kernel" {
            pub fn mark(to: &[u32; n], out: &mut [MaybeUninit<u8>; n], n: u32);
        }
        use std::mem::MaybeUninit;
    }
}

#[cuweave::graph]
fn marked(n: u32, given: u32, grid: u32, to: &[u32; n]) -> [bool; n] {
    let flags = alloc::<bool>(n);
    marks::mark[(grid, 32)](&to[..given], &mut flags, given);
    flags
}

#[cuweave::graph]
fn marked_bytes(n: u32, grid: u32, to: &[u32; n]) -> ([u8; n], [u8; n]) {
    let bytes = alloc::<u8>(n);
    let some = alloc::<u8>(n);
    marks::bytes::mark[(grid, 32)](&to, &mut bytes, n);
    marks::scatter[(grid, 32)](&to, &mut some, n);
    (bytes, some)
}

/// If coverage is undecided for a configuration, element types with invalid bit patterns are refused, and for
/// others it is assumed.
#[test]
fn invalid_bits_are_kept_out_when_the_graph_is_built() {
    let device = alone();
    let to = device.stream.clone_htod(&[3_u32; 64]).unwrap();
    let mut exec = marked(&device.ctx, 64, 64, 2, &to).unwrap().instantiate().unwrap();
    drop(exec.launch(&device.stream).unwrap());
    let error = marked(&device.ctx, 64, 64, 1, &to).expect_err("half of the flags may be anything");
    assert!(matches!(&error, Error::NotProvedWritten(launch) if launch.buffer == "flags"), "{error}");
    assert!(error.to_string().contains("cannot prove that `mark` writes all elements of `flags`"), "{error}");
    // Fewer elements than the graph returns.
    let error = marked(&device.ctx, 64, 32, 1, &to).expect_err("half of the flags is not written");
    assert!(matches!(&error, Error::PartlyWritten { extent: 32, len: 64, .. }), "{error}");
    let report = marked_bytes(&device.ctx, 64, 1, &to).unwrap().report();
    let open: Vec<_> =
        report.assumed_declarations.iter().filter(|entry| entry.what == DeclaredPart::Coverage).collect();
    assert_eq!(
        open.iter().map(|entry| entry.kernel.as_str()).collect::<Vec<_>>(),
        ["mark", "scatter"],
        "{report}"
    );
}
