//! `multimem` instructions on the memory of several devices.

use super::support::{Arg, Device, Loaded, OBJECT};
use cuweave_ptx::parse;
use cuweave_sim_driver::interp::{ATOMIC, Fault, FaultKind, INITIALISED, Program, READ, RunOutcome, WRITTEN};
use cuweave_testkit::multimem::{Form, instructions, module};
use cuweave_testkit::random::Random;

const THREADS: usize = 40;

#[test]
fn each_form_type_and_operation_reaches_all_devices() {
    let all = instructions();
    assert_eq!(all.len(), 148);
    let text = module(&all);
    let mut random = Random::new(5);
    for devices in [1, 2, 3, 8] {
        for (number, instruction) in all.iter().enumerate() {
            let mut device = Device::default();
            let loaded = Loaded::new(&text, &mut device);
            let old: Vec<Vec<u8>> =
                (0..devices).map(|_| instruction.elements(&mut random, THREADS)).collect();
            device.bound = old.iter().map(|bytes| device.put(bytes)).collect();
            let operand = instruction.elements(&mut random, THREADS);
            let own = match instruction.form {
                Form::LoadReduce => device.fresh(operand.len() as u64),
                _ => device.put(&operand),
            };
            let arguments = [Arg::P(OBJECT), Arg::P(own)];
            loaded.go(&device, &format!("k{number}"), 1, THREADS as u32, &arguments);
            let what = &instruction.text;
            if instruction.form == Form::LoadReduce {
                let (ours, expected) = (device.get::<u8>(own), instruction.reduced(&old));
                assert!(instruction.are_equal(&ours, &expected), "{what}: {ours:x?} {expected:x?}");
            }
            let mark = match instruction.form {
                Form::LoadReduce => READ,
                Form::Store => WRITTEN,
                Form::Update => ATOMIC,
            };
            for (&base, old) in device.bound.iter().zip(&old) {
                assert!(device.flags(base).iter().all(|&flags| flags == mark | INITIALISED), "{what}");
                if instruction.form == Form::LoadReduce {
                    assert_eq!(&device.get::<u8>(base), old, "{what}");
                    continue;
                }
                let (ours, expected) = (device.get::<u8>(base), instruction.written(old, &operand));
                assert!(instruction.are_equal(&ours, &expected), "{what}: {ours:x?} {expected:x?}");
            }
        }
    }
}

/// Returns a kernel `k(all, own)` with its parameters in `%rd1` and `%rd2`, the number of the thread in `%r1`, and
/// the addresses of its words in `%rd3` and `%rd4`. The first line of the body has number 13.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.2\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 all, .param .u64 own)\n{{\n\
         .reg .pred %p<3>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;\n.shared .align 16 \
         .b8 s[64];\nld.param.u64 %rd1, [all];\nld.param.u64 %rd2, [own];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd5, \
         %r1, 4;\nadd.s64 %rd3, %rd1, %rd5; add.s64 %rd4, %rd2, %rd5;\n{body}\nret;\n}}\n"
    )
}

/// Runs a kernel with 64 threads and two devices of 128 words. On the second device, the last 64 are unwritten.
fn launch(body: &str, initialised: bool) -> Result<RunOutcome, Fault> {
    let mut device = Device::default();
    let mut loaded = Loaded::new(&kernel(body), &mut device);
    let (first, second) = (device.put(&[1u32; 128]), device.put(&[2u32; 64]));
    device.grow(second, 512);
    device.bound = vec![first, second];
    loaded.options.initialised = initialised;
    loaded.launch(&device, "k", [1, 1, 1], [64, 1, 1], 0, &[Arg::P(OBJECT), Arg::P(second)])
}

#[test]
fn wrong_addresses_are_faults() {
    let fault = |body: &str| {
        let fault = launch(body, true).expect_err(body);
        assert_eq!(fault.line, 13, "{body}: {fault}");
        (fault.kind, fault.message)
    };
    for (body, kind, text) in [
        (
            "multimem.ld_reduce.add.u32 %r2, [%rd3+256];",
            FaultKind::Uninitialised,
            "multimem read of 4 bytes at 0x4000000100, which were never written on device 1",
        ),
        (
            "multimem.red.add.u32 [%rd3+256], %r1;",
            FaultKind::Uninitialised,
            "multimem atomic update of 4 bytes at 0x4000000100, which were never written on device 1",
        ),
        (
            "multimem.st.b64 [%rd1+4], %rd1;",
            FaultKind::Misaligned,
            "multimem write of 8 bytes at 0x4000000004, which is not a multiple of 8",
        ),
        (
            "multimem.ld_reduce.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+8];",
            FaultKind::Misaligned,
            "multimem read of 16 bytes at 0x4000000008, which is not a multiple of 16",
        ),
        (
            "multimem.st.u32 [%rd2], %r1;",
            FaultKind::Bounds,
            "multimem write of 4 bytes at 0x1100000000, which is not an address of a multicast object",
        ),
        (
            "multimem.st.u32 [%rd1+512], %r1;",
            FaultKind::Bounds,
            "multimem write of 4 bytes at 0x4000000200, which is not an address of a multicast object",
        ),
        (
            "mov.u64 %rd6, s; cvta.shared.u64 %rd6, %rd6; multimem.st.u32 [%rd6], %r1;",
            FaultKind::Bounds,
            "multimem write of 4 bytes at 0xf0000000000000, which is not an address of a multicast object",
        ),
        (
            "st.global.u32 [%rd1], %r1;",
            FaultKind::Bounds,
            "write of 4 bytes at 0x4000000000, an address of a multicast object, which takes only `multimem`",
        ),
        (
            "ld.global.u32 %r2, [%rd1];",
            FaultKind::Bounds,
            "read of 4 bytes at 0x4000000000, an address of a multicast object, which takes only `multimem`",
        ),
        (
            "red.global.add.u32 [%rd1], 1;",
            FaultKind::Bounds,
            "atomic update of 4 bytes at 0x4000000000, an address of a multicast object, which takes only `multimem`",
        ),
    ] {
        assert_eq!(fault(body), (kind, text.to_owned()), "{body}");
    }
    assert!(launch("multimem.ld_reduce.add.u32 %r2, [%rd3+256];", false).is_ok());
    assert!(
        launch("multimem.st.u32 [%rd3+256], %r1; multimem.ld_reduce.add.u32 %r2, [%rd3+256];", true).is_ok()
    );
}

#[test]
fn races_are_found_in_the_memory_of_each_device() {
    let conflicts = |body: &str| launch(body, true).unwrap_or_else(|fault| panic!("{fault}")).conflicts;
    let own = "mov.u64 %rd6, 0x40; add.s64 %rd6, %rd2, %rd6;";
    for body in [
        "multimem.st.u32 [%rd1], %r1;",
        "multimem.st.weak.global.u32 [%rd1], %r1;\nmultimem.ld_reduce.add.u32 %r2, [%rd1];",
        &format!("{own} multimem.st.u32 [%rd1+64], %r1;\nld.global.u32 %r2, [%rd6];"),
        &format!("{own} st.global.u32 [%rd6], %r1;\nmultimem.ld_reduce.max.u32 %r2, [%rd1+64];"),
    ] {
        let found = conflicts(body);
        assert!(!found.is_empty() && found.iter().all(|found| found.kind == FaultKind::Conflict), "{body}");
    }
    for body in [
        "multimem.st.u32 [%rd3], %r1;\nmultimem.ld_reduce.add.u32 %r2, [%rd3];",
        "multimem.st.relaxed.sys.u32 [%rd1], %r1;\nmultimem.ld_reduce.relaxed.sys.add.u32 %r2, [%rd1];",
        "multimem.red.add.u32 [%rd1], %r1;\nmultimem.red.max.u32 [%rd1], %r1;",
        "multimem.ld_reduce.add.u32 %r2, [%rd1];\nld.global.u32 %r2, [%rd2];",
        "multimem.st.u32 [%rd1], %r1;\nbar.sync 0;\nmultimem.ld_reduce.add.u32 %r2, [%rd1];",
    ] {
        let first = body.starts_with("multimem.st.u32 [%rd1]");
        let found = conflicts(body);
        assert!(found.iter().all(|found| first && found.line == 13), "{body}: {found:?}");
    }
}

#[test]
fn what_is_in_no_table_of_the_manual_is_refused_by_its_name() {
    let refusal = |body: &str| {
        let text = kernel(body);
        let module = parse(&text).unwrap_or_else(|error| panic!("{body}: {error}"));
        let program = Program::decode(&module);
        assert_eq!(program.invalid, None, "{body}");
        program.entries[0].supported.clone().expect_err(body)
    };
    for (instruction, operands, why) in [
        (
            "multimem.ld_reduce.add.v4.e4m3x4",
            "{%r1, %r2, %r3, %r4}, [%rd1]",
            "`.e4m3x4`, which needs a target of sm_100a, is not simulated",
        ),
        (
            "multimem.st.v8.e5m2",
            "[%rd1], {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8}",
            "`.e5m2`, which needs a target of sm_100a, is not simulated",
        ),
        ("multimem.ld_reduce.add.s64", "%rd3, [%rd1]", "`.add` is not an operation on .s64"),
        ("multimem.ld_reduce.and.u32", "%r1, [%rd1]", "`.and` is not an operation on .u32"),
        ("multimem.ld_reduce.add.b32", "%r1, [%rd1]", "`.add` is not an operation on .b32"),
        ("multimem.ld_reduce.min.f32", "%f1, [%rd1]", "`.min` is not an operation on .f32"),
        ("multimem.red.max.f16x2", "[%rd1], %r1", "`.max` is not an operation of `multimem.red` on .f16x2"),
        ("multimem.red.max.f64", "[%rd1], %rd3", "`.max` is not an operation on .f64"),
        ("multimem.ld_reduce.add.acc::f32.f32", "%f1, [%rd1]", "`.acc::f32` is not a precision of .f32"),
        ("multimem.ld_reduce.add.acc::f16.f16x2", "%r1, [%rd1]", "`.acc::f16` is not a precision of .f16x2"),
        ("multimem.red.add.acc::f32.f16x2", "[%rd1], %r1", "`multimem.red` has no `.acc::f32`"),
        ("multimem.st.add.f16x2", "[%rd1], %r1", "`multimem.st` has no `.add`"),
        ("multimem.red.f16x2", "[%rd1], %r1", "no operation"),
        ("multimem.red.weak.add.f16x2", "[%rd1], %r1", "`multimem.red` has no `.weak`"),
        ("multimem.st.acquire.sys.u32", "[%rd1], %r1", "`multimem.st` has no `.acquire`"),
        ("multimem.ld_reduce.release.sys.add.u32", "%r1, [%rd1]", "`multimem.ld_reduce` has no `.release`"),
        ("multimem.st.weak.sys.u32", "[%rd1], %r1", "`.weak` with a scope"),
        (
            "multimem.st.relaxed.release.sys.u32",
            "[%rd1], %r1",
            "`.release` beside another modifier of its kind",
        ),
        ("multimem.st.f16", "[%rd1], %h1", ".f16 without a vector"),
        ("multimem.st.v8.f32", "[%rd1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}", ".f32 with `.v8`"),
        ("multimem.st.v2.f64", "[%rd1], {%rd3, %rd4}", ".f64 with `.v2`"),
        ("multimem.st.v2.u32", "[%rd1], {%r1, %r2}", ".u32 with `.v2`"),
        ("multimem.st.v4.f32", "[%rd1], {%f1, %f2}", "2 registers for a vector of 4"),
        ("multimem.st.shared::cta.u32", "[%rd1], %r1", "`.shared::cta` is not a modifier of `multimem`"),
        ("multimem.st.u16", "[%rd1], %h1", "`.u16` is not a modifier of `multimem`"),
        ("multimem.st.global", "[%rd1], %r1", "no type"),
    ] {
        let expected = format!("line 13: `{instruction}`: {why}");
        assert_eq!(refusal(&format!("{instruction} {operands};")), expected);
    }
    assert_eq!(refusal("multimem.made.u32 [%rd1], %r1;"), "line 13: `multimem.made.u32` is not supported");
}
