pub(super) mod batches;
pub(super) mod fused;
