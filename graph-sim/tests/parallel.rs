//! Concurrent nodes: unordered nodes run concurrently, with the same results and checks.

use cudarc::driver::sys;
use cuweave_testkit::ok;
use cuweave_testkit::raw::*;

const FAILED: sys::CUresult = sys::CUresult::CUDA_ERROR_LAUNCH_FAILED;
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64

// Signals its arrival, and waits for the other kernel's.
.visible .entry meet(.param .u64 mine, .param .u64 others)
{
	.reg .pred %p<2>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [mine];
	ld.param.u64 %rd2, [others];
	red.global.add.u32 [%rd1], 1;
AGAIN:
	atom.global.add.u32 %r1, [%rd2], 0;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra AGAIN;
	ret;
}

// to[i] = from[i] + 1, of as many elements as there are threads
.visible .entry add(.param .u64 to, .param .u64 from)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [to];
	ld.param.u64 %rd2, [from];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.u32 %r2, [%rd5];
	add.u32 %r2, %r2, 1;
	st.global.u32 [%rd4], %r2;
	ret;
}
";

/// Returns a context that runs unordered nodes concurrently, as a real driver does.
fn parallel() -> Context {
    let context = Context::new();
    if context.simulated {
        cuweave_sim::set_parallel(true).unwrap();
    }
    context
}

#[test]
fn kernels_that_wait_for_each_other() {
    let context = parallel();
    let module = context.module(PTX);
    let meet = context.function(module, "meet");
    let flags = context.upload(&[0u32; 64]);
    let graph = Graph::new();
    graph.kernel(&[], meet, 1, 1, &[flags, flags + 128]);
    graph.kernel(&[], meet, 1, 1, &[flags + 128, flags]);
    assert_eq!((graph.exec().launch(&context), context.sync()), (OK, OK));
    assert_eq!(context.download::<u32>(flags, 33)[32], 1);
}

/// Concurrent branches of kernels, with allocations, copies, fills and host functions between them.
#[test]
fn branches_give_what_they_give_one_after_the_other() {
    const BRANCHES: usize = 6;
    const COUNT: usize = 512;
    static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    unsafe extern "C" fn count(_: *mut std::ffi::c_void) {
        CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    let context = parallel();
    let module = context.module(PTX);
    let add = context.function(module, "add");
    let from = context.upload(&(0..COUNT as u32).collect::<Vec<_>>());
    let out = context.alloc(BRANCHES * COUNT * 4);
    let graph = Graph::new();
    for branch in 0..BRANCHES {
        let target = out + (branch * COUNT * 4) as u64;
        let (alloc, temporary) = graph.alloc(&[], COUNT * 4);
        let fill = graph.fill(&context, &[], target, 7, COUNT * 4);
        let mut last = graph.kernel(&[alloc], add, 2, 256, &[temporary, from]);
        for _ in 0..branch {
            last = graph.kernel(&[last], add, 2, 256, &[temporary, temporary]);
        }
        let params = sys::CUDA_HOST_NODE_PARAMS { fn_: Some(count), userData: std::ptr::null_mut() };
        let mut host = std::ptr::null_mut();
        ok!(sys::cuGraphAddHostNode(&mut host, graph.0, &last, 1, &params));
        let copy = graph.copy(&context, &[last, fill], target, temporary, COUNT * 4);
        graph.free(&[copy], temporary);
    }
    let exec = graph.exec();
    for _ in 0..5 {
        assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    }
    assert_eq!(CALLS.load(std::sync::atomic::Ordering::Relaxed), 5 * BRANCHES);
    let found = context.download::<u32>(out, BRANCHES * COUNT);
    for (at, value) in found.into_iter().enumerate() {
        assert_eq!(value as usize, at % COUNT + at / COUNT + 1);
    }
}

#[test]
fn races_are_found_between_nodes_at_the_same_time() {
    for round in 0..20 {
        let context = parallel();
        if !context.simulated {
            return;
        }
        let notes = SimulatorCalls::new();
        let module = context.module(PTX);
        let add = context.function(module, "add");
        let (from, out) = (context.upload(&[1u32; 512]), context.alloc(4096));
        // Two kernels on disjoint parts of an allocation, and a third one that writes the same part as the
        // second.
        let graph = Graph::new();
        let first = graph.kernel(&[], add, 1, 256, &[out, from]);
        let second = graph.kernel(&[], add, 1, 256, &[out + 1024, from]);
        let third = graph.kernel(&[first], add, 1, 256, &[out + 1024, out]);
        for (name, node) in [("first", first), ("second", second), ("third", third)] {
            notes.node(node, &format!("beside_{round}_{name}"), 1);
        }
        assert_eq!((graph.exec().launch(&context), context.sync()), (OK, FAILED));
        let reports = reports_of(&format!("beside_{round}_"));
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert!(reports[0].text.contains("second") && reports[0].text.contains("third"), "{reports:?}");
        assert!(!reports[0].text.contains("first"), "{reports:?}");
    }
}

#[test]
fn races_are_found_between_members_of_nodes_at_the_same_time() {
    for round in 0..20 {
        let context = parallel();
        if !context.simulated {
            return;
        }
        let notes = SimulatorCalls::new();
        let module = context.module(PTX);
        let add = context.function(module, "add");
        let (from, out) = (context.upload(&[1u32; 512]), context.alloc(4096));
        // The second block of node `one` writes the same bytes as the first block of node `other`.
        let graph = Graph::new();
        for (node, at) in [("one", 0), ("other", 1024)] {
            let kernel = graph.kernel(&[], add, 2, 256, &[out + at, from]);
            let names = ["left", "right"].map(|member| format!("members_{round}_{node}_{member}"));
            assert_eq!(notes.members(kernel, 0, &[(&names[0], 1, 0), (&names[1], 2, 1)]), OK);
        }
        assert_eq!((graph.exec().launch(&context), context.sync()), (OK, FAILED));
        let reports = reports_of(&format!("members_{round}_"));
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert!(
            reports[0].text.contains("one_right") && reports[0].text.contains("other_left"),
            "{reports:?}"
        );
        assert_eq!(reports[0].kind, "race");
    }
}
