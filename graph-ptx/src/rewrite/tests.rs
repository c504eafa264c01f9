use super::*;
use crate::syntax::parse;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

fn waits(text: &str) -> WaitingModule {
    waiting(&parse(text).unwrap())
}

fn kept(text: &str) -> String {
    let made = waits(&format!("{HEAD}{text}"));
    assert_eq!(made.text, format!("{HEAD}{text}"));
    let [(_, why)] = &made.unchanged[..] else { panic!("{:?}", made.waits) };
    why.to_string()
}

fn batch(shape: GridShape, capacity: u32, waits: bool) -> Batch {
    Batch { entry: "k".to_owned(), name: "many".to_owned(), capacity, shape, waits, registers: None }
}

fn variant(text: &str, batch: &Batch) -> Result<String, Refusal> {
    let text = format!("{HEAD}{text}");
    let made = batched(&parse(&text).unwrap(), std::slice::from_ref(batch))?;
    assert!(parse(&made).unwrap().entry(&batch.name).is_some(), "{made}");
    Ok(made)
}

fn not_batched(text: &str) -> String {
    let text = format!("{HEAD}{text}");
    batchable(&parse(&text).unwrap(), "k").unwrap_err().to_string()
}

#[test]
fn the_wait_comes_before_everything_that_runs() {
    for (body, expected) in [
        ("{ ret; }", "{ griddepcontrol.wait; ret; }"),
        ("{}", "{griddepcontrol.wait; }"),
        ("{ .reg .b32 %r; }", "{ .reg .b32 %r; griddepcontrol.wait; }"),
        (
            "{\n\t.reg .pred %p; // one\n\t.reg .b32 %r;\nL: /* a loop */ @%p bra L;\n}",
            "{\n\t.reg .pred %p; // one\n\t.reg .b32 %r;\ngriddepcontrol.wait; L: /* a loop */ @%p bra L;\n}",
        ),
        ("{ .pragma \"nounroll\"; L: bra L; }", "{ griddepcontrol.wait; .pragma \"nounroll\"; L: bra L; }"),
        ("{ .loc 1 2 3\n ret; }", "{ griddepcontrol.wait; .loc 1 2 3\n ret; }"),
        ("{ { .reg .b32 %r; ret; } }", "{ griddepcontrol.wait; { .reg .b32 %r; ret; } }"),
        ("{ T: .branchtargets L; L: ret; }", "{ griddepcontrol.wait; T: .branchtargets L; L: ret; }"),
        ("{ .reg .b32 %r; ret; .reg .b32 %q; }", "{ .reg .b32 %r; griddepcontrol.wait; ret; .reg .b32 %q; }"),
    ] {
        let made =
            waits(&format!("{HEAD}.file 1 \"a\"\n.entry k(.param .u64 p)\n.maxntid 64\n{body}\n// end\n"));
        assert_eq!(
            made.text,
            format!("{HEAD}.file 1 \"a\"\n.entry k(.param .u64 p)\n.maxntid 64\n{expected}\n// end\n")
        );
        assert_eq!((made.waits, made.unchanged), (vec!["k".to_owned()], vec![]));
    }
}

#[test]
fn loads_that_promise_constant_memory_become_plain() {
    for (load, plain) in [
        ("ld.global.nc.f32 %f, [%rd]", "ld.global.f32 %f, [%rd]"),
        (
            "ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f, %f}, [%rd]",
            "ld.global.L1::no_allocate.L2::128B.v2.f32 {%f, %f}, [%rd]",
        ),
        ("ld.global.ca.nc.u32 %r, [%rd]", "ld.global.ca.u32 %r, [%rd]"),
        ("@%p ld .global .nc .u32 %r, [%rd+4]", "@%p ld .global .u32 %r, [%rd+4]"),
        ("ldu.global.v4.u32 {%r, %r, %r, %r}, [%rd]", "ld.global.v4.u32 {%r, %r, %r, %r}, [%rd]"),
        ("ldu.u32 %r, [%rd]", "ld.u32 %r, [%rd]"),
        ("ld.global.u32 %nc.x, [%rd]", "ld.global.u32 %nc.x, [%rd]"),
    ] {
        let plain = plain.replace(".global .u32 %r, [%rd+4]", ".global  .u32 %r, [%rd+4]");
        let function = |load: &str| format!(".func f() {{ {load}; ret; }}\n");
        let unused = format!(".func g() {{ {load}; ret; }}\n");
        let entry = |load: &str, wait: &str| format!(".entry k() {{ {wait}{load}; call f; ret; }}\n");
        let made = waits(&format!("{HEAD}{}{unused}{}", function(load), entry(load, "")));
        let expected = entry(&plain, "griddepcontrol.wait; ");
        assert_eq!(made.text, format!("{HEAD}{}{unused}{expected}", function(&plain)));
    }
}

#[test]
fn what_may_not_start_early_is_kept() {
    for (text, why) in [
        (
            ".entry k() { griddepcontrol.launch_dependents; ret; }",
            "`griddepcontrol` of its own, in line 4 of the PTX",
        ),
        (
            ".func f() { griddepcontrol.wait; ret; }\n.entry k() { call f; ret; }",
            "`griddepcontrol` of its own, in line 4 of the PTX",
        ),
        (
            ".entry k() { .reg .b32 %r; mov.u32 %r, %envreg2; ret; }",
            "cooperative launches: it reads `%envreg2`",
        ),
        (".entry k() { barrier.cluster.arrive; ret; }", "clusters: `barrier.cluster.arrive`"),
        (".entry k() { .reg .b32 %r; mov.u32 %r, %cluster_ctarank; ret; }", "clusters: `%cluster_ctarank`"),
        (".entry k() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }", "clusters: `.explicitcluster`"),
        (".entry k() .maxclusterrank 8 { ret; }", "clusters: `.maxclusterrank`"),
        (".entry k() .unheard 8 { ret; }", "directive `.unheard`"),
        (
            ".extern .func cudaLaunchDevice;\n.entry k() { call cudaLaunchDevice; ret; }",
            "calls `cudaLaunchDevice`",
        ),
        (".entry k() { .reg .b64 %f; call %f, (), P; ret; }", "cannot be followed, in line 4 of the PTX"),
        (
            ".entry k() { tex.2d.v4.f32.f32 {a, b, c, d}, [t, {x, y}]; ret; }",
            "textures or surfaces: `tex.2d.v4.f32.f32`",
        ),
        (".entry k() { sust.b.1d.b32 [s, {x}], {a}; ret; }", "textures or surfaces"),
        (
            ".entry k(.param .u64 .ptr .const .align 4 p) { .reg .b64 %r; ld.param.u64 %r, [p]; ret; }",
            "constant data by an address, which may be set from outside of the file: `p`, in line 4 of the PTX",
        ),
        (
            ".entry k() { .reg .b64 %r; cvta.to.const.u64 %r, %r; ret; }",
            "`cvta.to.const.u64`, in line 4 of the PTX",
        ),
    ] {
        let found = kept(text);
        assert!(found.contains(why), "{found} instead of {why}");
    }
}

#[test]
fn what_does_no_harm_is_not_kept() {
    for text in [
        ".const .f32 w[2] = {0f3F800000, 0f3F800000};\n.entry k() { .reg .f32 %f; ld.const.f32 %f, [w+4]; ret; }",
        ".const .f32 w;\n.entry k() { ret; }",
        // The host sets it between launches of graphs, which full edges order.
        ".visible .const .f32 w[4];\n.entry k() { .reg .f32 %f; ld.const.f32 %f, [w+4]; ret; }",
        ".visible .const .f32 w = 0f00000000;\n.entry k() { .reg .b64 %r; mov.u64 %r, w; ret; }",
        ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n.entry k() { .param .b32 r; \
            .param .b64 a; call (r), vprintf, (a, a); ret; }",
        ".extern .func cudaGraphSetConditional (.param .b64 a, .param .b32 b);\n.entry k() { .param .b64 a; \
            .param .b32 b; call cudaGraphSetConditional, (a, b); ret; }",
        ".func f() { ret; }\n.entry k() { .reg .b64 %f; mov.u64 %f, f; T: .calltargets f; call %f, T; ret; }",
        ".entry k() { .reg .b32 %envreg2; mov.u32 %envreg2, 1; ret; }",
    ] {
        let made = waits(&format!("{HEAD}{text}"));
        assert_eq!(made.waits, ["k"], "{:?}", made.unchanged);
    }
}

#[test]
fn one_kernel_that_is_kept_does_not_keep_the_others() {
    let text = format!(
        "{}.entry a() {{ barrier.cluster.wait; ret; }}\n.entry b() {{ ret; }}\n",
        HEAD.replace("90", "80")
    );
    let made = waits(&text);
    assert_eq!(made.waits, ["b"]);
    assert_eq!(made.unchanged[0].0, "a");
    assert!(made.text.starts_with(".version 8.0\n.target sm_90\n"));
    // A second rewriting changes nothing.
    let again = waits(&made.text);
    assert_eq!((again.waits, again.text), (vec![], made.text));
}

const COPY: &str = ".visible .entry k(.param .u64 p, .param .align 16 .b8 s[32])\n.maxntid 64, 1, 1\n{\n\t.reg .b32 \
    %r<9>; .reg .b64 %rd<3>;\n\tld.param.u64 %rd1, [p];\n\tld.param.v2.u32 {%r1, %r2}, [s+8];\n\tmov.u32 %r3, \
    %ctaid.x; mov.u32 %r4, %nctaid.z;\n\tmov.b64 %rd2, s; st.global.u32 [%rd1], %r3;\n\tret;\n}\n";

#[test]
fn parameters_come_from_the_record() {
    let made = variant(COPY, &batch(GridShape::Axis(Axis::Z), 3, false)).unwrap();
    assert!(
        made.contains(".visible .entry many(.param .align 16 .b8 cuweave_table[144])\n.maxntid 64, 1, 1\n"),
        "{made}"
    );
    assert!(made.contains("ld.param.u64 %rd1, [%cuweave_record+0];"));
    assert!(made.contains("ld.param.v2.u32 {%r1, %r2}, [%cuweave_record+16+8];"));
    assert!(
        made.contains("mov.b64 %rd2, %cuweave_p0q;")
            && made.contains("add.s64 %cuweave_p0q, %cuweave_record, 16;")
    );
    assert!(made.contains("mov.u32 %r3, %cuweave_cx; mov.u32 %r4, %cuweave_nz;"));
    assert!(made.contains("mov.u32 %cuweave_cx, %ctaid.x;") && made.contains("mov.u32 %cuweave_nz, 1;"));
    assert!(!made.contains("griddepcontrol"));
    let made = variant(COPY, &batch(GridShape::Flat, 5, true)).unwrap();
    // Five first blocks, the shift and 32 segments take 152 bytes, so that the records begin at 160.
    assert!(made.contains("ld.param.u64 %rd1, [%cuweave_record+160];"), "{made}");
    assert_eq!(made.matches("griddepcontrol.wait").count(), 1);
    assert!(
        made.contains("ld.param.u32 %cuweave_s, [cuweave_table+20];"),
        "the shift stands behind the first blocks"
    );
}

#[test]
fn addresses_of_parts_are_those_of_the_parts() {
    let text = ".entry k(.param .u64 p, .param .align 4 .u32 s[4]) { .reg .b64 %rd<5>; mov.u64 %rd1, s[2]; \
        mov.u64 %rd2, s+12; cvta.param.u64 %rd3, s + 4 /* one */; mov.u64 %rd4, s+8; ret; }";
    let made = variant(text, &batch(GridShape::Axis(Axis::Z), 2, false)).unwrap();
    for (number, offset) in [(0, 16), (1, 20), (2, 12)] {
        assert!(made.contains(&format!("add.s64 %cuweave_p{number}q, %cuweave_record, {offset};")), "{made}");
    }
    assert!(made.contains(
        "mov.u64 %rd1, %cuweave_p0q; mov.u64 %rd2, %cuweave_p1q; cvta.param.u64 %rd3, %cuweave_p2q; \
        mov.u64 %rd4, %cuweave_p0q;"
    ));
}

#[test]
fn functions_get_the_grid_from_their_callers() {
    let text = ".func (.param .b32 r) leaf(.param .b32 a);\n.func (.param .b32 r) leaf(.param .b32 a) { .reg .b32 %r; \
        mov.u32 %r, %nctaid.y; st.param.b32 [r], %r; ret; }\n\
        .func old (.reg .b32 a) { .reg .pred %p; .reg .b32 %r<5>; @%p mov.v4.u32 {%r1, %r2, _, %r4}, %ctaid; ret; }\n\
        .func middle { .param .b32 r, a; call (r), leaf, (a); call old, (1); ret; }\n\
        .func other() { ret; }\n.func unused() { ret; }\n\
        .entry k() { call middle; call other, (); ret; }";
    let made = variant(text, &batch(GridShape::Flat, 2, false)).unwrap();
    assert_eq!(made.matches("leaf(.param .b32 a, .param .b32 cuweave_nyof)").count(), 2, "{made}");
    assert!(
        made.contains(
            "old (.reg .b32 a, .reg .b32 %cuweave_cx, .reg .b32 %cuweave_cy, .reg .b32 %cuweave_cz)"
        ),
        "{made}"
    );
    assert!(made.contains(
        "@%p mov.b32 %r1, %cuweave_cx; @%p mov.b32 %r2, %cuweave_cy; @%p mov.b32 %r4, %cuweave_zero;"
    ));
    assert!(made.contains("call (r), leaf, (a, %cuweave_ny);"), "{made}");
    assert!(made.contains("call old, (1, %cuweave_cx, %cuweave_cy, %cuweave_cz);"));
    assert!(made.contains("call middle, (%cuweave_cx, %cuweave_cy, %cuweave_cz, %cuweave_ny);"));
    assert!(made.contains("call other, ();") && !made.contains("unused"));
}

#[test]
fn variables_that_nothing_writes_are_copied() {
    let text = ".global .u32 unused = 1;\n.const .f32 w[2] = {0f3F800000, 0f40000000};\n.global .u64 t[1] = \
        {generic(u)};\n.global .u32 u = 7;\n.extern .shared .align 16 .b8 dynamic[];\n\
        .entry k(.param .u64 p) { .reg .f32 %f; .reg .b64 %rd<4>; .reg .b32 %r; ld.param.u64 %rd1, [p]; \
        ld.const.f32 %f, [w]; ld.global.u64 %rd2, [t]; mov.u64 %rd3, dynamic; st.global.f32 [%rd1], %f; ret; }";
    let made = variant(text, &batch(GridShape::Axis(Axis::Y), 2, false)).unwrap();
    for copied in [".const .f32 w[2]", ".global .u64 t[1]", ".global .u32 u = 7;", ".extern .shared"] {
        assert!(made.contains(copied), "{copied}: {made}");
    }
    assert!(!made.contains("unused"));
}

#[test]
fn what_cannot_be_one_launch_is_refused() {
    for (text, why) in [
        (".entry other() { ret; }", "no kernel `k`"),
        (".entry k() { griddepcontrol.wait; ret; }", "of its own"),
        (".entry k(.param .texref t) { ret; }", "parameter `t` is a texture"),
        (".entry k() { .reg .b64 %r; mov.u64 %r, %gridid; ret; }", "reads `%gridid`, in line 4 of the PTX"),
        (".entry k() { .reg .b32 %r; mov.u32 %r, %clusterid.x; ret; }", "clusters"),
        (".entry k() { .reg .b16 %h; mov.u16 %h, %ctaid.x; ret; }", "reads `%ctaid.x`, in line 4 of the PTX"),
        (
            ".entry k(.param .u64 p) { .reg .b64 %rd; add.u64 %rd, p, 4; ret; }",
            "parameter `p` in line 4 of the PTX",
        ),
        (
            ".entry k(.param .u64 p) { .reg .b32 %r; ld.u32 %r, [p]; ret; }",
            "parameter `p` in line 4 of the PTX",
        ),
        (
            ".entry k(.param .u64 p) { .reg .b32 %r; call f, (p); ret; }\n.func f(.param .u64 a) { ret; }",
            "parameter `p` in line 4 of the PTX",
        ),
        (
            ".global .u32 c;\n.entry k() { .reg .b32 %r; ld.global.u32 %r, [c]; ret; }",
            "`c`, which may be set from outside",
        ),
        (
            ".global .u32 c = 0;\n.entry k() { .reg .b32 %r; ld.global.u32 %r, [c]; ret; \
                }\n.entry o() { st.global.u32 [c], 1; ret; }",
            "`c`, which is written",
        ),
        (
            ".global .u32 c = 0;\n.entry k(.param .u64 p) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; \
                mov.u64 %rd2, c; st.global.u64 [%rd1], %rd2; ret; }",
            "`c`, whose address escapes",
        ),
        (".const .u32 c;\n.entry k() { .reg .b32 %r; ld.const.u32 %r, [c]; ret; }", "constant data `c`"),
        (
            ".global .attribute(.managed) .u32 c = 0;\n.entry k() { .reg .b32 %r; ld.global.u32 %r, [c]; ret; }",
            "`c`, which has attributes",
        ),
        (
            ".func f() { ret; }\n.global .u64 t = f;\n.entry k() { .reg .b64 %r; ld.global.u64 %r, [t]; ret; }",
            "address of a function",
        ),
        (
            ".func f() { ret; }\n.entry k() { .reg .b64 %f; mov.u64 %f, f; T: .calltargets f; call %f, T; ret; }",
            "cannot be followed",
        ),
        (".entry k() { made.up; ret; }", "`made.up`, in line 4 of the PTX, is not known"),
        (".unheard 1;\n.entry k() { ret; }", "directive `.unheard`, in line 4 of the PTX, is not known"),
        (".entry k(.param .align 4 .b8 p[32760]) { ret; }", "one launch leave no room for those of others"),
        (
            ".func f() { .reg .b32 %r; mov.u32 %r, %ctaid.x; ret; }\n.entry k() { .reg .b32 %r; call f, %r; ret; }",
            "the text of line 5 of the PTX is not understood",
        ),
    ] {
        let found = not_batched(text);
        assert!(found.contains(why), "{found} instead of {why}");
    }
}

#[test]
fn variants_have_limits() {
    let refused = |batch: &Batch| variant(COPY, batch).unwrap_err();
    assert_eq!(refused(&batch(GridShape::Flat, 1000, false)), Refusal::Table { capacity: 1000 });
    assert_eq!(refused(&batch(GridShape::Flat, 0, false)), Refusal::Table { capacity: 0 });
    for name in ["k", "%r1", "", "1st", "a b", "_"] {
        let batch = Batch { name: name.to_owned(), ..batch(GridShape::Flat, 2, false) };
        assert_eq!(refused(&batch), Refusal::Name(name.to_owned()));
    }
    // More than 4 KiB of parameters need a newer version.
    let large = BatchTable::max_members(
        &parse(&format!("{HEAD}{COPY}")).unwrap().entry("k").unwrap().parameters,
        GridShape::Flat,
        MAX_TABLE_BYTES,
    );
    let made = variant(COPY, &batch(GridShape::Flat, large, false)).unwrap();
    assert!(large > 400 && made.starts_with(".version 8.1\n.target sm_90\n"), "{large}");
}

#[test]
fn the_registers_of_a_variant_are_limited() {
    let made = |directives: &str, registers| {
        let text = format!(".entry k(.param .u32 a) {directives} {{ ret; }}");
        variant(&text, &Batch { registers, ..batch(GridShape::Flat, 2, false) }).unwrap()
    };
    let own = ".maxntid 128 .minnctapersm 4";
    assert!(made(own, None).contains(".minnctapersm 4") && !made(own, None).contains(".maxnreg"));
    // Both directives limit the registers: only one of them remains.
    let limited = made(own, Some(40));
    assert!(limited.contains(".maxntid 128") && limited.contains(".maxnreg 40\n"), "{limited}");
    assert!(!limited.contains(".minnctapersm"), "{limited}");
    // The kernel's own limit remains if it is lower.
    let lower = made(".maxnreg 32", Some(40));
    assert!(lower.contains(".maxnreg 32\n") && !lower.contains("40"), "{lower}");
}

#[test]
fn components_of_vectors_are_no_special_registers() {
    let text = ".entry k() { .reg .v4 .b32 %v; .reg .b32 %r; mov.v4.u32 %v, %ctaid; mov.b32 %r, %v.y; ret; }";
    let made = variant(text, &batch(GridShape::Flat, 2, false)).unwrap();
    assert!(made.contains(
        "mov.v4.u32 %v, {%cuweave_cx, %cuweave_cy, %cuweave_cz, %cuweave_zero}; mov.b32 %r, %v.y;"
    ));
    let spins = ".entry k(.param .u64 p) { .reg .v2 .b32 %v; .reg .b64 %rd; .reg .pred %p; ld.param.u64 %rd, [p]; \
        L: ld.volatile.v2.u32 %v, [%rd]; setp.eq.u32 %p, %v.x, 0; @%p bra L; ret; }";
    assert!(not_batched(spins).contains("spins on memory"));
}

#[test]
fn debuggers_see_what_was_written() {
    let text = format!("{}.entry k() {{ ret; }}", HEAD.replace("sm_90", "sm_90, debug"));
    let module = parse(&text).unwrap();
    assert_eq!(batchable(&module, "k"), Err(Refusal::Debug));
    assert_eq!(waiting(&module).waits, ["k"]);
}

#[test]
fn names_are_free() {
    let text = format!("{HEAD}.entry k() {{ .reg .b32 %cuweave, cuweave_0_1; ret; }}");
    let module = parse(&text).unwrap();
    assert_eq!(free_name(&module, "cuweave"), "cuweave_1");
    assert_eq!(free_name(&module, "many"), "many");
    let made = batched(&module, &[batch(GridShape::Flat, 2, false)]).unwrap();
    assert!(made.contains("cuweave_1_table"));
    let names = ["cuweave_1_table", "cuweave_1__2"];
    let batches = names.map(|name| Batch { name: name.to_owned(), ..batch(GridShape::Flat, 2, false) });
    let made = batched(&module, &batches).unwrap();
    assert!(made.contains(".entry cuweave_1_table(.param .align 4 .b8 cuweave__0_table[68])"), "{made}");
}

#[test]
fn generated_kernels_have_the_names_of_their_kernels() {
    let name = |kernels: &[&str], launches| combined_name("cuweave_fused", kernels.iter().copied(), launches);
    assert_eq!(name(&["gate", "up", "gate"], 3), "cuweave_fused_gate_up_x3");
    assert_eq!(name(&["a", "b", "c", "d", "e"], 5), "cuweave_fused_a_b_c_others_x5");
    let long = "n".repeat(100);
    assert_eq!(name(&[&long], 2), format!("cuweave_fused_{}_x2", &long[..40]));
}

/// One loop per kernel, grouped by the condition that ends it.
#[test]
fn loops_that_wait_for_others_are_found() {
    let registers = ".reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .local .b32 depot;";
    let kernel = |body: &str| {
        format!(
            "{HEAD}.func (.param .b32 r) look(.param .b64 a) {{ .reg .b32 %r; ld.volatile.u32 %r, [a]; \
                st.param.b32 [r], %r; ret; }}\n.entry k(.param .u64 p) {{ {registers} \
                ld.param.u64 %rd1, [p];\n{body}\nret; }}"
        )
    };
    let spins = [
        "L: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra L;",
        "L: ld.acquire.gpu.u32 %r1, [%rd1]; add.u32 %r2, %r1, 1; setp.eq.s32 %p1, %r2, 0; @%p1 bra L;",
        "L: membar.gl; ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra L;",
        "L: ld.global.cg.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra L;",
        "L: atom.global.exch.b32 %r1, [%rd1], 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra L;",
        // A lock.
        "L: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra L;",
        "mov.u32 %r2, 0; L: mov.u32 %r3, %r2; atom.cas.b32 %r1, [%rd1], %r3, 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra L;",
        // Through a branch, memory, a call, an inner loop, a guarded return.
        "L: ld.volatile.u32 %r1, [%rd1]; mov.u32 %r2, 0; setp.eq.s32 %p1, %r1, 0; @%p1 bra M; mov.u32 %r2, 1; \
            M: setp.eq.s32 %p2, %r2, 0; @%p2 bra L;",
        "L: ld.volatile.u32 %r1, [%rd1]; st.local.u32 [depot], %r1; ld.local.u32 %r2, [depot]; \
            setp.eq.s32 %p2, %r2, 0; @%p2 bra L;",
        "L: { .param .b64 a; .param .b32 v; st.param.b64 [a], %rd1; call (v), look, (a); ld.param.b32 %r2, [v]; \
            } setp.eq.s32 %p2, %r2, 0; @%p2 bra L;",
        "O: mov.u32 %r5, 0; L: ld.volatile.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra L; add.u32 %r4, %r4, 1; \
            setp.lt.u32 %p2, %r4, 9; @%p2 bra O;",
        "L: ld.volatile.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 ret; bra L;",
        "L: nanosleep.u32 20; ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra L;",
    ];
    for body in spins {
        let text = kernel(body);
        let found = batchable(&parse(&text).unwrap(), "k");
        assert!(matches!(found, Err(Refusal::Spins { line: 6 })), "{found:?}: {body}");
    }
    let ends = [
        // The usual retry compares with the value that was read.
        "ld.global.u32 %r1, [%rd1]; L: mov.u32 %r2, %r1; add.u32 %r3, %r2, 1; \
            atom.global.cas.b32 %r1, [%rd1], %r2, %r3; setp.ne.s32 %p1, %r1, %r2; @%p1 bra L;",
        "L: ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r2, 1; atom.global.cas.b32 %r1, [%rd1], %r2, %r3; \
            setp.ne.s32 %p1, %r1, %r2; @%p1 bra L;",
        // An atomic, or a polling load, in a counted loop.
        "L: atom.global.add.u32 %r1, [%rd1], 1; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 9; @%p2 bra L;",
        "L: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra M; st.global.u32 [%rd1+4], 1; \
            M: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 9; @%p2 bra L;",
        "L: ld.volatile.shared.u32 %r1, [%r2]; setp.eq.s32 %p1, %r1, 0; @%p1 bra L;",
        "L: ld.global.cg.u32 %r1, [%rd2]; add.u64 %rd2, %rd2, 4; setp.ne.s32 %p1, %r1, 0; @%p1 bra L;",
        // Only the same block writes shared memory.
        "L: nanosleep.u32 20; mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0; @!%p1 bra L;",
        "ld.volatile.global.u32 %r1, [%rd1]; L: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r1; @%p2 bra L;",
    ];
    for body in ends {
        let text = kernel(body);
        assert!(batchable(&parse(&text).unwrap(), "k").is_ok(), "{body}");
    }
}

#[test]
fn sums_of_two_products_are_not_batched() {
    let refusal = |body: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .f32 v)\n{{\n.reg .pred q; \
                .reg .f32 a, b, c, d, e; \
             .reg .f64 x, y, z;\nld.param.f32 a, [v];\n{body}\nret;\n}}\n"
        );
        batchable(&parse(&text).unwrap(), "k").err()
    };
    let refused = Some(Refusal::Contraction { line: 8 });
    assert!(refused.as_ref().unwrap().to_string().contains("\n    help: say which: `fmaf("), "{refused:?}");
    assert_eq!(refusal("mul.f32 b, a, a; mul.f32 c, a, b; add.f32 d, b, c;"), refused);
    assert_eq!(refusal("mul.ftz.f32 b, a, a; mul.ftz.f32 c, a, b; sub.ftz.f32 d, b, c;"), refused);
    assert_eq!(refusal("mul.f64 x, x, x; mul.f64 y, x, x; add.f64 z, x, y;"), refused);
    // Through operations that keep the product, in any order of the text, and through local memory.
    assert_eq!(
        refusal("again: neg.f32 c, b; selp.f32 d, c, a, q; add.f32 e, d, b; mul.f32 b, a, a; @q bra again;"),
        refused
    );
    assert_eq!(
        refusal(
            "{ .local .f32 m; mul.f32 b, a, a; st.local.f32 [m], b; ld.local.f32 c, [m]; add.f32 d, b, c; }"
        ),
        refused
    );
    // An approximate quotient ends in a product.
    assert_eq!(refusal("div.full.f32 b, a, a; div.approx.f32 c, a, b; add.f32 d, b, c;"), refused);
    assert_eq!(refusal("rcp.approx.f32 b, a; mul.f32 c, a, b; sub.f32 d, b, c;"), refused);
    assert_eq!(refusal("rcp.approx.ftz.f32 b, a; div.rn.f32 c, a, b; add.f32 d, b, c;"), None);
    // One product, or a product or the sum with an explicit rounding.
    assert_eq!(refusal("mul.f32 b, a, a; add.f32 c, b, a; sub.f32 d, a, b;"), None);
    assert_eq!(refusal("mul.rn.f32 b, a, a; mul.f32 c, a, b; add.f32 d, b, c;"), None);
    assert_eq!(refusal("mul.f32 b, a, a; mul.f32 c, a, b; add.rn.f32 d, b, c;"), None);
    assert_eq!(refusal("mul.f32 b, a, a; mul.f32 c, a, b; add.f32 d, a, a; fma.rn.f32 e, b, c, d;"), None);
}
