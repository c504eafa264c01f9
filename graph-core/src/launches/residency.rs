//! The cost of a batch whose form of the kernel holds fewer blocks a multiprocessor, or more local memory, than the kernel alone.

use super::blocks::Blocks;
use super::tuning::Tuning;

/// The resources of a loaded function, for launches of one block size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// The number of blocks that a multiprocessor holds at once.
    pub blocks: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Local memory of a thread, in bytes.
    pub local: u32,
}

/// The cost of lost occupancy and of spilled registers, in thousandths of the time of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// The cost of holding a hundredth fewer of the needed blocks.
    pub lost: u32,
    /// The cost of a byte of local memory that the kernel alone does not need.
    pub spilled: u32,
    /// The maximum cost of a batch.
    pub most: u32,
}

/// Returns the number of blocks a multiprocessor that a batch of `blocks` blocks needs to run as the kernel alone does.
pub fn needed(blocks: Blocks, multiprocessors: u32, alone: Resources) -> u32 {
    blocks.share(multiprocessors).map_or(alone.blocks, |share| share.min(alone.blocks))
}

/// Returns the cost of a form of the kernel, in thousandths of the time of the kernel alone, for a batch that needs `needed` blocks a
/// multiprocessor. It is 0 if the form has the blocks and takes no more local memory.
pub fn cost(tuning: &Tuning, alone: Resources, form: Resources, needed: u32) -> u64 {
    let Residency { lost, spilled, .. } = tuning.residency;
    let fewer = u64::from(needed.saturating_sub(form.blocks));
    let hundredths = (100 * fewer).div_ceil(u64::from(needed.max(1)));
    let bytes = u64::from(form.local.saturating_sub(alone.local));
    hundredths * u64::from(lost) + bytes * u64::from(spilled)
}

/// Returns the maximum cost of a batch.
pub fn most_of(tuning: &Tuning) -> u64 {
    u64::from(tuning.residency.most)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Resources = Resources { blocks: 12, registers: 38, local: 0 };

    #[test]
    fn a_batch_needs_its_share_of_the_blocks() {
        assert_eq!(needed(Blocks::new(1_024), 132, ALONE), 8);
        assert_eq!(needed(Blocks::new(132), 132, ALONE), 1);
        assert_eq!(needed(Blocks::new(0), 132, ALONE), 0);
        assert_eq!(needed(Blocks::new(u64::MAX), 132, ALONE), 12);
        assert_eq!(needed(Blocks::new(5), 0, ALONE), 12);
    }

    /// What nobody measured loses nothing: any cost is too much there.
    #[test]
    fn fewer_blocks_and_spills_cost() {
        for tuning in [Tuning::default(), Tuning::of((9, 0))] {
            let cost =
                |blocks, local, needed| cost(&tuning, ALONE, Resources { blocks, local, ..ALONE }, needed);
            assert_eq!([cost(10, 0, 8), cost(12, 0, 12), cost(0, 0, 0)], [0; 3]);
            assert!(cost(10, 0, 12) > 0 && cost(8, 0, 12) > cost(10, 0, 12));
            assert!(cost(12, 8, 12) > 0 && cost(12, 64, 12) > cost(12, 8, 12));
        }
        assert_eq!(Tuning::default().residency.most, 0);
    }
}
