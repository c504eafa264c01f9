//! Conflicts between the threads of a kernel in global memory: unordered accesses are reported, ordered ones are
//! not.

use crate::support::{Arg::*, Device, Loaded};
use cuweave_sim_driver::interp::FaultKind;

/// Sets `%r1` to the thread, `%r2` to the block, `%r3` to the thread's index in the grid, `%rd1` and `%rd2` to
/// two buffers of 1,024 zeros, and `%rd3` and `%rd4` to the thread's element in each.
const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n
.visible .entry k(.param .u64 p, .param .u64 q)
{
.reg .pred %p<9>; .reg .b16 %h<3>; .reg .b32 %r<19>; .reg .b64 %rd<19>; .reg .f32 %f<9>;
.shared .u32 last;
ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r3, %r2, %r3, %r1;
mul.wide.u32 %rd5, %r3, 4; add.u64 %rd3, %rd1, %rd5; add.u64 %rd4, %rd2, %rd5;
";

/// Runs 4 blocks of 64 threads under several orders of blocks and warps, on one and on several host threads.
/// Returns the least and the most conflicts found, and their messages.
fn conflicts(body: &str) -> (usize, usize, String) {
    let (mut least, mut most, mut text) = (usize::MAX, 0, String::new());
    for seed in 0..6 {
        for threads in [Some(1), Some(3)] {
            let mut device = Device::default();
            let mut loaded = Loaded::new(&format!("{HEAD}{body}\nret;\n}}\n"), &mut device);
            (loaded.options.seed, loaded.options.threads) = (seed, threads);
            let (p, q) = (device.put(&[0u32; 1024]), device.put(&[0u32; 1024]));
            let stats = loaded.launch(&device, "k", [4, 1, 1], [64, 1, 1], 0, &[P(p), P(q)]);
            let found = stats.unwrap_or_else(|fault| panic!("{fault}")).conflicts;
            assert!(found.iter().all(|fault| fault.kind == FaultKind::Conflict));
            (least, most) = (least.min(found.len()), most.max(found.len()));
            text = found.first().map_or(text, ToString::to_string);
        }
    }
    (least, most, text)
}

fn clean(what: &str, body: &str) {
    let (_, most, text) = conflicts(body);
    assert_eq!(most, 0, "{what}: {text}");
}

fn found(what: &str, body: &str) -> String {
    let (least, _, text) = conflicts(body);
    assert!(least > 0, "{what}");
    text
}

#[test]
fn each_thread_has_its_own_elements() {
    clean("its own, twice", "ld.global.u32 %r4, [%rd3]; add.u32 %r4, %r4, %r3; st.global.u32 [%rd3], %r4;");
    clean(
        "its own byte of a word",
        "cvt.u64.u32 %rd6, %r3; add.u64 %rd6, %rd1, %rd6; add.u32 %r4, %r3, 1; st.global.u8 [%rd6], %r4; \
         ld.global.u8 %r5, [%rd6];",
    );
    clean("all read the same", "ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd4], %r3;");
    clean("all write the same", "mov.u32 %r4, 7; st.global.u32 [%rd1], %r4;");
}

#[test]
fn blocks_that_nothing_orders() {
    let text = found(
        "one writes, all read",
        "setp.eq.u32 %p1, %r3, 0; mov.u32 %r4, 9; @%p1 st.global.u32 [%rd1], %r4; ld.global.u32 %r5, [%rd1];",
    );
    assert!(text.contains("no fence, atomic or strong access orders them"), "{text}");
    found("different values", "st.global.u32 [%rd1], %r2;");
    found(
        "a neighbour's element, in place",
        "add.u32 %r4, %r3, 64; rem.u32 %r4, %r4, 256; mul.wide.u32 %rd6, %r4, 4; add.u64 %rd6, %rd1, %rd6;
ld.global.u32 %r5, [%rd6]; add.u32 %r5, %r5, %r3; add.u32 %r5, %r5, 1; st.global.u32 [%rd3], %r5;",
    );
    found(
        "a barrier orders no blocks",
        "add.u32 %r4, %r3, 1; st.global.u32 [%rd3], %r4; bar.sync 0; xor.b32 %r4, %r3, 64; mul.wide.u32 %rd6, %r4, 4;
add.u64 %rd6, %rd1, %rd6; \
                 ld.global.u32 %r5, [%rd6]; st.global.u32 [%rd4], %r5;",
    );
    found(
        "a plain write beside atomics",
        "setp.eq.u32 %p1, %r2, 1; mov.u32 %r4, 77; @%p1 st.global.u32 [%rd1], %r4; @!%p1 red.global.add.u32 [%rd1], 1;",
    );
}

#[test]
fn warps_of_a_block() {
    let other = "xor.b32 %r4, %r3, 32; mul.wide.u32 %rd6, %r4, 4; add.u64 %rd6, %rd1, %rd6; \
                 ld.global.u32 %r5, [%rd6]; st.global.u32 [%rd4], %r5;";
    let own = "add.u32 %r4, %r3, 1; st.global.u32 [%rd3], %r4;";
    let text = found("no barrier", &format!("{own} {other}"));
    assert!(text.contains("since the last barrier"), "{text}");
    clean("a barrier", &format!("{own} bar.sync 0; {other}"));
}

#[test]
fn atomics_and_fences_order() {
    clean("counters", "red.global.add.u32 [%rd1], 1; atom.global.add.u32 %r4, [%rd1+4], 1;");
    clean(
        "a loop around compare and swap",
        "ld.global.u32 %r4, [%rd1];
L: add.u32 %r5, %r4, 3; atom.global.cas.b32 %r6, [%rd1], %r4, %r5; setp.ne.u32 %p1, %r6, %r4; mov.u32 %r4, %r6; @%p1 bra L;",
    );
    let last = |fence: &str, count: &str| {
        format!(
            "add.u32 %r4, %r3, 5; st.global.u32 [%rd3], %r4; {fence}
bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra M; {count} st.shared.u32 [last], %r5;
M: bar.sync 0; ld.shared.u32 %r5, [last]; setp.ne.u32 %p2, %r5, 3; @%p2 bra END;
mov.u32 %r6, 0; mov.u32 %r7, 0;
N: mul.wide.u32 %rd6, %r6, 256; add.u64 %rd6, %rd1, %rd6; mul.wide.u32 %rd7, %r1, 4; add.u64 %rd6, %rd6, %rd7;
ld.global.u32 %r8, [%rd6]; add.u32 %r7, %r7, %r8; add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 4; @%p3 bra N;
st.global.u32 [%rd4], %r7;
END:"
        )
    };
    clean("the last block adds up", &last("membar.gl;", "atom.global.add.u32 %r5, [%rd2+2048], 1;"));
    // Without the counter, every block acts as the last one.
    found("every block adds up", &last("membar.gl;", "mov.u32 %r5, 3;"));
    let flag = |set: &str, get: &str| {
        format!(
            "setp.ne.u32 %p1, %r2, 0; @%p1 bra W;
add.u32 %r4, %r3, 5; st.global.u32 [%rd3], %r4; membar.gl; bar.sync 0;
setp.ne.u32 %p2, %r1, 0; @%p2 bra END; mov.u32 %r5, 1; {set} bra END;
W: {get} setp.eq.u32 %p3, %r5, 0; @%p3 bra W; membar.gl;
mul.wide.u32 %rd6, %r1, 4; add.u64 %rd6, %rd1, %rd6; ld.global.u32 %r6, [%rd6]; st.global.u32 [%rd4], %r6;
END:"
        )
    };
    clean(
        "a volatile flag",
        &flag("st.volatile.global.u32 [%rd2+2048], %r5;", "ld.volatile.global.u32 %r5, [%rd2+2048];"),
    );
    clean(
        "release and acquire",
        &flag("st.release.gpu.global.u32 [%rd2+2048], %r5;", "ld.acquire.gpu.global.u32 %r5, [%rd2+2048];"),
    );
    clean(
        "an atomic flag",
        &flag("red.global.or.b32 [%rd2+2048], %r5;", "atom.global.or.b32 %r5, [%rd2+2048], 0;"),
    );
}
