//! If variants cannot be loaded or added, their launches run as written, and the report says why.

use cuweave::__private::{Kernel, Module, Param, ParamKind};
use cuweave::ArenaPool;
use cuweave::report::Report;
use cuweave_core::ir::{Launches, Memory, Mode};
use cuweave_testkit::faults::NOT_SUPPORTED;

use super::function::{Device, Inputs, Left, Printable, device};
use super::kernels::{Launched, Takes};
use super::writer::fork_and_chain;

/// The index of `volume`, which has the same parameters as the kernels here.
pub const VOLUME: usize = 2;
const LAUNCHES: usize = 2;

/// A file with a kernel `x[i] = 3 x[i] + c` and inserted text.
pub struct File {
    pub head: &'static str,
    pub declared: &'static str,
    pub directive: &'static str,
    /// The text before the kernel.
    pub first: &'static str,
    /// Instructions at a point where `%r6` is the index and `%rd1` the address of the element.
    pub then: &'static str,
}

pub const PLAIN: File =
    File { head: ".version 7.8\n.target sm_90", declared: "", directive: "", first: "", then: "" };

impl File {
    fn text(&self) -> String {
        let File { head, declared, directive, first, then } = self;
        format!(
            "{head}\n.address_size 64\n{declared}\n\
             .visible .entry k(.param .u64 x, .param .u32 n, .param .u32 c) {directive}\n{{\n\
             .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n\
             {first}\n\
             ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [c];\n\
             mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n\
             mad.lo.s32 %r3, %r3, %r4, %r5;\n\
             setp.ge.u32 %p1, %r3, %r1;\n\
             @%p1 ret;\n\
             mul.wide.u32 %rd2, %r3, 4; add.s64 %rd1, %rd1, %rd2;\n\
             ld.global.u32 %r6, [%rd1];\n\
             {then}\n\
             mad.lo.s32 %r6, %r6, 3, %r2;\n\
             st.global.u32 [%rd1], %r6;\n\
             ret;\n}}\n"
        )
    }

    /// Returns its kernel, in a module that nothing has loaded yet.
    pub fn launched(&self) -> &'static Launched {
        let text = self.text().into_bytes();
        launched(text.leak())
    }
}

fn launched(image: &'static [u8]) -> &'static Launched {
    const PARAMS: &[Param] = &[
        Param::fixed::<u32>("x", ParamKind::ReadWrite),
        Param::scalar::<u32>("n"),
        Param::scalar::<u32>("c"),
    ];
    let module = Box::leak(Box::new(Module::new("refused.ptx", image)));
    Box::leak(Box::new(Launched {
        kernel: Kernel::new("k", module, PARAMS),
        takes: &[Takes::Buffer(Mode::ReadWrite), Takes::Len(0), Takes::Number],
        in_three: false,
        stages: false,
    }))
}

/// Runs both forms. Returns the results and the reports.
pub fn both(device: &Device, kernel: &'static Launched) -> [Result<(Vec<Left>, Report), String>; 2] {
    let function = fork_and_chain(VOLUME);
    let inputs = Inputs::random(1, &function, LAUNCHES);
    [Some(Launches::AsWritten), None].map(|form| {
        let function = Printable::new(&function.with(form, Memory::Arena)).launching(kernel);
        device.run(function, &inputs).map(|(left, report, _)| (left, report))
    })
}

/// Returns `x` and `z` after each launch of the kernel as written.
pub fn expected() -> Vec<Left> {
    let function = fork_and_chain(VOLUME);
    let Inputs { mut x, z, scalars, .. } = Inputs::random(1, &function, LAUNCHES);
    let step = |x: u32, c: u32| x.wrapping_mul(3).wrapping_add(c);
    let launch = |scalars: [u32; 4]| {
        for (at, x) in x.iter_mut().enumerate() {
            *x = step(step(step(*x, scalars[at / 24]), scalars[3]), scalars[0]);
        }
        vec![x.clone(), z.clone()]
    };
    scalars.into_iter().map(launch).collect()
}

/// Returns true if kernels loaded from PTX can overlap on this device.
pub fn overlaps(device: &Device) -> bool {
    device.ctx.compute_capability().is_ok_and(|capability| capability.0 >= 9)
}

#[test]
fn a_kernel_without_fault_is_batched_and_overlapped() {
    let device = device();
    let [as_written, everything] = both(&device, PLAIN.launched()).map(|run| run.expect("it runs"));
    assert_eq!((&as_written.0, &everything.0), (&expected(), &expected()));
    let early = if overlaps(&device) { 1 } else { 0 };
    assert_eq!((everything.1.batches.len(), everything.1.overlapped), (1, early), "{}", everything.1);
    assert_eq!(everything.1.fused.len(), 1, "{}", everything.1);
    assert_eq!(everything.1.left_alone.is_empty(), overlaps(&device), "{}", everything.1);
}

/// Builds the plain file without fusion while calls with these numbers fail. Returns the report.
fn failing(device: &Device, call: &str, numbers: &[u64]) -> Report {
    cuweave::__private::change_next_rules(|_, _, rules| rules.allowed.fuse = false);
    building(device, call, numbers)
}

/// Builds the plain file while calls with these numbers fail. Returns the report.
fn building(device: &Device, call: &str, numbers: &[u64]) -> Report {
    let function = fork_and_chain(VOLUME);
    let inputs = Inputs::random(1, &function, LAUNCHES);
    let function = Printable::new(&function.with(None, Memory::Arena)).launching(PLAIN.launched());
    for &number in numbers {
        cuweave_sim::inject_fault(call, number, NOT_SUPPORTED).expect("a fault");
    }
    let run = device.run(function, &inputs);
    assert_eq!(cuweave_sim::clear_faults(), Ok(0), "`{call}` {numbers:?} were made");
    let (left, report, _) = run.unwrap_or_else(|error| panic!("`{call}` {numbers:?}: {error}"));
    assert_eq!(left, expected(), "`{call}` {numbers:?}: {report}");
    report
}

/// If calls fail that only the faster forms need, the graph is built without these forms.
#[test]
fn what_is_not_loaded_or_added_is_launched_as_written() {
    let device = device();
    if !device.simulated {
        return println!("not run: only the simulated driver fails on request");
    }
    device.schedule(0);
    let says = |report: &Report, what: &str| {
        assert!(report.left_alone.iter().any(|left| left.to_string().contains(what)), "{what}: {report}");
    };
    // The unmodified file is loaded, so the variants have no wait either.
    let report = failing(&device, "cuModuleLoadDataEx", &[1, 2]);
    assert_eq!((report.batches.len(), report.overlapped), (1, 0), "{report}");
    says(
        &report,
        "`k` (refused.ptx) does not start early: the driver rejects the file with the wait added to its \
         kernels: `cuModuleLoadDataEx`",
    );
    // First the linked code fails, then the text.
    let report = failing(&device, "cuModuleLoadDataEx", &[2, 3]);
    assert_eq!((report.batches.len(), report.overlapped), (0, 1), "{report}");
    says(
        &report,
        "`k` (refused.ptx) is not batched: the driver rejects the batched kernel: `cuModuleLoadDataEx`",
    );
    let report = failing(&device, "cuModuleLoadDataEx", &[2]);
    assert_eq!((report.batches.len(), report.overlapped), (1, 2), "{report}");
    for number in [1, 2] {
        let report = failing(&device, "cuGraphAddDependencies_v2", &[number]);
        assert_eq!((report.batches.len(), report.overlapped), (0, 0), "{report}");
        says(&report, "all launches stay as written: `cuGraphAddDependencies_v2`");
    }
    for number in [1, 2] {
        let report = failing(&device, "cuOccupancyMaxActiveBlocksPerMultiprocessor", &[number]);
        assert_eq!(report.batches.len(), 0, "{report}");
        assert!(!report.left_alone.is_empty(), "{report}");
    }
    let report = failing(&device, "cuGraphInstantiateWithParams", &[1]);
    assert_eq!((report.batches.len(), report.overlapped), (0, 0), "{report}");
    says(&report, "all launches stay as written: `cuGraphInstantiateWithParams`");
    device.nothing_reported();
}

/// If the driver loads a fused kernel neither linked nor as text, the launches run separately.
#[test]
fn what_is_not_loaded_is_not_fused() {
    let device = device();
    if !device.simulated {
        return println!("not run: only the simulated driver fails on request");
    }
    device.schedule(0);
    // All loads after those of the variants: with elements in registers, and through memory.
    let report = building(&device, "cuModuleLoadDataEx", &[3, 4, 5, 6]);
    assert_eq!((report.batches.len(), report.fused.len()), (1, 0), "{report}");
    let told = |left: &cuweave::report::LeftAlone| {
        left.to_string().contains("is not fused: the driver rejects the fused kernel: `cuModuleLoadDataEx`")
    };
    assert!(report.left_alone.iter().any(told), "{report}");
    device.nothing_reported();
}

/// In a pool, the graph is added again.
#[test]
fn what_is_not_added_in_a_pool_is_launched_as_written() {
    let device = device();
    if !device.simulated {
        return println!("not run: only the simulated driver fails on request");
    }
    device.schedule(0);
    let pool = ArenaPool::new(&device.stream).expect("a pool");
    let function = fork_and_chain(VOLUME);
    let inputs = Inputs::random(1, &function, LAUNCHES);
    let function = Printable::new(&function.with(None, Memory::Arena)).launching(PLAIN.launched());
    for call in ["cuGraphAddDependencies_v2", "cuGraphInstantiateWithParams"] {
        let graph = device.build(device.args(function, &inputs)).expect("it builds");
        assert_eq!(graph.report().overlapped, 1, "{}", graph.report());
        cuweave_sim::inject_fault(call, 1, NOT_SUPPORTED).expect("a fault");
        let mut exec = graph.instantiate_in(&pool).expect("it can be as it is written");
        assert_eq!(cuweave_sim::clear_faults(), Ok(0), "`{call}` was made");
        assert_eq!(device.launches(&mut exec, &inputs), Ok(expected()), "{}", exec.core.report());
        let report = exec.core.report();
        assert_eq!((report.batches.len(), report.overlapped), (0, 0), "{report}");
        assert!(report.left_alone.iter().any(|left| left.reason.contains(call)), "{report}");
    }
    device.nothing_reported();
}
