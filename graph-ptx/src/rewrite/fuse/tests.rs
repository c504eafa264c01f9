//! Fused kernels as text, and kernels that are rejected.

use super::*;
use crate::coverage::AccessChange;
use crate::syntax::parse;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

fn both(first: &str, second: &str) -> Result<String, Refusal> {
    let texts = [first, second].map(|text| format!("{HEAD}{text}"));
    let modules = [&texts[0], &texts[1]].map(|text| parse(text).unwrap());
    let parts = [(&modules[0], "k"), (&modules[1], "k")];
    let (text, _) =
        fused(&Fusion { parts: &parts, name: "both", block: [64, 1, 1], waits: false, forward: None })?;
    assert!(parse(&text).unwrap().entry("both").is_some(), "{text}");
    Ok(text)
}

fn refused(body: &str) -> String {
    let text = format!("{HEAD}.visible .entry k(.param .u64 x, .param .u32 n) {{ {REGISTERS} {body} ret; }}");
    fusible(&parse(&text).unwrap(), "k").unwrap_err().to_string()
}

fn taken(body: &str) {
    let text = format!("{HEAD}.visible .entry k(.param .u64 x, .param .u32 n) {{ {REGISTERS} {body} ret; }}");
    fusible(&parse(&text).unwrap(), "k").unwrap_or_else(|why| panic!("{body}: {why}"));
}

const REGISTERS: &str = ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; \
                         ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n];";

#[test]
fn returns_go_to_the_end_of_their_body() {
    let body = ".visible .entry k(.param .u64 x) { .reg .pred %p1; setp.eq.u32 %p1, 1, 2; @%p1 ret; exit; }";
    let text = both(body, body).unwrap();
    assert_eq!(text.matches("@%p1 bra cuweave_end0;").count(), 1, "{text}");
    assert!(text.contains("bra cuweave_end1;") && text.contains("cuweave_end0:\nbar.sync 0;"), "{text}");
    assert!(text.contains(".maxntid 64, 1, 1") && text.trim_end().ends_with("ret;\n}"), "{text}");
}

#[test]
fn parameters_lie_behind_one_another() {
    let one = ".visible .entry k(.param .u32 n, .param .u64 x) { .reg .b64 %a; ld.param.u64 %a, [x]; ret; }";
    let other =
        ".visible .entry k(.param .align 16 .b8 s[24]) { .reg .b32 %a; ld.param.u32 %a, [s+20]; ret; }";
    let text = both(one, other).unwrap();
    assert!(text.contains("(.param .align 16 .b8 cuweave_table[40])"), "{text}");
    assert!(text.contains("[cuweave_table+8]") && text.contains("[cuweave_table+36]"), "{text}");
}

#[test]
fn shared_memory_begins_at_one_place() {
    let one = ".shared .align 4 .b8 s[100];\n.visible .entry k() { .reg .b32 %a; mov.u32 %a, s; \
               st.shared.u32 [s+8], %a; ret; }";
    let other = ".extern .shared .align 16 .b8 d[];\n.visible .entry k() { .reg .b32 %a; .shared .b32 t, u; \
                 ld.shared.u32 %a, [u]; ld.shared.u32 %a, [d+4]; ret; }";
    let text = both(one, other).unwrap();
    assert!(text.contains(".shared .align 16 .b8 cuweave_shared[100];"), "{text}");
    assert!(text.contains(".extern .shared .align 16 .b8 cuweave_dynamic[];"), "{text}");
    assert!(text.contains("mov.u32 %a, cuweave_shared;") && text.contains("[cuweave_shared+8]"), "{text}");
    assert!(text.contains("[cuweave_shared+4]") && text.contains("[cuweave_dynamic+4]"), "{text}");
    assert!(!text.contains(".shared .b32 t"), "{text}");
}

#[test]
fn variables_that_are_only_read_are_copied() {
    let table = ".const .align 4 .b32 c[2] = {1, 2};\n.visible .entry k() { .reg .b32 %a; \
                 ld.const.u32 %a, [c+4]; ret; }";
    let other = table.replace("{1, 2}", "{3, 4}");
    let text = both(table, &other).unwrap();
    assert!(text.contains("cuweave_v0_c[2] = {1, 2}") && text.contains("cuweave_v1_c[2] = {3, 4}"), "{text}");
    assert!(text.contains("[cuweave_v0_c+4]") && text.contains("[cuweave_v1_c+4]"), "{text}");
    let written = ".global .b32 g = 1;\n.visible .entry k() { .reg .b32 %a; st.global.u32 [g], %a; ret; }";
    assert!(both(written, table).unwrap_err().to_string().contains("`g`, which is written"));
}

#[test]
fn registers_that_a_path_leaves_unset_are_zero() {
    let body = ".visible .entry k(.param .u64 x) { .reg .pred %p<3>; .reg .f32 %f<4>; .reg .b64 %rd<3>; \
                ld.param.u64 %rd1, [x]; setp.eq.u64 %p1, %rd1, 5; @%p1 ld.global.f32 %f1, [%rd1]; \
                mov.f32 %f2, %f1; st.global.f32 [%rd1], %f2; ret; }";
    let text = both(body, body).unwrap();
    assert_eq!(text.matches("mov.b32 %f1, 0;").count(), 2, "{text}");
    assert!(!text.contains("mov.b32 %f2, 0;") && !text.contains("mov.pred %p1, 0;"), "{text}");
}

#[test]
fn the_barrier_between_is_none_that_counts() {
    let plain = ".visible .entry k() { bar.sync 0; bar.sync 1, 32; ret; }";
    assert!(both(plain, plain).unwrap().contains("end0:\nbar.sync 0;"));
    let counted = ".visible .entry k() { bar.sync 0, 32; bar.sync 1; ret; }";
    assert!(both(plain, counted).unwrap().contains("end0:\nbar.sync 2;"));
}

#[test]
fn a_thread_that_ends_early_misses_no_barrier() {
    let early = "mov.u32 %r2, %tid.x; setp.gt.u32 %p1, %r2, %r1; @%p1 ret; ";
    taken(early);
    assert!(refused(&format!("{early} bar.sync 0;")).contains("before others of the block synchronise"));
    assert!(refused(&format!("{early} shfl.sync.down.b32 %r3, %r2, 1, 31, -1;")).contains("synchronise"));
    // All threads of a block end, or they pass the barrier first.
    taken("mov.u32 %r2, %ctaid.x; setp.gt.u32 %p1, %r2, %r1; @%p1 ret; bar.sync 0;");
    taken(&format!("bar.sync 0; {early}"));
    // The thread decides the condition of the loop.
    assert!(refused(&format!("L: {early} bar.sync 0; bra L;")).contains("synchronise"));
}

/// Compilers merge all returns into one.
#[test]
fn a_thread_that_goes_to_the_end_misses_no_barrier() {
    let guard = "mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 bra END;";
    let vote = "vote.sync.ballot.b32 %r3, %p1, -1;";
    for joint in ["bar.sync 0;", "bar.warp.sync -1;", vote] {
        assert!(refused(&format!("{guard} {joint} END:")).contains("synchronise, in line"), "{joint}");
        // Threads that wait for others later have not ended.
        taken(&format!("{guard} mov.u32 %r4, 0; END: {joint}"));
    }
    taken(&format!("{guard} {vote} END: bar.sync 0;"));
    taken(&format!("{guard} bar.sync 1, 32; END:"));
    assert!(
        refused("mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1; @!%p1 bar.sync 0;").contains("synchronise")
    );
    // A trap ends all threads.
    taken("mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 bra T; bar.sync 0; ret; T: trap;");
    // All threads of a block go the same way, also in loops.
    taken("mov.u32 %r2, %ctaid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 bra END; bar.sync 0; END:");
    taken("mov.u32 %r2, %ntid.x; L: bar.sync 0; shr.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;");
    taken(
        "ld.global.u32 %r2, [%rd1]; L: bar.sync 0; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;",
    );
    assert!(
        refused(
            "mov.u32 %r2, %tid.x; L: bar.sync 0; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;"
        )
        .contains("synchronise")
    );
    // Divergent paths give different values.
    assert!(
        refused(&format!(
            "mov.u32 %r4, 1; {guard} mov.u32 %r4, 2; END: setp.eq.u32 %p2, %r4, 1; @%p2 ret; bar.sync 0;"
        ))
        .contains("synchronise")
    );
}

/// Warps may take different paths to the end; the lanes of one may not.
#[test]
fn warps_end_as_a_whole() {
    let shuffle = "shfl.sync.down.b32 %r3, %r2, 1, 31, -1; END:";
    let whole = "mov.u32 %r2, %tid.x;";
    let row =
        "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r2, %r2, %r3, %r4;";
    for condition in [
        "setp.gt.u32 %p1, %r2, 31;",
        "setp.ge.u32 %p1, %r2, 64;",
        "shr.u32 %r5, %r2, 5; setp.ne.u32 %p1, %r5, 0;",
        "and.b32 %r5, %r2, -32; setp.ge.u32 %p1, %r5, %r1;",
        "shr.u32 %r5, %r2, 6; cvt.u64.u32 %rd2, %r5; setp.ge.u64 %p1, %rd2, %rd1;",
    ] {
        taken(&format!("{whole} {condition} @%p1 bra END; {shuffle}"));
        taken(&format!("{row} {condition} @%p1 bra END; {shuffle}"));
    }
    for condition in [
        "setp.ge.u32 %p1, %r2, 31;",
        "setp.gt.u32 %p1, %r2, 32;",
        "setp.ge.u32 %p1, %r2, %r1;",
        "shr.u32 %r5, %r2, 4; setp.ne.u32 %p1, %r5, 0;",
        "and.b32 %r5, %r2, -16; setp.ge.u32 %p1, %r5, %r1;",
        "add.u32 %r5, %r2, 1; shr.u32 %r5, %r5, 5; setp.ge.u32 %p1, %r5, %r1;",
    ] {
        assert!(
            refused(&format!("{whole} {condition} @%p1 bra END; {shuffle}")).contains("synchronise"),
            "{condition}"
        );
        assert!(
            refused(&format!("{row} {condition} @%p1 bra END; {shuffle}")).contains("synchronise"),
            "{condition}"
        );
    }
    // Rows whose length is not a multiple of a warp.
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 x, .param .u32 n) {{ {REGISTERS} {whole} setp.gt.u32 %p1, %r2, 31; \
         @%p1 bra END; {shuffle} ret; }}"
    );
    let module = parse(&text).unwrap();
    let in_blocks = |block: [u32; 3]| {
        let parts = [(&module, "k"); 2];
        fused(&Fusion { parts: &parts, name: "both", block, waits: false, forward: None }).is_ok()
    };
    assert!(in_blocks([64, 2, 1]) && in_blocks([48, 1, 1]) && !in_blocks([48, 2, 1]));
}

#[test]
fn what_reaches_beyond_its_block_is_refused() {
    for (body, why) in [
        ("atom.global.add.u32 %r2, [%rd1], 1;", "`atom.global.add.u32`"),
        ("red.add.u32 [%rd1], %r1;", "`red.add.u32`"),
        ("membar.gl;", "`membar.gl`"),
        ("ld.volatile.global.u32 %r2, [%rd1];", "`ld.volatile.global.u32`"),
        ("ld.acquire.gpu.global.u32 %r2, [%rd1];", "`ld.acquire.gpu.global.u32`"),
        ("bar.arrive 1, 64;", "the barrier in line"),
        ("bar.sync %r1;", "the barrier in line"),
        ("mov.u32 %r2, %clock;", "`%clock`"),
        ("mov.u32 %r2, %dynamic_smem_size;", "`%dynamic_smem_size`"),
        ("griddepcontrol.wait;", "`griddepcontrol` of its own"),
        ("mov.u32 %r2, %cluster_ctarank;", "in clusters"),
        ("mbarrier.init.shared.b64 [%r1], 1;", "`mbarrier.init.shared.b64`"),
        ("made.up %r2;", "`made.up`"),
    ] {
        assert!(refused(body).contains(why), "{body}: {}", refused(body));
    }
    taken("atom.shared.add.u32 %r2, [%r1], 1; membar.cta; ld.volatile.shared.u32 %r2, [%r1];");
}

/// A product with uses other than sums of its block is rounded depending on these uses.
#[test]
fn products_with_other_uses_fix_their_kernels() {
    let fixed = |uses: &str| {
        let text = format!(
            "{HEAD}.visible .entry k(.param .u64 x, .param .u32 n) {{ {REGISTERS} .reg .f32 %f<9>; setp.ge.u32 %p1, \
             %r1, 5; ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; mul.f32 %f3, %f1, %f2; {uses} \
             st.global.f32 [%rd1], %f4; ret; }}"
        );
        fusible(&parse(&text).unwrap(), "k").unwrap().fixed
    };
    let sum = "sub.f32 %f4, %f1, %f3;";
    for other in [
        "st.global.f32 [%rd1+8], %f3;",
        "max.f32 %f5, %f3, %f1; st.global.f32 [%rd1+8], %f5;",
        "mov.f32 %f5, %f3; st.global.f32 [%rd1+8], %f5;",
        "@%p1 bra L; st.global.f32 [%rd1+8], %f1; L:",
        "neg.f32 %f5, %f3; add.f32 %f6, %f5, %f1; st.global.f32 [%rd1+8], %f6;",
    ] {
        assert!(fixed(&format!("{other} {sum}")), "{other}");
    }
    assert!(fixed("selp.f32 %f5, %f3, %f1, %p1; add.f32 %f4, %f5, %f1;"));
    assert!(!fixed(sum));
    assert!(!fixed(&format!("add.f32 %f5, %f3, %f2; st.global.f32 [%rd1+8], %f5; {sum}")));
    assert!(!fixed("st.global.f32 [%rd1+8], %f3; add.f32 %f4, %f1, %f2;"));
    assert!(!fixed("mul.rn.f32 %f5, %f1, %f2; st.global.f32 [%rd1+8], %f5; sub.f32 %f4, %f1, %f5;"));
    // An approximate quotient ends in a product.
    for quotient in
        ["div.full.f32 %f5, %f1, %f2;", "div.approx.f32 %f5, %f1, %f2;", "rcp.approx.f32 %f5, %f1;"]
    {
        assert!(
            fixed(&format!("{quotient} st.global.f32 [%rd1+8], %f5; sub.f32 %f4, %f1, %f5;")),
            "{quotient}"
        );
    }
    assert!(!fixed("div.rn.f32 %f5, %f1, %f2; st.global.f32 [%rd1+8], %f5; sub.f32 %f4, %f1, %f5;"));
}

#[test]
fn sizes_that_several_parts_read_are_read_once() {
    let body = |reads: &str| {
        format!(
            ".visible .entry k() {{ .reg .b16 %h; .reg .b32 %r<9>; .reg .pred %p1; {reads} \
             mad.lo.s32 %r1, %r1, %r2, %r3; ret; }}"
        )
    };
    let one =
        "mov.u32 %r1, %ctaid.x; @%p1 mov.b32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.y;";
    let other = "mov.u16 %h, %ntid.x; mov.u32 %r2, %ntid.x; mov.u32 %r4, %nctaid.y; mov.u32 %r5, %ntid.z;";
    let text = both(&body(one), &body(other)).unwrap();
    let count = |what: &str| text.matches(what).count();
    // Reads into 16-bit registers and sizes that only one part reads do not change.
    for (size, reads) in [("u32 cuweave_s1, %ntid.x;", 1), ("%ntid.x", 2), ("%nctaid.y", 1), ("%ntid.z", 1)] {
        assert_eq!(count(size), reads, "{size}: {text}");
    }
    for moved in ["@%p1 mov.b32 %r2, cuweave_s1;", "mov.u32 %r2, cuweave_s1;", "mov.u32 %r4, cuweave_s0;"] {
        assert!(text.contains(moved), "{moved}: {text}");
    }
    assert!(both(&body(one), &body("")).unwrap().contains("mov.u32 %r4, %nctaid.y;"));
}

/// Elements that stay in registers are as opaque to the next body as loaded ones: constants, products and reciprocals
/// alike.
#[test]
fn elements_in_registers_are_mixed_with_a_zero() {
    let text = |body: &str| {
        format!(
            "{HEAD}.visible .entry k(.param .u64 x, .param .u32 n) {{ {REGISTERS} .reg .f32 %f<9>; {body} ret; }}"
        )
    };
    let texts = [
        text("rcp.approx.ftz.f32 %f1, %f2; @%p1 st.global.v2.f32 [%rd1], {%f1, 0f3F800000};"),
        text("ld.global.v2.f32 {%f1, %f2}, [%rd1]; rcp.approx.ftz.f32 %f3, %f1; st.global.f32 [%rd1], %f3;"),
    ];
    let modules = [&texts[0], &texts[1]].map(|text| parse(text).unwrap());
    let at = |text: &str, what: &str| text.find(what).unwrap() as u32;
    let change = |at: u32| AccessChange {
        at,
        parameter: 0,
        stores: true,
        stays: false,
        cells: vec![Some(0), Some(1)],
    };
    let forward = ForwardingPlan {
        changes: vec![vec![change(at(&texts[0], "@%p1 st"))], vec![change(at(&texts[1], "ld.global.v2"))]],
        first_set: vec![vec![0, 1], Vec::new()],
        cells: vec![4, 4],
        barriers: vec![false],
        ..ForwardingPlan::default()
    };
    let parts = [(&modules[0], "k"), (&modules[1], "k")];
    let fusion =
        Fusion { parts: &parts, name: "both", block: [64, 1, 1], waits: false, forward: Some(&forward) };
    let (text, table) = fused(&fusion).unwrap();
    let zero = table.zero.unwrap();
    assert!(text.contains(&format!("ld.param.u32 cuweave_z4, [cuweave_table+{zero}];")), "{text}");
    assert!(text.contains("activemask.b32 cuweave_m;\nand.b32 cuweave_z4, cuweave_z4, cuweave_m;"), "{text}");
    for set in [
        "@%p1 mov.b32 cuweave_c0, %f1; @%p1 xor.b32 cuweave_c0, cuweave_c0, cuweave_z4;",
        "@%p1 mov.b32 cuweave_c1, 0x3f800000; @%p1 xor.b32 cuweave_c1, cuweave_c1, cuweave_z4;",
        "mov.b32 %f1, cuweave_c0; mov.b32 %f2, cuweave_c1;",
    ] {
        assert!(text.contains(set), "{set}: {text}");
    }
}
