//! Loads batched variants of kernels. Each variant is in a module of its own, generated on first request. Only
//! kernels that use no written module variable have variants, so no state is duplicated.

use std::sync::{Arc, PoisonError};

use cuweave_core::index::size;
use cuweave_core::launches::Batching;
use cuweave_ptx as ptx;
use cuweave_ptx::rewrite::{self, Axis, Batch, BatchTable, GridShape};

use crate::cuda::RawModule;
use crate::error::{Error, load_failure_line};

use super::code;
use super::declaration::Kernel;
use super::function::FunctionInfo;
use super::module::LoadedModule;
use super::variants::{BatchedVariant, VariantRequest};

/// The reason why kernels that share variables are in no second module.
pub(super) const STATE: &str = "it uses a module variable that some kernel, or the host, writes";

impl LoadedModule {
    /// Returns the batches that a kernel's launches can be members of, or the reason that they cannot be
    /// batched. `None` for machine code.
    pub fn batching(&self, kernel: &Kernel) -> Option<std::result::Result<Batching, String>> {
        let name = kernel.entry;
        let found = self.entry(name)?.batching.get_or_init(|| {
            if kernel.shares_state() {
                return Err(STATE.to_owned());
            }
            let module = self.parsed().ok_or("the file cannot be read")?;
            rewrite::batchable(module, name).map_err(|why| why.to_string())?;
            let parameters = module.entry(name).map_or(&[][..], |entry| &entry.parameters);
            let most = |shape| BatchTable::max_members(parameters, shape, rewrite::max_table_bytes(module));
            Ok(Batching::UpTo { equal: most(GridShape::Axis(Axis::Z)), flat: most(GridShape::Flat) })
        });
        Some(found.clone())
    }

    /// Generates and loads the variants that are not loaded yet. Links them in parallel.
    pub fn make_variants(&self, wanted: &[VariantRequest]) {
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new: Vec<VariantRequest> = Vec::new();
        for wanted in wanted {
            if variants.get(wanted).is_none() && !new.contains(wanted) {
                new.push(wanted.clone());
            }
        }
        if new.is_empty() {
            return;
        }
        let Some(module) = self.parsed() else { return };
        let texts: Vec<_> = new.iter().map(|wanted| self.text_of(module, wanted)).collect();
        let made: Vec<&str> = texts.iter().flatten().map(|(_, text)| text.as_str()).collect();
        code::link_all(self.driver, self.context(), &made);
        for (wanted, text) in new.into_iter().zip(texts) {
            match text.and_then(|(name, text)| self.load_variant(module, &wanted, &name, &text)) {
                Ok((raw, made)) => {
                    variants.modules.push(raw);
                    variants.made.push((wanted, made));
                }
                Err(why) => variants.made.push((wanted, Err(why))),
            }
        }
    }

    /// Returns a variant that [`LoadedModule::make_variants`] has made, or the reason that it failed.
    pub fn variant(&self, wanted: &VariantRequest) -> std::result::Result<BatchedVariant, String> {
        let variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        variants.get(wanted).cloned().unwrap_or_else(|| Err("the file cannot be read".to_owned()))
    }

    /// Returns the name of a variant's entry, and the text of its module.
    fn text_of(&self, module: &ptx::Module<'_>, wanted: &VariantRequest) -> Result<(String, String), String> {
        let name = rewrite::combined_name("cuweave_batch", [wanted.entry], size(wanted.capacity));
        let name = rewrite::free_name(module, &name);
        let batch = Batch {
            entry: wanted.entry.to_owned(),
            name: name.clone(),
            capacity: wanted.capacity,
            shape: wanted.shape,
            waits: self.waits(wanted.entry),
            registers: wanted.registers,
        };
        let text = rewrite::batched(module, &[batch]).map_err(|why| why.to_string())?;
        Ok((name, text))
    }

    /// Loads the module of a variant.
    fn load_variant(
        &self,
        module: &ptx::Module<'_>,
        wanted: &VariantRequest,
        name: &str,
        text: &str,
    ) -> Result<(RawModule, Result<BatchedVariant, String>), String> {
        let raw = code::load(self.driver, self.context(), text).map_err(|(failure, log)| {
            format!("the driver rejects the batched kernel: {}", load_failure_line(failure, &log))
        })?;
        let variant = || {
            let failed = |failure| Error::from(failure).to_string();
            let entry = module.entry(wanted.entry);
            let table =
                entry.and_then(|entry| BatchTable::new(&entry.parameters, wanted.capacity, wanted.shape));
            let table = Arc::new(table.ok_or("the parameters of the launches do not fit into one table")?);
            let function = self.driver.function(raw, name).map_err(failed)?;
            let function = function.ok_or("the driver does not find the batched kernel")?;
            let required = self.entry(wanted.entry).and_then(|entry| entry.required_block);
            let info = FunctionInfo::query(self.driver, function, required).map_err(failed)?;
            Ok(BatchedVariant { info, table })
        };
        Ok((raw, variant()))
    }
}
