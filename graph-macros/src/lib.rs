//! The attributes of `cuweave`.
