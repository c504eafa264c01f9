pub(super) mod batches;
pub(super) mod fused;
pub(super) mod ranged;
