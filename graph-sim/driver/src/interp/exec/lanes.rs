//! Sets of lanes as bit masks.

/// Iterates over the lanes of a mask, lowest first.
pub struct Lanes(pub u32);

impl Iterator for Lanes {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let lane = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(lane)
    }
}
