//! Checks kernel declarations against the facts that the analysis proves about a module.
//!
//! For each declaration it compares the number, kinds, accesses, element types and extents of the parameters. A
//! contradiction is a [`Finding`]; a part that cannot be proved is listed as unproved (see `unproved`).

use super::declaration::{
    CheckedKernel, Declaration, DeclaredAccess, DeclaredKind, Difference, Finding, ParameterProof,
    PointerTable, PrimitiveType,
};
use super::limits::{BlockRule, MAX_STATIC_SHARED, is_cooperative, static_shared};
use super::{elements, extents, textures, unproved};
use crate::analysis::access::Analysis;
use crate::analysis::facts::{AccessClass as Found, KernelFacts, ParameterFacts as Facts, Site, VectorBound};
use crate::analysis::flow::ParameterKinds;
use crate::analysis::hidden::hidden;
use crate::analysis::update::Update;
use crate::nearest::nearest;
use crate::poly::{Facts as Known, Poly};
use crate::syntax::{Function, Module, Parameter, TypeClass};

/// The maximum number of kernels that a help lists.
const MAX_NAMES: usize = 6;

/// Returns the error about a file as a whole, if there is one (CW307).
pub fn check_file(module: &Module<'_>) -> Option<Finding> {
    let fault = |message: String, help: &str| {
        Some(Finding {
            difference: Difference::File,
            kernel: None,
            parameter: None,
            message,
            notes: Vec::new(),
            help: Some(help.to_owned()),
        })
    };
    if module.address_size != 64 {
        let message = format!("the PTX has {}-bit addresses", module.address_size);
        return fault(message, "compile it for 64-bit addresses");
    }
    // Versions before 3.0 have no 64-bit ABI; versions after 9.x are unknown.
    if !(3..=9).contains(&module.version.0) {
        let message =
            format!("the PTX is version {}.{}, which is not supported", module.version.0, module.version.1);
        return fault(message, "PTX 3.0 to 9.x is supported");
    }
    None
}

/// Compares declarations with a module. Returns the findings, and one entry per declaration: `None` for a kernel that
/// does not exist. `by_host` names the module variables that the host sets.
pub fn check(
    module: &Module<'_>,
    declared: &[Declaration],
    by_host: &[&str],
) -> (Vec<Finding>, Vec<Option<CheckedKernel>>) {
    let mut analysis = Analysis::new(module);
    let mut findings = Vec::new();
    let mut checked = Vec::new();
    let mut kernels: Vec<KernelFacts> = Vec::new();
    for (at, declaration) in declared.iter().enumerate() {
        let mut check = Check { module, declaration, at, findings: &mut findings };
        let Some(entry) = module.entry(&declaration.name) else {
            check.no_such_kernel();
            kernels.push(KernelFacts::default());
            checked.push(None);
            continue;
        };
        let mut result = CheckedKernel {
            block: BlockRule::from_entry(entry),
            shared: static_shared(entry),
            cooperative: is_cooperative(module, entry),
            ..CheckedKernel::default()
        };
        check.shared(entry, result.shared);
        check.findings.extend(textures::check(module, entry, at));
        if declaration.parameters.len() != entry.parameters.len() {
            check.count(entry);
            kernels.push(analysis.kernel(entry.name, &vec![false; entry.parameters.len()]));
            checked.push(Some(result));
            continue;
        }
        result.layout =
            entry.parameters.iter().map(|parameter| (parameter.size(), parameter.align())).collect();
        let fits: Vec<bool> = (0..entry.parameters.len()).map(|at| check.class(entry, at)).collect();
        let pointers: Vec<bool> = declaration
            .parameters
            .iter()
            .zip(&fits)
            .map(|(declared, fits)| *fits && matches!(declared.kind, DeclaredKind::Buffer { .. }))
            .collect();
        let (written, scalars) = unproved::followed(declaration, &pointers);
        let never_null: Vec<bool> = declaration
            .parameters
            .iter()
            .zip(&pointers)
            .map(|(declared, pointer)| *pointer && !declared.nullable)
            .collect();
        let tables: Vec<bool> =
            (0u32..).zip(&pointers).map(|(at, _)| declaration.table(at).is_some()).collect();
        let taken = ParameterKinds {
            pointers: &pointers,
            never_null: &never_null,
            scalars: &scalars,
            tables: &tables,
        };
        let proofs = &mut result.proofs;
        let (kernel, slice, accesses) = analysis.kernel_and_slices(entry.name, taken, &written, |kernel| {
            *proofs = (0..entry.parameters.len())
                .map(|at| if fits[at] { check.parameter(at, kernel) } else { None })
                .collect();
            unproved::extents(proofs)
        });
        result.slice = unproved::coverage(slice, &mut result.proofs);
        result.accesses = unproved::slice_if_provable(accesses);
        kernels.push(kernel);
        checked.push(Some(result));
    }
    let named: Vec<(&str, &KernelFacts)> =
        declared.iter().map(|declaration| declaration.name.as_str()).zip(&kernels).collect();
    for (hidden, checked) in hidden(&mut analysis, &named, by_host).into_iter().zip(&mut checked) {
        if let Some(checked) = checked {
            checked.hidden = hidden;
        }
    }
    (findings, checked)
}

fn quoted(site: &Site) -> String {
    format!("line {} of the PTX: `{}`", site.line, site.text)
}

struct Check<'c, 'm, 'a> {
    module: &'m Module<'a>,
    declaration: &'c Declaration,
    at: usize,
    findings: &'c mut Vec<Finding>,
}

impl Check<'_, '_, '_> {
    fn push(
        &mut self,
        difference: Difference,
        parameter: Option<usize>,
        message: String,
        notes: Vec<String>,
        help: Option<String>,
    ) {
        self.findings.push(Finding { difference, kernel: Some(self.at), parameter, message, notes, help });
    }

    fn no_such_kernel(&mut self) {
        let name = &self.declaration.name;
        let mangled = format!("{}{name}", name.len());
        let cpp = self.module.entries().map(|entry| entry.name).find(|entry| {
            entry.strip_prefix("_Z").is_some_and(|rest| rest.trim_start_matches('L').contains(&mangled))
        });
        let notes = match self.module.function(name) {
            Some(function) => {
                vec![format!("line {} of the PTX: `{name}` is not an `.entry` with a body", function.line)]
            }
            None => Vec::new(),
        };
        let help = match cpp {
            Some(cpp) => Some(format!(
                "it exists as `{cpp}`: write `#[link_name = \"{cpp}\"]` on the declaration, or declare it `extern \
                 \"C\"` in the CUDA source"
            )),
            None => nearest(name, self.module.entries().map(|entry| entry.name))
                .map(|near| format!("there is a kernel `{near}`"))
                .or_else(|| self.kernels()),
        };
        self.push(Difference::Name, None, format!("the PTX has no kernel `{name}`"), notes, help);
    }

    /// Returns the help for a name that resembles no kernel: a list of the existing kernels.
    fn kernels(&self) -> Option<String> {
        let names: Vec<String> =
            self.module.entries().take(MAX_NAMES).map(|entry| format!("`{}`", entry.name)).collect();
        let more = if self.module.entries().count() > names.len() { " and others" } else { "" };
        let mangled = names.iter().any(|name| name.starts_with("`_Z"));
        let linked = "; `#[link_name = \"..\"]` on a declaration gives it such a name";
        let linked = if mangled { linked } else { "" };
        let template = "a template is in the PTX only where it is used: instantiate it, or write an `extern \"C\"` \
                        kernel that calls it as a `__device__` function";
        (!names.is_empty()).then(|| format!("it has {}{more}{linked}; {template}", names.join(", ")))
    }

    fn count(&mut self, entry: &Function<'_>) {
        let (found, declared) = (entry.parameters.len(), self.declaration.parameters.len());
        let s = if found == 1 { "" } else { "s" };
        let message = format!("`{}` has {found} parameter{s}, its declaration {declared}", entry.name);
        let list: Vec<String> = entry.parameters.iter().map(describe).collect();
        let list = if list.is_empty() { String::new() } else { format!(": {}", list.join(", ")) };
        let note = format!("line {} of the PTX: `.entry {}`{list}", entry.line, entry.name);
        self.push(Difference::Count, None, message, vec![note], None);
    }

    fn shared(&mut self, entry: &Function<'_>, bytes: u64) {
        if bytes > MAX_STATIC_SHARED {
            let message = format!(
                "`{}` has {bytes} bytes of static shared memory, the maximum is {MAX_STATIC_SHARED}",
                entry.name
            );
            let note = format!("line {} of the PTX: `.entry {}`", entry.line, entry.name);
            let help = "use dynamic shared memory for more: `extern __shared__`, and `shared_mem_bytes` in the launch \
                configuration";
            self.push(Difference::Shared, None, message, vec![note], Some(help.to_owned()));
        }
    }

    /// Returns true if a parameter has the declared kind; otherwise adds a finding.
    fn class(&mut self, entry: &Function<'_>, at: usize) -> bool {
        let parameter = &entry.parameters[at];
        let declared = &self.declaration.parameters[at];
        let name = &declared.name;
        let note = format!("line {} of the PTX: `{}`", parameter.line, self.module.source(parameter.span));
        let takes = describe(parameter);
        let message = match &declared.kind {
            DeclaredKind::Buffer { .. } => {
                let whole = parameter.class() == TypeClass::Aggregate
                    && (parameter.size(), parameter.align()) == (8, 8);
                let pointer = parameter.may_be_pointer() || whole;
                (!pointer).then(|| format!("`{name}` is declared a buffer, the PTX takes {takes}"))
            }
            DeclaredKind::Scalar(None) => None,
            DeclaredKind::Scalar(Some(primitive)) => {
                let what = match (primitive.float.is_some(), primitive.size) {
                    (true, size) => format!("a float of {size} bytes"),
                    (false, 1) => "an integer of 1 byte".to_owned(),
                    (false, size) => format!("an integer of {size} bytes"),
                };
                let sized = parameter.size() == u64::from(primitive.size);
                let class = match parameter.class() {
                    TypeClass::Integer => primitive.float.is_none(),
                    TypeClass::Float => primitive.float.is_some(),
                    TypeClass::Bits => true,
                    TypeClass::Aggregate => parameter.align() == u64::from(primitive.size),
                    TypeClass::Opaque => false,
                };
                (!sized || !class).then(|| format!("`{name}` is declared {what}, the PTX takes {takes}"))
            }
        };
        let Some(message) = message else { return true };
        self.push(Difference::Kind, Some(at), message, vec![note], None);
        false
    }

    /// Checks the access and the extent of a parameter whose kind matches.
    fn parameter(&mut self, at: usize, kernel: &KernelFacts) -> Option<ParameterProof> {
        let facts = &kernel.parameters[at];
        let declared = &self.declaration.parameters[at];
        let name = declared.name.clone();
        let DeclaredKind::Buffer { access, element, multimem, extent, text } = &declared.kind else {
            let (site, offset) = facts.base.as_ref()?;
            let (message, help) = match (&declared.kind, offset) {
                (DeclaredKind::Scalar(Some(primitive)), _) if primitive.size < 8 => (
                    format!("the PTX uses the bits of `{name}` as half of an address"),
                    "pass the buffer as one parameter of 8 bytes, a pointer",
                ),
                (DeclaredKind::Scalar(Some(_)), _) => (
                    format!("`{name}` is declared a number, but the PTX uses it as an address"),
                    "declare it a buffer: `&[T; len]`, `&mut [T; len]`, `&mut [MaybeUninit<T>; len]` or `&[Atomic<T>; \
                        len]`",
                ),
                (_, Some(offset)) => (
                    format!("the PTX uses the bytes of `{name}` from offset {offset} as an address"),
                    "pass the buffer as a separate parameter",
                ),
                (_, None) => (
                    format!("the PTX uses bytes of `{name}` as addresses"),
                    "pass each buffer as a parameter of its own",
                ),
            };
            self.push(Difference::Kind, Some(at), message, vec![quoted(site)], Some(help.to_owned()));
            return None;
        };
        let (access, element, multimem) = (*access, *element, *multimem);
        let (extent, text) = (extent.clone(), text.clone());
        self.multimem(at, &name, multimem, facts)?;
        if let Some(number) = facts.number.as_ref().filter(|number| number.certain) {
            let message = format!("`{name}` is declared a buffer, but the PTX uses it as a number");
            let help = format!("declare it by value: `{name}: u64`");
            self.push(Difference::Kind, Some(at), message, vec![quoted(&number.site)], Some(help));
            return None;
        }
        let is_table = self.declaration.table(at as u32);
        if let Some(table) = is_table {
            self.table(at, table, kernel)?;
        } else if let Some(table) = &facts.table {
            let beside = table.beside.and_then(|beside| self.declaration.parameters.get(beside as usize));
            let message = match beside {
                None => format!("the PTX uses values loaded through `{name}` as addresses"),
                Some(beside) => format!(
                    "the PTX adds `{}` to values loaded through `{name}`, and uses the sum as an address",
                    beside.name
                ),
            };
            let help = "declare a table of pointers, `&[Ptr<[T; len]>; n]` or `&[PtrMut<[T; len]>; n]`, or pass each \
                        buffer as a parameter of its own";
            self.push(Difference::Kind, Some(at), message, vec![quoted(&table.site)], Some(help.to_owned()));
            return None;
        }
        let mut proof = self.access(at, &name, access, multimem, facts)?;
        if let Some(element) = element {
            self.floats(at, &name, element, facts)?;
            if let Some((message, site)) = elements::refuted(&name, element, facts) {
                let help = "declare its elements as integers: all bit patterns are valid integers".to_owned();
                self.push(Difference::Kind, Some(at), message, vec![quoted(site)], Some(help));
                return None;
            }
            proof.extent = self.extent(at, &name, element.size, &extent, &text, facts)?;
            if proof.extent {
                proof.text.push_str(&format!(", within `{text}` elements"));
            }
        }
        proof.unproved.extend(unproved::access(access, multimem, &proof, facts));
        proof.unproved.extend(unproved::extent(element, &text, &proof, facts));
        proof.unproved.extend(elements::unproved(self.declaration, element, facts));
        proof.unproved.extend(is_table.map(|_| unproved::pointers(facts)));
        Some(proof)
    }

    /// Returns `None` if a declared table of pointers is not one, or if the kernel writes through it against its
    /// declaration.
    fn table(&mut self, at: usize, table: PointerTable, kernel: &KernelFacts) -> Option<()> {
        let (facts, name) = (&kernel.parameters[at], &self.declaration.parameters[at].name);
        let followed = !(kernel.reads_anywhere || kernel.writes_anywhere);
        if followed && facts.table.is_none() {
            let message = format!(
                "`{name}` is declared a table of pointers, but the PTX uses no element of it as an address"
            );
            let site = facts.reads.iter().map(quoted).collect();
            let help = "declare its elements as integers: `&[u64; n]`".to_owned();
            self.push(Difference::Kind, Some(at), message, site, Some(help));
            return None;
        }
        let written = facts.table.as_ref().and_then(|table| table.writes.as_ref()).filter(|_| !table.writes);
        let Some(site) = written else { return Some(()) };
        let message = format!("`{name}` is declared `Ptr`, but the PTX writes through its pointers");
        let help = "declare it `&[PtrMut<[T; len]>; n]`".to_owned();
        self.push(Difference::ReadOnly, Some(at), message, vec![quoted(site)], Some(help));
        None
    }

    /// Returns `None` if a parameter is declared `Multimem` and accessed by other instructions, or the other way round.
    fn multimem(&mut self, at: usize, name: &str, multimem: bool, facts: &Facts) -> Option<()> {
        let (site, message, help) = match (multimem, &facts.multimem.definite, &facts.plain.definite) {
            (false, Some(site), _) => (
                site,
                format!("`{name}` is declared ordinary memory, the PTX accesses it by `multimem`"),
                "declare its elements as `Multimem<T>`: a launch passes the mapping of a multicast object",
            ),
            (true, _, Some(site)) => (
                site,
                format!("`{name}` is declared `Multimem`, the PTX accesses it by another instruction"),
                "declare its elements as `T`: only `multimem` may access the addresses of a multicast object",
            ),
            _ => return Some(()),
        };
        self.push(Difference::Multimem, Some(at), message, vec![quoted(site)], Some(help.to_owned()));
        None
    }

    /// Returns `None` if the kernel accesses floats of another format than the declared elements have.
    fn floats(&mut self, at: usize, name: &str, element: PrimitiveType, facts: &Facts) -> Option<()> {
        let Some(declared) = element.float else { return Some(()) };
        let other = facts.floats.iter().find(|(found, _)| *found != declared);
        let Some((found, site)) = other else { return Some(()) };
        let (declared, found) = (declared.name(), found.name());
        let message =
            format!("`{name}` is declared to have elements of type `{declared}`, the PTX accesses `{found}`");
        let help = format!("declare its elements as `{found}`");
        self.push(Difference::Kind, Some(at), message, vec![quoted(site)], Some(help));
        None
    }

    fn access(
        &mut self,
        at: usize,
        name: &str,
        access: DeclaredAccess,
        multimem: bool,
        facts: &Facts,
    ) -> Option<ParameterProof> {
        match access {
            DeclaredAccess::Read => {
                if let Some(site) = facts.writes.as_ref().or(facts.atomics.as_ref()) {
                    let help = match &facts.writes {
                        _ if multimem => "declare it `&mut [Multimem<T>; len]`",
                        Some(_) => {
                            "declare it `&mut [T; len]`, or `&mut [MaybeUninit<T>; \
                                len]` if all of it is written and nothing read before"
                        }
                        None => "declare it `&[Atomic<T>; len]`",
                    };
                    let message = format!("`{name}` is declared read-only, the PTX writes through it");
                    self.push(
                        Difference::ReadOnly,
                        Some(at),
                        message,
                        vec![quoted(site)],
                        Some(help.to_owned()),
                    );
                    return None;
                }
            }
            DeclaredAccess::Write => {
                if let Some(site) = &facts.reads_first {
                    let help = match facts.access() {
                        Found::Atomics => "declare it `&[Atomic<T>; len]`",
                        _ => "declare it `&mut [T; len]`",
                    };
                    let message = format!("`{name}` is declared write-only, the PTX reads it first");
                    self.push(
                        Difference::WriteOnly,
                        Some(at),
                        message,
                        vec![quoted(site)],
                        Some(help.to_owned()),
                    );
                    return None;
                }
            }
            DeclaredAccess::ReadWrite | DeclaredAccess::Atomic => {}
        }
        let found = facts.access();
        let proved = match (access, found) {
            _ if unproved::other_class(multimem, facts).is_some() => false,
            (_, Found::Unknown) => false,
            (_, Found::Nothing) => facts.number.is_none(),
            (DeclaredAccess::Read, found) => found == Found::Reads,
            (DeclaredAccess::Write, found) => found == Found::Writes,
            (DeclaredAccess::ReadWrite, _) => true,
            (DeclaredAccess::Atomic, found) => found == Found::Atomics || found == Found::Reads,
        };
        let word = match (found, access) {
            (Found::Nothing, _) => "not used",
            (Found::Reads, _) => "reads only",
            (Found::Writes, _) => "writes only",
            (Found::ReadsAndWrites, _) => "reads and writes",
            (Found::Atomics, _) => "atomics only",
            (Found::Unknown, DeclaredAccess::Read) => "reads only",
            (Found::Unknown, DeclaredAccess::Write) => "writes only",
            (Found::Unknown, DeclaredAccess::ReadWrite) => "reads and writes",
            (Found::Unknown, DeclaredAccess::Atomic) => "atomics only",
        };
        let mut text = format!("{}: {word}", if proved { "proved" } else { "assumed" });
        if access == DeclaredAccess::Atomic && facts.updates == Update::Ordered {
            text.push_str(", in the order of the launches");
        }
        Some(ParameterProof {
            access: proved,
            extent: false,
            updates: facts.updates.clone(),
            text,
            unproved: Vec::new(),
        })
    }

    /// Returns true if the extent is proved, false if it is not; `None` if it is refuted.
    fn extent(
        &mut self,
        at: usize,
        name: &str,
        element: u32,
        extent: &Poly,
        text: &str,
        facts: &Facts,
    ) -> Option<bool> {
        let bytes = extent.times(&Poly::constant(i128::from(element)))?;
        let mut known = Known::default();
        for quotient in &self.declaration.quotients {
            // `of - by + 1 <= by * variable <= of`
            let times = Poly::variable(quotient.variable).times(&Poly::constant(quotient.by.into()))?;
            if let Some(rest) = quotient.of.minus(&times) {
                known.add(&rest);
                let more = Poly::constant(i128::from(quotient.by) - 1).minus(&rest);
                more.into_iter().for_each(|more| known.add(&more));
            }
        }
        let short = facts.tight.iter().filter_map(|tight| {
            let needed = tight.bytes.iter().find(|needed| self.is_short(&bytes, needed))?;
            Some((tight, needed))
        });
        // Report the farthest access: its length suffices for the others.
        let farthest = short.reduce(|first, next| {
            let is_farther =
                next.1.minus(first.1).is_some_and(|more| more != Poly::default() && more.at_least_zero());
            if is_farther { next } else { first }
        });
        if let Some((tight, needed)) = farthest {
            let names =
                |id: u32| self.declaration.parameters.get(id as usize).map(|declared| declared.name.clone());
            let needs = extents::elements(needed, element, &names);
            let message = format!("`{name}` is declared to have `{text}` elements, the PTX accesses {needs}");
            let site = quoted(&tight.site);
            let help = extents::rounded_help(&bytes, needed, element, &tight.starts, &names)
                .or_else(|| elements::larger_help(extent, needed, element, facts));
            self.push(Difference::Extent, Some(at), message, vec![site], help);
            return None;
        }
        Some(facts.reach.as_ref().is_some_and(|all| {
            all.iter().all(|reach| {
                reach.bytes.iter().any(|bound| known.at_most(bound, &bytes))
                    || reach.starts.iter().any(|start| self.ends_below(start, &bytes, &known))
            })
        }))
    }

    /// Returns true if `declared` is at most `needed` for all arguments of at least 1, and smaller for some of them.
    fn is_short(&self, declared: &Poly, needed: &Poly) -> bool {
        let parameters = self.declaration.parameters.len() as u32;
        extents::is_short(declared, needed, parameters, &self.declaration.quotients)
    }

    /// Returns true if a bound by vector start is at most the declared one. If `start < n` and both are multiples of
    /// 4, the elements after the start are below `n.next_multiple_of(4)`.
    fn ends_below(&self, start: &VectorBound, bytes: &Poly, known: &Known) -> bool {
        self.declaration.rounded.iter().any(|rounded| {
            start.multiple.is_multiple_of(rounded.to)
                && known.at_most(&start.below, &rounded.of)
                && start
                    .bound(&Poly::variable(rounded.variable), rounded.to.into())
                    .is_some_and(|bound| known.at_most(&bound, bytes))
        })
    }
}

/// Describes a parameter for messages.
fn describe(parameter: &Parameter<'_>) -> String {
    let size = parameter.size();
    let bytes = if size == 1 { "byte" } else { "bytes" };
    match parameter.class() {
        TypeClass::Integer if size == 8 => "an integer of 8 bytes or a pointer".to_owned(),
        TypeClass::Integer => format!("an integer of {size} {bytes}"),
        TypeClass::Float => format!("a float of {size} {bytes}"),
        TypeClass::Bits => format!("{size} {bytes}"),
        TypeClass::Aggregate => format!("a structure of {size} {bytes}"),
        TypeClass::Opaque => "a texture, sampler or surface reference".to_owned(),
    }
}
