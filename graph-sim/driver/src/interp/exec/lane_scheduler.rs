//! Fair scheduling of a warp's lane groups, so that no lane starves.

use super::lanes::Lanes;

/// The instructions in a time slice of a lane group, while other groups of the warp wait.
const GROUP_SLICE: u64 = 500;

/// The scheduler of a warp's lane groups. After [`GROUP_SLICE`] instructions, the lane that has waited longest
/// leads for one time slice.
pub struct LaneScheduler {
    /// The leading lane, and the instructions left in its time slice.
    leader: Option<(u32, u64)>,
    /// The instructions executed since another lane led.
    since: u64,
    /// The time of each lane's last execution, on `clock`.
    ran: [u64; 32],
    clock: u64,
}

impl LaneScheduler {
    pub fn new() -> Self {
        LaneScheduler { leader: None, since: 0, ran: [0; 32], clock: 0 }
    }

    /// Returns the leading lane; `None` if no lane leads or the leader is not ready.
    pub fn choose(&mut self, ready: u32) -> Option<u32> {
        self.leader = self.leader.filter(|&(lane, left)| left > 0 && ready >> lane & 1 == 1);
        if self.leader.is_none() && self.since >= GROUP_SLICE {
            self.since = 0;
            let oldest = Lanes(ready).min_by_key(|&lane| self.ran[lane as usize]);
            self.leader = oldest.map(|lane| (lane, GROUP_SLICE));
        }
        self.leader.map(|(lane, _)| lane)
    }

    /// Returns the maximum number of instructions that the chosen group may execute.
    pub fn left(&self) -> u64 {
        self.leader.map_or(GROUP_SLICE, |(_, left)| left)
    }

    /// Accounts for a group that executed while others waited. If `yields` is true, another group leads next.
    pub fn note(&mut self, mask: u32, steps: u64, yields: bool) {
        self.clock += 1;
        for lane in Lanes(mask) {
            self.ran[lane as usize] = self.clock;
        }
        self.since += steps;
        if let Some((_, left)) = &mut self.leader {
            *left = left.saturating_sub(steps);
        }
        if yields {
            self.since = GROUP_SLICE;
            self.leader = None;
        }
    }

    /// Accounts for a group that executed while no other waited.
    pub fn restart(&mut self) {
        (self.since, self.leader) = (0, None);
    }
}
