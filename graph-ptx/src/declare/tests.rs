use super::*;
use crate::poly::Poly;
use crate::syntax::parse;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

fn buffer(access: DeclaredAccess) -> DeclaredKind {
    DeclaredKind::Buffer {
        access,
        element: PrimitiveType::from_name("u32"),
        multimem: false,
        extent: Poly::constant(1),
        text: "1".to_owned(),
    }
}

fn scalar(name: &str) -> DeclaredKind {
    DeclaredKind::Scalar(PrimitiveType::from_name(name))
}

fn run(text: &str, name: &str, kinds: Vec<DeclaredKind>) -> (Vec<Finding>, Option<CheckedKernel>) {
    run_with_tables(text, name, kinds, Vec::new())
}

fn run_with_tables(
    text: &str,
    name: &str,
    kinds: Vec<DeclaredKind>,
    tables: Vec<PointerTable>,
) -> (Vec<Finding>, Option<CheckedKernel>) {
    let text = format!("{HEAD}{text}");
    let module = parse(&text).unwrap();
    let parameters = kinds
        .into_iter()
        .enumerate()
        .map(|(at, kind)| DeclaredParameter { name: format!("p{at}"), kind, nullable: false })
        .collect();
    let (findings, mut checked) = check(
        &module,
        &[Declaration {
            name: name.to_owned(),
            parameters,
            rounded: Vec::new(),
            quotients: Vec::new(),
            tables,
        }],
        &[],
    );
    (findings, checked.remove(0))
}

fn codes(findings: &[Finding]) -> Vec<(Difference, Option<usize>)> {
    findings.iter().map(|finding| (finding.difference, finding.parameter)).collect()
}

#[test]
fn a_kernel_that_is_not_there_has_a_near_name() {
    let text = ".entry matvec() { ret; }\n.entry _Z5scalePfj() { ret; }\n.func helper() { ret; }\n";
    let help = |name| run(text, name, vec![]).0.remove(0).help;
    assert_eq!(help("matvce").as_deref(), Some("there is a kernel `matvec`"));
    assert_eq!(
        help("scale").as_deref(),
        Some(
            "it exists as `_Z5scalePfj`: write `#[link_name = \"_Z5scalePfj\"]` on the declaration, \
                or declare it `extern \"C\"` in the CUDA source"
        )
    );
    let others = help("something_else").expect("a help");
    assert!(others.starts_with("it has `matvec`, `_Z5scalePfj`; "), "{others}");
    let (findings, checked) = run(text, "helper", vec![]);
    assert_eq!(findings[0].notes, ["line 6 of the PTX: `helper` is not an `.entry` with a body"]);
    assert!(checked.is_none());
}

#[test]
fn numbers_and_kinds_of_parameters() {
    let text = ".entry k(.param .u64 a, .param .f32 b, .param .align 4 .b8 c[12], .param .u8 d) { ret; }";
    let right =
        || vec![buffer(DeclaredAccess::Read), scalar("f32"), DeclaredKind::Scalar(None), scalar("bool")];
    let (findings, checked) = run(text, "k", right());
    assert_eq!(findings, []);
    assert_eq!(checked.unwrap().layout, [(8, 8), (4, 4), (12, 4), (1, 1)]);
    assert_eq!(codes(&run(text, "k", right()[1..].to_vec()).0), [(Difference::Count, None)]);
    for (at, wrong, right_too) in
        [(0, "u32", "usize"), (0, "f64", "i64"), (1, "u32", "f32"), (1, "f64", "f32"), (3, "u16", "i8")]
    {
        let mut kinds = right();
        kinds[at] = scalar(wrong);
        assert_eq!(codes(&run(text, "k", kinds.clone()).0), [(Difference::Kind, Some(at))], "{wrong}");
        kinds[at] = scalar(right_too);
        assert_eq!(codes(&run(text, "k", kinds).0), [], "{right_too}");
    }
    let mut kinds = right();
    kinds[2] = scalar("u64");
    kinds[1] = buffer(DeclaredAccess::Write);
    assert_eq!(codes(&run(text, "k", kinds).0), [(Difference::Kind, Some(1)), (Difference::Kind, Some(2))]);
}

/// All differences are found at once, and matching parts are still proved.
#[test]
fn access_is_proved_refuted_or_vouched_for() {
    let text = ".entry k(.param .u64 a, .param .u64 b, .param .u64 c) { .reg .b64 %rd<9>; .reg .f32 %f<3>; \
        .reg .pred %p;\n\
        ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];\n\
        ld.global.f32 %f1, [%rd1];\n ld.global.f32 %f2, [%rd2];\n st.global.f32 [%rd2], %f1;\n\
        selp.b64 %rd4, %rd3, %rd2, %p; st.global.f32 [%rd4], %f1; ret; }";
    let (findings, checked) = run(
        text,
        "k",
        vec![buffer(DeclaredAccess::Read), buffer(DeclaredAccess::ReadWrite), buffer(DeclaredAccess::Read)],
    );
    assert_eq!(findings, []);
    let proofs: Vec<_> = checked.unwrap().proofs.into_iter().map(|proof| proof.unwrap().text).collect();
    assert_eq!(proofs[0], "proved: reads only, within `1` elements");
    assert_eq!(&proofs[1][..24], "proved: reads and writes");
    assert_eq!(proofs[2], "assumed: reads only");
    let (findings, _) = run(
        text,
        "k",
        vec![buffer(DeclaredAccess::Write), buffer(DeclaredAccess::Write), buffer(DeclaredAccess::Write)],
    );
    assert_eq!(codes(&findings), [(Difference::WriteOnly, Some(0)), (Difference::WriteOnly, Some(1))]);
    assert_eq!(findings[1].notes, ["line 7 of the PTX: `ld.global.f32 %f2, [%rd2];`"]);
    let (findings, _) =
        run(text, "k", vec![scalar("u64"), buffer(DeclaredAccess::Read), buffer(DeclaredAccess::Atomic)]);
    assert_eq!(codes(&findings), [(Difference::Kind, Some(0)), (Difference::ReadOnly, Some(1))]);
    assert_eq!(findings[1].notes, ["line 8 of the PTX: `st.global.f32 [%rd2], %f1;`"]);
}

#[test]
fn blocks_clusters_and_shared_memory() {
    let text = ".entry k()\n.reqntid 32, 4\n.reqnctapercluster 2\n{ .shared .align 4 .b8 a[3]; \
        .shared .align 8 .b8 b[49200]; ret; }";
    let (findings, checked) = run(text, "k", vec![]);
    assert_eq!(codes(&findings), [(Difference::Shared, None)]);
    let checked = checked.unwrap();
    assert_eq!(checked.shared, 49208);
    assert_eq!(
        checked.block,
        BlockRule { max_threads: None, required: Some([32, 4, 1]), cluster: Some([2, 1, 1]) }
    );
    let (findings, checked) = run(".entry k()\n.maxntid 16, 8, 1\n{ ret; }", "k", vec![]);
    assert_eq!(findings, []);
    assert_eq!(checked.unwrap().block.max_threads, Some(128));
}

#[test]
fn files_that_cannot_be_used() {
    let of = |text: &str| check_file(&parse(text).unwrap()).map(|finding| finding.message);
    assert_eq!(of(HEAD), None);
    assert_eq!(
        of(".version 8.0\n.target sm_80\n.address_size 32\n").as_deref(),
        Some("the PTX has 32-bit addresses")
    );
    assert_eq!(
        of(".version 10.1\n.target sm_80\n").as_deref(),
        Some("the PTX is version 10.1, which is not supported")
    );
}

/// Returns the first reason of an unproved part, for an element type of `out`.
fn elements(body: &str, element: &str) -> Result<Option<String>, String> {
    let text = format!(
        ".entry k(.param .u64 out, .param .u64 in, .param .u8 flag) {{ .reg .b64 %rd<9>; .reg .b32 %r<9>; \
            .reg .b16 %s<9>; \
         .reg .f32 %f<9>; .reg .pred %p<3>;\nld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; \
         ld.param.u8 %s1, [flag];\n{body}\nret; }}"
    );
    let buffer = |element| DeclaredKind::Buffer {
        access: DeclaredAccess::ReadWrite,
        element: PrimitiveType::from_name(element),
        multimem: false,
        extent: Poly::variable(9),
        text: "n".to_owned(),
    };
    let (findings, checked) = run(&text, "k", vec![buffer(element), buffer("bool"), scalar("bool")]);
    if let Some(finding) = findings.first() {
        return Err(finding.message.clone());
    }
    let proof = checked.unwrap().proofs[0].clone().unwrap();
    Ok(proof.unproved.into_iter().find(|open| open.what == DeclaredPart::Elements).map(|open| open.reason))
}

#[test]
fn booleans_are_proved_refuted_or_vouched_for() {
    let proved = [
        "st.global.u8 [%rd1], 1;",
        "mov.u32 %r1, 16777217; st.global.u32 [%rd1], %r1;",
        "setp.eq.u32 %p1, %r2, 3; selp.u16 %s2, 1, 0, %p1; st.global.u8 [%rd1], %s2;",
        "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; cvt.u16.u32 %s2, %r2; st.global.u8 [%rd1], %s2;",
        "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 31; st.global.u8 [%rd1], %r2;",
        "mov.u32 %r1, %tid.x; min.u32 %r2, %r1, 1; st.global.u8 [%rd1], %r2;",
        "ld.global.u8 %s2, [%rd2]; ld.global.u8 %s3, [%rd2+1]; xor.b16 %s4, %s2, %s3; st.global.u8 [%rd1], %s4;",
        "ld.global.v2.u32 {%r1, %r2}, [%rd2]; st.global.v2.u32 [%rd1], {%r2, %r1};",
        "ld.global.u16 %s2, [%rd2]; mov.b32 %r1, {%s2, %s2}; prmt.b32 %r2, %r1, %r1, 12816; st.global.b32 [%rd1], %r2;",
        "st.global.u8 [%rd1], %s1;",
        "cvt.u32.u16 %r1, %s1; mul.lo.s32 %r2, %r1, 16843009; st.global.u32 [%rd1], %r2;",
        "cvt.u32.u16 %r1, %s1; shl.b32 %r2, %r1, 8; add.s32 %r3, %r2, %r1; cvt.u16.u32 %s2, %r3; \
            st.global.u16 [%rd1], %s2;",
    ];
    for body in proved {
        assert_eq!(elements(body, "bool"), Ok(None), "{body}");
    }
    let open = [
        "mov.u32 %r1, %tid.x; st.global.u8 [%rd1], %r1;",
        "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3; st.global.u8 [%rd1], %r2;",
        "ld.global.u8 %s2, [%rd2]; add.s16 %s3, %s2, 1; st.global.u8 [%rd1], %s3;",
        "ld.global.s8 %s2, [%rd2]; neg.s16 %s3, %s2; st.global.u8 [%rd1], %s3;",
        "ld.global.u8 %s2, [%rd2]; not.b16 %s3, %s2; st.global.u8 [%rd1], %s3;",
        "ld.global.u16 %s2, [%rd2]; shr.u16 %s3, %s2, 7; st.global.u8 [%rd1], %s3;",
        "st.global.u8 [%rd1], %s7;",
    ];
    for body in open {
        let reason = elements(body, "bool").unwrap().unwrap_or_else(|| panic!("{body}"));
        assert!(reason.ends_with("writes bits that are not proved to be 0 or 1"), "{body}: {reason}");
        assert_eq!(elements(body, "u8"), Ok(None), "{body}");
    }
    for body in
        ["st.global.u8 [%rd1], 255;", "mov.u32 %r1, %tid.x; or.b32 %r2, %r1, 2; st.global.u8 [%rd1], %r2;"]
    {
        assert!(
            elements(body, "bool").is_err_and(|message| message.contains("elements of type `bool`")),
            "{body}"
        );
        assert_eq!(elements(body, "u8"), Ok(None), "{body}");
    }
    assert!(elements("st.global.u32 [%rd1], 55296;", "char").is_err());
    assert_eq!(elements("st.global.u32 [%rd1], 65;", "char"), Ok(None));
}

#[test]
fn a_buffer_that_is_a_number_is_told() {
    let run = |body: &str| {
        let text = format!(
            ".entry k(.param .u64 n) {{ .reg .b64 %rd<9>; .reg .pred %p<3>; \
                .reg .f64 %f<3>;\nld.param.u64 %rd1, [n];\n{body}\nret; }}"
        );
        let (findings, checked) = run(&text, "k", vec![buffer(DeclaredAccess::Read)]);
        let open = checked.unwrap().proofs[0]
            .take()
            .map(|proof| proof.unproved.iter().any(|open| open.what == DeclaredPart::Access));
        (codes(&findings), open)
    };
    for body in [
        "shl.b64 %rd2, %rd1, 2;",
        "add.s64 %rd2, %rd1, 1; mul.lo.s64 %rd3, %rd2, %rd4;",
        "cvt.rn.f64.u64 %f1, %rd1;",
    ] {
        assert_eq!(run(body), (vec![(Difference::Kind, Some(0))], None), "{body}");
    }
    for body in [
        "setp.lt.u64 %p1, %rd2, %rd1;",
        "sub.s64 %rd3, %rd2, %rd1; mul.lo.s64 %rd4, %rd3, 5;",
        "setp.gt.s64 %p1, %rd1, 0;",
    ] {
        assert_eq!(run(body), (vec![], Some(true)), "{body}");
    }
    for body in ["", "setp.ne.s64 %p1, %rd1, 0;", "and.b64 %rd2, %rd1, 15; setp.ne.s64 %p1, %rd2, 0;"] {
        assert_eq!(run(body), (vec![], Some(false)), "{body}");
    }
}

/// A word of two `bf16` that `__bfloat1622float2` converts to `f32`, and a word that is one `f32`.
#[test]
fn parts_of_words_are_converted() {
    let elements = |ty: &str, uses: &str| {
        let text = format!(
            ".entry k(.param .u64 x) {{ .reg .b64 %rd1; .reg .b32 %r<5>; .reg .b16 %rs<3>; .reg .f32 %f<9>; \
             ld.param.u64 %rd1, [x]; ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd1]; {uses} ret; }}"
        );
        let kind = |access| DeclaredKind::Buffer {
            access,
            element: PrimitiveType::from_name(ty),
            multimem: false,
            extent: Poly::constant(100),
            text: "100".to_owned(),
        };
        let (_, checked) = run(&text, "k", vec![kind(DeclaredAccess::Read)]);
        let open = checked.unwrap().proofs[0].take().unwrap().unproved;
        open.into_iter().find(|open| open.what == DeclaredPart::Elements).map(|open| open.reason)
    };
    let halves =
        "mov.b32 {%rs1, %rs2}, %r1; mov.b32 %f1, {0, %rs1}; mov.b32 %f2, {0, %rs2}; add.f32 %f3, %f1, %f2;";
    assert_eq!(elements("bf16", halves), None);
    let word = "mov.b32 %f1, %r1; add.f32 %f3, %f1, %f1;";
    assert_eq!(elements("f32", word), None);
}

/// `x = inp ? inp[i] : out[i]`: a plain `inp` is never null, an optional one may be.
#[test]
fn what_only_null_leads_to_is_dead() {
    let text = format!(
        "{HEAD}.entry k(.param .u64 inp, .param .u64 out) {{ .reg .pred %p<3>; .reg .b64 %rd<5>; .reg .b32 %r<3>;\n\
         ld.param.u64 %rd1, [inp]; ld.param.u64 %rd2, [out]; setp.eq.s64 %p1, %rd1, 0; \
         selp.b64 %rd3, %rd2, %rd1, %p1;\n\
         ld.global.u32 %r1, [%rd3]; st.global.u32 [%rd2], %r1; ret; }}"
    );
    let module = parse(&text).unwrap();
    let declared = |nullable: bool| {
        let parameter = |name: &str, access, nullable| DeclaredParameter {
            name: name.to_owned(),
            kind: buffer(access),
            nullable,
        };
        let parameters = vec![
            parameter("inp", DeclaredAccess::Read, nullable),
            parameter("out", DeclaredAccess::Write, false),
        ];
        let declaration = Declaration {
            name: "k".to_owned(),
            parameters,
            rounded: Vec::new(),
            quotients: Vec::new(),
            tables: Vec::new(),
        };
        let (findings, mut checked) = check(&module, &[declaration], &[]);
        assert_eq!(findings, []);
        checked.remove(0).unwrap().proofs.remove(1).unwrap()
    };
    let plain = declared(false);
    assert_eq!((plain.access, plain.extent), (true, true));
    // A load that may go through `out` may precede the store.
    assert!(!declared(true).access);
}

#[test]
fn tables_of_pointers_are_told_from_others() {
    const INDEX: &str = "ld.global.u64 %rd5, [%rd2]; add.s64 %rd6, %rd4, %rd5;";
    let run = |body: &str, writes: bool| {
        let text = format!(
            ".func opaque(.param .b64 p);\n.entry k(.param .u64 xs, .param .u64 ids) {{ .reg .b64 %rd<9>; \
                .reg .f32 %f<3>;\n\
             .shared .align 8 .b8 cell[8];\nld.param.u64 %rd1, [xs]; ld.param.u64 %rd2, [ids];\n\
             ld.global.u64 %rd4, [%rd1];\n{body}\nret; }}"
        );
        let number = DeclaredKind::Buffer {
            access: DeclaredAccess::Read,
            element: PrimitiveType::from_name("u64"),
            multimem: false,
            extent: Poly::constant(1),
            text: "1".to_owned(),
        };
        let tables = vec![PointerTable { parameter: 0, writes }];
        let (findings, checked) = run_with_tables(&text, "k", vec![number.clone(), number], tables);
        let proofs = checked.unwrap().proofs;
        let open = proofs[0]
            .as_ref()
            .map(|proof| proof.unproved.iter().any(|open| open.what == DeclaredPart::Pointers));
        (codes(&findings), open)
    };
    let (read, stored) = ("ld.global.f32 %f1, [%rd4];", "st.global.f32 [%rd4], %f1;");
    let (stored_apart, updated) = ("st.global.f32 [%rd6], %f1;", "red.global.add.f32 [%rd4], %f1;");
    let shared = "st.shared.u64 [cell], %rd4; ld.shared.u64 %rd5, [cell]; st.global.f32 [%rd5], %f1;";
    for writes in [false, true] {
        assert_eq!(run(read, writes), (vec![], Some(true)), "what is read through is assumed");
        // The base may be either of the two words; the declared table decides.
        assert_eq!(run(&format!("{INDEX} {stored_apart}"), writes), (vec![], Some(true)));
        assert_eq!(run(&format!("{INDEX} ld.global.f32 %f1, [%rd6];"), writes), (vec![], Some(true)));
        // No loaded value is used as an address.
        assert_eq!(run("st.local.u64 [%rd3], %rd4;", writes), (vec![(Difference::Kind, Some(0))], None));
    }
    for body in [stored, updated, shared] {
        assert_eq!(run(body, true), (vec![], Some(true)), "{body}");
        assert_eq!(run(body, false), (vec![(Difference::ReadOnly, Some(0))], None), "{body}");
    }
}

/// A store to `x[i]` after tests of `flag` and `i < n`; the first is a predicate in which two paths join. `setp`
/// compares the loaded flag, or the index.
fn behind_a_joined_predicate(setp: &str, extent: Poly) -> Vec<(Difference, Option<usize>)> {
    let text = format!(
        ".entry k(.param .u64 x, .param .u64 flags, .param .u32 n) {{
            .reg .pred %p<5>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
            ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [flags]; ld.param.u32 %r1, [n];
            mov.u32 %r2, %tid.x;
            ld.global.u32 %r3, [%rd2];
            add.s32 %r5, %r1, -1;
            {setp}
            mov.pred %p2, 0;
            @%p1 bra JOIN;
            mov.pred %p2, -1;
            JOIN: @!%p2 bra END;
            setp.ge.u32 %p3, %r2, %r1;
            @%p3 bra END;
            mul.wide.u32 %rd3, %r2, 4;
            add.s64 %rd4, %rd1, %rd3;
            st.global.u32 [%rd4], %r3;
            END: ret;
        }}"
    );
    let element = PrimitiveType::from_name("u32");
    let x = DeclaredKind::Buffer {
        access: DeclaredAccess::ReadWrite,
        element,
        multimem: false,
        extent,
        text: "len".to_owned(),
    };
    codes(&run(&text, "k", vec![x, buffer(DeclaredAccess::Read), scalar("u32")]).0)
}

#[test]
fn a_joined_predicate_bounds_nothing_unless_an_index_decides_it() {
    let n = || Poly::variable(2);
    let less = || n().minus(&Poly::constant(1)).expect("a polynomial");
    let by_data = "setp.eq.u32 %p1, %r3, 0;";
    assert_eq!(behind_a_joined_predicate(by_data, n()), []);
    assert_eq!(behind_a_joined_predicate(by_data, less()), [(Difference::Extent, Some(0))]);
    // Only threads below `n - 1` get there.
    let by_index = "setp.ge.u32 %p1, %r2, %r5;";
    assert_eq!(behind_a_joined_predicate(by_index, n()), []);
    assert_eq!(behind_a_joined_predicate(by_index, less()), []);
}

/// Returns the findings, and whether the access of the first parameter is proved.
fn multimem_of(
    body: &str,
    access: DeclaredAccess,
    element: &str,
    multimem: bool,
) -> (Vec<Finding>, Option<bool>) {
    let text = format!(
        ".entry k(.param .u64 p, .param .u64 q, .param .u32 n) {{
            .reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .f64 %fd<3>;
            ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r1, [n];
            mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 bra END;
            mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd1, %rd3; setp.eq.u32 %p2, %r2, 7;
            {body}
            END: ret;
        }}"
    );
    let p = DeclaredKind::Buffer {
        access,
        element: PrimitiveType::from_name(element),
        multimem,
        extent: Poly::variable(2),
        text: "n".to_owned(),
    };
    let (findings, checked) = run(&text, "k", vec![p, buffer(DeclaredAccess::ReadWrite), scalar("u32")]);
    let proof = checked.and_then(|checked| checked.proofs.first().cloned().flatten());
    (findings, proof.map(|proof| proof.access))
}

#[test]
fn addresses_of_multicast_objects_are_declared() {
    let (load, store, add) = (
        "multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%rd4];",
        "multimem.st.relaxed.sys.global.f32 [%rd4], %f1;",
        "multimem.red.relaxed.sys.global.add.f32 [%rd4], %f1;",
    );
    let both = &format!("{load} {store}");
    use DeclaredAccess::{Read, ReadWrite};
    let codes_of = |body: &str, access, multimem| codes(&multimem_of(body, access, "f32", multimem).0);
    for (body, access) in [(load, Read), (store, ReadWrite), (add, ReadWrite), (both.as_str(), ReadWrite)] {
        assert_eq!(multimem_of(body, access, "f32", true), (vec![], Some(true)), "{body}");
        assert_eq!(codes_of(body, access, false), [(Difference::Multimem, Some(0))], "{body}");
    }
    for plain in [
        "ld.global.f32 %f1, [%rd4];",
        "st.global.f32 [%rd4], %f1;",
        "red.global.add.f32 [%rd4], %f1;",
        "ld.global.f32 %f1, [%rd4]; multimem.st.global.f32 [%rd4], %f1;",
    ] {
        assert_eq!(codes_of(plain, ReadWrite, true), [(Difference::Multimem, Some(0))], "{plain}");
    }
    let found = multimem_of("ld.global.f32 %f1, [%rd4];", Read, "f32", true).0.remove(0);
    assert_eq!(found.message, "`p0` is declared `Multimem`, the PTX accesses it by another instruction");
    assert!(found.notes[0].contains("`ld.global.f32 %f1, [%rd4];`"), "{:?}", found.notes);
    // A store through a shared borrow, another float, and a vector past the end.
    for body in [store, add] {
        let found = multimem_of(body, Read, "f32", true).0.remove(0);
        assert_eq!(found.difference, Difference::ReadOnly);
        assert_eq!(found.help.as_deref(), Some("declare it `&mut [Multimem<T>; len]`"));
    }
    let found = multimem_of(load, Read, "f64", true).0;
    assert_eq!(codes(&found), [(Difference::Kind, Some(0))]);
    let found = multimem_of("multimem.ld_reduce.add.f64 %fd1, [%rd4];", Read, "f32", true).0;
    assert_eq!(codes(&found), [(Difference::Kind, Some(0))]);
    let vector = "multimem.ld_reduce.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];";
    assert_eq!(codes_of(vector, Read, true), [(Difference::Extent, Some(0))]);
    // Nothing is accessed, so both declarations are right.
    for multimem in [false, true] {
        assert_eq!(codes_of("", ReadWrite, multimem), []);
    }
}

#[test]
fn an_address_that_may_be_of_a_multicast_object_is_assumed() {
    let chosen = "selp.b64 %rd5, %rd1, %rd2, %p2;";
    for (access, multimem, expected) in [
        ("ld.global.f32 %f1, [%rd5];", false, true),
        ("ld.global.f32 %f1, [%rd5];", true, false),
        ("multimem.ld_reduce.add.f32 %f1, [%rd5];", true, true),
        ("multimem.ld_reduce.add.f32 %f1, [%rd5];", false, false),
    ] {
        let found = multimem_of(&format!("{chosen} {access}"), DeclaredAccess::Read, "f32", multimem);
        assert_eq!(found, (vec![], Some(expected)), "{access} {multimem}");
    }
}
