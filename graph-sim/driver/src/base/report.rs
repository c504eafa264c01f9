//! Reports of the checks: printed, and kept for the program.

use std::sync::{Mutex, PoisonError};

use super::status::Status;

/// A finding of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// A short name of the check, which programs may compare.
    pub kind: &'static str,
    /// The error that the launch returns; `SUCCESS` for a warning.
    pub status: Status,
    /// The names of the nodes involved.
    pub nodes: Vec<String>,
    pub text: String,
}

/// The maximum number of reports kept.
const MAX_REPORTS: usize = 1000;

static REPORTS: Mutex<Vec<Report>> = Mutex::new(Vec::new());

impl Report {
    /// Prints the report and keeps it. A warning that every iteration or launch repeats is printed once.
    pub fn submit(self) {
        if self.status == Status::SUCCESS {
            super::console::print_once(format!("warning[{}]: {}", self.kind, self.text));
        } else {
            super::console::print(&format!("error[{}]: {}", self.kind, self.text));
            super::log::log_error(self.status, format!("{}: {}", self.kind, self.text));
        }
        let mut reports = REPORTS.lock().unwrap_or_else(PoisonError::into_inner);
        if reports.len() < MAX_REPORTS {
            reports.push(self);
        }
    }
}

/// Returns the reports so far, and clears them if `forget` is true.
pub fn reports(forget: bool) -> Vec<Report> {
    let mut reports = REPORTS.lock().unwrap_or_else(PoisonError::into_inner);
    if forget { std::mem::take(&mut *reports) } else { reports.clone() }
}
