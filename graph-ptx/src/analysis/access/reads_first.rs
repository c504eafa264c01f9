//! Finds a load that precedes every store of a pointer.

use super::AccessCollector;
use crate::analysis::code::StepId;
use crate::analysis::effect::AccessKind;
use crate::analysis::facts::{PointerAccess, Site};
use crate::analysis::order::Order;
use crate::analysis::update::is_blind_exchange;
use std::collections::{BTreeMap, BTreeSet};

impl AccessCollector<'_, '_, '_> {
    /// Returns the calls from the kernel to an access, then the access. `None` if a shared instance is on the way.
    fn path(&self, touched: &PointerAccess) -> Option<Vec<StepId>> {
        let mut path = vec![touched.at];
        while let Some(&StepId { instance, .. }) = path.last()
            && instance != 0
        {
            let instance = &self.flow.instances[instance as usize];
            if instance.is_shared() {
                return None;
            }
            path.push(instance.caller?);
        }
        path.reverse();
        Some(path)
    }

    /// Returns a load that dominates every store that can reach it.
    pub(super) fn reads_first(&self, touched: &[PointerAccess]) -> Option<Site> {
        let mut stores = BTreeSet::new();
        for touched in touched.iter().filter(|touched| touched.how != AccessKind::Read) {
            stores.insert(self.path(touched)?);
        }
        let mut order = Order { flow: &self.flow, reached: BTreeMap::new(), waited: BTreeMap::new() };
        // 64 loads suffice for hand-written kernels; unrolled kernels repeat the same loads.
        let loads = touched.iter().filter(|touched| {
            let (code, step) = self.step_at(touched.at);
            touched.definite && touched.how != AccessKind::Write && !is_blind_exchange(code, step)
        });
        let loads = loads.take(64);
        let found = loads
            .filter_map(|load| self.path(load))
            .find(|load| stores.iter().all(|store| order.precedes_all_stores(load, store)))?;
        found.last().map(|&at| self.site(at))
    }
}
