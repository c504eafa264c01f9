//! The turns of groups of lanes, so that no lane starves.

use super::lanes::Lanes;

/// Instructions of one group of lanes while other groups of the warp wait.
const GROUP_TURN: u64 = 500;

/// The turns of the groups of a warp: after [`GROUP_TURN`] instructions the lane that waited longest leads for as many.
pub struct LaneTurns {
    /// The leading lane, and the instructions left of its lead.
    leader: Option<(u32, u64)>,
    /// Instructions since another lane led.
    since: u64,
    /// The time of each lane's last execution, by the clock.
    ran: [u64; 32],
    clock: u64,
}

impl LaneTurns {
    pub fn new() -> Self {
        LaneTurns { leader: None, since: 0, ran: [0; 32], clock: 0 }
    }

    /// Returns the leading lane, if there is one among those that are ready.
    pub fn choose(&mut self, ready: u32) -> Option<u32> {
        self.leader = self.leader.filter(|&(lane, left)| left > 0 && ready >> lane & 1 == 1);
        if self.leader.is_none() && self.since >= GROUP_TURN {
            self.since = 0;
            let oldest = Lanes(ready).min_by_key(|&lane| self.ran[lane as usize]);
            self.leader = oldest.map(|lane| (lane, GROUP_TURN));
        }
        self.leader.map(|(lane, _)| lane)
    }

    /// Returns the most instructions of the chosen group.
    pub fn left(&self) -> u64 {
        self.leader.map_or(GROUP_TURN, |(_, left)| left)
    }

    /// Accounts for a group that has executed while others waited. If it `rests`, another one leads next.
    pub fn note(&mut self, mask: u32, steps: u64, rests: bool) {
        self.clock += 1;
        for lane in Lanes(mask) {
            self.ran[lane as usize] = self.clock;
        }
        self.since += steps;
        if let Some((_, left)) = &mut self.leader {
            *left = left.saturating_sub(steps);
        }
        if rests {
            self.since = GROUP_TURN;
            self.leader = None;
        }
    }

    /// Accounts for a group that was alone.
    pub fn restart(&mut self) {
        (self.since, self.leader) = (0, None);
    }
}
