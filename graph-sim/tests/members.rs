//! Batched nodes: faults of threads are reported for the member launch to which the threads belong, and the
//! members of a node are unordered.

use cudarc::driver::sys;
use cuweave_testkit::ok;
use cuweave_testkit::raw::*;

const FAILED: sys::CUresult = sys::CUresult::CUDA_ERROR_LAUNCH_FAILED;

/// Kernels whose blocks read the addresses to access from a table at `table`. Block `b` uses entry `b`, counted
/// in the dimension that the kernel's name ends with. `put_*` writes its number there; `get_*` reads there, and
/// so do `late_*` and `early_*`, after and before the wait; `add_*` updates.
fn ptx() -> String {
    const WAIT: &str = "griddepcontrol.wait;";
    const STORE: &str = "st.global.u32 [%rd3], %r1;";
    const LOAD: &str = "ld.global.u32 %r2, [%rd3];";
    let kernels = [
        ("put_x", "", STORE, ""),
        ("get_x", "", LOAD, ""),
        ("add_x", "", "atom.global.add.u32 %r2, [%rd3], 1;", ""),
        ("put_z", "", STORE, ""),
        ("late_x", WAIT, LOAD, ""),
        ("early_x", "", LOAD, WAIT),
    ];
    let kernels = kernels.map(|(name, first, does, last)| {
        let axis = name.split_once('_').unwrap().1;
        format!(
            ".visible .entry {name}(.param .u64 table) {{
                .reg .b32 %r<3>; .reg .b64 %rd<4>;
                {first}
                ld.param.u64 %rd1, [table];
                mov.u32 %r1, %ctaid.{axis};
                mul.wide.u32 %rd2, %r1, 8;
                add.s64 %rd1, %rd1, %rd2;
                ld.global.u64 %rd3, [%rd1];
                {does}
                {last}
                ret;
            }}\n"
        )
    });
    format!(".version 8.0\n.target sm_90\n.address_size 64\n{}", kernels.concat())
}

/// The context of a test.
struct Setup {
    context: Context,
    notes: SimulatorCalls,
    module: sys::CUmodule,
    graph: Graph,
    /// Memory for the results of kernels. All of it is written.
    data: u64,
}

impl Setup {
    /// Returns `None` on a real driver, which makes no checks.
    fn new(seed: u64) -> Option<Setup> {
        let context = Context::new();
        if !context.simulated {
            return None;
        }
        cuweave_sim::set_seed(seed).unwrap();
        let (module, data) = (context.module(&ptx()), context.upload(&[0u8; 256]));
        Some(Setup { notes: SimulatorCalls::new(), module, graph: Graph::new(), data, context })
    }

    /// Adds a node whose blocks access the bytes at these offsets of `data`.
    fn node(&self, kernel: &str, after: &[Node], grid: [u32; 3], offsets: &[u64]) -> Node {
        let table = self.context.upload(&offsets.iter().map(|offset| self.data + offset).collect::<Vec<_>>());
        let function = self.context.function(self.module, kernel);
        let mut pointers = [(&raw const table).cast_mut().cast()];
        let mut params = kernel_params(function, grid[0], 32, &mut pointers);
        (params.gridDimY, params.gridDimZ) = (grid[1], grid[2]);
        let mut node = std::ptr::null_mut();
        ok!(sys::cuGraphAddKernelNode_v2(&mut node, self.graph.0, after.as_ptr(), after.len(), &params));
        node
    }

    /// Updates the node of an instance to other offsets.
    fn set(&self, exec: &Exec, node: Node, kernel: &str, offsets: &[u64]) {
        let table = self.context.upload(&offsets.iter().map(|offset| self.data + offset).collect::<Vec<_>>());
        let mut pointers = [(&raw const table).cast_mut().cast()];
        let function = self.context.function(self.module, kernel);
        let params = kernel_params(function, offsets.len() as u32, 32, &mut pointers);
        ok!(sys::cuGraphExecKernelNodeSetParams_v2(exec.0, node, &params));
    }

    fn launch(&self, exec: &Exec) -> sys::CUresult {
        assert_eq!(exec.launch(&self.context), OK);
        self.context.sync()
    }
}

/// Runs a test under several schedules, so that the members run in different orders.
fn under_every_seed(test: impl Fn(&Setup, &dyn Fn(&str) -> String)) {
    for seed in 0..6 {
        let Some(setup) = Setup::new(seed) else { return };
        test(&setup, &|name| format!("{name}_{seed}"));
    }
}

#[test]
fn members_that_write_the_same_bytes_are_unordered_launches() {
    under_every_seed(|setup, name| {
        let (first, second, third) = (name("same_first"), name("same_second"), name("same_third"));
        let node = setup.node("put_x", &[], [5, 1, 1], &[0, 4, 8, 4, 12]);
        assert_eq!(setup.notes.members(node, 0, &[(&first, 3, 0), (&second, 4, 2), (&third, 5, 4)]), OK);
        assert_eq!(setup.launch(&setup.graph.exec()), FAILED);
        let reports = reports_of(&first);
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert_eq!((reports[0].kind.as_str(), reports[0].error), ("race", FAILED as u32));
        let data = setup.data;
        for part in [
            format!("`{first}` (src/plan.rs:3, one of 3 launches in one)"),
            format!("`{second}` (src/plan.rs:4, one of 3 launches in one)"),
            format!("{:#x}..{:#x}", data + 4, data + 8),
            "they are launches in one node".to_owned(),
        ] {
            assert!(reports[0].text.contains(&part), "{}", reports[0].text);
        }
        assert_eq!(reports_of(&third), []);
    });
}

#[test]
fn members_along_a_dimension_are_told_apart() {
    under_every_seed(|setup, name| {
        let names = ["a", "b", "c"].map(|member| name(&format!("along_{member}")));
        let node = setup.node("put_z", &[], [1, 1, 3], &[0, 16, 0]);
        let members = [0, 1, 2].map(|at| (names[at].as_str(), at as u32 + 1, 0));
        assert_eq!(setup.notes.members(node, 2, &members), OK);
        assert_eq!(setup.launch(&setup.graph.exec()), FAILED);
        let reports = reports_of(&names[2]);
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert!(reports[0].kind == "race" && reports[0].text.contains(&names[0]), "{reports:?}");
        assert_eq!(reports_of(&names[1]), []);
    });
}

#[test]
fn members_that_only_read_or_update_the_same_bytes_are_right() {
    under_every_seed(|setup, name| {
        let (reads, updates) = (name("shared_read"), name("shared_update"));
        let first = setup.node("get_x", &[], [4, 1, 1], &[0, 0, 0, 0]);
        let second = setup.node("add_x", &[first], [4, 1, 1], &[0, 4, 0, 4]);
        for (node, name) in [(first, &reads), (second, &updates)] {
            assert_eq!(setup.notes.members(node, 0, &[(name, 1, 0), (name, 2, 2)]), OK);
        }
        let exec = setup.graph.exec();
        assert_eq!((setup.launch(&exec), setup.launch(&exec)), (OK, OK));
        assert_eq!(setup.context.download::<u32>(setup.data, 2), [128, 128]);
        assert_eq!((reports_of(&reads), reports_of(&updates)), (vec![], vec![]));
    });
}

#[test]
fn a_race_of_two_nodes_names_the_members() {
    under_every_seed(|setup, name| {
        let names = ["left", "right", "beside"].map(|part| name(&format!("across_{part}")));
        let node = setup.node("put_x", &[], [2, 1, 1], &[0, 32]);
        assert_eq!(setup.notes.members(node, 0, &[(&names[0], 1, 0), (&names[1], 2, 1)]), OK);
        let beside = setup.graph.fill(&setup.context, &[], setup.data + 32, 1, 4);
        setup.notes.node(beside, &names[2], 3);
        assert_eq!(setup.launch(&setup.graph.exec()), FAILED);
        let reports = reports_of(&names[2]);
        assert_eq!(reports.len(), 1, "{reports:?}");
        let text = &reports[0].text;
        assert!(text.contains(&names[1]) && !text.contains(&names[0]), "{text}");
        assert!(text.contains("an edge from one to the other is missing"), "{text}");
    });
}

#[test]
fn members_that_start_early_meet_what_is_in_front_at_their_wait() {
    for seed in 0..6 {
        for kernel in ["late_x", "early_x"] {
            // A failed launch breaks its context, so each seed needs a new one.
            let Some(setup) = Setup::new(seed) else { return };
            let names = ["first", "left", "right"].map(|part| format!("{kernel}_{part}_{seed}"));
            let first = setup.node("put_x", &[], [2, 1, 1], &[4, 8]);
            setup.notes.node(first, &names[0], 1);
            let second = setup.node(kernel, &[], [4, 1, 1], &[0, 12, 4, 8]);
            assert_eq!(setup.notes.members(second, 0, &[(&names[1], 2, 0), (&names[2], 3, 2)]), OK);
            let kind = sys::CUgraphDependencyType_enum::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
            let data = sys::CUgraphEdgeData { from_port: 1, to_port: 0, type_: kind as u8, reserved: [0; 5] };
            ok!(sys::cuGraphAddDependencies_v2(setup.graph.0, &first, &second, &data, 1));
            let exec = setup.graph.exec();
            assert_eq!(setup.launch(&exec), if kernel == "late_x" { OK } else { FAILED });
            let reports = reports_of(&names[0]);
            assert_eq!(reports.len(), usize::from(kernel == "early_x"), "{reports:?}");
            let early =
                |report: &cuweave_sim::Report| report.text.contains("before any `griddepcontrol.wait`");
            assert!(
                reports.iter().all(|report| report.text.contains(&names[2]) && early(report)),
                "{reports:?}"
            );
            assert_eq!(reports_of(&names[1]), []);
        }
    }
}

#[test]
fn a_fault_names_the_member() {
    under_every_seed(|setup, name| {
        let (good, bad) = (name("fault_good"), name("fault_bad"));
        let node = setup.node("put_x", &[], [3, 1, 1], &[0, 4, 1 << 40]);
        assert_eq!(setup.notes.members(node, 0, &[(&good, 1, 0), (&bad, 2, 1)]), OK);
        assert_eq!(setup.launch(&setup.graph.exec()), sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        let reports = reports_of(&bad);
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert_eq!(reports[0].kind, "illegal-address");
        let text = &reports[0].text;
        assert!(
            text.starts_with(&format!("node `{bad}` (src/plan.rs:2, one of 2 launches in one): ")),
            "{text}"
        );
        assert!(text.contains("block (2, 0, 0)"), "{text}");
        assert_eq!(reports_of(&good), []);
    });
}

#[test]
fn a_read_of_what_nothing_wrote_names_the_member() {
    under_every_seed(|setup, name| {
        let (good, bad) = (name("fresh_good"), name("fresh_bad"));
        let fresh = setup.context.alloc(64) - setup.data;
        let node = setup.node("get_x", &[], [2, 1, 1], &[0, fresh]);
        assert_eq!(setup.notes.members(node, 0, &[(&good, 1, 0), (&bad, 2, 1)]), OK);
        assert_eq!(setup.launch(&setup.graph.exec()), FAILED);
        let reports = reports_of(&bad);
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert_eq!(reports[0].kind, "uninitialised-read");
        assert_eq!(reports_of(&good), []);
    });
}

#[test]
fn buffers_are_used_by_members() {
    under_every_seed(|setup, name| {
        let (good, bad, buffers) = (name("users_good"), name("users_bad"), ["users_p", "users_q"].map(name));
        // The second member also writes into the first one's buffer.
        let node = setup.node("put_x", &[], [3, 1, 1], &[0, 64, 32]);
        assert_eq!(setup.notes.members(node, 0, &[(&good, 1, 0), (&bad, 2, 1)]), OK);
        let mine = |name: &str, offset, member| {
            setup.notes.buffer_of_member(&setup.graph, name, (setup.data + offset, 64), node, member)
        };
        assert_eq!((mine(&buffers[0], 0, 0), mine(&buffers[1], 64, 1)), (OK, OK));
        assert_eq!(mine("users_none", 128, 2), INVALID);
        assert_eq!(setup.launch(&setup.graph.exec()), FAILED);
        let reports = reports_of(&bad);
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert_eq!(reports[0].kind, "not-a-user");
        assert!(reports[0].text.contains(&buffers[0]), "{reports:?}");
        assert_eq!(reports_of(&good), []);
    });
}

#[test]
fn buffers_of_two_members_that_share_bytes_live_at_the_same_time() {
    let Some(setup) = Setup::new(0) else { return };
    let node = setup.node("put_x", &[], [2, 1, 1], &[0, 64]);
    assert_eq!(setup.notes.members(node, 0, &[("share_left", 1, 0), ("share_right", 2, 1)]), OK);
    for (member, offset) in [(0, 0), (1, 32)] {
        let at = (setup.data + offset, 64);
        assert_eq!(setup.notes.buffer_of_member(&setup.graph, "share_buffer", at, node, member), OK);
    }
    assert_eq!(setup.launch(&setup.graph.exec()), FAILED);
    let reports = reports_of("share_buffer");
    assert!(reports.iter().any(|report| report.kind == "overlap"
        && report.text.contains("share_left")
        && report.text.contains("share_right")));
}

#[test]
fn members_move_with_the_grid() {
    let Some(setup) = Setup::new(1) else { return };
    let node = setup.node("put_x", &[], [3, 1, 1], &[0, 4, 8]);
    let (notes, names) = (&setup.notes, ["moved_left", "moved_right"]);
    let told =
        |firsts: [u32; 2]| notes.members(node, 0, &[(names[0], 1, firsts[0]), (names[1], 2, firsts[1])]);
    // Members that do not fit the grid are refused.
    assert_eq!((told([0, 3]), told([1, 2]), told([0, 0])), (INVALID, INVALID, INVALID));
    assert_eq!(notes.members(node, 2, &[(names[0], 1, 0), (names[1], 2, 0)]), INVALID);
    assert_eq!(notes.members(node, 3, &[(names[0], 1, 0)]), INVALID);
    assert_eq!(notes.members(setup.graph.empty(&[]), 0, &[(names[0], 1, 0)]), INVALID);
    assert_eq!(told([0, 1]), OK);
    let exec = setup.graph.exec();
    assert_eq!(setup.launch(&exec), OK);
    setup.set(&exec, node, "put_x", &[0, 4, 8, 12, 8]);
    assert_eq!(notes.move_members(&exec, node, &[0, 5]), INVALID);
    assert_eq!(notes.move_members(&exec, node, &[0]), INVALID);
    assert_eq!(notes.move_members(&exec, node, &[0, 4]), OK);
    // Now the third and the last block belong to two different launches.
    assert_eq!(setup.launch(&exec), FAILED);
    let reports = reports_of("moved_left");
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].kind == "race" && reports[0].text.contains("moved_right"), "{reports:?}");
}
