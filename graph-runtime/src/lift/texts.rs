//! The PTX of captured kernels: what each kernel does with its parameters, and its declarations, which are made at run
//! time. Texts, kernels and declarations are kept for the rest of the process, as those of generated code are.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use cuweave_core::index::size;
use cuweave_ptx as ptx;
use cuweave_ptx::coverage::BackwardSlice;
use cuweave_ptx::{AccessClass, Site, TypeClass, Update};

use crate::error::{Error, LiftFault, Result};
use crate::kernels::{AtomicUpdates, Kernel, Module, Param, ParamKind};

/// All texts so far.
static TEXTS: LazyLock<Mutex<Vec<&'static Text>>> = LazyLock::new(Mutex::default);

/// A kernel's name, and the parameters for which its launches pass null pointers.
type KernelKey = (String, Vec<bool>);

/// A text of PTX.
pub(super) struct Text {
    module: Module,
    parsed: ptx::Module<'static>,
    kernels: Mutex<BTreeMap<KernelKey, Arc<KernelText>>>,
    /// For each kernel, true for each parameter that is a pointer.
    pointers: Mutex<BTreeMap<String, Arc<[bool]>>>,
}

/// A kernel of a text.
pub(super) struct KernelText {
    text: &'static Text,
    name: &'static str,
    pub parameters: Vec<KernelParameter>,
    /// The loads and stores through its pointers: two entries for each, reads and writes.
    pub accesses: BackwardSlice,
    /// The same without the stores.
    pub loads: BackwardSlice,
    /// The stores through the pointers that it writes.
    pub stores: BackwardSlice,
    /// The stores to each pointer that is only written, encoded.
    writes: &'static [u8],
    /// The reason that its launches cannot be described by what they access.
    pub opaque: Option<String>,
    declared: Mutex<BTreeMap<Vec<ParameterKind>, &'static Kernel>>,
}

/// A parameter of a kernel.
pub(super) struct KernelParameter {
    pub name: &'static str,
    pub size: u64,
    pub is_pointer: bool,
    /// True if it is an integer of at most 8 bytes.
    pub is_number: bool,
    pub class: AccessClass,
    updates: Update,
    /// True if a launch that reads it, reads what it held before: it never writes it, or its only load is before all
    /// stores.
    pub reads_first: bool,
    /// The first instruction that reads through it, and the first that writes.
    pub sites: [Option<Site>; 2],
}

/// How a declaration takes a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ParameterKind {
    /// By value: also a pointer through which a launch accesses nothing.
    Value,
    /// A null pointer.
    Null,
    Read,
    Write,
    ReadWrite,
    Atomic,
}

/// Returns the text with these characters.
///
/// # Errors
///
/// A text that is no PTX.
pub(super) fn text(index: usize, source: &str) -> Result<&'static Text> {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.iter().find(|known| known.parsed.text == source) {
        return Ok(known);
    }
    let kept: &'static str = Box::leak(source.to_owned().into_boxed_str());
    let parsed = ptx::parse(kept)
        .map_err(|error| Error::Lift(Box::new(LiftFault::NotPtx { index, message: error.to_string() })))?;
    let module = Module::new("lifted", kept.as_bytes());
    let text: &'static Text =
        Box::leak(Box::new(Text { module, parsed, kernels: Mutex::default(), pointers: Mutex::default() }));
    texts.push(text);
    Ok(text)
}

impl Text {
    /// Returns true if it has a kernel of this name that can be launched with such blocks.
    pub fn has(&self, kernel: &str, block: [u32; 3]) -> bool {
        self.parsed.entry(kernel).is_some_and(|entry| {
            let rule = ptx::declare::BlockRule::from_entry(entry);
            let threads = block.iter().fold(1_u32, |threads, &extent| threads.saturating_mul(extent));
            rule.required.is_none_or(|required| required == block)
                && rule.max_threads.is_none_or(|most| threads <= most)
        })
    }

    /// Returns a kernel for launches that pass null pointers for some parameters. `None` if the text has none of this
    /// name.
    pub fn kernel(&'static self, name: &str, nulls: &[bool]) -> Option<Arc<KernelText>> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), nulls.to_vec());
        if let Some(known) = kernels.get(&key) {
            return Some(known.clone());
        }
        let made = Arc::new(self.read(name, nulls)?);
        kernels.insert(key, made.clone());
        Some(made)
    }

    /// Returns true for each parameter of a kernel that is a pointer.
    pub fn pointers(&self, name: &str) -> Arc<[bool]> {
        let mut pointers = self.pointers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = pointers.get(name) {
            return known.clone();
        }
        let entry = self.parsed.entry(name);
        let made = entry.map_or_else(Vec::new, |entry| ptx::Analysis::new(&self.parsed).pointers(entry));
        pointers.entry(name.to_owned()).or_insert(made.into()).clone()
    }

    /// Returns how the parameters of a captured function differ from those of a kernel. `None` if they do not.
    pub fn difference(&self, name: &str, sizes: &[u64]) -> Option<String> {
        let declared = &self.parsed.entry(name)?.parameters;
        if sizes.len() != declared.len() {
            return Some(format!("{} parameters, and the PTX declares {}", sizes.len(), declared.len()));
        }
        let mut both = declared.iter().zip(sizes).enumerate();
        let (at, (declared, found)) = both.find(|(_, (declared, found))| declared.size() != **found)?;
        Some(format!("parameter {at} of {found} bytes, and the PTX declares {}", declared.size()))
    }

    fn read(&'static self, name: &str, nulls: &[bool]) -> Option<KernelText> {
        let entry = self.parsed.entry(name)?;
        let mut analysis = ptx::Analysis::new(&self.parsed);
        let pointers = self.pointers(name);
        let is_number = |parameter: &ptx::Parameter<'_>| {
            matches!(parameter.class(), TypeClass::Integer | TypeClass::Bits) && parameter.size() <= 8
        };
        let scalars: Vec<bool> = entry
            .parameters
            .iter()
            .zip(&*pointers)
            .map(|(one, pointer)| !pointer && is_number(one))
            .collect();
        let is_null = |at: usize| nulls.get(at).copied().unwrap_or(false);
        let never_null: Vec<bool> =
            pointers.iter().enumerate().map(|(at, pointer)| *pointer && !is_null(at)).collect();
        let kinds = ptx::ParameterKinds {
            pointers: &pointers,
            never_null: &never_null,
            scalars: &scalars,
            ..ptx::ParameterKinds::default()
        };
        let facts = analysis.kernel_and_slice(name, kinds, &[]).0;
        let of_classes = |classes: &[AccessClass]| -> Vec<u32> {
            let parameters = facts.parameters.iter().zip(&*pointers).zip(0..);
            let chosen =
                parameters.filter(|((facts, pointer), _)| **pointer && classes.contains(&facts.access()));
            chosen.map(|(_, at)| at).collect()
        };
        let only_written = of_classes(&[AccessClass::Writes]);
        let written = of_classes(&[AccessClass::Writes, AccessClass::ReadsAndWrites]);
        let (_, mut stores) = analysis.kernel_and_slice(name, kinds, &written);
        let (_, writes) = analysis.kernel_and_slice(name, kinds, &only_written);
        let writes: &'static [u8] = if only_written.is_empty() { &[] } else { writes.encode().leak() };
        let mut accesses = analysis.slice_accesses(name, kinds);
        for slice in [&mut stores, &mut accesses] {
            slice.set_null(&|parameter| is_null(size(parameter)));
        }
        let opaque = opaque(&mut analysis, name, &facts, &pointers, entry);
        let parameters = entry.parameters.iter().zip(&facts.parameters).zip(pointers.iter().zip(&scalars));
        let loads_once = |parameter: usize| accesses.loads(parameter) == 1;
        let parameters = parameters.enumerate();
        let parameters =
            parameters.map(|(at, ((parameter, facts), (&is_pointer, &is_number)))| KernelParameter {
                name: parameter.name,
                size: parameter.size(),
                is_pointer,
                is_number,
                class: facts.access(),
                updates: facts.updates.clone(),
                reads_first: facts.access() == AccessClass::Reads
                    || facts.reads_first.is_some() && loads_once(at),
                sites: [facts.reads.clone(), facts.writes.clone().or_else(|| facts.atomics.clone())],
            });
        let parameters = parameters.collect();
        Some(KernelText {
            text: self,
            name: entry.name,
            parameters,
            loads: accesses.loads_alone(),
            accesses,
            stores,
            writes,
            opaque,
            declared: Mutex::default(),
        })
    }
}

/// Returns true for a reduction whose result does not depend on the order, not even by rounding: `add.u32`, `max.f32`.
fn is_exact(reduction: &str) -> bool {
    let is_float = reduction.split('.').any(|part| part.starts_with('f') || part.starts_with("bf"));
    !(is_float && reduction.starts_with("add"))
}

/// Returns the reason that launches of a kernel cannot be described by what they access through their parameters.
fn opaque(
    analysis: &mut ptx::Analysis<'_, '_>,
    name: &str,
    facts: &ptx::KernelFacts,
    pointers: &[bool],
    entry: &ptx::Function<'_>,
) -> Option<String> {
    if let Some(beyond) = ptx::beyond_parameters(analysis.module(), name) {
        return Some(beyond.to_string());
    }
    let state = ptx::hidden(analysis, &[(name, facts)], &[]).pop().unwrap_or_default();
    if let Some(variable) = state.reads.iter().chain(&state.writes).next() {
        return Some(format!("it uses the variable `{variable}` of its module, which kernels write"));
    }
    if facts.has_untracked_accesses() {
        return Some("it accesses addresses that do not follow from its parameters alone".to_owned());
    }
    let parameters = facts.parameters.iter().zip(pointers).zip(&entry.parameters);
    for ((facts, &pointer), parameter) in parameters {
        let name = parameter.name;
        if let Some(table) = &facts.table {
            let Site { line, text } = &table.site;
            return Some(format!("it loads addresses through `{name}`: `{text}` (line {line} of the PTX)"));
        }
        if let Some((Site { line, text }, _)) = facts.base.as_ref().filter(|_| !pointer) {
            return Some(format!("it has an address in `{name}`: `{text}` (line {line} of the PTX)"));
        }
        if pointer && facts.access() == AccessClass::Unknown {
            return Some(format!("the analysis loses the pointer `{name}`"));
        }
    }
    None
}

impl KernelText {
    /// Returns how launches may take a parameter that they read or write as given.
    pub fn kind(&self, parameter: usize, reads: bool, writes: bool) -> ParameterKind {
        let KernelParameter { class, updates, .. } = &self.parameters[parameter];
        match (reads, writes) {
            (false, false) => ParameterKind::Value,
            _ if matches!(updates, Update::Reduction(of) if is_exact(of)) => ParameterKind::Atomic,
            (true, false) => ParameterKind::Read,
            (false, true) if *class == AccessClass::Writes => ParameterKind::Write,
            _ => ParameterKind::ReadWrite,
        }
    }

    /// Returns the reduction by which launches update a parameter, if they do so alone.
    pub fn reduction(&self, parameter: usize) -> Option<String> {
        match &self.parameters[parameter].updates {
            Update::Reduction(of) => Some(of.clone()),
            _ => None,
        }
    }

    /// Returns the declaration that takes the parameters in these ways.
    pub fn declaration(&self, kinds: &[ParameterKind]) -> &'static Kernel {
        let mut declared = self.declared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = declared.get(kinds) {
            return known;
        }
        let mut absent = 0;
        let mut pointer = 0_u32;
        let params = self.parameters.iter().zip(kinds).map(|(parameter, kind)| {
            let buffer = |form| Param::fixed::<u8>(parameter.name, form).written(true, true);
            let at = pointer;
            pointer += u32::from(parameter.is_pointer);
            match kind {
                ParameterKind::Value | ParameterKind::Null => {
                    let bytes = u32::try_from(parameter.size).unwrap_or(u32::MAX);
                    let value = Param::bytes(parameter.name, bytes).without_padding();
                    if !parameter.is_pointer {
                        return value;
                    }
                    absent |= 1_u64.checked_shl(at).unwrap_or(1);
                    // What is proved of the kernel takes such a pointer as null.
                    if *kind == ParameterKind::Null { value.optional() } else { value }
                }
                ParameterKind::Read => buffer(ParamKind::Read),
                ParameterKind::Write => buffer(ParamKind::Write),
                ParameterKind::ReadWrite => buffer(ParamKind::ReadWrite),
                ParameterKind::Atomic => buffer(ParamKind::Atomic).updates(match &parameter.updates {
                    Update::Reduction(operation) => AtomicUpdates::Reduction(operation.clone().leak()),
                    _ => AtomicUpdates::Ordered,
                }),
            }
        });
        let params: Vec<Param> = params.collect();
        let kernel = Kernel::new(self.name, &self.text.module, params.leak()).outlined(self.writes);
        let kernel: &'static Kernel = Box::leak(Box::new(kernel.with_absent(absent)));
        declared.insert(kinds.to_vec(), kernel);
        kernel
    }

    /// Returns the value of a number among the parameters of a launch.
    pub fn number(&self, values: &[Vec<u8>], parameter: u32) -> Option<u64> {
        let at = size(parameter);
        self.parameters.get(at).filter(|parameter| parameter.is_number)?;
        let mut bytes = [0; 8];
        let value = values.get(at)?;
        bytes.get_mut(..value.len())?.copy_from_slice(value);
        Some(u64::from_le_bytes(bytes))
    }
}
