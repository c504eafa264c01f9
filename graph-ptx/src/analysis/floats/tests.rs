//! Float formats of accesses whose bits are moved in different ways.

use crate::analysis::Analysis;
use crate::syntax::FloatFormat::{self, Bf16, F16, F32, F64};
use crate::syntax::parse;

/// Returns the float formats that a kernel accesses through `x`, whose address is in `%rd1`.
fn formats(body: &str) -> Vec<FloatFormat> {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{\n\
         .reg .pred %p<9>; .reg .b16 %h<19>; .reg .b32 %r<19>; .reg .b64 %rd<19>; .reg .f32 %f<19>; .reg .f64 %d<9>;\n\
         .shared .align 16 .b8 tile[64];\n\
         ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];\n{body}\nret; }}"
    );
    let module = parse(&text).unwrap();
    let facts = Analysis::new(&module).kernel("k", &[true, true]).parameters.swap_remove(0);
    facts.floats.into_iter().map(|(format, _)| format).collect()
}

#[test]
fn halves_that_come_in_wide_words_are_halves() {
    let wide = "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]; mov.b32 %r1, %f1;";
    for (apart, format) in [
        ("mov.b32 {%h1, %h2}, %r1; cvt.f32.f16 %f5, %h1;", F16),
        ("mov.b32 {%h1, %h2}, %r1; cvt.f32.bf16 %f5, %h2;", Bf16),
        ("mov.b32 {%h1, %h2}, %r1; mov.b32 %f5, {0, %h2}; mul.f32 %f6, %f5, %f5;", Bf16),
        ("cvt.u16.u32 %h1, %r1; cvt.f32.f16 %f5, %h1;", F16),
        ("shr.u32 %r2, %r1, 16; cvt.u16.u32 %h1, %r2; cvt.f32.f16 %f5, %h1;", F16),
        // The bits of a `bf16` are the upper half of an `f32`.
        ("shl.b32 %r2, %r1, 16; mov.b32 %f5, %r2; add.f32 %f6, %f5, %f5;", Bf16),
        ("and.b32 %r2, %r1, -65536; mov.b32 %f5, %r2; add.f32 %f6, %f5, %f5;", Bf16),
        ("prmt.b32 %r2, %r1, 0, 0x1044; mov.b32 %f5, %r2; add.f32 %f6, %f5, %f5;", Bf16),
        ("prmt.b32 %r2, %r1, 0, 0x4432; cvt.u16.u32 %h1, %r2; cvt.f32.f16 %f5, %h1;", F16),
        ("fma.rn.f16x2 %r2, %r1, %r1, %r1;", F16),
        ("fma.rn.bf16x2 %r2, %r1, %r1, %r1;", Bf16),
        (
            "setp.eq.s32 %p1, %r9, 0; selp.b32 %r2, %r1, 0, %p1; mov.b32 {%h1, %h2}, %r2; add.rn.f16 %h3, %h1, %h1;",
            F16,
        ),
        (
            "mov.b32 %r2, %f2; mov.b64 %rd3, {%r1, %r2}; shr.u64 %rd4, %rd3, 48; cvt.u16.u64 %h1, %rd4; \
                cvt.f32.f16 %f5, %h1;",
            F16,
        ),
    ] {
        assert_eq!(formats(&format!("{wide} {apart}")), [format], "{apart}");
    }
    for (together, format) in [
        (
            "cvt.rn.f16.f32 %h1, %f1; mov.b32 %r1, {%h1, %h2}; mov.b32 %f4, %r1; st.global.v2.f32 [%rd1], {%f4, %f4};",
            F16,
        ),
        ("cvt.rn.bf16x2.f32 %r1, %f1, %f2; st.global.v2.b32 [%rd1], {%r1, %r1};", Bf16),
        (
            "cvt.rn.f16.f32 %h1, %f1; cvt.u32.u16 %r1, %h1; shl.b32 %r2, %r1, 16; or.b32 %r3, %r2, %r4; \
                st.global.u32 [%rd1], %r3;",
            F16,
        ),
        // The upper half of an `f32`, as a truncation extracts it.
        (
            "add.f32 %f2, %f1, %f1; mov.b32 %r1, %f2; shr.u32 %r2, %r1, 16; cvt.u16.u32 %h1, %r2; \
                st.global.u16 [%rd1], %h1;",
            Bf16,
        ),
    ] {
        assert_eq!(formats(together), [format], "{together}");
    }
}

#[test]
fn the_width_is_that_of_the_arithmetic() {
    let wide = "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];";
    // Vectors that are only copied may have any type; a single word has its own.
    assert_eq!(formats(&format!("{wide} st.global.v4.f32 [%rd2], {{%f1, %f2, %f3, %f4}};")), []);
    assert_eq!(formats("ld.global.f32 %f1, [%rd1]; st.shared.f32 [tile], %f1;"), [F32]);
    assert_eq!(formats("ld.global.f64 %d1, [%rd1]; st.global.f64 [%rd2], %d1;"), [F64]);
    assert_eq!(formats(&format!("{wide} mul.f32 %f5, %f3, %f3;")), [F32]);
    assert_eq!(
        formats("ld.global.v2.b64 {%rd3, %rd4}, [%rd1]; mov.b64 {%f1, %f2}, %rd3; add.f32 %f3, %f1, %f2;"),
        [F32]
    );
    assert_eq!(formats("ld.global.b64 %rd3, [%rd1]; mov.b64 %d1, %rd3; add.f64 %d2, %d1, %d1;"), [F64]);
    // The words of an `f64`.
    let words = "ld.global.v2.u32 {%r1, %r2}, [%rd1]; mov.b64 %d1, {%r1, %r2}; add.f64 %d2, %d1, %d1;";
    assert_eq!(formats(words), []);
    // The exponent is compared as that of the `f32` in the upper word.
    let exponent = "ld.global.f64 %d1, [%rd1]; mov.b64 {%r1, %r2}, %d1; mov.b32 %f1, %r2; abs.f32 %f2, %f1; \
        add.f64 %d2, %d1, %d1;";
    assert_eq!(formats(exponent), [F64]);
    // Bits used in several formats have none; neither have bytes and masks within them.
    let both = format!("{wide} mul.f32 %f5, %f1, %f1; mov.b32 {{%h1, %h2}}, %f2; cvt.f32.f16 %f6, %h1;");
    assert_eq!(formats(&both), []);
    let bytes =
        "ld.global.u32 %r1, [%rd1]; and.b32 %r2, %r1, 255; cvt.rn.f32.u32 %f1, %r2; mul.f32 %f2, %f1, %f1;";
    assert_eq!(formats(bytes), []);
    let sign =
        "ld.global.u32 %r1, [%rd1]; and.b32 %r2, %r1, 0x7fffff00; mov.b32 %f1, %r2; mul.f32 %f2, %f1, %f1;";
    assert_eq!(formats(sign), []);
    assert_eq!(formats("red.global.add.f32 [%rd1], %f1;"), [F32]);
    assert_eq!(formats("red.global.add.noftz.f16x2 [%rd1], %r1;"), [F16]);
}
