//! Kernels that cannot be analysed may do everything that their text can reach.

use super::*;
use crate::analysis::AccessClass;
use crate::syntax::parse;

const HEAD: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.global .u32 counter;\n.global .u32 other;\n\
     .global .align 1 .b8 text[3] = {97, 98, 0};\n.global .u64 link = generic(other);\n";

/// Returns a body with more blocks than the analysis allows.
fn blocks() -> String {
    "@q ret;\n".repeat(10_001)
}

fn of(body: &str, names: &[&str]) -> Vec<HiddenState> {
    let text = format!("{HEAD}{body}");
    let module = parse(&text).unwrap();
    let mut analysis = Analysis::new(&module);
    let pointers = |name: &&str| vec![true; module.entry(name).map_or(0, |entry| entry.parameters.len())];
    let kernels: Vec<KernelFacts> = names.iter().map(|name| analysis.kernel(name, &pointers(name))).collect();
    let kernels: Vec<(&str, &KernelFacts)> = names.iter().copied().zip(&kernels).collect();
    hidden(&mut analysis, &kernels, &[])
}

fn writes(body: &str) -> Vec<String> {
    of(body, &["k"]).remove(0).writes
}

const SET: &str = ".entry set() { .reg .b32 %r<3>; mov.u32 %r1, 1; st.global.u32 [counter], %r1; ret; }\n";
const GET: &str = ".entry get(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd<4>; mov.u64 %rd1, counter; \
     ld.global.u32 %r1, [%rd1]; ld.param.u64 %rd2, [p]; ld.global.b8 %r2, [text+1]; st.global.u32 [%rd2], %r1; ret; \
     }\n";

#[test]
fn what_some_kernel_writes_orders_its_readers() {
    let found = of(&format!("{SET}{GET}"), &["get", "set"]);
    assert_eq!(found[0], HiddenState { reads: vec!["counter".into()], writes: vec![] });
    assert_eq!(found[1], HiddenState { reads: vec![], writes: vec!["counter".into()] });
    // The writer counts although it is not declared.
    assert_eq!(of(&format!("{SET}{GET}"), &["get"])[0].reads, ["counter"]);
}

#[test]
fn what_nobody_writes_orders_nothing() {
    assert_eq!(of(GET, &["get"])[0], HiddenState::default());
}

#[test]
fn callees_count() {
    assert_eq!(
        writes(".func f() { st.global.u32 [counter], 1; ret; }\n.entry k() { call f; ret; }\n"),
        ["counter"]
    );
}

#[test]
fn a_store_that_is_not_followed_may_hit_what_is_given_away() {
    assert_eq!(
        writes(
            ".entry k() { .reg .b64 %rd<3>; ld.global.u64 %rd1, [link]; st.global.u32 [%rd1], 1; ret; }\n"
        ),
        ["other"]
    );
}

#[test]
fn large_bodies_do_all_that_they_mention() {
    let large = |name: &str, what: &str| format!("{name}() {{ .reg .pred q; {} {what} ret; }}\n", blocks());
    let set = "st.global.u32 [counter], 1;";
    assert_eq!(writes(&large(".entry k", set)), ["counter", "other"]);
    // Variables that the kernel does not mention are not listed, unless an initialiser contains their address.
    assert_eq!(writes(&large(".entry k", "")), ["other"]);
    let call = "{ .reg .pred q; again: call f; @q bra again; ret; }";
    assert_eq!(writes(&format!("{}.entry k() {call}\n", large(".func f", set))), ["counter", "other"]);
    // The call goes through a small function, or to a name that the driver provides in other files.
    let small = ".func f() { call malloc; ret; }\n";
    assert_eq!(
        writes(&format!("{}{small}.entry k() {call}\n", large(".func malloc", set))),
        ["counter", "other"]
    );
}

#[test]
fn reads_of_large_bodies_count() {
    let large = format!(
        ".entry k() {{ .reg .pred q; .reg .b32 r; {} ld.global.u32 r, [counter]; ret; }}\n",
        blocks()
    );
    let found = of(&format!("{SET}{large}"), &["k", "set"]);
    assert!(found[0].reads.contains(&"counter".to_owned()), "{found:?}");
}

#[test]
fn a_fixed_point_that_takes_too_long_is_given_up() {
    // The chain runs against the direction of the loop, so that each iteration adds one address to each register.
    let count = 400;
    let variables: String = (0..count).map(|at| format!(".global .u32 v{at};\n")).collect();
    let moves: String = (0..count).map(|at| format!("mov.b64 %a{at}, v{at};\n")).collect();
    let turns: String =
        (1..count).rev().map(|at| format!("selp.b64 %r{at}, %r{}, %a{at}, q;\n", at - 1)).collect();
    let text = format!(
        "{variables}.entry k() {{ .reg .pred q; .reg .b64 %r<{count}>, %a<{count}>;\n{moves}again:\n{turns}\
         selp.b64 %r0, %r{}, %a0, q;\n@q bra again;\nst.global.u32 [counter], 1; ret; }}\n",
        count - 1
    );
    let all = format!("{HEAD}{text}");
    let module = parse(&all).unwrap();
    let kernel = Analysis::new(&module).kernel("k", &[]);
    assert!(kernel.writes_anywhere, "it is given up");
    assert!(writes(&text).contains(&"counter".to_owned()));
}

#[test]
fn indirect_calls_reach_every_function_whose_address_is_taken() {
    let table = ".global .u64 table[2] = {f, g};\n";
    let functions = format!(
        ".func f() {{ st.global.u32 [counter], 1; ret; }}\n.func g() {{ .reg .pred q; {} call h; ret; }}\n\
         .func h() {{ .reg .b64 %rd<3>; ld.global.u64 %rd1, [deep]; ret; }}\n.global .u32 deepest;\n\
         .global .u64 deep = generic(deepest);\n.global .u32 alone;\n.func apart() {{ st.global.u32 [alone], 1; ret; \
         }}\n",
        blocks()
    );
    let body =
        "{ .reg .b64 %rd<3>; ld.global.u64 %rd1, [table]; p: .callprototype _ (); call %rd1, (), p; ret; }";
    let found =
        writes(&format!("{functions}{table}.entry k() {body}\n.entry unlike() {{ call apart; ret; }}\n"));
    for name in ["counter", "deep", "deepest", "other"] {
        assert!(found.contains(&name.to_owned()), "{name}: {found:?}");
    }
    assert!(!found.contains(&"alone".to_owned()), "{found:?}");
}

#[test]
fn what_an_indirect_callee_gives_away_others_may_write() {
    // `f` stores the address of a variable; the other kernel writes through an address loaded from memory.
    let text = ".func f(.reg .b64 to) { .reg .b64 %rd<3>; cvta.global.u64 %rd1, counter; st.global.u64 [to], %rd1; \
        ret; }\n\
         .global .u64 table[1] = {f};\n\
         .entry give(.param .u64 to) { .reg .b64 %rd<4>; ld.param.u64 %rd2, [to]; ld.global.u64 %rd1, [table]; \
         p: .callprototype _ (.reg .b64 _); call %rd1, (%rd2), p; ret; }\n\
         .entry k(.param .u64 from) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [from]; ld.global.u64 %rd2, [%rd1]; \
         st.u32 [%rd2], 1; ret; }\n";
    assert_eq!(writes(text), ["counter", "other"]);
}

#[test]
fn code_that_is_not_there_may_do_anything() {
    for text in [
        ".extern .func f();\n.entry k() { call f; ret; }\n",
        ".func f();\n.func g() { st.global.u32 [counter], 1; ret; }\n.alias f, g;\n.entry k() { call f; ret; }\n",
    ] {
        let found = writes(text);
        assert!(found.contains(&"counter".to_owned()) && found.contains(&"text".to_owned()), "{found:?}");
    }
}

#[test]
fn initialisers_in_bodies_give_addresses_away() {
    let text = ".entry k() { .global .u64 inner = generic(counter); .global .u64 outer = generic(inner); \
        .reg .b64 %rd<4>; \
         ld.global.u64 %rd1, [outer]; ld.u64 %rd2, [%rd1]; st.u32 [%rd2], 1; ret; }\n";
    assert!(writes(text).contains(&"counter".to_owned()));
}

#[test]
fn a_variable_of_a_body_is_none_of_the_module() {
    let text = ".shared .u32 mine;\n.entry k() { .global .u32 mine; st.global.u32 [mine], 1; ret; }\n";
    assert_eq!(writes(text), ["mine"]);
}

#[test]
fn a_jump_to_no_label_goes_anywhere() {
    let text = ".entry k() { bra nowhere; ret; L: st.global.u32 [counter], 1; ret; }\n";
    assert_eq!(writes(text), ["counter"]);
    let text = ".entry k() { .reg .b32 r; t: .branchtargets nowhere; brx.idx r, t; L: st.global.u32 [counter], 1; \
        ret; }\n";
    assert_eq!(writes(text), ["counter"]);
}

#[test]
fn stores_that_release_go_to_global_memory() {
    for text in [
        "st.async.mmio.release.sys.global.u32 [counter], 1;",
        "red.async.mmio.release.sys.global.add.u32 [counter], 1;",
    ] {
        assert_eq!(writes(&format!(".entry k() {{ {text} ret; }}\n")), ["counter"], "{text}");
    }
}

#[test]
fn a_tensor_map_may_have_any_address_that_is_given_away() {
    let text = ".entry k(.param .u64 map) { .reg .b64 %rd<3>; .reg .b32 %r<4>; ld.param.u64 %rd1, [map]; \
         cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r1, %r2}], [%r3]; ret; }\n";
    assert_eq!(writes(text), ["other"]);
}

#[test]
fn texts_that_are_printed_are_read() {
    let text = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n\
         .entry k() { .local .align 8 .b8 depot[8]; .reg .b64 %rd<6>; .param .b64 a; .param .b64 b; .param .b32 r; \
         cvta.global.u64 %rd1, counter; cvta.local.u64 %rd2, depot; st.u64 [%rd2], %rd1; cvta.global.u64 %rd3, text; \
         st.param.b64 [a], %rd3; st.param.b64 [b], %rd2; call (r), vprintf, (a, b); ret; }\n";
    let found = of(&format!("{SET}{text}"), &["k"]);
    assert_eq!(found[0], HiddenState { reads: vec!["counter".into()], writes: vec![] });
}

#[test]
fn parameters_of_what_is_given_up_are_vouched_for() {
    let text = format!(".entry k(.param .u64 p) {{ .reg .pred q; {} ret; }}\n", blocks());
    let all = format!("{HEAD}{text}");
    let module = parse(&all).unwrap();
    let kernel = Analysis::new(&module).kernel("k", &[true]);
    assert_eq!(kernel.parameters[0].access(), AccessClass::Unknown);
}
