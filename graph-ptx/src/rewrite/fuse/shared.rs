//! The shared memory of a fused kernel: the parts' memory is overlaid at the same address.
//!
//! The barrier between two parts with shared memory makes this safe; see `coverage::forward`.

use crate::syntax::{Linkage, Variable};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The location of a variable in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SharedLocation {
    /// At this offset in the static memory that all parts share.
    Static(u64),
    /// At the beginning of the dynamic shared memory.
    Dynamic,
}

/// The shared memory layout of all parts.
pub(super) struct SharedOverlay<'a> {
    prefix: String,
    /// The location of each variable of a part, by the address of its declaration.
    locations: BTreeMap<*const Variable<'a>, SharedLocation>,
    bytes: u64,
    align: u64,
    /// The alignment of the dynamic shared memory, if a part uses it.
    dynamic: Option<u64>,
}

impl<'a> SharedOverlay<'a> {
    /// Lays out the shared variables of each part.
    pub fn new<'m>(parts: impl Iterator<Item = &'m [&'m Variable<'a>]>, prefix: &str) -> SharedOverlay<'a>
    where
        'a: 'm,
    {
        let mut overlay = SharedOverlay {
            prefix: prefix.to_owned(),
            locations: BTreeMap::new(),
            bytes: 0,
            align: 16,
            dynamic: None,
        };
        for part in parts {
            let mut end = 0u64;
            for &variable in part {
                let align = variable.align().max(1);
                let home = if variable.linkage == Linkage::Extern {
                    overlay.dynamic = overlay.dynamic.max(Some(align));
                    SharedLocation::Dynamic
                } else {
                    let start = end.next_multiple_of(align);
                    end = start.saturating_add(variable.size());
                    overlay.align = overlay.align.max(align);
                    SharedLocation::Static(start)
                };
                overlay.locations.insert(std::ptr::from_ref(variable), home);
            }
            overlay.bytes = overlay.bytes.max(end);
        }
        overlay
    }

    /// Declares the memory.
    pub fn declare(&self, text: &mut String) {
        let SharedOverlay { prefix, bytes, align, .. } = self;
        if *bytes > 0 {
            let _ = writeln!(text, ".shared .align {align} .b8 {prefix}shared[{bytes}];");
        }
        if let Some(align) = self.dynamic {
            let _ = writeln!(text, ".extern .shared .align {align} .b8 {prefix}dynamic[];");
        }
    }

    /// Returns the name and the offset of a variable's memory.
    pub fn place(&self, variable: &Variable<'a>) -> Option<(String, i64)> {
        let prefix = &self.prefix;
        Some(match self.locations.get(&std::ptr::from_ref(variable))? {
            SharedLocation::Static(offset) => (format!("{prefix}shared"), i64::try_from(*offset).ok()?),
            SharedLocation::Dynamic => (format!("{prefix}dynamic"), 0),
        })
    }
}
