//! Faults report the place where they occurred.

use crate::support::{Arg::*, Device, Loaded};
use cuweave_ptx::isa::Opcode;
use cuweave_sim_driver::interp::{Fault, FaultKind, Program};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Runs a kernel with one pointer parameter. The body begins on line 8.
fn fault(body: &str, block: u32, with: impl Fn(&mut Loaded)) -> Fault {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg \
         .f32 %f<9>;\n.shared .align 16 .b8 tile[64];\n{body}\nret;\n}}\n"
    );
    let mut device = Device::default();
    let mut loaded = Loaded::new(&text, &mut device);
    with(&mut loaded);
    let p = device.fresh(100);
    loaded.launch(&device, "k", [2, 1, 1], [block, 1, 1], 0, &[P(p)]).expect_err("a fault")
}

fn plain(body: &str, block: u32) -> Fault {
    fault(body, block, |_| {})
}

#[test]
fn accesses() {
    let out = plain(
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd1, \
         %rd2;\nst.global.u32 [%rd1], %r1;",
        32,
    );
    assert_eq!((out.kind, out.thread, out.line, out.size), (FaultKind::Bounds, [25, 0, 0], 12, 4));
    assert_eq!(out.message, "write of 4 bytes at 0x1000000064, 4 bytes past the end of an allocation");
    let null = plain("mov.u64 %rd1, 0;\nld.global.u8 %r1, [%rd1];", 1);
    assert_eq!((null.kind, null.address), (FaultKind::Bounds, 0));
    assert_eq!(
        null.to_string(),
        "read of 1 bytes at 0x0, in no live allocation in `k`, block (0, 0, 0), thread (0, 0, 0), PTX line 9"
    );
    let odd = plain("ld.param.u64 %rd1, [p];\nst.global.u32 [%rd1+2], %r1;", 1);
    assert_eq!(odd.kind, FaultKind::Misaligned);
    let vector = plain("ld.param.u64 %rd1, [p];\nst.global.v4.u32 [%rd1+8], {%r1, %r1, %r1, %r1};", 1);
    assert_eq!((vector.kind, vector.size), (FaultKind::Misaligned, 16));
    let fresh = plain("ld.param.u64 %rd1, [p];\n.loc 1 77 3\nld.global.u32 %r1, [%rd1];", 1);
    assert_eq!((fresh.kind, fresh.source), (FaultKind::Uninitialised, Some((String::new(), 77))));
    let partly = plain("ld.param.u64 %rd1, [p];\nst.global.u16 [%rd1], %r1;\nld.global.u32 %r1, [%rd1];", 1);
    assert_eq!(partly.kind, FaultKind::Uninitialised);
    let shared = plain("st.shared.u32 [tile+64], %r1;", 1);
    assert_eq!(shared.kind, FaultKind::Bounds);
    assert!(shared.message.contains("offset 0x40 of 64 bytes of shared memory"), "{}", shared.message);
    let local = plain("mov.u64 %rd1, 4096;\nst.local.u32 [%rd1], %r1;", 1);
    assert_eq!(local.kind, FaultKind::Bounds);
}

#[test]
fn endless_loops_and_traps() {
    let spin = fault("L:\nbra L;", 64, |loaded| loaded.options.limit = 100_000);
    assert_eq!((spin.kind, spin.line), (FaultKind::Limit, 9));
    assert_eq!(spin.message, "more than 100000 instructions in one thread");
    assert_eq!(plain("trap;", 1).kind, FaultKind::Trap);
}

#[test]
fn barriers_that_not_all_reach() {
    let some = plain("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 40;\n@%p1 bar.sync 0, 64;", 64);
    assert_eq!(some.kind, FaultKind::Barrier);
    assert_eq!(some.message, "barrier 0 is never complete: 40 of 64 threads reached it, 24 have ended");
    let odd = plain("bar.sync 1, 96;", 64);
    assert_eq!(odd.message, "barrier 1 for 96 threads in a block of 64");
    let lanes = plain(
        "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 4;\n@%p1 bra L;\nbar.sync 0;\nbra M;\nL:\nbar.warp.sync \
         255;\nbar.sync 0;\nM:",
        32,
    );
    assert_eq!(lanes.kind, FaultKind::Barrier);
}

#[test]
fn calls_without_end() {
    let text = format!(
        "{HEAD}.func f(.param .b32 a)\n{{\n.reg .b32 %r<3>;\n{{ .param .b32 x; st.param.b32 [x], 1; call.uni f, \
         (x); }}\nret;\n}}\n.visible .entry k()\n{{\n{{ .param .b32 x; st.param.b32 [x], 1; call.uni f, (x); \
         }}\nret;\n}}\n"
    );
    let mut device = Device::default();
    let loaded = Loaded::new(&text, &mut device);
    let fault = loaded.launch(&device, "k", [1, 1, 1], [2, 1, 1], 0, &[]).unwrap_err();
    assert_eq!((fault.kind, fault.function.as_ref(), fault.line), (FaultKind::Stack, "f", 7));
    let far = plain("mov.u64 %rd1, 12345;\ncall %rd1, ();", 1);
    assert_eq!(far.kind, FaultKind::Code);
}

#[test]
fn what_is_not_known_makes_one_function_unusable() {
    let text = format!(
        "{HEAD}.visible .entry good() {{ ret; }}\n.visible .entry bad()\n{{\n.reg .b32 %r<3>;\nfrobnicate.b32 \
         %r1, %r2;\nret;\n}}\n.visible .entry worse()\n{{\ncall.uni g, ();\nret;\n}}\n.func g() {{ .reg .b32 \
         %r<2>;\nbra nowhere; }}\n"
    );
    let mut device = Device::default();
    let loaded = Loaded::new(&text, &mut device);
    let supported: Vec<_> = loaded.program.entries.iter().map(|entry| entry.supported.clone()).collect();
    assert_eq!(
        supported,
        [
            Ok(()),
            Err("line 8: `frobnicate.b32` is not supported".to_owned()),
            Err("line 17: `bra`: label `nowhere` is not defined, which is an error in the file".to_owned()),
        ]
    );
    loaded.go(&device, "good", 1, 1, &[]);
    let fault = loaded.launch(&device, "bad", [1, 1, 1], [1, 1, 1], 0, &[]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unsupported);
}

#[test]
fn limits_of_a_block() {
    let text = format!(
        "{HEAD}.visible .entry k()\n{{\n.shared .b8 s[1000];\n.local .b8 l[4000];\n.reg .b32 %r1;\nmov.u32 %r1, \
         s;\nret;\n}}\n"
    );
    let mut device = Device::default();
    let mut loaded = Loaded::new(&text, &mut device);
    assert_eq!((loaded.program.entries[0].shared_bytes, loaded.program.entries[0].local_bytes), (1000, 4000));
    let go = |loaded: &Loaded, shared| loaded.launch(&device, "k", [1, 1, 1], [1, 1, 1], shared, &[]);
    assert!(go(&loaded, 48 << 10).is_ok());
    assert_eq!(go(&loaded, 227 << 10).unwrap_err().kind, FaultKind::Shared);
    loaded.options.stack = 2000;
    assert_eq!(go(&loaded, 0).unwrap_err().kind, FaultKind::Stack);
}

#[test]
fn conflicts_of_warps_in_shared_memory() {
    let conflicts = |body: &str| {
        let text = format!(
            "{HEAD}.visible .entry k()\n{{\n.reg .pred %p<2>; .reg .b32 %r<9>; .shared .b32 s[64];\nmov.u32 \
             %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\nadd.s32 %r2, %r2, %r3;\n{body}\nret;\n}}\n"
        );
        let mut device = Device::default();
        let loaded = Loaded::new(&text, &mut device);
        let mut found = loaded.launch(&device, "k", [1, 1, 1], [64, 1, 1], 0, &[]).unwrap().conflicts;
        found.retain(|fault| fault.kind == FaultKind::Conflict);
        found
    };
    let store = "add.s32 %r4, %r1, 5;\nst.shared.u32 [%r2], %r4;\n";
    let other = "xor.b32 %r5, %r2, 128;\nld.shared.u32 %r6, [%r5];\n";
    let found = conflicts(&format!("{store}{other}"));
    let lines: Vec<_> = found.iter().map(|fault| (fault.kind, fault.line)).collect();
    assert_eq!(lines, [(FaultKind::Conflict, 12), (FaultKind::Conflict, 14)]);
    assert!(found[0].message.contains("used since the last barrier"), "{}", found[0].message);
    assert!(conflicts(&format!("{store}bar.sync 0;\n{other}")).is_empty());
    // The second atomic sees the first one.
    let atomic = "membar.cta;\natom.shared.add.u32 %r7, [s], 0;\nmembar.cta;\n";
    assert!(
        conflicts(&format!("{atomic}setp.ge.u32 %p1, %r1, 32;\n@%p1 bra L;\n{store}{atomic}L:")).is_empty()
    );
    // All threads write the value that is already there.
    assert!(conflicts("mov.u32 %r4, 0;\nst.shared.u32 [s], %r4;\n").is_empty());
    assert_eq!(conflicts("st.shared.u32 [s], %r1;\n").len(), 1);
    // Both warps use the same words, but different bytes, as counters of a histogram do.
    let count = |byte: &str| {
        format!(
            "and.b32 %r4, %r1, 31;\nshl.b32 %r4, %r4, 2;\nadd.s32 %r4, %r4, %r3;\n\
             shr.u32 %r5, %r1, 5;\n{byte}\nadd.s32 %r4, %r4, %r5;\n\
             ld.shared.u8 %r6, [%r4];\nadd.s32 %r6, %r6, 1;\nst.shared.u8 [%r4], %r6;\nld.shared.u8 %r6, [%r4];\n\
             add.s32 %r6, %r6, 1;\nst.shared.u8 [%r4], %r6;\n"
        )
    };
    assert_eq!(conflicts(&count("")), []);
    assert_eq!(conflicts(&count("mov.u32 %r5, 1;")).len(), 3);
}

#[test]
fn files_that_no_driver_takes() {
    let invalid = |body: &str| {
        let text = format!(
            "{HEAD}.visible .entry k()\n{{\n.reg .b32 %r<3>; .reg .f64 %fd<3>; .reg .b16 %h<2>; .reg .pred \
             %p<2>;\n{body}\nret;\n}}\n"
        );
        let mut device = Device::default();
        Loaded::new(&text, &mut device).program.invalid
    };
    for body in [
        "add.s32 %r1, %r2, 4;",
        "mul.wide.u16 %r1, %h1, %h1;",
        "frobnicate %r1;",
        "mov.u32 %r1, %brand_new;",
        "not.pred %p1, %p1;",
    ] {
        assert_eq!(invalid(body), None, "{body}");
    }
    for (body, why) in [
        ("add.s32 %r1, %r2, %r9;", "line 7: `add.s32`: `%r9` is not declared"),
        ("bra L;", "line 7: `bra`: label `L` is not defined"),
        ("st.shared.u32 [tile], %r1;", "line 7: `st.shared.u32`: `tile` is not declared"),
        ("add.f32 %r1, %r2, %fd1;", "line 7: `add.f32`: `%fd1` is .f64 where .f32 is wanted"),
        ("and.b32 %r1, %r1, %p1;", "line 7: `and.b32`: `%p1` is .pred where .b32 is wanted"),
    ] {
        assert_eq!(invalid(body), Some(format!("{why}, which is an error in the file")), "{body}");
    }
}

#[test]
fn reads_of_shared_memory_that_nothing_wrote() {
    let found = |body: &str, initialised: bool| {
        let text = format!(
            "{HEAD}.visible .entry k()\n{{\n.reg .pred %p<2>; .reg .b32 %r<9>; .shared .align 16 .b8 \
             s[256];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\nadd.s32 %r2, %r2, \
             %r3;\n{body}\nret;\n}}\n"
        );
        let mut device = Device::default();
        let mut loaded = Loaded::new(&text, &mut device);
        loaded.options.initialised = initialised;
        loaded.launch(&device, "k", [2, 1, 1], [32, 1, 1], 0, &[]).unwrap().conflicts
    };
    // The neighbour of the last thread has not written.
    let halo = "st.shared.u32 [%r2], %r1;\nbar.sync 0;\nld.shared.u32 %r4, [%r2+4];\n";
    let all = found(halo, true);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((all[0].kind, all[0].thread, all[0].line), (FaultKind::Uninitialised, [31, 0, 0], 13));
    assert!(all[0].message.contains("offset 0x80 of shared memory"), "{}", all[0].message);
    assert!(found(halo, false).is_empty());
    assert!(found("st.shared.u32 [%r2], %r1;\nld.shared.u8 %r4, [%r2+3];\n", true).is_empty());
    assert_eq!(found("st.shared.u8 [%r2], %r1;\nld.shared.u32 %r4, [%r2];\n", true).len(), 1);
    assert_eq!(found("atom.shared.add.u32 %r4, [%r2], 1;\nld.shared.u32 %r4, [%r2];\n", true).len(), 1);
}

#[test]
fn every_opcode_of_the_table_is_run_or_refused_by_its_name() {
    let mut refused = Vec::new();
    for mnemonic in Opcode::ALL.iter().filter_map(|opcode| opcode.mnemonic()) {
        let text = format!(
            "{HEAD}.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n\
             {mnemonic}.made.up.u32 %r1, %r2, %r3, %r4;\nret;\n}}\n"
        );
        let module = cuweave_ptx::parse(&text).expect("it is PTX");
        if let Err(why) = &Program::decode(&module).entries[0].supported {
            assert!(why.starts_with(&format!("line 7: `{mnemonic}.made.up.u32`")), "{why}");
            if why.ends_with("is not supported") {
                refused.push(mnemonic);
            }
        }
    }
    // At least one of each group that is not simulated.
    for mnemonic in ["vadd", "vset4", "tex", "suld", "wgmma", "tcgen05", "tensormap", "alloca"] {
        assert!(refused.contains(&mnemonic), "{mnemonic}");
    }
    assert!(!refused.contains(&"mad") && !refused.contains(&"prmt"));
}
