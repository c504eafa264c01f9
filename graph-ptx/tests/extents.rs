//! The number of proved extents in the corpus, and their bounds.

use cuweave_ptx::declare::{
    self, Declaration, DeclaredAccess, DeclaredKind, DeclaredParameter, Difference, Finding, PrimitiveType,
    QuotientVariable, RoundedVariable,
};
use cuweave_ptx::poly::Poly;
use cuweave_ptx::{self as ptx, Analysis};

fn bounds(file: &str, kernel: &str, parameter: usize) -> Option<Vec<String>> {
    let path = cuweave_testkit::files::root().join("tests/ptx-corpus").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let module = ptx::parse(&text).unwrap();
    let entry = module.entry(kernel).unwrap();
    let mut analysis = Analysis::new(&module);
    let pointers = analysis.pointers(entry);
    let found = analysis.kernel(kernel, &pointers).parameters.swap_remove(parameter);
    let names = |id: u32| Some(format!("p{id}"));
    found.reach.map(|all| {
        let mut texts: Vec<String> = all
            .iter()
            .map(|reach| {
                reach.bytes.iter().map(|poly| poly.format_with(&names)).collect::<Vec<_>>().join(" and ")
            })
            .collect();
        texts.sort();
        texts.dedup();
        texts
    })
}

#[test]
fn guarded_indices_are_bounded() {
    let basic = "nvrtc/basic.ptx";
    for (kernel, parameter, expected) in [
        ("saxpy", 1, vec!["4 * p3"]),
        ("saxpy", 2, vec!["4 * p3"]),
        ("fill_value", 0, vec!["8 * p2"]),
        ("vector_add4", 2, vec!["16 * p3"]),
        ("split_sign", 1, vec!["4 * p3"]),
        ("scatter64", 1, vec!["8 * p3"]),
    ] {
        assert_eq!(
            bounds(basic, kernel, parameter).as_deref(),
            Some(&expected.iter().map(ToString::to_string).collect::<Vec<_>>()[..]),
            "{kernel} {parameter}"
        );
    }
    // Gathered elements can lie anywhere.
    assert_eq!(bounds(basic, "gather", 0), None);
    assert_eq!(bounds(basic, "walk", 0), None);
}

#[test]
fn the_share_of_bounded_parameters_is_told() {
    let (mut bounded, mut all) = (0u32, 0u32);
    for file in cuweave_testkit::files::ptx(&["tests/ptx-corpus/nvrtc"]) {
        let text = std::fs::read_to_string(&file).unwrap();
        let module = ptx::parse(&text).unwrap();
        let mut analysis = Analysis::new(&module);
        for entry in module.entries() {
            let pointers = analysis.pointers(entry);
            let kernel = analysis.kernel(entry.name, &pointers);
            for (found, _) in kernel.parameters.iter().zip(&pointers).filter(|(_, pointer)| **pointer) {
                all += 1;
                bounded += u32::from(found.reach.as_ref().is_some_and(|all| !all.is_empty()));
            }
        }
    }
    println!("extents bounded: {bounded} of {all} pointer parameters");
    assert!(bounded * 100 >= all * 25, "{bounded} of {all}");
}

/// Checks a kernel with a buffer of `f32`, a thread index `%r4`, `n` and `m`, declared with this extent and its text.
/// Returns the findings, and true if the extent is proved.
fn check(body: &str, extent: &dyn Fn(Poly, Poly) -> Poly, text: &str) -> (Vec<Finding>, bool) {
    check_rounded(body, extent, text, Vec::new())
}

/// Like [`check`], with these multiples in the extent.
fn check_rounded(
    body: &str,
    extent: &dyn Fn(Poly, Poly) -> Poly,
    text: &str,
    rounded: Vec<RoundedVariable>,
) -> (Vec<Finding>, bool) {
    check_with(body, extent, text, rounded, Vec::new())
}

/// Like [`check`], with these multiples and quotients in the extent.
fn check_with(
    body: &str,
    extent: &dyn Fn(Poly, Poly) -> Poly,
    text: &str,
    rounded: Vec<RoundedVariable>,
    quotients: Vec<QuotientVariable>,
) -> (Vec<Finding>, bool) {
    let source = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u32 n, .param .u32 m) {{\n\
         .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n\
         ld.param.u64 %rd1, [x]; ld.param.u32 %r5, [n]; ld.param.u32 %r6, [m];\n\
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;\n\
         {body}\n END: ret; }}"
    );
    let module = ptx::parse(&source).unwrap();
    let scalar = |name: &str| DeclaredParameter {
        name: name.to_owned(),
        kind: DeclaredKind::Scalar(PrimitiveType::from_name("u32")),
        nullable: false,
    };
    let buffer = DeclaredKind::Buffer {
        access: DeclaredAccess::ReadWrite,
        element: PrimitiveType::from_name("u32"),
        multimem: false,
        extent: extent(Poly::variable(1), Poly::variable(2)),
        text: text.to_owned(),
    };
    let parameters = vec![
        DeclaredParameter { name: "x".to_owned(), kind: buffer, nullable: false },
        scalar("n"),
        scalar("m"),
    ];
    let (findings, checked) = declare::check(
        &module,
        &[Declaration { name: "k".to_owned(), parameters, rounded, quotients, tables: Vec::new() }],
        &[],
    );
    let proved = checked[0].as_ref().unwrap().proofs[0].as_ref().is_some_and(|proof| proof.extent);
    (findings, proved)
}

/// Like [`check`]; returns the codes of the findings.
fn findings(body: &str, extent: &dyn Fn(Poly, Poly) -> Poly) -> (Vec<Difference>, bool) {
    let (findings, proved) = check(body, extent, "len");
    (findings.iter().map(|finding| finding.difference).collect(), proved)
}

const GUARD: &str = "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END;";
const STORE: &str = "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f1;";

#[test]
fn an_extent_is_proved_refuted_or_vouched_for() {
    let one = |value| Poly::constant(value);
    let n = |n: Poly, _: Poly| n;
    let less = |n: Poly, _: Poly| n.minus(&one(1)).unwrap();
    let more = |n: Poly, _: Poly| n.plus(&one(1)).unwrap();
    let m = |_: Poly, m: Poly| m;
    let guarded = format!("{GUARD}{STORE}");
    assert_eq!(findings(&guarded, &n), (vec![], true));
    assert_eq!(findings(&guarded, &more), (vec![], true));
    assert_eq!(findings(&guarded, &less), (vec![Difference::Extent], false));
    // Another argument may be as large.
    assert_eq!(findings(&guarded, &m), (vec![], false));
    // A guard on the instruction itself, and one through two predicates.
    let predicate = "setp.lt.u32 %p1, %r4, %r5; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; \
        @%p1 st.global.f32 [%rd3], %f1;";
    assert_eq!(findings(predicate, &n), (vec![], true));
    assert_eq!(findings(predicate, &less), (vec![Difference::Extent], false));
    let both = format!(
        "setp.ge.u32 %p1, %r4, %r5; setp.eq.s32 %p2, %r6, 0; or.pred %p3, %p1, %p2; @%p3 bra END;{STORE}"
    );
    assert_eq!(findings(&both, &n), (vec![], true));
    // No guard, and a guard on another path.
    assert_eq!(findings(STORE, &n), (vec![], false));
    assert_eq!(
        findings(&format!("setp.lt.u32 %p1, %r4, %r5; @%p1 bra L; L: {STORE}"), &less),
        (vec![], false)
    );
}

/// A kernel compiled for lengths that are multiples of a vector only checks the vector's first element.
#[test]
fn the_help_for_vectors_names_the_multiple() {
    let help = |body: &str, extent: &dyn Fn(Poly, Poly) -> Poly, text| {
        let (mut findings, _) = check(body, extent, text);
        assert_eq!(
            findings.iter().map(|finding| finding.difference).collect::<Vec<_>>(),
            [Difference::Extent],
            "{body}"
        );
        findings.remove(0).help
    };
    let n = |n: Poly, _: Poly| n;
    let less = |n: Poly, _: Poly| n.minus(&Poly::constant(1)).unwrap();
    let store = |count: u32, store: &str| {
        format!(
            "mul.lo.u32 %r7, %r4, {count}; setp.ge.u32 %p1, %r7, %r5; @%p1 bra END; \
             mul.wide.u32 %rd2, %r7, 4; add.s64 %rd3, %rd1, %rd2; {store}"
        )
    };
    let two = store(2, "st.global.v2.f32 [%rd3], {%f1, %f2};");
    let four = store(4, "st.global.v4.f32 [%rd3], {%f1, %f2, %f3, %f4};");
    let said_of = |count: u32, text: &str| {
        Some(format!("if the kernel is only launched for multiples of {count}, declare `{text}` elements"))
    };
    let said = |count: u32, text: &str| said_of(count, &format!("{text}.next_multiple_of({count})"));
    assert_eq!([help(&two, &n, "len"), help(&four, &n, "len")], [said(2, "n"), said(4, "n")]);
    // A matrix of `n` rows and `m` columns whose row is a multiple, and one whose size is.
    let rows = "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; mov.u32 %r9, %tid.y; shl.b32 %r7, %r9, 2; setp.ge.u32 %p2, \
                %r7, %r6; @%p2 bra END; mad.lo.u32 %r8, %r4, %r6, %r7; mul.wide.u32 %rd2, %r8, 4; add.s64 %rd3, \
                %rd1, %rd2; st.global.v4.f32 [%rd3], {%f1, %f2, %f3, %f4};";
    let product = |n: Poly, m: Poly| n.times(&m).unwrap();
    assert_eq!(help(rows, &product, "n * m"), said_of(4, "m.next_multiple_of(4) - m + n * m"));
    // Elements of two registers.
    let words = store(4, "st.global.v2.b64 [%rd3], {%rd4, %rd5};");
    assert_eq!(help(&words, &n, "n"), said(4, "n"));
    // The index is not a multiple, and the access ends at `n + 3` for any `n`.
    let any = store(1, "st.global.v4.f32 [%rd3], {%f1, %f2, %f3, %f4};");
    assert_eq!(help(&any, &n, "n"), None);
    // The same number of elements, with twice the size.
    let wide = "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; mul.wide.u32 %rd2, %r4, 8; add.s64 %rd3, %rd1, %rd2; \
        ld.global.u64 %rd4, [%rd3];";
    let larger = "this extent is right for elements of 8 bytes, which the PTX accesses";
    assert_eq!(help(wide, &n, "n").as_deref(), Some(larger));
    // Only the last element: the missing part is larger than a vector.
    assert_eq!(help(&store(4, "st.global.f32 [%rd3+12], %f1;"), &n, "n"), said(4, "n"));
    assert_eq!(help(&four, &less, "n - 1"), None);
}

/// The first of several elements, rows or iterations is checked, and the following ones are accessed too.
#[test]
fn the_help_for_tiles_and_loops_names_the_multiple() {
    let help = |body: &str, extent: &dyn Fn(Poly, Poly) -> Poly| {
        let (mut findings, _) = check(body, extent, "len");
        assert_eq!(
            findings.iter().map(|finding| finding.difference).collect::<Vec<_>>(),
            [Difference::Extent],
            "{body}"
        );
        findings.remove(0).help
    };
    let said = |count: u32, text: &str| {
        Some(format!("if the kernel is only launched for multiples of {count}, declare `{text}` elements"))
    };
    // Quads, by four accesses of one element: the farthest is reported.
    let quad = "shl.b32 %r7, %r4, 2; setp.ge.u32 %p1, %r7, %r5; @%p1 bra END; mul.wide.u32 %rd2, %r7, 4; add.s64 \
                %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3+4]; ld.global.f32 %f1, [%rd3+12]; ld.global.f32 %f1, \
                [%rd3+8]; st.global.f32 [%rd3], %f1;";
    assert_eq!(help(quad, &|n, _| n), said(4, "n.next_multiple_of(4)"));
    // Pairs, by two accesses of one element, with a product of arguments.
    let pair = "shl.b32 %r7, %r4, 1; mul.lo.s32 %r8, %r5, %r6; setp.ge.u32 %p1, %r7, %r8; @%p1 bra END; mul.wide.s32 \
                %rd2, %r7, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3+4]; st.global.f32 [%rd3], %f1;";
    let product = |n: Poly, m: Poly| n.times(&m).unwrap();
    assert_eq!(help(pair, &product), said(2, "(n * m).next_multiple_of(2)"));
    // Vectors in a loop whose step is the size of a block.
    let turns = "shl.b32 %r7, %r3, 2; shl.b32 %r8, %r2, 7; setp.ge.s32 %p1, %r7, %r5; @%p1 bra END;\n\
                 L: mul.wide.s32 %rd2, %r7, 4; add.s64 %rd3, %rd1, %rd2; \
                 ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3]; \
                 add.s32 %r7, %r7, %r8; setp.lt.s32 %p2, %r7, %r5; @%p2 bra L;";
    let n = |n: Poly, _: Poly| n;
    assert_eq!(help(turns, &n), said(4, "n.next_multiple_of(4)"));
    // A tile of 32 rows, two of which a thread copies.
    let tile = |behind: u32| {
        format!(
            "shl.b32 %r7, %r1, 5; add.s32 %r7, %r7, %r3; mov.u32 %r9, %tid.y; setp.ge.s32 %p1, %r7, %r6; setp.ge.s32 \
             %p2, %r9, %r5; or.pred %p3, %p1, %p2; @%p3 bra END; mad.lo.s32 %r8, %r7, %r5, %r9; mul.wide.s32 %rd2, \
             %r8, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3]; mul.lo.s32 %r10, %r5, {behind}; \
             mul.wide.s32 %rd4, %r10, 4; add.s64 %rd5, %rd3, %rd4; st.global.f32 [%rd5], %f1;"
        )
    };
    let rows = "n * m.next_multiple_of(32)";
    assert_eq!(help(&tile(16), &product), said(32, rows));
    assert_eq!(help(&tile(24), &product), said(32, rows));
    // The next row belongs to a neighbouring thread.
    assert_eq!(help(&tile(1), &product), None);
}

/// A loop over a 64-bit length, and lengths that are quotients.
#[test]
fn what_is_too_short_for_all_is_refused() {
    let wide = "cvt.u64.u32 %rd4, %r5; cvt.u64.u32 %rd5, %r4; setp.ge.u64 %p1, %rd5, %rd4; @%p1 bra END; \
        mov.u32 %r9, %nctaid.x; \
                mul.lo.s32 %r8, %r2, %r9;\n\
                L: shl.b64 %rd2, %rd5, 3; add.s64 %rd3, %rd1, %rd2; ld.global.u64 %rd6, [%rd3]; add.s32 %r4, %r4, %r8; \
                cvt.u64.u32 %rd5, %r4; setp.lt.u64 %p2, %rd5, %rd4; @%p2 bra L;";
    let times = |by: i128| move |n: Poly, _: Poly| n.times(&Poly::constant(by)).unwrap();
    assert_eq!(findings(wide, &times(1)), (vec![Difference::Extent], false));
    assert_eq!(findings(wide, &times(2)), (vec![], true));
    let guarded = format!("{GUARD}{STORE}");
    let n = Poly::variable(1);
    let quotient = |of: &Poly, by: u32, extent: &dyn Fn(Poly) -> Poly| {
        let quotients = vec![QuotientVariable { variable: 3, of: of.clone(), by }];
        let (findings, proved) =
            check_with(&guarded, &|_, _| extent(Poly::variable(3)), "len", Vec::new(), quotients);
        (findings.iter().map(|finding| finding.difference).collect::<Vec<_>>(), proved)
    };
    let by = |poly: &Poly, by: i128| poly.times(&Poly::constant(by)).unwrap();
    let plus = |poly: &Poly, more: i128| poly.plus(&Poly::constant(more)).unwrap();
    let refused = (vec![Difference::Extent], false);
    let assumed = (vec![], false);
    // `n / 2`, `n * 3 / 4`, `n / 2 + 1`, `n.div_ceil(2)`, twice each, and sufficient lengths.
    assert_eq!(quotient(&n, 2, &|half| half), refused);
    assert_eq!(quotient(&by(&n, 3), 4, &|part| part), refused);
    assert_eq!(quotient(&n, 2, &|half| plus(&half, 1)), assumed);
    assert_eq!(quotient(&plus(&n, 1), 2, &|half| half), refused);
    assert_eq!(quotient(&plus(&n, 1), 2, &|half| by(&half, 2)), (vec![], true));
    assert_eq!(quotient(&n, 2, &|half| by(&half, 2)), assumed);
    assert_eq!(quotient(&n, 2, &|half| plus(&by(&half, 2), 1)), (vec![], true));
}

/// The lengths that the help for vectors suggests are proved, and shorter ones are not.
#[test]
fn multiples_of_a_vector_are_proved() {
    let rounded = |of: Poly, to: u32| vec![RoundedVariable { variable: 3, of, to }];
    let (n, m) = (Poly::variable(1), Poly::variable(2));
    let proved = |body: &str, extent: Poly, rounded: Vec<RoundedVariable>| {
        let (findings, proved) = check_rounded(body, &|_, _| extent.clone(), "len", rounded);
        assert_eq!(findings.len(), 0, "{body}");
        proved
    };
    let up = Poly::variable(3);
    let access = "mul.wide.u32 %rd2, %r7, 4; add.s64 %rd3, %rd1, %rd2; \
        @%p1 st.global.v4.f32 [%rd3], {%f1, %f2, %f3, %f4};";
    // `tid << 2 & 508 | ctaid << 9`, as Triton emits it, a product and a sum.
    let triton = "shl.b32 %r9, %r1, 9; shl.b32 %r10, %r3, 2; and.b32 %r11, %r10, 508; or.b32 %r7, %r11, %r9;";
    let product = "mul.lo.u32 %r7, %r4, 4;";
    let sum = "shl.b32 %r9, %r1, 3; shl.b32 %r10, %r3, 2; add.u32 %r7, %r9, %r10;";
    for index in [triton, product, sum] {
        for guard in ["lt.s32", "lt.u32"] {
            let body = format!("{index} setp.{guard} %p1, %r7, %r5; {access}");
            assert!(proved(&body, up.clone(), rounded(n.clone(), 4)), "{body}");
            // A multiple of a larger number, and of more.
            let more = n.plus(&m).unwrap();
            assert!(proved(&body, up.clone(), rounded(more, 4)), "{body}");
            // A multiple of 2 only: the vector may end 2 elements later. A multiple of 3, which does not divide the
            // index.
            assert!(!proved(&body, up.clone(), rounded(n.clone(), 2)), "{body}");
            assert!(!proved(&body, up.clone(), rounded(n.clone(), 3)), "{body}");
            // A multiple of another number, or of a smaller one.
            assert!(!proved(&body, up.clone(), rounded(m.clone(), 4)), "{body}");
            let less = n.minus(&Poly::constant(1)).unwrap();
            assert!(!proved(&body, up.clone(), rounded(less, 4)), "{body}");
            let less = up.minus(&Poly::constant(1)).unwrap();
            assert!(!proved(&body, less, rounded(n.clone(), 4)), "{body}");
        }
    }
    // An index that is only even, or any.
    for index in ["shl.b32 %r7, %r4, 1;", "mov.u32 %r7, %r4;", "shl.b32 %r9, %r4, 2; add.u32 %r7, %r9, 2;"] {
        let body = format!("{index} setp.lt.u32 %p1, %r7, %r5; {access}");
        assert!(!proved(&body, up.clone(), rounded(n.clone(), 4)), "{body}");
    }
    // Nothing bounds the index.
    let body = format!("{product} setp.ne.u32 %p1, %r6, 0; {access}");
    assert!(!proved(&body, up.clone(), rounded(n.clone(), 4)));
    // Two vectors: the second one is out of bounds.
    let second = format!("{product} setp.lt.u32 %p1, %r7, %r5; {}", access.replace("[%rd3]", "[%rd3+16]"));
    assert!(!proved(&second, up.clone(), rounded(n.clone(), 4)));
    let more = up.plus(&Poly::constant(4)).unwrap();
    assert!(proved(&second, more, rounded(n.clone(), 4)));
}

#[test]
fn nothing_right_is_refuted() {
    let less = |n: Poly, _: Poly| n.minus(&Poly::constant(1)).unwrap();
    let n = |n: Poly, _: Poly| n;
    // `if (i < n) if (i + 1 < n) x[i]`
    let next = format!("{GUARD} add.s32 %r7, %r4, 1; setp.ge.u32 %p2, %r7, %r5; @%p2 bra END; {STORE}");
    assert_eq!(findings(&next, &less).0, Vec::new());
    // Two bounds: either may be the smaller.
    let two = format!("{GUARD} setp.ge.u32 %p2, %r4, %r6; @%p2 bra END; {STORE}");
    assert_eq!(findings(&two, &less).0, Vec::new());
    assert!(findings(&two, &n).1);
    assert!(findings(&two, &|_, m| m).1);
    // Only even threads, with half the index.
    let half = format!("{GUARD} and.b32 %r7, %r4, 1; setp.eq.s32 %p2, %r7, 1; @%p2 bra END; {STORE}");
    assert_eq!(findings(&half, &less).0, Vec::new());
    let shifted = format!("{GUARD} shr.u32 %r4, %r4, 1; {STORE}");
    assert_eq!(findings(&shifted, &|_, _| Poly::constant(1)).0, Vec::new());
    // Backwards: n - 1 - i.
    let back = format!(
        "{GUARD} not.b32 %r7, %r4; add.s32 %r8, %r7, %r5; mul.wide.u32 %rd2, %r8, 4; add.s64 %rd3, %rd1, %rd2; \
            st.global.f32 [%rd3], %f1;"
    );
    assert_eq!(findings(&back, &less).0, Vec::new());
    let back = format!(
        "{GUARD} sub.s32 %r7, %r5, %r4; add.s32 %r8, %r7, -1; mul.wide.u32 %rd2, %r8, 4; add.s64 %rd3, %rd1, %rd2; \
            st.global.f32 [%rd3], %f1;"
    );
    assert_eq!(findings(&back, &n), (vec![], true));
    // n - 2 - i may wrap.
    let wraps = back.replace(", -1;", ", -2;");
    assert_eq!(findings(&wraps, &n), (vec![], false));
}

/// Indices made of quotients, remainders, masks and disjoint bits, and of loops that start at a constant.
#[test]
fn bounds_follow_from_arithmetic() {
    let access = "mul.wide.u32 %rd2, %r9, 4; add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f1;";
    let n = |n: Poly, _: Poly| n;
    let m = |_: Poly, m: Poly| m;
    let constant = |value: i128| move |_: Poly, _: Poly| Poly::constant(value);
    let rows = "mul.lo.s32 %r7, %r5, %r6; setp.ge.u32 %p1, %r4, %r7; @%p1 bra END;";
    let proved = |body: &str, extent: &dyn Fn(Poly, Poly) -> Poly| {
        let (codes, proved) = findings(body, extent);
        assert_eq!(codes, Vec::new(), "{body}");
        proved
    };
    // Columns and rows of `n * m` elements, and the columns as compilers compute them from the rows.
    for column in
        ["rem.u32 %r9, %r4, %r6;", "div.u32 %r8, %r4, %r6; mul.lo.s32 %r8, %r8, %r6; sub.s32 %r9, %r4, %r8;"]
    {
        assert!(proved(&format!("{rows} {column} {access}"), &m), "{column}");
        let less = |_: Poly, m: Poly| m.minus(&Poly::constant(1)).unwrap();
        assert!(!proved(&format!("{rows} {column} {access}"), &less), "{column}");
    }
    assert!(proved(&format!("{rows} div.u32 %r9, %r4, %r6; {access}"), &n));
    assert!(proved(&format!("{rows} div.s32 %r9, %r4, %r5; {access}"), &m));
    assert!(!proved(&format!("{rows} div.u32 %r9, %r4, %r3; {access}"), &m));
    // A transposed matrix.
    let transposed = "rem.u32 %r8, %r4, %r6; div.u32 %r9, %r4, %r6; mad.lo.s32 %r9, %r8, %r5, %r9;";
    assert!(proved(&format!("{rows} {transposed} {access}"), &|n, m| n.times(&m).unwrap()));
    // Parts of indices, signed division as compilers emit it, and combined bits.
    assert!(proved(&format!("and.b32 %r9, %r3, 31; {access}"), &constant(32)));
    assert!(!proved(&format!("and.b32 %r9, %r3, 31; {access}"), &constant(31)));
    assert!(proved(&format!("{GUARD} and.b32 %r9, %r4, -4; {access}"), &n));
    let eighth = "setp.ge.s32 %p1, %r4, 64; @%p1 bra END; shr.s32 %r7, %r4, 31; shr.u32 %r7, %r7, 29; add.s32 %r7, \
                  %r4, %r7; shr.s32 %r9, %r7, 3;";
    assert!(proved(&format!("{eighth} {access}"), &constant(8)));
    let rest = format!("{eighth} and.b32 %r8, %r7, -8; sub.s32 %r9, %r4, %r8; {access}");
    assert!(proved(&rest, &constant(8)));
    let bits = "setp.ge.u32 %p1, %r1, 4; @%p1 bra END; shl.b32 %r7, %r1, 5; and.b32 %r8, %r3, 31; \
        or.b32 %r9, %r7, %r8;";
    assert!(proved(&format!("{bits} {access}"), &constant(128)));
    assert!(proved(&format!("{GUARD} min.u32 %r9, %r4, %r6; {access}"), &n));
    // Nothing bounds a remainder by data, or the sign of a number that may be negative.
    assert!(!proved(&format!("ld.global.u32 %r7, [%rd1]; rem.u32 %r9, %r4, %r7; {access}"), &m));
    let signed = "ld.global.u32 %r7, [%rd1]; rem.s32 %r9, %r7, %r6;";
    assert!(!proved(&format!("{signed} {access}"), &m));
    // A loop from 0 that is only entered if it has a first iteration.
    let turns = |guard: &str| {
        format!(
            "{guard} mov.u32 %r9, 0;\nL: {access} add.s32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r5; @%p2 bra L;"
        )
    };
    for guard in ["setp.eq.s32 %p1, %r5, 0; @%p1 bra END;", "setp.lt.s32 %p1, %r5, 1; @%p1 bra END;"] {
        assert!(proved(&turns(guard), &n), "{guard}");
    }
    assert!(!proved(&turns(""), &n));
    assert!(!proved(&turns("setp.eq.s32 %p1, %r6, 0; @%p1 bra END;"), &n));
}
