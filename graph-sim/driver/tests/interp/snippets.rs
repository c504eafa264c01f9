//! Single instructions, compared with values computed by hand or from the definitions in the PTX manual.

use crate::support::{Arg::*, Device, Loaded};

/// Runs each snippet in a kernel of its own. The snippet leaves its result in `%rd1`.
fn check(cases: &[(&str, u64)]) {
    let mut text =
        ".version 8.6\n.target sm_100a\n.address_size 64\n.global .align 8 .b8 data[64];\n".to_owned();
    for (at, (code, _)) in cases.iter().enumerate() {
        text.push_str(&format!(
            ".visible .entry k{at}(.param .u64 out)\n{{\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<19>; \
             .reg .f32 %f<9>; .reg .b64 %rd<19>; .reg .f64 %fd<9>;\n.shared .align 16 .b8 tile[256]; .local \
             .align 8 .b8 own[32];\n{code}\nld.param.u64 %rd18, [out];\nst.global.u64 [%rd18], %rd1;\nret;\n}}\n"
        ));
    }
    let mut device = Device::default();
    let loaded = Loaded::new(&text, &mut device);
    for (at, (code, expected)) in cases.iter().enumerate() {
        assert_eq!(loaded.program.entries[at].supported, Ok(()), "{code}");
        let out = device.fresh(8);
        loaded.go(&device, &format!("k{at}"), 1, 1, &[P(out)]);
        let found = device.get::<u64>(out)[0];
        assert_eq!(found, *expected, "{code}: {found:#x} instead of {expected:#x}");
    }
}

/// Runs snippets whose results have 32 bits.
fn check32(cases: &[(&str, u32)]) {
    let all: Vec<(String, u64)> = cases
        .iter()
        .map(|(code, value)| (format!("{code}\ncvt.u64.u32 %rd1, %r1;"), u64::from(*value)))
        .collect();
    check(&all.iter().map(|(code, value)| (code.as_str(), *value)).collect::<Vec<_>>());
}

fn bits(value: f32) -> u32 {
    value.to_bits()
}

#[test]
fn integer_arithmetic() {
    check32(&[
        ("add.u32 %r1, 0xffffffff, 2;", 1),
        ("sub.s32 %r1, 3, 5;", -2i32 as u32),
        ("add.sat.s32 %r1, 0x7fffffff, 1;", 0x7fff_ffff),
        ("mul.hi.s32 %r1, -3, 0x40000000;", 0xffff_ffff),
        ("mul.lo.u32 %r1, 0x10001, 0x10001;", 0x2_0001),
        ("mul24.lo.s32 %r1, 0xffffff, 3;", -3i32 as u32),
        ("mad.lo.s32 %r1, -4, 5, 1;", -19i32 as u32),
        ("div.s32 %r1, -7, 2;", -3i32 as u32),
        ("rem.s32 %r1, -7, 2;", -1i32 as u32),
        ("div.u32 %r1, 7, 0;", u32::MAX),
        ("sad.s32 %r1, -4, 3, 10;", 17),
        ("min.s32 %r1, -1, 1;", u32::MAX),
        ("max.u32 %r1, -1, 1;", u32::MAX),
        ("abs.s32 %r1, -9;", 9),
        ("neg.s32 %r1, 9;", -9i32 as u32),
        ("mov.u16 %h1, 40000; mov.u16 %h2, 30000; add.u16 %h3, %h1, %h2; cvt.u32.u16 %r1, %h3;", 4464),
        ("mov.u16 %h1, -2; mul.wide.s16 %r1, %h1, 300;", -600i32 as u32),
        ("mov.b16 %h1, 0x8000; shr.s16 %h2, %h1, 20; cvt.s32.s16 %r1, %h2;", u32::MAX),
        ("add.u16x2 %r1, 0x0001ffff, 0x00010001;", 0x0002_0000),
        ("add.cc.u32 %r2, 0xffffffff, 1; addc.u32 %r1, 5, 6;", 12),
        ("sub.cc.u32 %r2, 0, 1; subc.u32 %r1, 5, 1;", 3),
        ("mad.lo.cc.u32 %r2, 0x10000, 0x10000, 0; madc.hi.u32 %r1, 0x10000, 0x10000, 3;", 4),
    ]);
    check(&[
        ("mul.wide.u32 %rd1, 0xffffffff, 0xffffffff;", 0xffff_fffe_0000_0001),
        ("mad.wide.s32 %rd1, -2, 3, -1;", -7i64 as u64),
        ("mul.hi.u64 %rd1, -1, -1;", u64::MAX - 1),
        ("mov.u64 %rd2, -1; add.cc.u64 %rd3, %rd2, 1; addc.u64 %rd1, 0, 0;", 1),
        ("div.s64 %rd1, -9, 4;", -2i64 as u64),
        ("min.s64 %rd1, -9, 4;", -9i64 as u64),
    ]);
}

#[test]
fn bits_and_shifts() {
    check32(&[
        ("shl.b32 %r1, 1, 40;", 0),
        ("shr.s32 %r1, -8, 40;", u32::MAX),
        ("shr.u32 %r1, 0x80000000, 31;", 1),
        ("bfe.u32 %r1, 0xabcdef12, 8, 12;", 0xdef),
        ("bfe.s32 %r1, 0xabcdef12, 8, 12;", 0xffff_fdef),
        ("bfe.s32 %r1, 0x80000000, 28, 10;", 0xffff_fff8),
        ("bfe.u32 %r1, 5, 0, 0;", 0),
        ("bfi.b32 %r1, 0xff, 0x12345678, 8, 4;", 0x1234_5f78),
        ("bfind.u32 %r1, 0x00010000;", 16),
        ("bfind.s32 %r1, -1;", u32::MAX),
        ("bfind.shiftamt.u32 %r1, 0x00010000;", 15),
        ("popc.b32 %r1, 0xf0f0;", 8),
        ("clz.b32 %r1, 0;", 32),
        ("clz.b64 %r1, 1;", 63),
        ("brev.b32 %r1, 1;", 0x8000_0000),
        ("prmt.b32 %r1, 0x33221100, 0x77665544, 0x7305;", 0x7733_0055),
        ("prmt.b32 %r1, 0x80, 0, 0x0008;", 0x8080_80ff),
        ("prmt.b32.f4e %r1, 0x33221100, 0x77665544, 1;", 0x4433_2211),
        ("lop3.b32 %r1, 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96;", 0xf0f0_f0f0 ^ 0xcccc_cccc ^ 0xaaaa_aaaa),
        ("lop3.b32 %r1, 0xff00, 0x0ff0, 0x1234, 0xca;", 0x0ff0 & 0xff00 | 0x1234 & !0xff00),
        ("shf.l.wrap.b32 %r1, 0x80000000, 1, 33;", 3),
        ("shf.l.clamp.b32 %r1, 0x80000001, 1, 40;", 0x8000_0001),
        ("shf.r.wrap.b32 %r1, 0x10, 0x3, 4;", 0x3000_0001),
        ("not.b32 %r1, 5;", !5),
        ("cnot.b32 %r1, 0;", 1),
        ("bmsk.clamp.b32 %r1, 4, 8;", 0xff0),
        ("szext.wrap.s32 %r1, 0xf, 4;", u32::MAX),
        ("fns.b32 %r1, 0xaaaaaaaa, 3, 2;", 5),
        ("dp4a.s32.s32 %r1, 0xff02fe01, 0x01010101, 10;", 10),
        ("dp4a.u32.u32 %r1, 0xff020001, 0x01010101, 0;", 0x102),
        ("dp2a.lo.s32.s32 %r1, 0xffff0002, 0x00000305, 1;", 1 + 2 * 5 - 3),
        ("mov.b64 %rd2, 0x1122334455667788; mov.b64 {%r2, %r1}, %rd2;", 0x1122_3344),
        ("mov.b32 %r2, 0xaabbccdd; mov.b32 {%h1, %h2}, %r2; mov.b32 %r1, {%h2, %h1};", 0xccdd_aabb),
        ("selp.b32 %r1, 1, 2, 0;", 2),
        ("slct.s32.f32 %r1, 1, 2, 0fBF800000;", 2),
    ]);
}

#[test]
fn comparisons() {
    let nan = "mov.f32 %f1, 0f7FC00000; ";
    let p = |test: &str| format!("{nan}{test} selp.b32 %r1, 1, 0, %p1;");
    let cases: Vec<(String, u32)> = vec![
        (p("setp.lt.s32 %p1, -1, 1;"), 1),
        (p("setp.lt.u32 %p1, -1, 1;"), 0),
        (p("setp.hi.u32 %p1, 3, 2;"), 1),
        (p("setp.eq.f32 %p1, %f1, %f1;"), 0),
        (p("setp.ne.f32 %p1, %f1, %f1;"), 0),
        (p("setp.neu.f32 %p1, %f1, %f1;"), 1),
        (p("setp.ltu.f32 %p1, %f1, 0f00000000;"), 1),
        (p("setp.num.f32 %p1, %f1, 0f00000000;"), 0),
        (p("setp.nan.f32 %p1, %f1, 0f00000000;"), 1),
        (p("setp.gt.f64 %p1, 0d3FF0000000000000, 0d0000000000000000;"), 1),
        (p("setp.gt.ftz.f32 %p1, 0f00000001, 0f00000000;"), 0),
        (p("setp.eq.s32 %p2, 1, 2; setp.eq.or.s32 %p1, 1, 1, %p2;"), 1),
        (p("setp.eq.s32 %p2, 1, 1; setp.eq.and.s32 %p1|%p3, 1, 2, %p2; mov.pred %p1, %p3;"), 1),
        (p("mov.b16 %h1, 0x3c00; mov.b16 %h2, 0xbc00; setp.gt.f16 %p1, %h1, %h2;"), 1),
        (p("setp.gt.f16x2 %p2|%p1, 0x3c000000, 0x00003c00;"), 1),
        (p("testp.notanumber.f32 %p1, %f1;"), 1),
        ("set.lt.u32.s32 %r1, -1, 1;".to_owned(), u32::MAX),
        ("set.lt.f32.s32 %r1, -1, 1;".to_owned(), bits(1.0)),
    ];
    check32(&cases.iter().map(|(code, value)| (code.as_str(), *value)).collect::<Vec<_>>());
}

#[test]
fn floats() {
    check32(&[
        ("add.rn.f32 %f1, 0f3F800000, 0f33800000; mov.b32 %r1, %f1;", bits(1.0)),
        ("add.rp.f32 %f1, 0f3F800000, 0f33800000; mov.b32 %r1, %f1;", bits(1.0) + 1),
        ("add.rz.f32 %f1, 0f3F800000, 0fB3000000; mov.b32 %r1, %f1;", bits(1.0) - 1),
        ("add.sat.f32 %f1, 0f3F800000, 0f3F800000; mov.b32 %r1, %f1;", bits(1.0)),
        ("fma.rn.f32 %f1, 0f40000000, 0f40400000, 0f3F800000; mov.b32 %r1, %f1;", bits(7.0)),
        ("div.full.f32 %f1, 0f3F800000, 0f40800000; mov.b32 %r1, %f1;", bits(0.25)),
        ("div.approx.ftz.f32 %f1, 0f3F800000, 0f40800000; mov.b32 %r1, %f1;", bits(0.25)),
        ("sqrt.rn.f32 %f1, 0f40800000; mov.b32 %r1, %f1;", bits(2.0)),
        ("rcp.approx.ftz.f32 %f1, 0f40800000; mov.b32 %r1, %f1;", bits(0.25)),
        ("ex2.approx.f32 %f1, 0f40400000; mov.b32 %r1, %f1;", bits(8.0)),
        ("lg2.approx.f32 %f1, 0f41000000; mov.b32 %r1, %f1;", bits(3.0)),
        ("mul.ftz.f32 %f1, 0f00800000, 0f3F000000; mov.b32 %r1, %f1;", 0),
        ("min.f32 %f1, 0f7FC00000, 0f40800000; mov.b32 %r1, %f1;", bits(4.0)),
        ("max.NaN.f32 %f1, 0f7FC00000, 0f40800000; mov.b32 %r1, %f1;", 0x7fff_ffff),
        ("neg.f32 %f1, 0f3F800000; mov.b32 %r1, %f1;", bits(-1.0)),
        ("copysign.f32 %f1, 0f80000000, 0f3F800000; mov.b32 %r1, %f1;", bits(-1.0)),
        (
            "mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x4000; fma.rn.f16 %h3, %h1, %h2, %h2; cvt.u32.u16 %r1, %h3;",
            0x4400,
        ),
        ("fma.rn.relu.f16x2 %r1, 0x3c00bc00, 0x40004000, 0x00000000;", 0x4000_0000),
        ("fma.rn.bf16x2 %r1, 0x3f803f80, 0x40004000, 0x3f803f80;", 0x4040_4040),
        ("ex2.approx.f16x2 %r1, 0x3c004000;", 0x4000_4400),
        ("tanh.approx.f32 %f1, 0f00000000; mov.b32 %r1, %f1;", 0),
    ]);
    check(&[
        ("add.f64 %fd1, 0d3FF0000000000000, 0d3FF0000000000000; mov.b64 %rd1, %fd1;", 2f64.to_bits()),
        ("rcp.approx.ftz.f64 %fd1, 0d4000000000000000; mov.b64 %rd1, %fd1;", 0.5f64.to_bits()),
        (
            "fma.rz.f64 %fd1, 0d3FF0000000000000, 0d3FF0000000000000, 0d3C80000000000000; mov.b64 %rd1, %fd1;",
            1f64.to_bits(),
        ),
        ("add.rn.f32x2 %rd1, 0x3F8000003F800000, 0x3F80000040000000;", 0x4000_0000_4040_0000),
    ]);
}

#[test]
fn conversions() {
    check32(&[
        ("cvt.rni.s32.f32 %r1, 0f40200000;", 2),
        ("cvt.rpi.s32.f32 %r1, 0f40200000;", 3),
        ("cvt.rzi.u32.f32 %r1, 0fC0200000;", 0),
        ("cvt.rn.f32.s32 %f1, -3; mov.b32 %r1, %f1;", bits(-3.0)),
        ("cvt.rn.f16.f32 %h1, 0f3F800000; cvt.u32.u16 %r1, %h1;", 0x3c00),
        ("cvt.rn.f16x2.f32 %r1, 0f3F800000, 0f40000000;", 0x3c00_4000),
        ("cvt.rn.relu.bf16x2.f32 %r1, 0fBF800000, 0f40000000;", 0x0000_4000),
        ("cvt.rna.tf32.f32 %r1, 0f3F801000;", 0x3f80_2000),
        ("cvt.rn.satfinite.e4m3x2.f32 %h1, 0f3F800000, 0f44800000; cvt.u32.u16 %r1, %h1;", 0x387e),
        ("mov.b16 %h1, 0x3840; cvt.rn.f16x2.e4m3x2 %r1, %h1;", 0x3c00_4000),
        ("cvt.sat.u8.s32 %r1, 300;", 255),
        ("cvt.s8.s32 %r1, 200; ", -56i32 as u32),
        ("cvt.rzi.f32.f32 %f1, 0fC0200000; mov.b32 %r1, %f1;", bits(-2.0)),
        ("cvt.sat.f32.f32 %f1, 0fC0200000; mov.b32 %r1, %f1;", 0),
        ("cvt.pack.sat.s16.s32 %r1, 70000, -3;", 0x7fff_fffd),
        ("cvt.pack.sat.u8.s32.b32 %r1, 300, -3, 0x1234;", 0x1234_ff00),
        ("cvt.rn.f32.f64 %f1, 0d3FB999999999999A; mov.b32 %r1, %f1;", bits(0.1)),
    ]);
    check(&[
        ("cvt.rn.f64.u64 %fd1, -1; mov.b64 %rd1, %fd1;", (u64::MAX as f64).to_bits()),
        ("cvt.rzi.s64.f64 %rd1, 0dC008000000000000;", -3i64 as u64),
        ("cvt.s64.s32 %rd1, -3;", -3i64 as u64),
    ]);
}

#[test]
fn memory() {
    check(&[
        (
            "mov.u64 %rd2, 0x1122334455667788; st.shared.u64 [tile], %rd2; ld.shared.u8 %r1, [tile+7]; \
             cvt.u64.u32 %rd1, %r1;",
            0x11,
        ),
        (
            "mov.b32 %r2, 0x80; st.shared.u8 [tile], %r2; ld.shared.s8 %r1, [tile]; cvt.s64.s32 %rd1, %r1;",
            -128i64 as u64,
        ),
        (
            "st.shared.v4.u32 [tile+16], {1, 2, 3, 4}; ld.shared.v2.u64 {%rd2, %rd1}, [tile+16];",
            0x4_0000_0003,
        ),
        (
            "mov.u64 %rd2, own; cvta.local.u64 %rd3, %rd2; mov.u64 %rd4, 99; st.u64 [%rd3+8], %rd4; \
             ld.local.u64 %rd1, [own+8];",
            99,
        ),
        (
            "mov.u64 %rd2, tile; cvta.shared.u64 %rd3, %rd2; isspacep.shared %p1, %rd3; isspacep.global %p2, \
             %rd3; selp.u64 %rd1, 1, 0, %p1; @%p2 add.u64 %rd1, %rd1, 2;",
            1,
        ),
        ("isspacep.global %p2, data; selp.u64 %rd1, 1, 0, %p2;", 1),
        (
            "ld.global.u64 %rd2, [data]; st.volatile.global.u64 [data+8], -1; ld.acquire.gpu.global.u32 %r1, \
             [data+12]; cvt.u64.u32 %rd1, %r1;",
            0xffff_ffff,
        ),
        (
            "st.shared.u32 [tile], 7; atom.shared.inc.u32 %r1, [tile], 7; ld.shared.u32 %r2, [tile]; mov.b64 \
             %rd1, {%r1, %r2};",
            7,
        ),
        (
            "st.shared.u32 [tile], 0; atom.shared.dec.u32 %r1, [tile], 7; ld.shared.u32 %r2, [tile]; mov.b64 \
             %rd1, {%r1, %r2};",
            7 << 32,
        ),
        (
            "st.shared.u32 [tile], 0x3c003c00; atom.shared.add.noftz.f16x2 %r1, [tile], 0x40000000; \
             ld.shared.u32 %r2, [tile]; cvt.u64.u32 %rd1, %r2;",
            0x4200_3c00,
        ),
        (
            "st.shared.u32 [tile], 5; mov.b16 %h1, 5; mov.b16 %h2, 9; atom.shared.cas.b16 %h3, [tile], %h1, \
             %h2; ld.shared.u32 %r1, [tile]; cvt.u64.u32 %rd1, %r1;",
            9,
        ),
        (
            "st.shared.f64 [tile], 0d3FF0000000000000; red.shared.add.f64 [tile], 0d3FF0000000000000; \
             ld.shared.u64 %rd1, [tile];",
            2f64.to_bits(),
        ),
        (
            "mov.u64 %rd2, data; st.global.v2.u64 [data], {5, 6}; mov.u32 %r1, tile; cp.async.ca.shared.global \
             [%r1], [%rd2], 16, 8; cp.async.wait_all; ld.shared.v2.u64 {%rd1, %rd3}, [tile]; add.u64 %rd1, \
             %rd1, %rd3;",
            5,
        ),
        (
            "mbarrier.init.shared.b64 [tile+64], 1; mov.u64 %rd2, data; st.global.v2.u64 [data], {5, 6}; \
             mov.u32 %r1, tile; mbarrier.arrive.expect_tx.shared.b64 _, [tile+64], 16; \
             mbarrier.test_wait.parity.shared.b64 %p1, [tile+64], 0; \
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd2], 16, [tile+64]; \
             mbarrier.try_wait.parity.shared.b64 %p2, [tile+64], 0; ld.shared.u64 %rd1, [tile+8]; @%p1 mov.u64 \
             %rd1, 0; @!%p2 mov.u64 %rd1, 1;",
            6,
        ),
        (
            "mbarrier.init.shared.b64 [tile], 2; mbarrier.arrive.shared.b64 %rd2, [tile]; \
             mbarrier.test_wait.shared.b64 %p1, [tile], %rd2; mbarrier.arrive.shared.b64 %rd3, [tile]; \
             mbarrier.test_wait.shared.b64 %p2, [tile], %rd2; selp.u64 %rd1, 1, 0, %p2; @%p1 mov.u64 %rd1, 9;",
            1,
        ),
    ]);
}

#[test]
fn control() {
    check32(&[
        ("mov.u32 %r1, 0; L: add.u32 %r1, %r1, 3; setp.lt.u32 %p1, %r1, 20; @%p1 bra.uni L;", 21),
        (
            "mov.u32 %r2, 1; brx.idx %r2, list; list: .branchtargets A, B; A: mov.u32 %r1, 5; bra.uni C; B: \
             mov.u32 %r1, 6; C:",
            6,
        ),
        ("mov.u32 %r1, %ntid.x; mad.lo.u32 %r1, %r1, 10, %laneid;", 10),
        ("mov.u32 %r1, %lanemask_gt;", 0xffff_fffe),
        ("mov.u32 %r1, WARP_SZ;", 32),
        ("mov.u32 %r2, 70; div.u32 %r1, %r2, WARP_SZ; mad.lo.u32 %r1, %r1, -WARP_SZ, %r2;", 6),
        ("mov.u32 %r2, 70; and.b32 %r1, %r2, WARP_SZ-1;", 6),
        ("mov.v4.u32 {%r2, %r1, _, _}, %cluster_nctaid; mov.u32 %r3, %pm0; add.u32 %r1, %r1, %r3;", 1),
        ("mov.u64 %rd2, %current_graph_exec; cvt.u32.u64 %r1, %rd2;", 0),
        ("mov.v4.u32 {%r1, %r2, %r3, _}, %nctaid; mad.lo.u32 %r1, %r1, 10, %r3;", 11),
        ("{ .reg .b32 %r<3>; mov.u32 %r1, 4; } mov.u32 %r1, 8;", 8),
        ("activemask.b32 %r1;", 1),
        ("bar.red.popc.u32 %r1, 0, 1;", 1),
        ("shfl.sync.idx.b32 %r1|%p1, 77, 0, 31, 1;", 77),
        ("elect.sync %r1|%p1, 1; selp.b32 %r1, %r1, 9, %p1;", 0),
        ("griddepcontrol.wait; griddepcontrol.launch_dependents; nanosleep.u32 20; mov.u32 %r1, 1;", 1),
    ]);
}

/// Three groups of a warp wait for each other, through calls and with sleeps. The last lane goes first.
#[test]
fn groups_of_a_warp_take_turns() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n
.func (.param .b32 r) look(.param .b64 a)
{ .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [a]; ld.volatile.global.u32 %r1, [%rd1]; st.param.b32 [r], %r1; ret; }
.visible .entry k(.param .u64 out)
{
.reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<2>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 bra A;
setp.eq.u32 %p1, %r1, 1;
@%p1 bra B;
bra C;
A: { .param .b64 a; .param .b32 r; st.param.b64 [a], %rd1; call.uni (r), look, (a); ld.param.b32 %r2, [r]; }
setp.ne.u32 %p2, %r2, 2;
@%p2 bra A;
mov.u32 %r3, 3;
st.volatile.global.u32 [%rd1], %r3;
bra D;
B: nanosleep.u32 10;
{ .param .b64 a; .param .b32 r; st.param.b64 [a], %rd1; call.uni (r), look, (a); ld.param.b32 %r2, [r]; }
setp.ne.u32 %p2, %r2, 1;
@%p2 bra B;
mov.u32 %r3, 2;
st.volatile.global.u32 [%rd1], %r3;
bra D;
C: mov.u32 %r3, 1;
setp.eq.u32 %p1, %r1, 2;
@%p1 st.volatile.global.u32 [%rd1], %r3;
D: bar.warp.sync 7;
ret;
}
";
    let mut device = Device::default();
    let mut loaded = Loaded::new(text, &mut device);
    loaded.options.limit = 1_000_000;
    let out = device.put(&[0u32]);
    loaded.go(&device, "k", 1, 3, &[P(out)]);
    assert_eq!(device.get::<u32>(out), [3]);
}

/// All blocks of a cooperative launch meet at the workspace, as in CUDA's cooperative groups.
#[test]
fn blocks_of_a_cooperative_launch_meet() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n
.visible .entry k(.param .u64 out)
{
.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
mov.u32 %r1, %envreg2;
mov.u32 %r2, %envreg1;
mov.b64 %rd1, {%r1, %r2};
setp.eq.s64 %p1, %rd1, 0;
@%p1 trap;
atom.add.release.gpu.u32 %r3, [%rd1+4], 1;
mov.u32 %r4, %nctaid.x;
L: ld.acquire.gpu.u32 %r5, [%rd1+4];
setp.lt.u32 %p1, %r5, %r4;
@%p1 bra L;
ld.param.u64 %rd2, [out];
red.global.add.u32 [%rd2], %r5;
ret;
}
";
    let mut device = Device::default();
    let mut loaded = Loaded::new(text, &mut device);
    let out = device.put(&[0u32]);
    assert!(loaded.launch(&device, "k", [4, 1, 1], [1, 1, 1], 0, &[P(out)]).is_err());
    loaded.options.cooperative = true;
    loaded.go(&device, "k", 300, 1, &[P(out)]);
    assert_eq!(device.get::<u32>(out), [300 * 300]);
}

/// Parameters in registers, as in old files, and structs by value in both directions.
#[test]
fn parameters_of_functions() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n
.func (.reg .u32 sum) plus (.reg .u32 a, .reg .u32 b) { add.u32 sum, a, b; ret; }
.func (.param .align 8 .b8 r[16]) swap (.param .align 8 .b8 p[16])
{ .reg .b64 %rd<3>; ld.param.v2.b64 {%rd1, %rd2}, [p]; st.param.b64 [r], %rd2; st.param.b64 [r+8], %rd1; ret; }
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<3>; .reg .b64 %rd<5>;
call.uni (%r1), plus, (%r2, 7);
cvt.u64.u32 %rd1, %r1;
{ .param .align 8 .b8 x[16]; .param .align 8 .b8 y[16];
st.param.b64 [x], %rd1; st.param.b64 [x+8], 40;
call.uni (y), swap, (x);
ld.param.b64 %rd2, [y]; ld.param.b64 %rd3, [y+8]; }
ld.param.u64 %rd4, [out];
st.global.v2.u64 [%rd4], {%rd2, %rd3};
ret;
}
";
    let mut device = Device::default();
    let loaded = Loaded::new(text, &mut device);
    let out = device.fresh(16);
    loaded.go(&device, "k", 1, 1, &[P(out)]);
    assert_eq!(device.get::<u64>(out), [40, 7]);
}
