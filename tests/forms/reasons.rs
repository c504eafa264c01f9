//! Kernels that cannot be rewritten are launched as written, and the report says why. There is a file for each
//! reason that a driver can load; the unit tests of the rewriting cover the others.

use cuweave::report::Change;

use super::function::device;
use super::refused::{File, PLAIN, both, expected, overlaps};

/// A file, and the reasons in the report for its kernel. `None` if it is batched or starts early.
struct Case {
    file: File,
    batching: Option<&'static str>,
    early: Option<&'static str>,
}

/// Neither batched nor started early, for the same reason.
fn neither(file: File, why: &'static str) -> Case {
    Case { file, batching: Some(why), early: Some(why) }
}

/// Not batched.
fn alone(file: File, why: &'static str) -> Case {
    Case { file, batching: Some(why), early: None }
}

/// Not started early.
fn late(file: File, why: &'static str) -> Case {
    Case { file, batching: None, early: Some(why) }
}

/// Inserts instructions at the start.
fn first(first: &'static str) -> File {
    File { first, ..PLAIN }
}

/// Declares a variable and adds instructions that use it.
fn with(declared: &'static str, then: &'static str) -> File {
    File { declared, then, ..PLAIN }
}

fn cases() -> Vec<Case> {
    vec![
        neither(first("griddepcontrol.wait;"), "it has a `griddepcontrol` of its own, in line 8 of the PTX"),
        neither(
            first("griddepcontrol.launch_dependents;"),
            "it has a `griddepcontrol` of its own, in line 8 of the PTX",
        ),
        neither(
            File { directive: ".maxclusterrank 4", ..PLAIN },
            "its blocks are in clusters: `.maxclusterrank`, in line 5 of the PTX",
        ),
        neither(
            first("mov.u32 %r9, %cluster_nctarank;"),
            "its blocks are in clusters: `%cluster_nctarank`, in line 8 of the PTX",
        ),
        neither(
            first("barrier.cluster.arrive; barrier.cluster.wait;"),
            "its blocks are in clusters: `barrier.cluster.arrive`, in line 8 of the PTX",
        ),
        neither(
            first("mov.u32 %r9, %envreg2;"),
            "it is for cooperative launches: it reads `%envreg2`, in line 8 of the PTX",
        ),
        alone(
            first("mov.u64 %rd3, %gridid;"),
            "it reads `%gridid`, in line 8 of the PTX, in a way that a batched launch cannot reproduce",
        ),
        alone(
            first(".reg .b16 %h; mov.u16 %h, %ctaid.x;"),
            "it reads `%ctaid.x`, in line 8 of the PTX, in a way that a batched launch cannot reproduce",
        ),
        alone(
            first("mov.u32 %r9, x;"),
            "the use of its parameter `x` in line 8 of the PTX is not understood",
        ),
        alone(
            with(".visible .global .u32 bias = 0;", "ld.global.u32 %r9, [bias];"),
            "it uses the variable `bias`, which may be set from outside of the file",
        ),
        alone(
            with(".global .u32 tally = 0;", "red.global.add.u32 [tally], 1;"),
            "it uses the variable `tally`, which is written",
        ),
        alone(
            with(".global .attribute(.managed) .u32 bias = 0;", "ld.global.u32 %r9, [bias];"),
            "it uses the variable `bias`, which has attributes",
        ),
        alone(
            with(".func same() { ret; } .global .u64 table = same;", "ld.global.u64 %rd3, [table];"),
            "it uses the variable `table`, which holds the address of a function",
        ),
        alone(
            with(
                ".global .u32 bias = 0;",
                "mov.u64 %rd3, bias; setp.ne.u32 %p2, %r6, %r6; @%p2 st.global.u64 [%rd1], %rd3;",
            ),
            "it uses the variable `bias`, whose address escapes",
        ),
        alone(
            with(".visible .const .u32 bias = 0;", "ld.const.u32 %r9, [bias];"),
            "it uses the constant data `bias`, which may be set from outside of the file",
        ),
        neither(
            first("ld.param.u64 %rd3, [x]; cvta.to.const.u64 %rd3, %rd3;"),
            "it reads constant data by an address, which may be set from outside of the file: `cvta.to.const.u64`, \
             in line 8 of the PTX",
        ),
        alone(
            with(
                "",
                "$again: ld.volatile.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, %r6; @%p2 bra $again;",
            ),
            "it spins on memory: the loop at line 16 of the PTX waits for writes of other threads",
        ),
        neither(
            with(
                ".func (.reg .b32 out) same(.reg .b32 in) { mov.b32 out, in; ret; }",
                "$type: .callprototype (.reg .b32 _) _ (.reg .b32 _); mov.u64 %rd4, same; \
                 call (%r6), %rd4, (%r6), $type;",
            ),
            "it has a call, or an address of a function, that cannot be followed, in line 16 of the PTX",
        ),
        alone(
            with(
                ".func (.reg .b32 out) same(.reg .b32 in) { mov.b32 out, in; ret; }",
                "$to: .calltargets same; mov.u64 %rd4, same; call (%r6), %rd4, (%r6), $to;",
            ),
            "it has a call, or an address of a function, that cannot be followed, in line 16 of the PTX",
        ),
        late(
            File { head: ".version 6.0\n.target sm_60", ..PLAIN },
            "its `.target sm_60` cannot be raised: code for it may count on warps that run in lockstep",
        ),
        late(
            File { head: ".version 6.3\n.target sm_70", then: "shfl.down.b32 %r9, %r6, 1, 31;", ..PLAIN },
            "its `.version 6.3` cannot be raised: newer PTX has no `shfl.down.b32`, as in line 16 of the PTX",
        ),
        alone(
            File {
                head: ".version 7.8\n.target sm_90, debug",
                declared: ".section .debug_abbrev { .b8 0 }",
                ..PLAIN
            },
            "the file is compiled for a debugger, whose data describes the kernels as they are written",
        ),
    ]
}

#[test]
fn what_cannot_be_rewritten_is_launched_as_written_and_the_report_says_why() {
    let device = device();
    if !overlaps(&device) {
        return println!("not run: the files are for compute capability 9.0");
    }
    device.schedule(3);
    for Case { file, batching, early } in cases() {
        let name = format!("{}, {}{}{}{}", file.head, file.declared, file.directive, file.first, file.then);
        let [as_written, everything] =
            both(&device, file.launched()).map(|run| run.unwrap_or_else(|error| panic!("{name}: {error}")));
        let (left, report) = everything;
        println!("{name}\n{report}\n");
        assert_eq!((&as_written.0, &left), (&expected(), &expected()), "{name}: {report}");
        let said = |change: Change| {
            let left = report.left_alone.iter().find(|left| left.change == change)?;
            let kernel = left.kernel.as_ref().expect("it is about a kernel");
            assert_eq!(kernel.to_string(), "`k` (refused.ptx)", "{left}");
            Some(left.reason.as_str())
        };
        assert_eq!(said(Change::Batching), batching, "{name}");
        assert_eq!(said(Change::EarlyStart), early, "{name}");
        let reasons = [batching, early].into_iter().flatten().count();
        let left = report.left_alone.iter().filter(|left| left.change != Change::Fusing);
        assert_eq!(left.count(), reasons, "{name}: {report}");
        assert_eq!(report.batches.len(), usize::from(batching.is_none()), "{name}: {report}");
        // Three unbatched launches before two fused ones leave no edge between exactly two kernels.
        let joins = batching.is_some() && !report.fused.is_empty();
        assert_eq!(report.overlapped > 0, early.is_none() && !joins, "{name}: {report}");
    }
    device.nothing_reported();
}
