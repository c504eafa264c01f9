//! Tests that use state of the whole process: they count driver calls or live objects, let calls fail, cause
//! reports, or set schedules and registers. Each takes the lock of `cuweave_testkit::device` by `alone`,
//! `simulated_alone` or `test_lock`.

mod alloc_nodes;
mod apart;
mod arena_pool;
mod bounds;
mod bounds_order;
mod bounds_random;
mod buffer_order;
mod buffers;
mod builder_meetings;
mod code_cache;
mod coverage;
mod elements;
mod events;
mod extremes;
mod flags;
mod host_statements;
mod host_work;
mod lowerings;
mod managed;
mod managed_hints;
mod managed_pages;
mod managed_ranges;
mod managed_readers;
mod managed_rules;
mod module_variables;
mod order_stress;
mod profile;
mod proof;
mod runtime_bad_input;
mod runtime_exec;
mod runtime_faults;
mod runtime_orders;
mod semaphores;
mod slow;
mod stream_stress;
mod streams;
mod taken_over;
mod unfused;
mod unwritten;
mod verify;
mod verify_arguments;
mod verify_blame;
mod verify_foreign;
mod views;
