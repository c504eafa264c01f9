//! A fault before the instruction and the thread are known.

use crate::interp::fault::FaultKind;

/// A fault of an instruction, before it is attributed to a thread.
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

    pub fn access(kind: FaultKind, address: u64, size: u32, message: String) -> Self {
        Self { kind, lane: 0, address, size, message }
    }

    pub fn of_lane(self, lane: u32) -> Self {
        Self { lane, ..self }
    }
}
