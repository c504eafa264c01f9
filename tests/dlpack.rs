//! Tensors of DLPack are bound, and deleted after the last launch. The tests make tensors as frameworks do.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::{CudaSlice, DevicePtr};
use cuweave::dlpack::{DlDevice, DlManagedTensor, DlTensor, DlType};
use cuweave::error::ForeignFault;
use cuweave::prelude::*;
use cuweave::{Error, Foreign};
use cuweave_testkit::device::{Device, alone, ramp};
use half::bf16;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn scaled(n: u32, a: f32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, a, n);
}

/// The number of deleted tensors.
static DELETED: AtomicUsize = AtomicUsize::new(0);

/// The memory and the lists of a tensor.
struct Kept {
    _memory: CudaSlice<f32>,
    _shape: Vec<i64>,
    _strides: Vec<i64>,
}

unsafe extern "C" fn delete(tensor: *mut DlManagedTensor) {
    // SAFETY: made by `tensor`, and deleted once.
    unsafe {
        drop(Box::from_raw((*tensor).context.cast::<Kept>()));
        drop(Box::from_raw(tensor));
    }
    DELETED.fetch_add(1, Ordering::SeqCst);
}

const F32: DlType = DlType { code: 2, bits: 32, lanes: 1 };

/// Returns a tensor of the elements from the second one on. No strides stand for rows without gaps.
fn tensor(
    device: &Device,
    shape: &[i64],
    strides: &[i64],
    kind: i32,
    element: DlType,
) -> *mut DlManagedTensor {
    let memory = device.upload(&ramp(64));
    device.stream.synchronize().expect("all is well");
    let address = {
        let (address, _guard) = memory.device_ptr(&device.stream);
        address
    };
    let (mut shape, mut strides) = (shape.to_vec(), strides.to_vec());
    let tensor = DlTensor {
        data: std::ptr::with_exposed_provenance_mut(address as usize),
        device: DlDevice { kind, ordinal: 0 },
        dimensions: shape.len() as i32,
        element,
        shape: shape.as_mut_ptr(),
        strides: if strides.is_empty() { null_mut() } else { strides.as_mut_ptr() },
        byte_offset: 4,
    };
    let kept = Box::new(Kept { _memory: memory, _shape: shape, _strides: strides });
    let context = Box::into_raw(kept).cast::<c_void>();
    Box::into_raw(Box::new(DlManagedTensor { tensor, context, deleter: Some(delete) }))
}

fn wait_for(deleted: usize) {
    let start = Instant::now();
    while DELETED.load(Ordering::SeqCst) < deleted {
        assert!(start.elapsed() < Duration::from_secs(20), "it is not deleted");
        std::thread::yield_now();
    }
}

#[test]
fn tensors_are_bound_checked_and_deleted() {
    let device = alone();
    let before = DELETED.load(Ordering::SeqCst);
    for (nth, (shape, strides)) in
        [(&[3, 4][..], &[][..]), (&[3, 4], &[4, 1]), (&[2, 1, 5], &[5, 77, 1]), (&[], &[])]
            .into_iter()
            .enumerate()
    {
        // SAFETY: nobody else uses the tensor.
        let x = unsafe { Foreign::<f32>::from_dlpack(tensor(&device, shape, strides, 2, F32)) }
            .expect("it is bound");
        let len = shape.iter().product::<i64>() as u32;
        assert_eq!(x.len(), len as usize);
        let mut exec = scaled(&device.ctx, len, 3.0, &x).expect("it builds").instantiate().expect("an exec");
        drop(x);
        exec.launch(&device.stream).expect("it launches");
        let bound = exec.args().x.buffer().expect("a buffer").clone();
        let found = bound.to_host(&device.stream).expect("it is read");
        drop(bound);
        let expected: Vec<f32> = ramp(64)[1..=len as usize].iter().map(|x| 3.0 * x).collect();
        assert_eq!(found, expected);
        assert_eq!(DELETED.load(Ordering::SeqCst), before + nth);
        drop(exec);
        wait_for(before + nth + 1);
    }
    let fault = |tensor: *mut DlManagedTensor| {
        let deleted = DELETED.load(Ordering::SeqCst);
        // SAFETY: as above.
        let fault = match unsafe { Foreign::<f32>::from_dlpack(tensor) } {
            Err(Error::Foreign(fault)) => *fault,
            other => panic!("{other:?}"),
        };
        assert_eq!(DELETED.load(Ordering::SeqCst), deleted + 1);
        fault
    };
    let gaps = fault(tensor(&device, &[3, 4], &[5, 1], 2, F32));
    assert!(matches!(gaps, ForeignFault::Gaps { .. }), "{gaps}");
    assert!(matches!(fault(tensor(&device, &[4, 3], &[1, 4], 2, F32)), ForeignFault::Gaps { .. }));
    assert!(matches!(fault(tensor(&device, &[3, 0], &[], 2, F32)), ForeignFault::Empty));
    assert!(matches!(fault(tensor(&device, &[3], &[], 1, F32)), ForeignFault::OfOtherDevice { kind: 1, .. }));
    let other = fault(tensor(&device, &[3], &[], 2, DlType { code: 2, bits: 64, lanes: 1 }));
    assert!(matches!(other, ForeignFault::OtherElements { found: (2, 64, 1), .. }), "{other}");
    // SAFETY: as above.
    let short = unsafe { Foreign::<bf16>::from_dlpack(tensor(&device, &[8], &[], 2, F32)) };
    assert!(matches!(short, Err(Error::Foreign(_))));
    drop(short);
    device.nothing_reported();
}
