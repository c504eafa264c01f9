//! A fault that is not yet attributed to an instruction and a thread.

use crate::interp::fault::FaultKind;

/// A fault of an instruction, before [`Warp::fault`](super::warp::Warp::fault) attributes it to a thread.
pub struct LaneFault {
    pub kind: FaultKind,
    pub lane: u32,
    pub address: u64,
    pub size: u32,
    pub message: String,
}

impl LaneFault {
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, lane: 0, address: 0, size: 0, message: message.into() }
    }

    /// Returns a fault of an access.
    pub fn access(kind: FaultKind, address: u64, size: u32, message: String) -> Self {
        Self { kind, lane: 0, address, size, message }
    }

    /// Attributes the fault to a lane.
    pub fn of_lane(self, lane: u32) -> Self {
        Self { lane, ..self }
    }
}
