use super::*;
use crate::analysis::facts::AccessClass;
use crate::syntax::parse;

/// Returns the facts about the parameters of kernel `k`: pointers `p` and `q`, and `s`, an eight-byte number.
fn facts(body: &str) -> Vec<ParameterFacts> {
    module(&format!(
        ".entry k(.param .u64 p, .param .u64 q, .param .u64 s) {{\n{REGISTERS}{LOADS}{body}\n ret;\n}}"
    ))
}

fn module(text: &str) -> Vec<ParameterFacts> {
    let text = format!(".version 8.0\n.target sm_90\n.address_size 64\n{text}");
    let module = parse(&text).unwrap();
    Analysis::new(&module).kernel("k", &[true, true, false]).parameters
}

const REGISTERS: &str = ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<19>; .reg .f32 %f<9>;\n";
const LOADS: &str =
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [s]; setp.eq.s64 %p1, %rd3, 0;\n";

fn verdicts(body: &str) -> (AccessClass, AccessClass) {
    let found = facts(body);
    (found[0].access(), found[1].access())
}

use AccessClass::{Atomics, Nothing, Reads, Unknown, Writes};

#[test]
fn loads_and_stores_go_through_what_they_are_based_on() {
    assert_eq!(verdicts("ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd2+4], %f1;"), (Reads, Writes));
    assert_eq!(
        verdicts(
            "cvta.to.global.u64 %rd4, %rd1; mad.lo.s64 %rd5, %rd3, 4, %rd4; st.v2.f32 [%rd5], {%f1, %f2};"
        ),
        (Writes, Nothing)
    );
    assert_eq!(
        verdicts("shl.b64 %rd4, %rd3, 3; add.s64 %rd5, %rd4, %rd2; atom.global.add.u32 %r1, [%rd5], 1;").1,
        Atomics
    );
    assert_eq!(verdicts("setp.eq.u64 %p2, %rd1, %rd2; prefetch.global.L2 [%rd1];"), (Nothing, Nothing));
    assert_eq!(
        verdicts(
            "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2; \
                cp.async.ca.shared.global [%r1], [%rd2], 4;"
        ),
        (Writes, Reads)
    );
}

#[test]
fn a_register_that_is_used_twice_is_two_values() {
    let body =
        "mov.u64 %rd4, %rd1; ld.global.f32 %f1, [%rd4]; mov.u64 %rd4, %rd2; st.global.f32 [%rd4], %f1;";
    assert_eq!(verdicts(body), (Reads, Writes));
    // A guarded move may keep the previous value.
    let body = "mov.u64 %rd4, %rd1; @%p1 mov.u64 %rd4, %rd2; st.global.f32 [%rd4], %f1;";
    assert_eq!(verdicts(body), (Unknown, Unknown));
}

#[test]
fn pointers_that_mix_are_decided_only_where_nothing_is_written() {
    let choose = "selp.b64 %rd4, %rd1, %rd2, %p1;";
    assert_eq!(verdicts(&format!("{choose} ld.global.f32 %f1, [%rd4];")), (Reads, Reads));
    assert_eq!(verdicts(&format!("{choose} st.global.f32 [%rd4], %f1;")), (Unknown, Unknown));
    let halves = "mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd4, {%r1, %r2};";
    assert_eq!(verdicts(&format!("{halves} st.global.f32 [%rd4], %f1;")).0, Unknown);
    // q + (p - q) is p.
    let difference = "sub.s64 %rd4, %rd1, %rd2; add.s64 %rd5, %rd2, %rd4;";
    assert_eq!(verdicts(&format!("{difference} st.global.f32 [%rd5], %f1;")), (Writes, Nothing));
    assert_eq!(
        verdicts("xor.b64 %rd4, %rd1, %rd2; xor.b64 %rd5, %rd4, %rd2; st.global.f32 [%rd5], %f1;").0,
        Unknown
    );
    assert_eq!(
        verdicts("shr.u64 %rd4, %rd1, 1; shl.b64 %rd5, %rd4, 1; st.global.f32 [%rd5], %f1;").0,
        Unknown
    );
}

#[test]
fn loops_keep_their_pointer() {
    let body = "mov.u64 %rd4, %rd1; L: ld.global.f32 %f1, [%rd4]; add.s64 %rd4, %rd4, %rd3; @%p1 bra L;";
    assert_eq!(verdicts(body), (Reads, Nothing));
    // Each iteration exchanges the two registers.
    let body = "mov.u64 %rd4, %rd1; mov.u64 %rd5, %rd2; L: mov.u64 %rd6, %rd4; mov.u64 %rd4, %rd5; \
                mov.u64 %rd5, %rd6; st.global.f32 [%rd4], %f1; @%p1 bra L;";
    assert_eq!(verdicts(body), (Unknown, Unknown));
}

#[test]
fn local_memory_is_followed() {
    let depot = ".local .align 8 .b8 depot[32]; mov.u64 %rd10, depot; cvta.local.u64 %rd11, %rd10;";
    let spill = format!("{depot} st.u64 [%rd11], %rd1; st.local.u64 [%rd10+8], %rd2;");
    assert_eq!(
        verdicts(&format!(
            "{spill} ld.u64 %rd4, [%rd11+8]; ld.local.u64 %rd5, [%rd10]; st.f32 [%rd4], %f1; ld.f32 %f2, [%rd5];"
        )),
        (Reads, Writes)
    );
    // The loaded pointer may be either of them.
    let body = format!("{spill} add.s64 %rd6, %rd11, %rd3; ld.u64 %rd4, [%rd6]; st.f32 [%rd4], %f1;");
    assert_eq!(verdicts(&body), (Unknown, Unknown));
    // The pointer is copied byte by byte.
    let body = format!(
        "{spill} add.s64 %rd6, %rd11, %rd3; ld.u8 %r1, [%rd6]; st.local.u8 [%rd10+16], %r1; \
            ld.local.u64 %rd7, [%rd10+16]; st.f32 [%rd7], %f1;"
    );
    assert_eq!(verdicts(&body).0, Unknown);
}

#[test]
fn what_leaves_sight_is_unknown_if_something_is_stored_out_of_sight() {
    let shared = ".shared .align 8 .b8 cell[8]; st.shared.u64 [cell], %rd1; ld.shared.u64 %rd4, [cell];";
    assert_eq!(verdicts(&format!("{shared} st.global.f32 [%rd4], %f1;")), (Unknown, Nothing));
    assert_eq!(
        verdicts(&format!("{shared} ld.global.f32 %f1, [%rd4]; st.global.f32 [%rd2], %f1;")),
        (Reads, Writes)
    );
    // A pointer loaded from memory is not a parameter.
    assert_eq!(verdicts("ld.global.u64 %rd4, [%rd1]; st.global.f32 [%rd4], %f1;"), (Reads, Nothing));
    assert_eq!(
        verdicts("st.global.u64 [%rd2], %rd1; ld.global.u64 %rd4, [%rd2]; st.f32 [%rd4], %f1;").0,
        Unknown
    );
}

#[test]
fn unknown_code_may_do_anything() {
    assert_eq!(verdicts("brand.new.u64 %rd4, %rd1;"), (Unknown, Nothing));
    assert_eq!(verdicts("brand.new [%rd1+8];"), (Unknown, Nothing));
    let call = "{ .param .b64 a; st.param.b64 [a], %rd1; call.uni elsewhere, (a); }";
    assert_eq!(verdicts(call), (Unknown, Nothing));
    let indirect = "{ .param .b64 a; st.param.b64 [a], %rd1; call %rd9, (a), proto; \
        proto: .callprototype _ (.param .b64 _); }";
    assert_eq!(verdicts(indirect), (Unknown, Nothing));
}

#[test]
fn calls_are_seen_through() {
    let functions = ".func store(.param .b64 a, .param .b32 v) { .reg .b64 %rd1; .reg .b32 %r1; \
        ld.param.u64 %rd1, [a]; \
                     ld.param.u32 %r1, [v]; st.u32 [%rd1], %r1; ret; }\n\
                     .func (.param .b64 r) ahead(.param .b64 a) { .reg .b64 %rd1; ld.param.u64 %rd1, [a]; \
                     add.s64 %rd1, %rd1, 4; st.param.b64 [r], %rd1; ret; }\n\
                     .func (.reg .b64 r) same(.reg .b64 a) { mov.b64 r, a; ret; }\n";
    let entry = |body: &str| {
        let found = module(&format!(
            "{functions}.entry k(.param .u64 p, .param .u64 q, .param .u64 s) {{ {REGISTERS}{LOADS}{body} ret; }}"
        ));
        (found[0].access(), found[1].access())
    };
    let store =
        "{ .param .b64 a; .param .b32 v; st.param.b64 [a], %rd2; st.param.b32 [v], 1; call store, (a, v); }";
    assert_eq!(entry(store), (Nothing, Writes));
    let ahead = "{ .param .b64 a; .param .b64 r; st.param.b64 [a], %rd1; call (r), ahead, (a); \
        ld.param.b64 %rd4, [r]; } ld.f32 %f1, [%rd4];";
    assert_eq!(entry(&format!("{store} {ahead}")), (Reads, Writes));
    assert_eq!(
        entry(
            "call (%rd4), same, (%rd1); st.f32 [%rd4], %f1; call (%rd5), same, (%rd2); ld.f32 %f1, [%rd5];"
        ),
        (Writes, Reads)
    );
}

#[test]
fn recursion_ends() {
    let text = format!(
        ".func down(.param .b64 a) {{ .reg .b64 %rd<3>; .reg .pred %p1; ld.param.u64 %rd1, [a]; \
            setp.eq.s64 %p1, %rd1, 0; @%p1 ret; \
         ld.u64 %rd2, [%rd1]; {{ .param .b64 b; add.s64 %rd1, %rd1, 8; st.param.b64 [b], %rd1; call down, (b); \
         }} ret; }}\n\
         .entry k(.param .u64 p, .param .u64 q, .param .u64 s) {{ {REGISTERS}{LOADS}{{ .param .b64 a; \
         st.param.b64 [a], %rd1; call down, (a); }} ret; }}"
    );
    assert_eq!(module(&text)[0].access(), Reads);
}

fn first(body: &str) -> bool {
    facts(body)[0].reads_first.is_some()
}

#[test]
fn a_load_before_every_store_that_can_reach_it_comes_first() {
    assert!(first("ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd1], %f1;"));
    assert!(first("L: ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd1], %f1; @%p1 bra L;"));
    assert!(first("atom.global.add.u32 %r1, [%rd1], 1;"));
    assert!(first("@%p1 bra L; ld.global.f32 %f1, [%rd1]; L:"));
    assert!(first("atom.global.exch.b32 %r1, [%rd1], 1; st.global.u32 [%rd2], %r1;"));
    assert!(!first("atom.global.exch.b32 %r1, [%rd1], 1;"));
    // Written, then read.
    assert!(!first("st.global.f32 [%rd1], %f1; ld.global.f32 %f1, [%rd1];"));
    assert!(!first("L: st.global.f32 [%rd1], %f1; @%p1 bra L; M: ld.global.f32 %f1, [%rd1]; @!%p1 bra M;"));
    // Read on some paths only, but before anything is written.
    assert!(first(
        "@%p1 bra L; ld.global.f32 %f1, [%rd1]; L: st.global.f32 [%rd1], %f1; @%p1 bra K; bra N; \
            K: ld.global.f32 %f1, [%rd1]; N:"
    ));
    // The other branch writes, and this one synchronises with it.
    assert!(!first(
        "@%p1 bra L; st.global.f32 [%rd1], %f1; bar.sync 0; bra N; L: bar.sync 0; ld.global.f32 %f1, [%rd1]; N:"
    ));
    // The load goes through a pointer of two possible origins.
    assert!(!first("selp.b64 %rd4, %rd1, %rd2, %p1; ld.global.f32 %f1, [%rd4]; st.global.f32 [%rd1], %f1;"));
}

fn base(body: &str) -> bool {
    facts(body)[2].base.is_some()
}

#[test]
fn a_number_whose_bits_are_an_address_is_told_from_an_index() {
    assert!(base("ld.global.f32 %f1, [%rd3];"));
    assert!(base(
        "cvta.to.global.u64 %rd4, %rd3; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd5, %rd4; st.global.f32 [%rd6], %f1;"
    ));
    assert!(!base("add.s64 %rd4, %rd1, %rd3; ld.global.f32 %f1, [%rd4];"));
    assert!(!base("shl.b64 %rd4, %rd3, 2; add.s64 %rd4, %rd4, %rd1; ld.global.f32 %f1, [%rd4];"));
    assert!(!base("add.s64 %rd4, %rd3, 8; st.global.u64 [%rd1], %rd4;"));
    assert!(!base("ld.global.u64 %rd4, [%rd1]; add.s64 %rd5, %rd4, %rd3; ld.global.f32 %f1, [%rd5];"));
    assert!(!base(
        "mad.lo.s64 %rd4, %rd3, %rd3, %rd1; mov.u64 %rd5, 0; selp.b64 %rd6, %rd4, %rd5, %p1; ld.global.f32 %f1, [%rd6];"
    ));
}

#[test]
fn a_pointer_inside_a_structure_is_seen() {
    let found = module(&format!(
        ".entry k(.param .u64 p, .param .u64 q, .param .align 8 .b8 s[16]) {{ {REGISTERS} ld.param.u64 %rd1, [s+8]; \
            st.global.f32 [%rd1], %f1; ret; }}"
    ));
    assert_eq!(found[2].base.as_ref().unwrap().1, Some(8));
    // Parameters are copied to local memory and loaded from there.
    let found = module(&format!(
        ".entry k(.param .u64 p, .param .u64 q, .param .align 8 .b8 s[16]) {{ {REGISTERS} .local .align 8 .b8 d[16]; \
         mov.b64 %rd5, s; cvta.param.u64 %rd6, %rd5; ld.param.u64 %rd1, [%rd6+8]; mov.u64 %rd2, d; \
         st.local.u64 [%rd2], %rd1; ld.local.u64 %rd3, [%rd2]; ld.f32 %f1, [%rd3]; ret; }}"
    ));
    assert!(found[2].base.is_some());
}

fn tables(body: &str) -> (bool, bool) {
    let found = facts(body);
    (found[0].table.is_some(), found[1].table.is_some())
}

#[test]
fn an_address_that_is_loaded_is_told_from_an_index() {
    let load = "ld.global.u64 %rd4, [%rd1];";
    let accesses = [
        "st.f32 [%rd4], %f1;",
        "cvta.to.global.u64 %rd5, %rd4; mul.wide.s32 %rd6, %r1, 4; add.s64 %rd7, %rd5, %rd6; \
            ld.global.f32 %f1, [%rd7+8];",
        "red.global.add.f32 [%rd4], %f1;",
        "cp.async.ca.shared.global [%r1], [%rd4], 4;",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r1], %r2;",
        "and.b64 %rd5, %rd4, -16; or.b64 %rd6, %rd5, 4; ld.f32 %f1, [%rd6];",
        // A table of tables, and a chain.
        "ld.global.u64 %rd5, [%rd4]; ld.global.u64 %rd6, [%rd5]; st.f32 [%rd6], %f1;",
        "L: ld.global.u64 %rd4, [%rd4]; @%p1 bra L;",
        // On one path the base is the other parameter.
        "selp.b64 %rd5, %rd2, %rd4, %p1; ld.f32 %f1, [%rd5];",
        // The sum also has an index from another table or from a scalar.
        "ld.global.u64 %rd5, [%rd2]; add.s64 %rd6, %rd4, %rd5; ld.f32 %f1, [%rd6]; ld.f32 %f1, [%rd4];",
        "add.s64 %rd5, %rd4, %rd3; ld.f32 %f1, [%rd5];",
    ];
    for access in accesses {
        assert_eq!(tables(&format!("{load} {access}")), (true, false), "{access}");
    }
    for body in [
        "atom.global.exch.b64 %rd4, [%rd1], %rd3; st.f32 [%rd4], %f1;",
        "mov.u64 %rd4, %rd1; L: ld.global.u64 %rd4, [%rd4]; @%p1 bra L;",
        "ld.global.v2.u32 {%r1, %r2}, [%rd1]; mov.b64 %rd4, {%r1, %r2}; st.f32 [%rd4], %f1;",
        "ld.global.v2.u32 {%r1, %r2}, [%rd1]; cvt.u64.u32 %rd4, %r2; cvt.u64.u32 %rd5, %r1; shl.b64 %rd6, %rd4, 32; \
         or.b64 %rd7, %rd6, %rd5; st.f32 [%rd7], %f1;",
        "ld.global.v2.u32 {%r1, %r2}, [%rd1]; cvt.u64.u32 %rd4, %r2; cvt.u64.u32 %rd5, %r1; bfi.b64 %rd6, %rd4, \
         %rd5, 32, 32; st.f32 [%rd6], %f1;",
        ".shared .align 8 .b8 cell[8]; ld.global.u64 %rd4, [%rd1]; st.shared.u64 [cell], %rd4; ld.shared.u64 %rd5, \
         [cell]; st.f32 [%rd5], %f1;",
        ".local .align 8 .b8 cell[8]; ld.global.u64 %rd4, [%rd1]; st.local.u64 [cell], %rd4; ld.local.u64 %rd5, \
         [cell]; st.f32 [%rd5], %f1;",
    ] {
        assert_eq!(tables(body), (true, false), "{body}");
    }
}

#[test]
fn loaded_indices_and_stored_pointers_are_no_table() {
    let load = "ld.global.u64 %rd4, [%rd1];";
    for body in [
        "add.s64 %rd5, %rd2, %rd4; ld.f32 %f1, [%rd5];",
        "shl.b64 %rd5, %rd4, 2; add.s64 %rd6, %rd5, %rd2; st.f32 [%rd6], %f1;",
        "mad.lo.s64 %rd5, %rd4, %rd3, %rd2; st.f32 [%rd5], %f1;",
        "prefetch.global.L2 [%rd4];",
        "st.global.u64 [%rd2], %rd4;",
        "ld.shared.u32 %r1, [%rd4];",
        // Variables of the module, of the block and of the thread.
        ".global .align 8 .b8 v[64]; mov.u64 %rd5, v; add.s64 %rd6, %rd5, %rd4; ld.global.u8 %r1, [%rd6];",
        ".shared .align 8 .b8 v[64]; mov.u64 %rd5, v; cvta.shared.u64 %rd6, %rd5; add.s64 %rd7, %rd6, %rd4; \
            ld.u8 %r1, [%rd7];",
        ".local .align 8 .b8 v[64]; mov.u64 %rd5, v; add.s64 %rd6, %rd5, %rd4; ld.local.u8 %r1, [%rd6];",
        // A base with an index in other memory, or an index with a base there.
        ".shared .align 8 .b8 v[64]; ld.shared.u64 %rd5, [v]; add.s64 %rd6, %rd5, %rd4; ld.u8 %r1, [%rd6];",
        // The kernel has stored a pointer, which may be the loaded one.
        "st.global.u64 [%rd1+8], %rd2; ld.f32 %f1, [%rd4];",
        ".shared .align 8 .b8 v[64]; st.shared.u64 [v], %rd2; st.shared.u64 [v+8], %rd4; ld.shared.u64 %rd5, [v]; \
            ld.u8 %r1, [%rd5];",
        // A pointer that goes through halves, with an index.
        "mov.b64 {%r1, %r2}, %rd2; mov.b64 %rd5, {%r1, %r2}; add.s64 %rd6, %rd5, %rd4; ld.u8 %r1, [%rd6];",
    ] {
        assert_eq!(tables(&format!("{load} {body}")), (false, false), "{body}");
    }
    // A variable of the module may contain the address of another one.
    let variable = ".global .u64 v; ld.global.u64 %rd4, [v]; ld.global.f32 %f1, [%rd4];";
    assert_eq!(tables(variable), (false, false));
}

#[test]
fn pointers_in_parameters_by_value_are_seen_in_halves_and_at_unknown_places() {
    let of = |parameters: &str, body: &str| {
        let text = format!(
            ".entry k(.param .u64 p, .param .u64 q, {parameters}) {{ {REGISTERS} ld.param.u64 %rd1, [p]; {body} ret; }}"
        );
        module(&text).iter().map(|found| found.base.as_ref().map(|(_, offset)| *offset)).collect::<Vec<_>>()
    };
    let many = ".param .align 8 .b8 s[64]";
    let element =
        "mov.b64 %rd4, s; mul.wide.u32 %rd5, %r1, 8; add.s64 %rd6, %rd4, %rd5; ld.param.u64 %rd7, [%rd6];";
    assert_eq!(of(many, &format!("{element} st.f32 [%rd7], %f1;"))[2], Some(None));
    assert_eq!(of(many, &format!("{element} add.s64 %rd8, %rd1, %rd7; st.f32 [%rd8], %f1;"))[2], None);
    let halves = "ld.param.u32 %r1, [low]; ld.param.u32 %r2, [high]; mov.b64 %rd7, {%r1, %r2};";
    let two = ".param .u32 low, .param .u32 high";
    assert_eq!(of(two, &format!("{halves} st.f32 [%rd7], %f1;")), [None, None, None, Some(Some(0))]);
    assert_eq!(of(two, &format!("{halves} add.s64 %rd8, %rd1, %rd7; st.f32 [%rd8], %f1;")), [None; 4]);
    let of_structure = "ld.param.v2.u32 {%r1, %r2}, [s+8]; mov.b64 %rd7, {%r1, %r2}; st.f32 [%rd7], %f1;";
    assert_eq!(of(many, of_structure)[2], Some(Some(8)));
    // The number of tracked words is limited, and the kernel has more.
    let loads: String =
        (0..200).map(|at| format!("ld.param.u64 %rd5, [s+{}]; st.f32 [%rd5], %f1;\n", 8 * at)).collect();
    assert_eq!(of(".param .align 8 .b8 s[1600]", &loads)[2], Some(Some(0)));
    // A chain whose head is a number.
    let chain = "ld.param.u64 %rd4, [s]; L: ld.global.u64 %rd4, [%rd4]; @%p1 bra L;";
    assert_eq!(of(".param .u64 s", chain)[2], Some(Some(0)));
}

#[test]
fn what_is_never_defined_is_any_number() {
    // An index has no effect on the verdict.
    assert_eq!(verdicts("add.s64 %rd4, %rd1, %rd15; st.global.f32 [%rd4], %f1;").0, Writes);
    assert_eq!(
        verdicts(
            "L: add.s64 %rd15, %rd15, 4; add.s64 %rd4, %rd1, %rd15; st.global.f32 [%rd4], %f1; @%p1 bra L;"
        )
        .0,
        Writes
    );
    assert_eq!(
        verdicts(
            "bar.red.popc.u32 %r1, 0, %p1; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd4, %rd1, %rd5; \
        st.global.f32 [%rd4], %f1;"
        )
        .0,
        Writes
    );
    assert_eq!(
        verdicts("ld.global.u64 %rd5; add.s64 %rd4, %rd1, %rd5; st.global.f32 [%rd4], %f1;").0,
        Writes
    );
}

#[test]
fn bits_that_are_lost_from_sight_stay_a_doubt() {
    // The low bits of `p` are added to a value that only looks like another number.
    let low = "and.b64 %rd4, %rd1, 4095;";
    assert_eq!(verdicts(&format!("{low} st.global.f32 [%rd4], %f1;")).0, Unknown);
    assert_eq!(verdicts(&format!("{low} st.global.f32 [%rd2], %f1;")), (Nothing, Writes));
    assert_eq!(
        verdicts("and.b64 %rd4, %rd1, -16; or.b64 %rd5, %rd4, 4; st.global.f32 [%rd5], %f1;"),
        (Writes, Nothing)
    );
}

#[test]
fn pointers_are_followed_through_vector_registers() {
    let found = |body: &str| verdicts(&format!(".reg .v2 .b64 %v, %w; .local .align 16 .b8 a[16];\n{body}"));
    assert_eq!(found("mov.b64 %v.x, %rd1; st.global.u32 [%v.x], 1;"), (Unknown, Nothing));
    assert_eq!(found("mov.v2.b64 %v, {%rd2, %rd1}; ld.global.u32 %r1, [%v.y];"), (Reads, Reads));
    assert_eq!(found("mov.b64 %v.x, %rd1; mov.b64 %v.y, %rd3; st.global.u32 [%v.x], 1;"), (Unknown, Nothing));
    let through_memory =
        "st.local.v2.b64 [a], {%rd3, %rd1}; ld.local.v2.b64 %v, [a]; st.global.u32 [%v.y], 1;";
    assert_eq!(found(through_memory), (Unknown, Nothing));
    let from_vector = "mov.v2.b64 %v, {%rd3, %rd1}; st.local.v2.b64 [a], %v; ld.local.b64 %rd4, [a+8]; \
        st.global.u32 [%rd4], 1;";
    assert_eq!(found(from_vector), (Unknown, Nothing));
}
