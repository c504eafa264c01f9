use super::*;
use crate::syntax::ast::*;
use crate::syntax::{Address, Operand};

const HEAD: &str = ".version 8.5\n.target sm_90a, debug\n.address_size 64\n";

fn module(text: &str) -> Module<'_> {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn body_of(text: &str) -> String {
    format!("{HEAD}.visible .entry k(.param .u64 k_param_0)\n{{\n{text}\n}}\n")
}

fn instructions<'a>(module: &'a Module<'a>) -> Vec<&'a Instruction<'a>> {
    let body = module.entry("k").unwrap().body.as_ref().unwrap();
    body.statements
        .iter()
        .filter_map(|s| if let Statement::Instruction(i) = s { Some(i) } else { None })
        .collect()
}

#[test]
fn reads_heads_and_parameters() {
    let text = format!(
        "{HEAD}.visible .entry _Z1kPf(
        .param .u64 .ptr .global .align 16 a,
        .param .align 8 .b8 b[24],
        .param .f32 c,
        .param .b64 d
)
.maxntid 256, 1, 1
.minnctapersm 2
.reqnctapercluster 2, 1, 1
.explicitcluster
.pragma \"nounroll\";
{{ ret; }}
.weak .func (.param .b32 r) f(.reg .u32 x) .noreturn;
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 p0, .param .b64 p1) ;
"
    );
    let module = module(&text);
    assert_eq!(module.version, (8, 5));
    assert_eq!(module.target, ["sm_90a", "debug"]);
    let entry = module.entry("_Z1kPf").unwrap();
    assert_eq!(entry.linkage, Linkage::Visible);
    assert_eq!(entry.performance(".maxntid"), Some(&[256, 1, 1][..]));
    assert_eq!(entry.performance(".explicitcluster"), Some(&[][..]));
    assert_eq!(entry.layout(), (vec![0, 8, 32, 40], 48));
    let classes: Vec<_> = entry.parameters.iter().map(Parameter::class).collect();
    assert_eq!(classes, [TypeClass::Integer, TypeClass::Aggregate, TypeClass::Float, TypeClass::Bits]);
    assert_eq!(
        entry.parameters[0].pointer,
        Some(PointerAttribute { space: Some(StateSpace::Global), align: Some(16) })
    );
    assert_eq!(entry.parameters[1].size(), 24);
    assert!(entry.parameters[3].may_be_pointer());
    assert!(module.source(entry.parameters_span).ends_with("d\n)"));
    assert!(module.source(entry.span).ends_with("{ ret; }"));
    let f = module.function("f").unwrap();
    assert!(f.performance(".noreturn").is_some() && f.body.is_none() && f.linkage == Linkage::Weak);
    assert_eq!(f.parameters[0].space, StateSpace::Reg);
}

#[test]
fn reads_module_variables() {
    let text = format!(
        "{HEAD}.global .align 1 .b8 $str[6] = {{104, 105, 0x21, 10, 0}};
.const .align 4 .f32 table[2][2] = {{ {{0f3F800000, 1.5}}, {{-1, 0d3FF0000000000000}} }};
.global .u64 p = generic($str)+4;
.global .b8 q[2] = {{ mask(0xFF, $str), mask(0xFF00, generic($str)) }};
.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 4 .u32 a, b = 7;
.global .attribute(.managed) .s32 m;
.section .debug_str {{ info: .b8 1, 2\n .b8 3 }}
.file 1 \"a.cu\", 12, 34
.alias f, g;
"
    );
    let module = module(&text);
    let variables: Vec<_> = module.variables().collect();
    let names: Vec<_> = variables.iter().map(|v| (v.name, v.size())).collect();
    assert_eq!(
        names,
        [("$str", 6), ("table", 16), ("p", 8), ("q", 2), ("dynamic", 0), ("a", 4), ("b", 4), ("m", 4)]
    );
    assert!(matches!(
        variables[2].initial,
        Some(Initialiser::Address { name: "$str", offset: 4, generic: true, .. })
    ));
    assert!(matches!(variables[6].initial, Some(Initialiser::Integer(7))));
    assert_eq!(variables[4].linkage, Linkage::Extern);
    assert!(
        module.items.iter().any(|i| matches!(i, Item::File(file) if (file.index, file.path) == (1, "a.cu")))
    );
    assert!(module.items.iter().any(|i| matches!(i, Item::Directive(d) if d.name == ".section")));
}

/// The predefined constant is allowed wherever a number is.
#[test]
fn reads_the_size_of_a_warp() {
    let text = format!(
        "{HEAD}.global .u32 size = WARP_SZ;
.shared .b8 tile[WARP_SZ][4];
.global .u32 both[2] = {{ WARP_SZ, -WARP_SZ }};
.visible .entry k() {{ .reg .b32 %r<5>; .local .b8 own[WARP_SZ];
mov.u32 %r1, WARP_SZ; and.b32 %r1, %r1, WARP_SZ - 1; st.shared.u32 [tile+WARP_SZ], ~WARP_SZ;
ld.shared.u32 %r2, [WARP_SZ]; mov.u32 %r3, WARP_SZE; }}"
    );
    let module = module(&text);
    let variables: Vec<_> = module.variables().collect();
    assert!(matches!(variables[0].initial, Some(Initialiser::Integer(32))));
    assert_eq!(variables[1].dimensions, [32, 4]);
    let Some(Initialiser::List(list)) = &variables[2].initial else { panic!("a list") };
    assert!(
        matches!(list[..], [Initialiser::Integer(32), Initialiser::Integer(negative)] if negative == -32i64 as u64)
    );
    let all = instructions(&module);
    assert_eq!(all[0].operands[1], Operand::Integer(32));
    assert_eq!(all[1].operands[2], Operand::Integer(31));
    let address = Address { base: Some("tile"), offset: 32 };
    assert_eq!(all[2].operands, [Operand::Address(address), Operand::Integer(!32)]);
    assert_eq!(all[3].operands[1], Operand::Address(Address { base: None, offset: 32 }));
    assert_eq!(all[4].operands[1], Operand::Name("WARP_SZE"));
}

#[test]
fn reads_instructions() {
    let text = body_of(
        ".reg .pred %p<3>; .reg .b32 %r<9>, x; .local .align 8 .b8 depot[16];
.loc 1 3 4
.loc 1 5 6, function_name $L_f, inlined_at 1 7 8
@!%p1 bra.uni $L1;
ld.global.nc.v4.f32 {%f1, _, %f3, %f4}, [%rd1+-16];
st.shared::cta.u32 [x], 0x1F;
shfl.sync.bfly.b32 %r1|%p1, %r2, -1, 31U, 0xffffffff;
setp.lt.and.f32 %p1|%p2, %f1, 0f3F800000, !%p2;
mov.u32 %r1, %tid.x;
mov.u64 %rd2, depot+8;
{ .param .b64 param0; st.param.b64 [param0+0], %rd1; .reg .b32 t;
call.uni (retval0), f, (param0, param1); }
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
call %rd1, (a), proto; bar.sync 0; call f;
frobnicate.v7.b32 %r1, (%r2), 1.5;
$L1: ret;
ts: .branchtargets $L1, $L2;
proto : .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _);",
    );
    let module = module(&text);
    let all = instructions(&module);
    assert_eq!(all[0].guard, Some(Guard { register: "%p1", negated: true }));
    assert_eq!((all[0].mnemonic(), all[0].line), ("bra", 9));
    assert_eq!(all[0].operands, [Operand::Name("$L1")]);
    assert_eq!(all[1].modifiers().collect::<Vec<_>>(), ["global", "nc", "v4", "f32"]);
    assert_eq!(all[1].space(), Some(StateSpace::Global));
    assert_eq!(all[1].operands[1], Operand::Address(Address { base: Some("%rd1"), offset: -16 }));
    assert!(matches!(&all[1].operands[0], Operand::Vector(v) if v[1] == Operand::Sink && v.len() == 4));
    assert_eq!(all[2].space(), Some(StateSpace::Shared));
    assert_eq!(all[3].operands[0], Operand::Pair("%r1", "%p1"));
    assert_eq!(all[3].operands[2], Operand::Integer(u64::MAX));
    assert_eq!(all[4].operands[2], Operand::Single(0x3f80_0000));
    assert_eq!(all[4].operands[3], Operand::Not("%p2"));
    assert_eq!(all[5].operands[1], Operand::Name("%tid.x"));
    assert_eq!(all[6].operands[1], Operand::Offset { name: "depot", offset: 8, elements: false });
    assert_eq!(all[7].scope, 1);
    assert_eq!(all[8].operands.len(), 3);
    assert!(matches!(&all[9].operands[1], Operand::Tensor(_, rest) if rest.len() == 1));
    assert_eq!(module.source(all[11].span), "bar.sync 0;");
    assert_eq!(all[13].mnemonic(), "frobnicate");
    let body = module.entry("k").unwrap().body.as_ref().unwrap();
    assert!(
        body.statements.iter().any(|s| matches!(s, Statement::Targets(t) if t.targets == ["$L1", "$L2"]))
    );
    assert!(body.statements.iter().any(|s| matches!(s, Statement::Prototype(p) if p.parameters.len() == 2)));
    assert!(body.statements.iter().any(
        |s| matches!(s, Statement::Location(l) if l.inlined == Some(("$L_f", 1, 7, 8)) && l.column == 6)
    ));
    assert_eq!(module.span_of(all[1].opcode), {
        let start = text.find("ld.global.nc").unwrap() as u32;
        Span { start, end: start + 19 }
    });
}

#[test]
fn says_where_a_fault_is() {
    for (text, message) in [
        ("", "1:1: expected `.version`, found the end of the file"),
        (".version 8", "1:10: expected a version such as `8.0`, found `8`"),
        (".version 8.0\n", "2:1: expected `.target`, found the end of the file"),
        (".version 8.0 .target sm_90 .entry k( {", "1:38: expected `.param`, found `{`"),
        (
            ".version 8.0 .target sm_90\n.entry k() {\n add.u32 %r1, %r2 %r3;",
            "3:19: expected `;`, found `%r3`",
        ),
        (
            ".version 8.0 .target sm_90\n.entry k() { {",
            "2:15: expected a statement, found the end of the file",
        ),
        (".version 8.0 .target sm_90 /* ", "1:28: comment without an end"),
        (".version 8.0 .target sm_90 .global .u32 x = 09;", "1:45: malformed number"),
        (".version 8.0 .target sm_90 .global .q8 x;", "1:36: unexpected word in a declaration"),
        (".version 8.0 .target sm_90 .section .x {", "1:41: `{` is never closed"),
        (".version 8.0 .target sm_90 \u{e9}", "1:28: unexpected character"),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }
    assert_eq!(parse_bytes(b".version 8.0\n\xff").unwrap_err().to_string(), "2:1: not UTF-8");
    assert!(parse_bytes(b".version 8.0 .target sm_90\0\xff").is_ok());
}

#[test]
fn nesting_is_an_error_not_an_overflow() {
    for part in ["{", "(", "["] {
        let deep = body_of(&format!("foo {};", part.repeat(100_000)));
        assert!(parse(&deep).is_err());
    }
    assert!(parse(&body_of(&"{".repeat(100_000))).unwrap_err().message.contains("nest"));
    let global = format!("{HEAD}.global .u64 x = {}", "generic(".repeat(100_000));
    assert!(parse(&global).unwrap_err().message.contains("nest"));
    assert!(parse(&format!("{HEAD}.section .x {}", "{".repeat(100_000))).is_err());
}

#[test]
fn a_mebibyte_is_read_in_time() {
    let line = "\tfma.rn.f32 \t%f12, %f13, %f14, %f15;\n\t@%p1 ld.global.v2.f32 {%f1, %f2}, [%rd12+16];\n";
    let text = body_of(&line.repeat((1 << 20) / line.len()));
    let start = std::time::Instant::now();
    let module = module(&text);
    let elapsed = start.elapsed();
    println!("{} bytes in {elapsed:?}", text.len());
    assert!(instructions(&module).len() > 20_000);
    // Ten times the goal, because the machine may be busy: the test only excludes quadratic time.
    assert!(elapsed.as_millis() < 2_000, "{elapsed:?}");
}
