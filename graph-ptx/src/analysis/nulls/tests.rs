//! Kernels that test their pointers for null.

use crate::analysis::{AccessClass, Analysis, ParameterKinds};
use crate::syntax::parse;

/// Returns the accesses through `inp` and `out`, either of which may be null.
fn accesses(body: &str, never_null: [bool; 2]) -> [AccessClass; 2] {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 inp, .param .u64 out) {{\n\
         .reg .pred %p<9>; .reg .b16 %s<9>; .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n\
         ld.param.u64 %rd1, [inp]; ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd3, %rd1; \
         cvta.to.global.u64 %rd4, %rd2;\n\
         {body}\nEND: ret; }}"
    );
    let module = parse(&text).unwrap();
    let taken = ParameterKinds {
        pointers: &[true, true],
        never_null: &never_null,
        scalars: &[],
        ..ParameterKinds::default()
    };
    let (kernel, _) = Analysis::new(&module).kernel_and_slice("k", taken, &[]);
    [0, 1].map(|at| kernel.parameters[at].access())
}

const STORE: &str = "st.global.f32 [%rd4], %f1;";

#[test]
fn code_for_null_is_left_out() {
    let plain = [true, true];
    let expected = [AccessClass::Reads, AccessClass::Writes];
    // As a selection, as predicated loads, as branches, through predicates, and through numbers.
    let by_selection = "setp.eq.s64 %p1, %rd1, 0; selp.b64 %rd5, %rd4, %rd3, %p1; ld.global.f32 %f1, [%rd5];";
    let by_guards =
        "setp.ne.b64 %p1, %rd1, 0; @%p1 ld.global.f32 %f1, [%rd3]; @!%p1 ld.global.f32 %f1, [%rd4];";
    let by_branches = "setp.eq.u64 %p1, %rd3, 0; @%p1 bra N; ld.global.f32 %f1, [%rd3]; bra S;\n\
                       N: ld.global.f32 %f1, [%rd4];\nS:";
    let by_predicates = "setp.eq.s64 %p1, %rd1, 0; setp.ne.s64 %p2, %rd2, 0; not.pred %p3, %p2; \
        or.pred %p4, %p1, %p3;\n\
                         @!%p4 bra S; ld.global.f32 %f1, [%rd4]; bra.uni T;\nS: ld.global.f32 %f1, [%rd3];\nT:";
    let by_numbers = "setp.ne.s64 %p1, %rd1, 0; selp.u16 %s1, 1, 0, %p1; and.b16 %s2, %s1, 1; \
        setp.eq.s16 %p2, %s2, 0;\n\
                      @%p2 bra N; ld.global.f32 %f1, [%rd3]; bra S;\nN: ld.global.f32 %f1, [%rd4];\nS:";
    // The predicate is a phi of the same value on the remaining paths.
    let by_phi = "mov.pred %p2, -1; setp.eq.s64 %p1, %rd1, 0; @%p1 bra M; mov.pred %p2, 0;\n\
                  M: @%p2 bra N; ld.global.f32 %f1, [%rd3]; bra S;\nN: ld.global.f32 %f1, [%rd4];\nS:";
    let complement =
        "setp.eq.s64 %p1|%p2, %rd1, 0; @%p1 ld.global.f32 %f1, [%rd4]; @%p2 ld.global.f32 %f1, [%rd3];";
    for body in [by_selection, by_guards, by_branches, by_predicates, by_numbers, by_phi, complement] {
        let body = format!("{body} {STORE}");
        assert_eq!(accesses(&body, plain), expected, "{body}");
        // If `inp` may be null, both are read.
        let [_, out] = accesses(&body, [false, true]);
        assert_eq!(out, AccessClass::ReadsAndWrites, "{body}");
    }
}

#[test]
fn other_tests_stay() {
    let both = [AccessClass::Reads, AccessClass::ReadsAndWrites];
    // A loaded number, the low half of a pointer, comparisons of two pointers, and a disjunction with one known
    // operand.
    for test in [
        "ld.global.u64 %rd6, [%rd3]; setp.eq.s64 %p1, %rd6, 0;",
        "cvt.u32.u64 %r1, %rd1; setp.eq.s32 %p1, %r1, 0;",
        "setp.eq.s64 %p1, %rd1, %rd2;",
        "sub.s64 %rd6, %rd1, %rd2; setp.eq.s64 %p1, %rd6, 0;",
        "mov.u32 %r1, %tid.x; setp.eq.s32 %p2, %r1, 0; setp.eq.s64 %p3, %rd1, 0; or.pred %p1, %p2, %p3;",
    ] {
        let body = format!("{test} @%p1 ld.global.f32 %f1, [%rd4]; @!%p1 ld.global.f32 %f1, [%rd3]; {STORE}");
        assert_eq!(accesses(&body, [true, true]), both, "{body}");
    }
}
