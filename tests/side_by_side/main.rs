//! Tests that do not touch global driver state, so they run concurrently. A test that counts calls or objects, lets
//! calls fail or causes reports belongs in `in_turn`.

#[macro_use]
mod steps;

mod atomics_order;
mod budget;
mod builder;
mod builder_panics;
mod builder_random;
mod builder_refused;
mod builder_sizes;
mod calls;
mod certificates;
mod certificates_exhaustive;
mod cooperative;
mod counts;
mod decisions;
mod expressions;
pub mod face;
mod forwarded;
mod fused;
mod fused_memory;
mod fused_rows;
mod fused_set;
mod hidden_state;
mod kernels;
mod launches;
mod mangled;
mod optional;
mod outside;
mod parts;
mod parts_random;
mod paths;
mod pinned_launches;
mod pitched;
mod pitched_sizes;
mod plans;
mod pointers;
mod recall;
mod record_scalars;
mod records;
mod report_lines;
mod required_blocks;
mod rounded;
mod runtime_load;
mod size_bounds;
mod size_forms;
mod size_records;
mod size_reports;
mod sizes;
mod sizes_of_zero;
mod stacked;
mod structure;
mod switches;
mod training;
mod turns;
mod width;
