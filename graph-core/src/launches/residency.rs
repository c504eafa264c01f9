//! The cost of a batch whose kernel variant has fewer resident blocks on a multiprocessor, or more local memory,
//! than the plain kernel.

use super::tuning::{Residency, Tuning};

/// The resources of a loaded function, for one block size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// The number of resident blocks on a multiprocessor.
    pub blocks: u32,
    /// Registers for each thread.
    pub registers: u32,
    /// Local memory for each thread, in bytes.
    pub local: u32,
}

/// The assumed number of waves of a batch with an unknown number of blocks.
const MANY: u32 = 8;

/// Returns the number of resident blocks on a multiprocessor that a batch needs to run like the plain kernel.
/// `share` is the number of the batch's blocks for each multiprocessor.
pub fn needed(share: Option<u32>, alone: Resources) -> u32 {
    share.map_or(alone.blocks, |share| share.min(alone.blocks))
}

/// Returns the cost of a kernel variant, in thousandths of the time of the plain kernel. 0 if the variant has the
/// needed blocks and no additional local memory.
///
/// `free` is the number of registers that the variant takes without a limit. `share` is the number of the batch's
/// blocks for each multiprocessor; `None` if unknown.
pub fn cost(tuning: &Tuning, alone: Resources, form: Resources, free: u32, share: Option<u32>) -> u64 {
    let Residency { lost, squeezed, spilled, .. } = tuning.residency;
    let needed = needed(share, alone);
    let fewer = u64::from(needed.saturating_sub(form.blocks));
    let hundredths = |fewer: u64, of: u32| (100 * fewer).div_ceil(u64::from(of.max(1)));
    let waves = |of: Resources| share.map(|share| u64::from(share.div_ceil(of.blocks.max(1)).max(1)));
    let more = match (waves(alone), waves(form)) {
        (Some(alone), Some(form)) => (1_000 * form.saturating_sub(alone)).div_ceil(alone),
        _ if fewer > 0 => 1_000,
        _ => 0,
    };
    let bytes = u64::from(form.local.saturating_sub(alone.local));
    let without = u64::from(free.saturating_sub(form.registers));
    more + hundredths(fewer, needed) * u64::from(lost)
        + hundredths(without, free) * u64::from(squeezed)
        + bytes * u64::from(spilled)
}

/// Returns the maximum acceptable cost of a batch.
pub fn max_cost(tuning: &Tuning, alone: Resources, share: Option<u32>) -> u64 {
    let waves = share.map_or(MANY, |share| share.div_ceil(alone.blocks.max(1)).max(1));
    u64::from(tuning.residency.most / waves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launches::Blocks;

    const ALONE: Resources = Resources { blocks: 12, registers: 38, local: 0 };

    #[test]
    fn a_batch_needs_its_share_of_the_blocks() {
        let needed = |blocks, multiprocessors| needed(Blocks::new(blocks).share(multiprocessors), ALONE);
        assert_eq!(needed(1_024, 132), 8);
        assert_eq!(needed(132, 132), 1);
        assert_eq!(needed(0, 132), 0);
        assert_eq!([needed(u64::MAX, 132), needed(5, 0)], [12; 2]);
    }

    #[test]
    fn fewer_blocks_and_spills_cost() {
        for tuning in [Tuning::default(), Tuning::for_capability((9, 0))] {
            let cost =
                |blocks, local, share| cost(&tuning, ALONE, Resources { blocks, local, ..ALONE }, 38, share);
            assert_eq!(
                [cost(10, 0, Some(8)), cost(12, 0, Some(99)), cost(0, 0, Some(0)), cost(12, 0, None)],
                [0; 4]
            );
            assert!(cost(10, 0, Some(18)) > 0 && cost(9, 0, Some(18)) > cost(10, 0, Some(18)));
            assert!(cost(11, 0, Some(12)) >= 1_000 && cost(11, 0, None) >= 1_000);
            assert!(cost(11, 0, Some(12)) > max_cost(&tuning, ALONE, Some(12)));
            let squeezed =
                |registers| super::cost(&tuning, ALONE, Resources { registers, ..ALONE }, 44, Some(12));
            assert!(squeezed(44) == 0 && squeezed(40) > 0 && squeezed(32) > squeezed(40));
            let most = |share| max_cost(&tuning, ALONE, share);
            assert!(most(Some(0)) >= most(Some(24)) && most(Some(24)) >= most(Some(u32::MAX)));
            assert!(cost(12, 8, Some(12)) > 0 && cost(12, 64, Some(12)) > cost(12, 8, Some(12)));
            cost(0, u32::MAX, Some(u32::MAX));
        }
        // Devices without measurements accept no cost.
        assert_eq!(Tuning::default().residency.most, 0);
    }
}
