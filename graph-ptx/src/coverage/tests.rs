//! Slices of small kernels, for launches that are too large to interpret thread by thread.

use super::*;
use crate::analysis::{Analysis, ParameterKinds};
use crate::syntax::parse;

fn slice(body: &str) -> BackwardSlice {
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 n) {{\n\
         .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;\n\
         ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [n]; cvt.u32.u64 %r9, %rd2;\n\
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r5, %nctaid.x;\n\
         {body}\nEND: ret; }}"
    );
    let module = parse(&text).unwrap();
    let mut analysis = Analysis::new(&module);
    let taken = ParameterKinds {
        pointers: &[true, false],
        never_null: &[],
        scalars: &[false, true],
        ..ParameterKinds::default()
    };
    analysis.kernel_and_slice("k", taken, &[0]).1
}

fn judge(slice: &BackwardSlice, grid: u32, block: u32, n: u64, elements: u64) -> Verdict {
    let scalar = |_: u32| Some(n);
    let launch = LaunchInputs {
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        scalar: &scalar,
        ranged: RangedInputs::default(),
    };
    slice.verdicts(&launch, &[Extent { elements, size: 1, dense: true }]).remove(0)
}

/// `i = blockIdx.x * blockDim.x + threadIdx.x` in 32 bits, `x[i]` for `i < n`.
const INDEX: &str = "mad.lo.s32 %r4, %r1, %r2, %r3; ";
const STORE: &str = "cvt.u64.u32 %rd4, %r4; add.s64 %rd5, %rd1, %rd4; st.global.u8 [%rd5], %r3;";

#[test]
fn an_index_that_wraps_is_followed() {
    let unsigned = slice(&format!("{INDEX} setp.ge.u32 %p1, %r4, %r9; @%p1 bra END; {STORE}"));
    let million = 1 << 20;
    assert_eq!(judge(&unsigned, 1024, 1024, million, million), Verdict::Covered);
    assert_eq!(
        judge(&unsigned, 1023, 1024, million, million),
        Verdict::Short { written: million - 1024, missing: million - 1024 }
    );
    // With 2^33 threads each index below 2^32 occurs twice.
    assert_eq!(judge(&unsigned, 1 << 23, 1024, u64::from(u32::MAX), 1 << 30), Verdict::Covered);
    // As signed numbers, the upper half of the indices is below every bound, and its addresses are far away.
    let signed = slice(&format!("{INDEX} setp.ge.s32 %p1, %r4, %r9; @%p1 bra END; {STORE}"));
    assert_eq!(judge(&signed, 1 << 22, 1024, 1000, 1000), Verdict::Covered);
    assert_eq!(judge(&signed, 1 << 22, 1024, 1000, 2000), Verdict::Short { written: 1000, missing: 1000 });
}

#[test]
fn a_stride_that_is_the_grid_is_a_loop() {
    let text = format!(
        "{INDEX} mul.lo.u32 %r6, %r5, %r2; LOOP: setp.ge.u32 %p1, %r4, %r9; @%p1 bra END; \
            {STORE} add.u32 %r4, %r4, %r6; bra LOOP;"
    );
    let slice = slice(&text);
    for (grid, block, n) in [
        (1, 1, 100),
        (3, 7, 1000),
        (1024, 256, 100_000_000),
        (7, 128, 12_345),
        (1, 256, 100_000_000),
        (3, 100, 2_000_000_001),
    ] {
        assert_eq!(judge(&slice, grid, block, n, n), Verdict::Covered, "{grid} {block} {n}");
        assert_eq!(
            judge(&slice, grid, block, n, n + 1),
            Verdict::Short { written: n, missing: n },
            "{grid} {block} {n}"
        );
    }
}

#[test]
fn what_data_decides_is_not_counted() {
    let loaded = slice(&format!(
        "{INDEX} cvt.u64.u32 %rd4, %r4; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r7, [%rd5]; setp.eq.s32 %p1, %r7, 0; \
            @%p1 bra END; {STORE}"
    ));
    assert!(loaded.reason_never_covered(0).unwrap().contains("depends on `ld.global.u32 %r7, [%rd5];`"));
    assert!(matches!(judge(&loaded, 8, 32, 8, 8), Verdict::Unknown(_)));
    // A store that definitely happens covers the extent, whatever the other store does. A launch for which it is too
    // short is unknown.
    let both = slice(&format!(
        "{INDEX} cvt.u64.u32 %rd4, %r4; add.s64 %rd5, %rd1, %rd4; st.global.u8 [%rd5], %r3; \
            ld.global.u32 %r7, [%rd5]; cvt.u64.u32 %rd6, %r7; add.s64 %rd7, %rd1, %rd6; st.global.u8 [%rd7], %r3;"
    ));
    assert_eq!(both.reason_never_covered(0), None);
    assert_eq!(judge(&both, 2, 32, 64, 64), Verdict::Covered);
    assert!(matches!(judge(&both, 1, 32, 64, 64), Verdict::Unknown(_)));
}

#[test]
fn a_call_that_may_end_the_thread_decides() {
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.func ends(.param .b32 a) { .reg .b32 %r<2>; \
        .reg .pred %p<2>; ld.param.u32 %r1, [a]; setp.eq.s32 %p1, %r1, 3; @%p1 exit; ret; }\n\
        .visible .entry k(.param .u64 x) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .param .b32 a;\n\
        ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; st.param.b32 [a], %r1; call.uni ends, (a);\n\
        cvt.u64.u32 %rd2, %r1; add.s64 %rd3, %rd1, %rd2; st.global.u8 [%rd3], %r1; ret; }";
    for (text, reason_never_covered) in [(text.to_owned(), true), (text.replace("@%p1 exit;", ""), false)] {
        let module = parse(&text).unwrap();
        let mut analysis = Analysis::new(&module);
        let slice = analysis
            .kernel_and_slice("k", ParameterKinds { pointers: &[true], ..ParameterKinds::default() }, &[0])
            .1;
        let verdict = judge(&slice, 1, 32, 0, 32);
        assert_eq!(matches!(verdict, Verdict::Unknown(_)), reason_never_covered, "{verdict:?}");
        assert_eq!(verdict == Verdict::Covered, !reason_never_covered, "{verdict:?}");
    }
}

#[test]
fn padding_is_no_short_launch() {
    // Each thread writes one byte of four.
    let text = format!("{INDEX} shl.b32 %r4, %r4, 2; {STORE}");
    let slice = slice(&text);
    let scalar = |_: u32| Some(0);
    let launch =
        LaunchInputs { grid: [1, 1, 1], block: [32, 1, 1], scalar: &scalar, ranged: RangedInputs::default() };
    let verdict = |dense, elements| slice.verdicts(&launch, &[Extent { elements, size: 4, dense }]).remove(0);
    assert_eq!(verdict(true, 32), Verdict::Short { written: 0, missing: 0 });
    assert!(matches!(verdict(false, 32), Verdict::Unknown(_)));
    assert_eq!(verdict(false, 33), Verdict::Short { written: 0, missing: 0 });
}
