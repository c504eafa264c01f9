//! The lowest layer: C types, result codes, settings, the log and the reports.

pub mod callback;
pub mod config;
pub mod console;
pub mod device;
pub mod faults;
pub mod log;
pub mod note;
pub mod pointer;
pub mod registers;
pub mod report;
pub mod status;
pub mod table;
pub mod trace;
pub mod types;
pub mod visible;
