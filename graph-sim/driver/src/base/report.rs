//! Reports of the checks, printed and kept for the program.

use std::sync::{Mutex, PoisonError};

use super::status::Status;

/// A finding of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The kind of the check: a short name that programs may compare.
    pub kind: &'static str,
    /// The error that the launch returns for it; success for a warning.
    pub status: Status,
    /// The nodes concerned, by their names.
    pub nodes: Vec<String>,
    /// The message.
    pub text: String,
}

/// The most reports that are kept.
const KEPT: usize = 1000;

static REPORTS: Mutex<Vec<Report>> = Mutex::new(Vec::new());

impl Report {
    /// Prints the report and adds it to the list. A warning that every turn or launch repeats is printed once.
    pub fn file(self) {
        if self.status == Status::SUCCESS {
            super::console::say_once(format!("warning[{}]: {}", self.kind, self.text));
        } else {
            super::console::print(&format!("error[{}]: {}", self.kind, self.text));
            super::log::say(self.status, format!("{}: {}", self.kind, self.text));
        }
        let mut reports = REPORTS.lock().unwrap_or_else(PoisonError::into_inner);
        if reports.len() < KEPT {
            reports.push(self);
        }
    }
}

/// Returns the reports so far; `forget` clears the list.
pub fn reports(forget: bool) -> Vec<Report> {
    let mut reports = REPORTS.lock().unwrap_or_else(PoisonError::into_inner);
    if forget { std::mem::take(&mut *reports) } else { reports.clone() }
}
