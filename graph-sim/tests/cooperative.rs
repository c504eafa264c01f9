//! Cooperative launches: their blocks wait for each other, and a launch with more blocks than can be resident is
//! refused. Where there is a real driver, these tests run on it.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult};
use cuweave_testkit::raw::{Context, Graph, OK, kernel_params};
use cuweave_testkit::{gives, ok};

const TOO_LARGE: CUresult = CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
const COOPERATIVE: sys::CUlaunchAttributeID = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
const THREADS: u32 = 1024;

/// The first thread of each block increments a counter and waits until it has counted all blocks.
const PTX: &str = ".version 8.0\n.target sm_70\n.address_size 64\n
.visible .entry meet(.param .u64 count)
{
.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<2>;
mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
ld.param.u64 %rd1, [count]; mov.u32 %r2, %nctaid.x;
atom.add.release.gpu.global.u32 %r3, [%rd1], 1;
AGAIN: ld.acquire.gpu.global.u32 %r4, [%rd1]; setp.lt.u32 %p2, %r4, %r2; @%p2 bra AGAIN;
END: ret;
}\0";

struct Fixture {
    context: Context,
    function: sys::CUfunction,
    count: u64,
    /// The number of blocks that can be resident on the device.
    most: u32,
}

impl Fixture {
    fn new() -> Fixture {
        let context = Context::new();
        let (mut module, mut count) = (null_mut(), 0);
        ok!(sys::cuModuleLoadData(&mut module, PTX.as_ptr().cast()));
        let function = context.function(module, "meet");
        ok!(sys::cuMemAlloc_v2(&mut count, 4));
        ok!(sys::cuMemsetD32_v2(count, 0, 1));
        let (mut each, mut multiprocessors) = (0, 0);
        ok!(sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut each, function, THREADS as i32, 0));
        let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        ok!(sys::cuDeviceGetAttribute(&mut multiprocessors, attribute, 0));
        Fixture { context, function, count, most: (each * multiprocessors) as u32 }
    }

    fn launch(&self, blocks: u32) -> CUresult {
        let mut count = self.count;
        let mut arguments: [*mut c_void; 1] = [(&raw mut count).cast()];
        let (stream, pointers) = (self.context.stream, arguments.as_mut_ptr());
        unsafe {
            sys::cuLaunchCooperativeKernel(self.function, blocks, 1, 1, THREADS, 1, 1, 0, stream, pointers)
        }
    }

    fn counted(&self) -> u32 {
        assert_eq!(self.context.sync(), OK);
        let mut found = 0u32;
        ok!(sys::cuMemcpyDtoH_v2((&raw mut found).cast(), self.count, 4));
        found
    }

    /// Sets the parameters of a graph's node, or of an instance's node.
    fn set(&self, exec: Option<sys::CUgraphExec>, node: sys::CUgraphNode, blocks: u32) -> CUresult {
        let mut count = self.count;
        let mut arguments: [*mut c_void; 1] = [(&raw mut count).cast()];
        let params = kernel_params(self.function, blocks, THREADS, &mut arguments);
        unsafe {
            match exec {
                Some(exec) => sys::cuGraphExecKernelNodeSetParams_v2(exec, node, &params),
                None => sys::cuGraphKernelNodeSetParams_v2(node, &params),
            }
        }
    }
}

fn is_cooperative(value: i32) -> sys::CUlaunchAttributeValue {
    // SAFETY: zero is a valid value for this union of numbers and pointers.
    let mut attribute: sys::CUlaunchAttributeValue = unsafe { std::mem::zeroed() };
    attribute.cooperative = value;
    attribute
}

#[test]
fn all_blocks_that_a_device_holds_meet() {
    let fixture = Fixture::new();
    assert_eq!(fixture.launch(fixture.most), OK);
    assert_eq!(fixture.counted(), fixture.most);

    let graph = Graph::new();
    let node = graph.kernel(&[], fixture.function, fixture.most, THREADS, &[fixture.count]);
    ok!(sys::cuGraphKernelNodeSetAttribute(node, COOPERATIVE, &is_cooperative(1)));
    let exec = graph.exec();
    ok!(sys::cuMemsetD32_v2(fixture.count, 0, 1));
    assert_eq!(exec.launch(&fixture.context), OK);
    assert_eq!(fixture.counted(), fixture.most);
}

/// Refused wherever the driver learns of the size. Measured on driver 580 (CUDA 13.0).
#[test]
fn more_blocks_are_refused() {
    let fixture = Fixture::new();
    let more = fixture.most + 1;
    assert_eq!(fixture.launch(more), TOO_LARGE);

    let graph = Graph::new();
    let large = graph.kernel(&[], fixture.function, more, THREADS, &[fixture.count]);
    gives!(TOO_LARGE, sys::cuGraphKernelNodeSetAttribute(large, COOPERATIVE, &is_cooperative(1)));
    let mut value = is_cooperative(7);
    ok!(sys::cuGraphKernelNodeGetAttribute(large, COOPERATIVE, &mut value));
    assert_eq!(unsafe { value.cooperative }, 0, "what is refused is not kept");
    ok!(sys::cuGraphDestroyNode(large));

    let node = graph.kernel(&[], fixture.function, fixture.most, THREADS, &[fixture.count]);
    ok!(sys::cuGraphKernelNodeSetAttribute(node, COOPERATIVE, &is_cooperative(1)));
    assert_eq!(fixture.set(None, node, more), TOO_LARGE);
    let exec = graph.exec();
    assert_eq!(fixture.set(Some(exec.0), node, more), TOO_LARGE);
    assert_eq!(fixture.set(Some(exec.0), node, 3), OK);
    assert_eq!(exec.launch(&fixture.context), OK);
    assert_eq!(fixture.counted(), 3);
}

#[test]
fn a_refused_launch_ends_a_capture() {
    let fixture = Fixture::new();
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    ok!(sys::cuStreamBeginCapture_v2(fixture.context.stream, mode));
    assert_eq!(fixture.launch(fixture.most + 1), TOO_LARGE);
    let mut graph = null_mut();
    let invalidated = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    gives!(invalidated, sys::cuStreamEndCapture(fixture.context.stream, &mut graph));
    assert!(graph.is_null());
}
