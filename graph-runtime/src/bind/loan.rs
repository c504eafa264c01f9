//! Loans of a buffer's elements, to streams and to the host: which of them can exist at once.

use cudarc::driver::CudaStream;

use crate::waits::HeldStream;

/// A loan of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loan {
    pub kind: LoanKind,
    /// True if the elements may be written.
    pub write: bool,
}

/// The kind of a loan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoanKind {
    /// For a copy by the runtime. Conflicting uses wait for its end.
    ForCopy,
    /// To the user's code, for streams. Conflicting uses fail.
    ToUser,
    /// To the user's code, for the host. Conflicting uses fail.
    ToHost,
}

impl Loan {
    /// Returns true if both loans can exist at once. `shares` is true if host and devices may access the memory
    /// at the same time. Streams never share a loan, since the guards of views are ordered by one loan.
    pub fn admits(self, other: Loan, shares: bool) -> bool {
        let of_host = |loan: Loan| loan.kind == LoanKind::ToHost;
        let admitted = match (of_host(self), of_host(other)) {
            (true, true) => true,
            (false, false) => false,
            _ => shares,
        };
        !self.write && !other.write && admitted
    }

    /// Returns true if the elements can be used by a launch during the loan.
    pub fn admits_launch(self, write: bool, shares: bool) -> bool {
        self.kind == LoanKind::ToHost && !self.write && !write && shares
    }
}

/// Devices or a stream that must be idle while the host accesses memory that it cannot share with a running device.
#[derive(Clone, Debug)]
pub(crate) enum IdlePart {
    /// All devices without concurrent access.
    Devices,
    /// The stream that the memory is attached to.
    Stream(HeldStream),
}

impl IdlePart {
    /// Returns true if nothing may be launched into a stream.
    pub fn includes(&self, stream: &CudaStream) -> bool {
        match self {
            IdlePart::Devices => true,
            IdlePart::Stream(idle) => idle.is_here(stream),
        }
    }

    pub fn is(&self, other: &IdlePart) -> bool {
        match (self, other) {
            (IdlePart::Devices, IdlePart::Devices) => true,
            (IdlePart::Stream(own), IdlePart::Stream(other)) => own.is(other),
            _ => false,
        }
    }
}
