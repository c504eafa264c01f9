//! Tensors of other frameworks by DLPack, as [`Foreign`] memory (<https://dmlc.github.io/dlpack/latest/c_api.html>).

// The structures of DLPack are made of pointers.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::slice::from_raw_parts;

use cuweave_core::index::wide;

use crate::error::{Error, ForeignFault, Result};

use super::foreign::Foreign;

/// `kDLCUDA` and `kDLCUDAManaged`.
const DEVICES: [i32; 2] = [2, 13];

/// A device: `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DlDevice {
    /// The kind: 2 for CUDA.
    pub kind: i32,
    /// The ordinal.
    pub ordinal: i32,
}

/// A type of elements: `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlType {
    /// The kind of number: 0 for signed integers, 1 for unsigned ones, 2 for floats, 4 for bf16, 6 for `bool`.
    pub code: u8,
    /// The size in bits.
    pub bits: u8,
    /// The numbers of an element.
    pub lanes: u16,
}

/// A tensor: `DLTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct DlTensor {
    /// The address of the memory.
    pub data: *mut c_void,
    /// The device that has it.
    pub device: DlDevice,
    /// The number of dimensions.
    pub dimensions: i32,
    /// The type of the elements.
    pub element: DlType,
    /// The length of each dimension.
    pub shape: *mut i64,
    /// The elements from one to the next along each dimension. Null for rows without gaps.
    pub strides: *mut i64,
    /// The bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// A tensor with what keeps it alive: `DLManagedTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct DlManagedTensor {
    /// The tensor.
    pub tensor: DlTensor,
    /// A value of its framework.
    pub context: *mut c_void,
    /// Deletes it, on any thread.
    pub deleter: Option<unsafe extern "C" fn(*mut DlManagedTensor)>,
}

/// The owner of a tensor.
struct Owner(*mut DlManagedTensor);

// SAFETY: DLPack lets any thread delete a tensor.
unsafe impl Send for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: the tensor is alive, and this is its only owner.
        unsafe {
            if let Some(deleter) = (*self.0).deleter {
                deleter(self.0);
            }
        }
    }
}

/// An element type of DLPack.
pub trait DlElement {
    /// Its description.
    const TYPE: DlType;
}

macro_rules! elements {
    ($($ty:ty: $code:literal $bits:literal;)*) => {$(
        impl DlElement for $ty {
            const TYPE: DlType = DlType { code: $code, bits: $bits, lanes: 1 };
        }
    )*};
}
elements! {
    i8: 0 8;
    i16: 0 16;
    i32: 0 32;
    i64: 0 64;
    u8: 1 8;
    u16: 1 16;
    u32: 1 32;
    u64: 1 64;
    f32: 2 32;
    f64: 2 64;
    bool: 6 8;
}
#[cfg(feature = "half")]
elements! {
    half::f16: 2 16;
    half::bf16: 4 16;
}

impl<T: DlElement> Foreign<T> {
    /// Takes over a tensor of another framework. It is deleted after the last launch that uses it, or now if it cannot
    /// be bound.
    ///
    /// # Safety
    ///
    /// The tensor must be alive and not taken over by anybody else. The rest of [`Foreign::new`]'s contract: until it
    /// is deleted, nothing but cuweave may use its memory, except for work that events order. A framework enqueues work
    /// without waiting for it: wait for that work, or give [`Foreign::after`] an event that was recorded after it.
    ///
    /// # Errors
    ///
    /// A tensor of another device than CUDA's, of other elements, or with gaps; the errors of [`Foreign::new`].
    pub unsafe fn from_dlpack(tensor: *mut DlManagedTensor) -> Result<Foreign<T>> {
        let fault = |fault| Err(Error::Foreign(Box::new(fault)));
        if tensor.is_null() {
            return fault(ForeignFault::Empty);
        }
        let owner = Owner(tensor);
        // SAFETY: the caller says that it is alive.
        let DlTensor { data, device, dimensions, element, shape, strides, byte_offset } =
            unsafe { &(*owner.0).tensor };
        if !DEVICES.contains(&device.kind) {
            return fault(ForeignFault::OfOtherDevice { kind: device.kind });
        }
        if *element != T::TYPE {
            let [found, wanted] = [*element, T::TYPE].map(|of| (of.code, of.bits, of.lanes));
            return fault(ForeignFault::OtherElements { found, wanted });
        }
        let count = usize::try_from(*dimensions).unwrap_or(0);
        // SAFETY: a tensor has as many lengths, and as many strides or none.
        let list = |from: *mut i64| match count == 0 || from.is_null() {
            true => &[][..],
            false => unsafe { from_raw_parts(from, count) },
        };
        let (shape, strides) = (list(*shape), list(*strides));
        let mut len = 1_u64;
        for (at, &extent) in shape.iter().enumerate().rev() {
            let extent = u64::try_from(extent).unwrap_or(0);
            // The stride of a dimension of one element means nothing.
            let packed = strides.get(at).is_none_or(|&stride| u64::try_from(stride) == Ok(len));
            if extent > 1 && !packed {
                return fault(ForeignFault::Gaps { shape: shape.to_vec(), strides: strides.to_vec() });
            }
            len = len.saturating_mul(extent);
        }
        let address = wide(data.expose_provenance()).saturating_add(*byte_offset);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        // SAFETY: the caller upholds the rest.
        unsafe { Foreign::new(address, len, owner) }
    }
}
