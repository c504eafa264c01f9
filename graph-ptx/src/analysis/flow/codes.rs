//! The functions of a module in static single assignment form, built on demand and cached.
//!
//! A kernel with non-null pointers has a form of its own, without the code for null pointers.

use crate::analysis::code::{Globals, SsaFunction};
use crate::analysis::mentions::Mentions;
use crate::analysis::{nulls, ssa};
use crate::syntax::Module;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The kinds of a kernel's parameters according to its declaration: one flag per parameter.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParameterKinds<'p> {
    /// True for pointers.
    pub pointers: &'p [bool],
    /// True for pointers that are not null. Null tests of them have one outcome.
    pub never_null: &'p [bool],
    /// True for integers passed by value.
    pub scalars: &'p [bool],
    /// True for buffers whose elements are addresses.
    pub tables: &'p [bool],
}

/// The analysed functions of a module.
pub(crate) struct SsaCache<'m, 'a> {
    pub module: &'m Module<'a>,
    pub globals: Globals<'m, 'a>,
    known: HashMap<&'a str, Option<Rc<SsaFunction<'m, 'a>>>>,
    /// Kernels specialised for non-null pointers, by name and one flag per parameter.
    kernels: HashMap<(&'a str, Vec<bool>), Option<Rc<SsaFunction<'m, 'a>>>>,
    mentions: OnceCell<Mentions<'m, 'a>>,
}

impl<'m, 'a> SsaCache<'m, 'a> {
    pub fn new(module: &'m Module<'a>) -> Self {
        SsaCache {
            module,
            globals: Globals::new(module),
            known: HashMap::new(),
            kernels: HashMap::new(),
            mentions: OnceCell::new(),
        }
    }

    /// Returns the index of names that the module's texts mention.
    pub fn mentions(&self) -> &Mentions<'m, 'a> {
        self.mentions.get_or_init(|| Mentions::new(self.module, &self.globals.variables))
    }

    /// Returns a function by name; `None` if it has no body that can be analysed.
    pub fn get(&mut self, name: &str) -> Option<Rc<SsaFunction<'m, 'a>>> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let function = self.module.function(name)?;
        let code = ssa::build(function, &self.globals).map(Rc::new);
        self.known.insert(function.name, code.clone());
        code
    }

    /// Returns a kernel by name. `never_null` marks the parameters that are non-null pointers.
    pub fn kernel(&mut self, name: &str, never_null: &[bool]) -> Option<Rc<SsaFunction<'m, 'a>>> {
        if !never_null.contains(&true) {
            return self.get(name);
        }
        let function = self.module.function(name)?;
        let globals = &self.globals;
        let build = || nulls::build(function, globals, never_null).map(Rc::new);
        self.kernels.entry((function.name, never_null.to_vec())).or_insert_with(build).clone()
    }
}
