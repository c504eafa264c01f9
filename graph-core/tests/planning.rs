//! Planning for a device that refuses merged launches.

use std::sync::Arc;

use cuweave_core::compile::{self, BackendOptions, LaunchFacts, Plan, Target};
use cuweave_core::ids::KernelId;
use cuweave_core::index::Vector;
use cuweave_core::ir::{Mode, Order, Origin, Program, StatementKind};
use cuweave_core::launches::{
    Allowed, Batch, Batching, Chain, Fusing, Launch, NamedKernel, Resources, TripCount, Unfit, UnfitChain,
};
use cuweave_core::operation::{BatchId, ChainId};
use cuweave_ptx::coverage::ForwardingPlan;
use cuweave_testkit::programs::ProgramWriter;

/// A device that makes every batch unless it has a reason to refuse.
struct Device {
    against: Option<Unfit>,
    asked: usize,
}

impl Target for Device {
    type Batched = usize;
    type Fused = ();

    fn batched(&mut self, _: &LaunchFacts, batches: &Vector<BatchId, Batch>) -> Vec<Result<usize, Unfit>> {
        self.asked += batches.len();
        let made = |batch: &Batch| self.against.clone().map_or(Ok(batch.members.len()), Err);
        batches.iter().map(made).collect()
    }

    fn fused(
        &mut self,
        _: &LaunchFacts,
        _: &Program,
        chains: &Vector<ChainId, Chain>,
        _: bool,
    ) -> Vec<Result<(), (KernelId, UnfitChain)>> {
        chains.iter().map(|_| Ok(())).collect()
    }

    fn in_registers((): &()) -> Option<&Arc<ForwardingPlan>> {
        None
    }

    fn name(&self, _: KernelId) -> NamedKernel {
        NamedKernel::new("add", "add.ptx")
    }
}

/// Plans four unordered launches of one kernel.
fn planned(device: &mut Device) -> Plan<usize, ()> {
    let mut writer = ProgramWriter::new(&[0, 64]);
    for name in ["a", "b", "c", "d"] {
        let buffer = writer.buffer(name, Origin::Device { mutable: true }, 64);
        let written = [writer.access(buffer, Mode::Write, (0, 64))];
        writer.statement("add", StatementKind::Launch(()), &written, &[]);
    }
    let dims = writer.dims().clone();
    let (checked, found) = compile::front(writer.source("f", Order::Inferred, None));
    let checked = Arc::new(checked.unwrap_or_else(|| panic!("{found:?}")));
    let launch = Launch {
        kernel: KernelId::from_u32(0),
        grid: [1; 3],
        block: [64, 1, 1],
        shared: 0,
        work: Vec::new(),
        wave: 1000,
        grid_changes: false,
        ranged: Default::default(),
        batch: Batching::UpTo { equal: 64, flat: 64 },
        waits: false,
        lanes: true,
        fuse: Fusing::Never,
        short: true,
        trip_count: TripCount::AtMost(1),
        stack: true,
    };
    let facts = LaunchFacts { launches: Vector::filled(Some(launch), 4), ..LaunchFacts::default() };
    let allowed = Allowed { batches: true, ..Allowed::default() };
    let given =
        BackendOptions { allowed, duration_classes: Vector::filled(0, 4), ..BackendOptions::default() };
    let mut back =
        |backend_options: &BackendOptions| compile::back(&checked, &dims, backend_options).map(Arc::new);
    compile::plan(&checked, &dims, &given, facts, device, &mut |_, _, rules| rules, &mut back)
        .expect("a plan")
}

#[test]
fn equal_launches_are_one_batch() {
    let mut device = Device { against: None, asked: 0 };
    let plan = planned(&mut device);
    assert_eq!((plan.batched.as_slice(), plan.operations.list.len()), (&[4][..], 1));
    assert!(plan.is_changed() && plan.left_alone.is_empty());
    assert_eq!(device.asked, 1);
}

#[test]
fn a_kernel_that_is_refused_is_launched_as_written() {
    let mut device = Device { against: Some(Unfit::Refused("it does not load".to_owned())), asked: 0 };
    let plan = planned(&mut device);
    assert_eq!((plan.batched.len(), plan.operations.list.len()), (0, 4));
    assert!(!plan.is_changed());
    let reasons: Vec<&str> = plan.left_alone.iter().map(|left| left.reason.as_str()).collect();
    assert_eq!(reasons, ["it does not load"]);
    assert_eq!(device.asked, 1, "it is not asked again");
}

#[test]
fn a_batch_that_is_slower_is_noted_for_its_members() {
    let alone = Resources { blocks: 4, registers: 16, local: 0 };
    let plain = Resources { blocks: 2, ..alone };
    let slower = Unfit::Slower { members: 4, alone, needed: 4, plain, limited: None, cost: 2000, most: 1000 };
    let mut device = Device { against: Some(slower), asked: 0 };
    let plan = planned(&mut device);
    assert_eq!((plan.batched.len(), plan.decided.slower.len()), (0, 4));
    assert!(plan.left_alone.is_empty());
}
