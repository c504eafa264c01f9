//! Classifies the accesses of a kernel through each of its parameters.
//!
//! [`AccessClass::Reads`] and [`AccessClass::Nothing`] are sound: they are only returned if no write can go through the
//! pointer. Every refutation (a store through the pointer, a load before every store) names its instruction. A
//! pointer is [`AccessClass::Unknown`] if it mixes with others at a store, or if it escapes while some store goes to an
//! untracked address.

use crate::analysis::code::{NONE, Source, SsaFunction, Step, StepId};
use crate::analysis::copies::MemoryCopies;
use crate::analysis::effect::{self, AccessKind, Effect};
use crate::analysis::elements;
use crate::analysis::facts::{
    ClassSites, Elements, IndirectBase, KernelFacts, NumberUse, ParameterFacts, PointerAccess, Site, quoted,
    site, unknown,
};
use crate::analysis::flow::{AbstractLocation, Flow, ParameterKinds, SsaCache, Word};
use crate::analysis::update::Update;
use crate::analysis::value::{LooseBits, MEMORY, Value};
use crate::analysis::{bits, extent, floats, number, slice};
use crate::coverage::{BackwardSlice, SlicedParameter};
use crate::isa::{self, Addresses};
use crate::syntax::{FloatFormat, Module, StateSpace};
use std::collections::{BTreeMap, BTreeSet};

mod reads_first;

/// The analysis of a module's kernels.
pub struct Analysis<'m, 'a> {
    codes: SsaCache<'m, 'a>,
}

impl<'m, 'a> Analysis<'m, 'a> {
    /// Prepares the analysis of a module.
    pub fn new(module: &'m Module<'a>) -> Self {
        Analysis { codes: SsaCache::new(module) }
    }

    /// Returns the module.
    pub fn module(&self) -> &'m Module<'a> {
        self.codes.module
    }

    /// Returns the variables of the module, and the variables in functions with module lifetime.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &'m crate::syntax::Variable<'a>> + '_ {
        self.codes.globals.variables.iter().copied()
    }

    /// Returns one flag per parameter of a kernel without a declaration: true for pointers. These are the parameters
    /// with `.ptr`, if any entry has one, else those whose bits are the base of an address.
    pub fn pointers(&mut self, entry: &crate::syntax::Function<'_>) -> Vec<bool> {
        let says = |parameter: &crate::syntax::Parameter<'_>| parameter.pointer.is_some();
        let fits = |parameter: &crate::syntax::Parameter<'_>| parameter.may_be_pointer();
        if self.module().entries().any(|entry| entry.parameters.iter().any(says)) {
            return entry.parameters.iter().map(|parameter| fits(parameter) && says(parameter)).collect();
        }
        let mut pointers = vec![false; entry.parameters.len()];
        for _ in 0..entry.parameters.len() {
            let kernel = self.kernel(entry.name, &pointers);
            let before = pointers.clone();
            for (pointer, (found, parameter)) in
                pointers.iter_mut().zip(kernel.parameters.iter().zip(&entry.parameters))
            {
                *pointer |= fits(parameter) && found.base.is_some();
            }
            if pointers == before {
                break;
            }
        }
        pointers
    }

    /// Analyses a kernel with these pointer parameters, which may be null. A missing kernel accesses nothing; one
    /// that is too large for the analysis may access everything that its text can reach.
    pub fn kernel(&mut self, name: &str, pointers: &[bool]) -> KernelFacts {
        self.kernel_and_slice(name, ParameterKinds { pointers, ..ParameterKinds::default() }, &[]).0
    }

    /// Like [`Analysis::kernel`]; also returns the backward slice of the writes through the `written` pointers.
    pub fn kernel_and_slice(
        &mut self,
        name: &str,
        kinds: ParameterKinds<'_>,
        written: &[u32],
    ) -> (KernelFacts, BackwardSlice) {
        let (kernel, slice, _) = self.kernel_and_slices(name, kinds, written, |_| Vec::new());
        (kernel, slice)
    }

    /// Like [`Analysis::kernel_and_slice`]; also slices all accesses through the pointers that `open` selects.
    pub fn kernel_and_slices(
        &mut self,
        name: &str,
        kinds: ParameterKinds<'_>,
        written: &[u32],
        open: impl FnOnce(&KernelFacts) -> Vec<u32>,
    ) -> (KernelFacts, BackwardSlice, BackwardSlice) {
        let ParameterKinds { pointers, scalars, .. } = kinds;
        let Some(flow) = Flow::new(&mut self.codes, name, kinds).filter(|flow| !flow.exceeded_limits) else {
            let foreign = Some("the kernel is too large to be analysed".to_owned());
            let followed = |&parameter: &u32| SlicedParameter { parameter, foreign: foreign.clone() };
            let slice = BackwardSlice {
                parameters: written.iter().map(followed).collect(),
                ..BackwardSlice::default()
            };
            let kernel = unknown(&self.codes, name);
            open(&kernel);
            return (kernel, slice, BackwardSlice::default());
        };
        let mut collect = AccessCollector::new(flow);
        let kernel = collect.kernel(pointers);
        let slice = match written {
            [] => BackwardSlice::default(),
            written => collect.slice_writes(written, scalars),
        };
        let accesses = match &open(&kernel)[..] {
            [] => BackwardSlice::default(),
            open => collect.slice_accesses(open, scalars),
        };
        (kernel, slice, accesses)
    }
}

impl Analysis<'_, '_> {
    /// Returns the backward slice of all loads and stores of a kernel through its pointers. It has two entries per
    /// pointer: the reads, then the writes.
    pub fn slice_accesses(&mut self, name: &str, kinds: ParameterKinds<'_>) -> BackwardSlice {
        let ParameterKinds { pointers, scalars, .. } = kinds;
        let all = (0u32..).zip(pointers).filter(|(_, pointer)| **pointer).map(|(parameter, _)| parameter);
        let Some(flow) = Flow::new(&mut self.codes, name, kinds).filter(|flow| !flow.exceeded_limits) else {
            let foreign = Some("the kernel is too large to be analysed".to_owned());
            let followed = |parameter: u32| SlicedParameter { parameter, foreign: foreign.clone() };
            return BackwardSlice {
                parameters: all.flat_map(|parameter| [followed(parameter), followed(parameter)]).collect(),
                ..BackwardSlice::default()
            };
        };
        let mut collect = AccessCollector::new(flow);
        collect.kernel(pointers);
        collect.slice_accesses(&all.collect::<Vec<_>>(), scalars)
    }

    /// Returns, for each parameter, the instructions that write or may write through it, in the order of the file. The
    /// list is empty for a kernel that is missing or too large to be analysed.
    pub fn stores(&mut self, name: &str, kinds: ParameterKinds<'_>) -> Vec<Vec<Site>> {
        let ParameterKinds { pointers, .. } = kinds;
        let Some(flow) = Flow::new(&mut self.codes, name, kinds).filter(|flow| !flow.exceeded_limits) else {
            return Vec::new();
        };
        let mut collect = AccessCollector::new(flow);
        collect.kernel(pointers);
        let stores = |parameter: u32| {
            let touched = collect.touched.get(&parameter).map_or(&[][..], Vec::as_slice);
            let writes = touched.iter().filter(|touched| touched.how != AccessKind::Read);
            let mut sites: Vec<Site> = writes.map(|touched| collect.site(touched.at)).collect();
            sites.sort_by_key(|site| site.line);
            sites.dedup();
            sites
        };
        (0u32..).zip(pointers).map(|(parameter, _)| stores(parameter)).collect()
    }
}

struct AccessCollector<'c, 'm, 'a> {
    flow: Flow<'c, 'm, 'a>,
    /// The accesses through each pointer parameter.
    touched: BTreeMap<u32, Vec<PointerAccess>>,
    /// The first access for each set of loose bits that is the base of its address.
    bases: BTreeMap<LooseBits, StepId>,
    /// The first write for each set of loose bits that is definitely the base of its address.
    written: BTreeMap<LooseBits, StepId>,
    reads: BTreeSet<u32>,
    writes: BTreeSet<u32>,
    /// The first read from an untracked address, and the first write to one.
    reads_anywhere: Option<StepId>,
    writes_anywhere: Option<StepId>,
}

impl<'c, 'm, 'a> AccessCollector<'c, 'm, 'a> {
    fn new(flow: Flow<'c, 'm, 'a>) -> Self {
        AccessCollector {
            flow,
            touched: BTreeMap::new(),
            bases: BTreeMap::new(),
            written: BTreeMap::new(),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
            reads_anywhere: None,
            writes_anywhere: None,
        }
    }

    fn kernel(&mut self, pointers: &[bool]) -> KernelFacts {
        for instance in 0..self.flow.instances.len() as u32 {
            let code = self.flow.instances[instance as usize].code.clone();
            for at in 0..code.steps.len() as u32 {
                self.step(&code, instance, at);
            }
        }
        for at in self.flow.unknown_calls.steps.clone() {
            self.reads_anywhere.get_or_insert(at);
            self.writes_anywhere.get_or_insert(at);
        }
        let mut kernel = KernelFacts {
            parameters: vec![ParameterFacts::default(); self.flow.kernel.function.parameters.len()],
            writes_anywhere: self.writes_anywhere.is_some(),
            reads_anywhere: self.reads_anywhere.is_some(),
            ..KernelFacts::default()
        };
        for (parameter, _) in pointers.iter().enumerate().filter(|(_, pointer)| **pointer) {
            if let Some(found) = kernel.parameters.get_mut(parameter) {
                *found = self.parameter(parameter as u32);
            }
        }
        self.find_bases(&mut kernel);
        self.variables(&mut kernel);
        let mentions = self.flow.codes.mentions();
        if !self.flow.unknown_calls.named.is_empty() {
            kernel.add(&mentions.reached_from(self.flow.unknown_calls.named.iter().copied()));
        }
        if self.flow.unknown_calls.indirect {
            kernel.add(&mentions.reached_by_indirect_calls());
        }
        kernel
    }

    /// Finds the parameters whose bits, or whose elements, are the base of an address.
    fn find_bases(&self, kernel: &mut KernelFacts) {
        // Without escaped addresses, a loaded address cannot be a stored one.
        let followed = !self.flow.origins.any_escaped();
        let shared = self.flow.words.existing_bit(Word::Shared);
        let mut bases: BTreeMap<LooseBits, StepId> = BTreeMap::new();
        for (&set, &at) in &self.bases {
            let set = if set == shared && followed { self.flow.words.shared() } else { set };
            if set & (shared | MEMORY) == 0 {
                bases.entry(set).and_modify(|first| *first = at.min(*first)).or_insert(at);
            }
        }
        // A word that alone forms an address is also the base in sums with other words, which are then indices.
        let alone: LooseBits = bases.keys().filter(|set| set.is_power_of_two()).sum();
        for (&set, &at) in &bases {
            if !set.is_power_of_two() && set & alone != 0 {
                continue;
            }
            let (mut table, mut base) = (None, None);
            for word in self.flow.words.of(set) {
                match word {
                    Word::Elements(parameter) if self.is_declared_table(parameter) => {
                        table = table.filter(|&other| self.is_declared_table(other)).or(Some(parameter));
                    }
                    Word::Elements(parameter) => table = table.or(Some(parameter)),
                    Word::Parameter(parameter, offset) => base = base.or(Some((parameter, offset))),
                    Word::Shared => {}
                }
            }
            let parameter = table.or(base.map(|(parameter, _)| parameter));
            let Some(found) = parameter.and_then(|at| kernel.parameters.get_mut(at as usize)) else {
                continue;
            };
            let site = self.site(at);
            match (table, base) {
                (Some(_), _) if !followed => {}
                (Some(_), base) => {
                    let beside = base.map(|(parameter, _)| parameter);
                    let writes = self.written_through(set, shared).map(|at| self.site(at));
                    let known = found.table.get_or_insert(IndirectBase { site, beside, writes: None });
                    known.writes = known.writes.take().or(writes);
                }
                (None, Some((_, offset))) => {
                    found.base.get_or_insert((site, offset));
                }
                (None, None) => {}
            }
        }
    }

    fn is_declared_table(&self, parameter: u32) -> bool {
        self.flow.kinds.tables.get(parameter as usize).is_some_and(|table| *table)
    }

    /// Returns a write whose base address is definitely the only word of a set.
    fn written_through(&self, set: LooseBits, shared: LooseBits) -> Option<StepId> {
        let direct = self.written.get(&set);
        let stored = self.written.get(&shared).filter(|_| set == self.flow.words.shared());
        direct.or(stored).copied().filter(|_| set.is_power_of_two())
    }

    /// Returns the backward slice of the writes through these parameters. Must be called after
    /// [`AccessCollector::kernel`].
    fn slice_writes(&self, written: &[u32], scalars: &[bool]) -> BackwardSlice {
        let wanted = written.iter().map(|&parameter| {
            let hidden = self.flow.origins.is_exposed(AbstractLocation::Pointer(parameter));
            slice::SliceRequest {
                parameter,
                accesses: slice::SlicedAccesses::Writes,
                touched: self.touched.get(&parameter).map_or(&[], Vec::as_slice),
                foreign: self.writes_anywhere.filter(|_| hidden).map(|at| {
                    format!("{} writes to an address that is not followed", quoted(&self.site(at)))
                }),
            }
        });
        slice::backward_slice(&self.flow, wanted.collect(), scalars, |at| quoted(&self.site(at)))
    }

    /// Returns the backward slice of all accesses through these parameters. Must be called after
    /// [`AccessCollector::kernel`].
    fn slice_accesses(&self, parameters: &[u32], scalars: &[bool]) -> BackwardSlice {
        let wanted = |parameter: u32, accesses: slice::SlicedAccesses| {
            let (anywhere, does) = match accesses {
                slice::SlicedAccesses::Reads => (self.reads_anywhere, "reads from"),
                slice::SlicedAccesses::Writes => (self.writes_anywhere, "writes to"),
            };
            let hidden = self.flow.origins.is_exposed(AbstractLocation::Pointer(parameter));
            slice::SliceRequest {
                parameter,
                accesses,
                touched: self.touched.get(&parameter).map_or(&[], Vec::as_slice),
                foreign: anywhere
                    .filter(|_| hidden)
                    .map(|at| format!("{} {does} an address that is not followed", quoted(&self.site(at)))),
            }
        };
        let both = [slice::SlicedAccesses::Reads, slice::SlicedAccesses::Writes];
        let wanted =
            parameters.iter().flat_map(|&parameter| both.map(|accesses| wanted(parameter, accesses)));
        slice::backward_slice(&self.flow, wanted.collect(), scalars, |at| quoted(&self.site(at)))
    }

    fn site(&self, StepId { instance, step }: StepId) -> Site {
        let code = &self.flow.instances[instance as usize].code;
        match code.steps[step as usize].instruction {
            Some(instruction) => site(self.flow.codes.module, instruction),
            None => Site { line: code.function.line, text: code.function.name.to_owned() },
        }
    }

    fn step(&mut self, code: &SsaFunction<'m, 'a>, instance: u32, at: u32) {
        let step = &code.steps[at as usize];
        let Some(instruction) = step.instruction else { return };
        let here = StepId { instance, step: at };
        let effect = effect::effect(instruction);
        match effect {
            Effect::Load | Effect::Store | Effect::Memory | Effect::Texture(_) => {
                let mut nth = 0;
                for source in &step.sources {
                    if !matches!(source, Source::Memory(..)) {
                        continue;
                    }
                    let mut touch = effect::touch(instruction, nth);
                    nth += 1;
                    if let Effect::Texture(writes) = effect {
                        touch.how = if writes { AccessKind::Unknown } else { AccessKind::Read };
                        touch.space = None;
                    }
                    let local = matches!(
                        touch.space,
                        Some(StateSpace::Shared | StateSpace::Local | StateSpace::Param)
                    );
                    if touch.how == AccessKind::Nothing || local {
                        continue;
                    }
                    let address = self.flow.source(instance, source);
                    if matches!(effect, Effect::Texture(_)) && !address.has_origins() {
                        continue;
                    }
                    self.record(&address, touch.how, here);
                }
                if let Some(how) = effect::through_tensor_map(instruction) {
                    self.anywhere(how, here);
                }
            }
            Effect::Call => self.built_in_reads(step, here),
            Effect::Unknown => {
                for source in &step.sources {
                    let value = self.flow.source(instance, source);
                    if matches!(source, Source::Memory(..)) || value.has_origins() {
                        self.record(&Value::derived([&value]), AccessKind::Unknown, here);
                    }
                }
                for &kept in step.keeps.iter().filter(|&&kept| kept != NONE) {
                    let value = self.flow.value(instance, kept).clone();
                    if value.has_origins() {
                        self.record(&Value::derived([&value]), AccessKind::Unknown, here);
                    }
                }
            }
            Effect::Compute | Effect::Control | Effect::Alloca => {}
        }
    }

    /// Records the reads that built-in functions make through their arguments.
    fn built_in_reads(&mut self, step: &Step<'m, 'a>, at: StepId) {
        let target = step.call.as_ref().and_then(|call| call.target);
        let prints = |name: &str| matches!(name, "vprintf" | "__assertfail") && self.flow.is_built_in(name);
        if !target.is_some_and(prints) {
            return;
        }
        self.anywhere(AccessKind::Read, at);
        for origin in self.flow.argument_origins(at.instance, step) {
            self.touch(origin, AccessKind::Read, at, false);
        }
    }

    fn record(&mut self, address: &Value, how: AccessKind, at: StepId) {
        let Some(sums) = address.addresses() else {
            self.anywhere(how, at);
            for origin in address.origins() {
                self.touch(origin, how, at, false);
            }
            return;
        };
        let sums: Vec<_> = sums.copied().collect();
        if address.may_be_anything() || (sums.is_empty() && *address != Value::Bottom) {
            self.anywhere(how, at);
        }
        for sum in &sums {
            match sum.direct() {
                Some(origin) => self.touch(origin, how, at, sums.len() == 1),
                None if sum.terms().is_empty() => {
                    self.anywhere(how, at);
                    if sum.loose & MEMORY == 0 {
                        self.bases.entry(sum.loose).or_insert(at);
                        if sums.len() == 1 && matches!(how, AccessKind::Write | AccessKind::Atomic) {
                            self.written.entry(sum.loose).or_insert(at);
                        }
                    }
                }
                None => {
                    for term in sum.terms().to_vec() {
                        self.touch(term.0, how, at, false);
                    }
                }
            }
        }
    }

    fn anywhere(&mut self, how: AccessKind, at: StepId) {
        if how != AccessKind::Write {
            self.reads_anywhere.get_or_insert(at);
        }
        if how != AccessKind::Read {
            self.writes_anywhere.get_or_insert(at);
        }
    }

    fn touch(&mut self, origin: u32, how: AccessKind, at: StepId, definite: bool) {
        match self.flow.origins.location(origin) {
            AbstractLocation::Pointer(parameter) => {
                let touched = PointerAccess { at, how, definite };
                self.touched.entry(parameter).or_default().push(touched);
            }
            AbstractLocation::Variable(variable) => {
                if how != AccessKind::Write {
                    self.reads.insert(variable);
                }
                if how != AccessKind::Read {
                    self.writes.insert(variable);
                }
            }
            _ => {}
        }
    }

    fn parameter(&self, parameter: u32) -> ParameterFacts {
        let none = Vec::new();
        let touched = self.touched.get(&parameter).unwrap_or(&none);
        let mut found = ParameterFacts::default();
        let first = |wanted: &dyn Fn(&PointerAccess) -> bool| {
            touched
                .iter()
                .filter(|touched| wanted(touched))
                .map(|touched| self.site(touched.at))
                .min_by_key(|site| site.line)
        };
        found.reads = first(&|touched| !matches!(touched.how, AccessKind::Write));
        found.writes = first(&|touched| touched.definite && touched.how == AccessKind::Write);
        found.atomics = first(&|touched| touched.definite && touched.how == AccessKind::Atomic);
        found.may_write = first(&|touched| match touched.how {
            AccessKind::Unknown => true,
            AccessKind::Write | AccessKind::Atomic => !touched.definite,
            _ => false,
        });
        let sites = |multimem, definite| {
            first(&|touched| self.is_multimem(touched.at) == multimem && touched.definite == definite)
        };
        let class = |class| ClassSites { definite: sites(class, true), possible: sites(class, false) };
        (found.multimem, found.plain) = (class(true), class(false));
        found.floats = self.floats(touched);
        let hidden = self.flow.origins.is_exposed(AbstractLocation::Pointer(parameter));
        found.elements = self
            .elements(touched)
            .filter(|_| !hidden || self.reads_anywhere.or(self.writes_anywhere).is_none());
        if !touched.iter().any(|touched| touched.definite) {
            found.number = self.number(parameter);
        }
        found.updates = match hidden && self.reads_anywhere.or(self.writes_anywhere).is_some() {
            true => Update::Ordered,
            false => touched.iter().map(|touched| self.update(touched)).fold(Update::Nothing, Update::join),
        };
        if hidden {
            found.may_write = found.may_write.or_else(|| self.writes_anywhere.map(|at| self.site(at)));
            found.reads = found.reads.or_else(|| self.reads_anywhere.map(|at| self.site(at)));
            for at in [self.reads_anywhere, self.writes_anywhere].into_iter().flatten() {
                let class = if self.is_multimem(at) { &mut found.multimem } else { &mut found.plain };
                class.possible.get_or_insert_with(|| self.site(at));
            }
        }
        if !(hidden && self.writes_anywhere.is_some()) {
            found.reads_first = self.reads_first(touched);
            if !hidden {
                let reaches = extent::access_bounds(&self.flow, touched, |at| self.site(at));
                found.reach = reaches.all;
                found.tight = reaches.tight;
                found.unbounded = reaches.unbounded;
            }
        }
        found
    }

    fn floats(&self, touched: &[PointerAccess]) -> Vec<(FloatFormat, Site)> {
        let mut first: BTreeMap<FloatFormat, Site> = BTreeMap::new();
        for touched in touched.iter().filter(|touched| touched.definite) {
            let code = &self.flow.instances[touched.at.instance as usize].code;
            let Some(format) = floats::format(code, touched.at.step) else { continue };
            let site = self.site(touched.at);
            if first.get(&format).is_none_or(|first| site.line < first.line) {
                first.insert(format, site);
            }
        }
        first.into_iter().collect()
    }

    fn elements(&self, touched: &[PointerAccess]) -> Option<Elements> {
        let mut found = Elements::default();
        if touched.len() > elements::MAX_ACCESSES {
            return None;
        }
        let mut through: BTreeMap<StepId, u32> = BTreeMap::new();
        for (&parameter, list) in &self.touched {
            let definite = list.iter().filter(|touched| touched.definite);
            through.extend(definite.map(|touched| (touched.at, parameter)));
        }
        let mut copies: BTreeMap<u32, MemoryCopies> = BTreeMap::new();
        for &PointerAccess { at, how, .. } in touched {
            let StepId { instance, step } = at;
            let code = &*self.flow.instances[instance as usize].code;
            let copies = copies.entry(instance).or_insert_with(|| MemoryCopies::new(code));
            let site = self.site(at);
            let stored = match how {
                AccessKind::Read => Vec::new(),
                _ => bits::stored(code, step, &|step| through.get(&StepId { instance, step }).copied()),
            };
            found.add(elements::moved(code, copies, step), stored, &site);
        }
        Some(found)
    }

    fn number(&self, parameter: u32) -> Option<NumberUse> {
        let (step, certain) = number::number(&self.flow.kernel, parameter)?;
        Some(NumberUse { site: self.site(StepId { instance: 0, step }), certain })
    }

    fn step_at(&self, StepId { instance, step }: StepId) -> (&SsaFunction<'m, 'a>, &Step<'m, 'a>) {
        let code = &*self.flow.instances[instance as usize].code;
        (code, &code.steps[step as usize])
    }

    fn update(&self, touched: &PointerAccess) -> Update {
        let (code, step) = self.step_at(touched.at);
        Update::new(code, step, touched.how)
    }

    fn is_multimem(&self, at: StepId) -> bool {
        let instruction = self.step_at(at).1.instruction;
        instruction.is_some_and(|found| isa::row(found.op()).addresses == Addresses::Multimem)
    }

    fn variables(&mut self, kernel: &mut KernelFacts) {
        let name = |flow: &Flow<'_, '_, '_>, variable: u32| {
            flow.codes.globals.variables[variable as usize].name.to_owned()
        };
        kernel.variables_read = self.reads.iter().map(|&variable| name(&self.flow, variable)).collect();
        kernel.variables_written = self.writes.iter().map(|&variable| name(&self.flow, variable)).collect();
        for location in self.flow.origins.locations() {
            if let AbstractLocation::Variable(variable) = *location
                && self.flow.origins.is_exposed(*location)
            {
                kernel.variables_escaped.insert(name(&self.flow, variable));
            }
        }
    }
}

#[cfg(test)]
mod tests;
