//! Checks declared kernels against their PTX, and reports differences at the declaration.
//!
//! The analysis is [`cuweave_ptx::declare`]. Sizes of types that only rustc knows become const assertions.

use std::collections::BTreeSet;

use cuweave_core::codes::Code::{CW303, CW306, CW307};
use cuweave_ptx as ptx;
use cuweave_ptx::declare::{
    self, CheckedKernel, Declaration, DeclaredKind, DeclaredParameter, DeclaredPart, PointerTable,
    PrimitiveType, Unproved,
};
use cuweave_ptx::poly::Symbols;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use crate::dims::{DimExpr, divided, rounded, variable};
use crate::kernel_file::KernelFile;
use crate::parameters::{DeclaredAccess, Parameter, ParameterKind, is_condition, multimem_element};
use crate::report::Report;
use crate::variables::DeclaredVariable;

/// A declared kernel with its spans. `parameters` is None if one of them is not part of the language; the
/// kernel is then not checked.
pub struct KernelToCheck<'k> {
    pub name: &'k syn::Ident,
    /// The name in the PTX.
    pub entry: &'k str,
    pub parameters: Option<&'k [Parameter]>,
}

/// Checks the kernels and variables of a block. Returns one result per kernel, None if it could not be checked.
pub fn check(
    image: &KernelFile,
    kernels: &[KernelToCheck<'_>],
    variables: &mut [DeclaredVariable<'_>],
    report: &mut Report,
) -> Vec<Option<CheckedKernel>> {
    let nothing = || kernels.iter().map(|_| None).collect();
    let Some(contents) = &image.contents else { return nothing() };
    if is_machine_code(contents) {
        return nothing();
    }
    let module = match ptx::parse_bytes(contents) {
        Ok(module) => module,
        Err(error) => {
            let message = format!("the file `{}` is not PTX that can be read", image.path);
            let note = format!("line {}, column {}: {}", error.line, error.column, error.message);
            report.error(image.span, CW307, &message, &[note], None);
            return nothing();
        }
    };
    if let Some(fault) = declare::check_file(&module) {
        report.finding(image.span, &fault);
        return nothing();
    }
    let checkable: Vec<usize> = (0..kernels.len()).filter(|&at| kernels[at].parameters.is_some()).collect();
    let declarations: Vec<Declaration> = checkable
        .iter()
        .map(|&at| declaration(kernels[at].entry, kernels[at].parameters.unwrap_or_default()))
        .collect();
    variables.iter_mut().for_each(|variable| variable.check(&module, report));
    let by_host: Vec<&str> = variables.iter().map(|variable| variable.entry.as_str()).collect();
    let (findings, checked) = declare::check(&module, &declarations, &by_host);
    for finding in &findings {
        let kernel = finding.kernel.map(|kernel| &kernels[checkable[kernel]]);
        let span = match (kernel, finding.parameter) {
            (Some(kernel), Some(parameter)) => kernel
                .parameters
                .and_then(|list| taken(list).nth(parameter))
                .map_or(kernel.name.span(), |p| p.span),
            (Some(kernel), None) => kernel.name.span(),
            (None, _) => image.span,
        };
        report.finding(span, finding);
    }
    for kernel in kernels {
        let mut parameters = kernel.parameters.unwrap_or_default().iter();
        let condition = parameters
            .find(|one| matches!(&one.kind, ParameterKind::Buffer { element, .. } if is_condition(element)));
        if let Some(condition) = condition.filter(|_| !declare::sets_conditions(&module, kernel.entry)) {
            let message =
                format!("`{}` sets no condition: it does not call `cudaGraphSetConditional`", kernel.name);
            let help = Some("declare it as `u64`, or set the condition in the kernel");
            report.error(condition.span, CW303, &message, &[], help);
        }
    }
    let mut results: Vec<Option<CheckedKernel>> = nothing();
    for (at, checked) in checkable.into_iter().zip(checked) {
        results[at] = checked;
    }
    results
}

/// Returns true for a cubin or a fat binary, about which nothing can be proved.
fn is_machine_code(contents: &[u8]) -> bool {
    contents.starts_with(b"\x7fELF") || contents.starts_with(&[0x50, 0xed, 0x55, 0xba])
}

fn declaration(entry: &str, parameters: &[Parameter]) -> Declaration {
    let integers = integers(parameters);
    let mut symbols = Symbols::default();
    let (taken, contract): (Vec<&Parameter>, Vec<&Parameter>) =
        parameters.iter().partition(|parameter| parameter.is_taken());
    for parameter in taken.iter().chain(&contract) {
        // Symbols are numbered in this order, so the variable of a parameter that the kernel takes is its
        // index.
        variable(&parameter.name, &mut symbols);
    }
    let (mut multiples, mut quotients, mut tables) = (Vec::new(), Vec::new(), Vec::new());
    let parameters = (0u32..)
        .zip(taken)
        .map(|(at, parameter)| {
            let kind = match &parameter.kind {
                ParameterKind::Scalar(ty) | ParameterKind::Contract(ty) => {
                    DeclaredKind::Scalar(primitive(ty))
                }
                // The kernel gets a handle.
                ParameterKind::Buffer { element, .. } if is_condition(element) => {
                    DeclaredKind::Scalar(PrimitiveType::from_name("u64"))
                }
                ParameterKind::Buffer { access, element, len, pointee, .. } => {
                    let table = pointee.as_ref();
                    tables.extend(table.map(|table| PointerTable { parameter: at, writes: table.mutable }));
                    let bound = DimExpr::from_expr(len, true, &integers, &mut symbols);
                    multiples.extend(rounded(len, &integers, &mut symbols));
                    quotients.extend(divided(len, &integers, &mut symbols));
                    DeclaredKind::Buffer {
                        access: match access {
                            DeclaredAccess::Read => declare::DeclaredAccess::Read,
                            DeclaredAccess::ReadWrite => declare::DeclaredAccess::ReadWrite,
                            DeclaredAccess::Write => declare::DeclaredAccess::Write,
                            DeclaredAccess::Atomic => declare::DeclaredAccess::Atomic,
                        },
                        element: match table {
                            Some(_) => PrimitiveType::from_name("u64"),
                            None => primitive(multimem_element(element).unwrap_or(element)),
                        },
                        multimem: multimem_element(element).is_some(),
                        extent: bound.poly,
                        text: bound.text,
                    }
                }
            };
            DeclaredParameter { name: parameter.name.to_string(), kind, nullable: parameter.is_optional() }
        })
        .collect();
    Declaration { name: entry.to_owned(), parameters, rounded: multiples, quotients, tables }
}

/// Returns the names that lengths may mention.
pub fn integers(parameters: &[Parameter]) -> BTreeSet<String> {
    let numbers = parameters.iter().filter(|parameter| parameter.is_number());
    numbers.map(|parameter| parameter.name.to_string()).collect()
}

/// Returns the parameters that the kernel takes.
fn taken(parameters: &[Parameter]) -> impl Iterator<Item = &Parameter> {
    parameters.iter().filter(|parameter| parameter.is_taken())
}

/// Returns the primitive type that a type's name denotes.
fn primitive(ty: &Type) -> Option<PrimitiveType> {
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            if let Some(name) = path.path.get_ident() {
                return PrimitiveType::from_name(&name.to_string());
            }
            // On stable Rust these types come from the crate `half`.
            let names: Vec<_> = path.path.segments.iter().map(|segment| &segment.ident).collect();
            match names[..] {
                [half, name] if half == "half" && (name == "f16" || name == "bf16") => {
                    PrimitiveType::from_name(&name.to_string())
                }
                _ => None,
            }
        }
        Type::Paren(inner) => primitive(&inner.elem),
        Type::Group(inner) => primitive(&inner.elem),
        _ => None,
    }
}

/// Generates const assertions on the sizes and alignments of types that only rustc knows.
pub fn assertions(parameters: &[Parameter], checked: &CheckedKernel) -> TokenStream {
    let mut all = TokenStream::new();
    for (parameter, (size, align)) in taken(parameters).zip(&checked.layout) {
        let ParameterKind::Scalar(ty) = &parameter.kind else { continue };
        if primitive(ty).is_some() {
            continue;
        }
        let bytes = if *size == 1 { "byte" } else { "bytes" };
        let text = format!(
            "{CW303}: `{}` does not have the size and alignment that the PTX declares: {size} {bytes}, aligned to \
                {align}",
            parameter.name
        );
        let (size, align) = (*size as usize, *align as usize);
        all.extend(quote_spanned!(ty.span()=>
            const _: () = ::core::assert!(
                ::core::mem::size_of::<#ty>() == #size && ::core::mem::align_of::<#ty>() == #align,
                #text
            );
        ));
    }
    all
}

/// Returns true for a primitive type, judged by its name.
pub fn is_primitive(ty: &Type) -> bool {
    primitive(ty).is_some()
}

/// Generates a constant that compiles only if every bit pattern is a value of the element type. Needed if
/// it is not proved that all elements are written.
pub fn any_bits(element: &Type) -> TokenStream {
    quote_spanned!(element.span()=>
        const _: () = ::cuweave::__private::any_bits::<#element>();
    )
}

/// Returns the parts of a parameter's declaration that are not proved.
pub fn unproved(
    checked: Option<&CheckedKernel>,
    at: usize,
    access: DeclaredAccess,
    is_table: bool,
) -> Vec<Unproved> {
    if let Some(checked) = checked {
        return checked
            .proofs
            .get(at)
            .and_then(Option::as_ref)
            .map_or(Vec::new(), |proof| proof.unproved.clone());
    }
    let mut parts = vec![DeclaredPart::Access, DeclaredPart::Extent, DeclaredPart::Elements];
    if matches!(access, DeclaredAccess::Write) {
        parts.push(DeclaredPart::Coverage);
    }
    if is_table {
        parts.push(DeclaredPart::Pointers);
    }
    let reason = || "of machine code nothing is proved".to_owned();
    parts.into_iter().map(|what| Unproved { what, reason: reason() }).collect()
}

/// Generates the const functions that tell which launch configurations the kernel accepts, and their
/// messages. Launches use them in const assertions.
pub fn limits(name: &str, checked: Option<&CheckedKernel>) -> TokenStream {
    let rule = checked.map(|checked| checked.block).unwrap_or_default();
    let most = u64::from(rule.max_threads.unwrap_or(1024).min(1024));
    let (block, blocks) = match rule.required {
        Some([a, b, c]) => (
            quote!(x == #a && y == #b && z == #c),
            format!("{CW306}: `{name}` requires blocks of {a} x {b} x {c} threads, by its `.reqntid`"),
        ),
        None => (
            quote!(x as u64 * y as u64 * z as u64 <= #most),
            format!("{CW306}: `{name}` takes blocks of at most {most} threads, by its `.maxntid`"),
        ),
    };
    let (grid, grids) = match rule.cluster {
        Some([a, b, c]) => {
            let (a, b, c) = (a.max(1), b.max(1), c.max(1));
            let text = format!(
                "{CW306}: `{name}` takes grids that are multiples of its clusters, {a} x {b} x {c} blocks, by its \
                    `.reqnctapercluster`"
            );
            (quote!(x % #a == 0 && y % #b == 0 && z % #c == 0), text)
        }
        None => (quote!(true), format!("{CW306}: `{name}` takes all grids")),
    };
    let shared = checked.map_or(0, |checked| checked.shared);
    let shared_text = format!(
        "{CW306}: `{name}` has {shared} bytes of static shared memory, and no device has more than 232448 a block in \
            all"
    );
    quote! {
        #[doc(hidden)]
        pub const __BLOCKS: &'static str = #blocks;
        #[doc(hidden)]
        pub const __GRIDS: &'static str = #grids;
        #[doc(hidden)]
        pub const __SHARED: &'static str = #shared_text;
        /// True if the block satisfies `.maxntid` or `.reqntid`.
        #[doc(hidden)]
        pub const fn __admits_block(x: u32, y: u32, z: u32) -> bool {
            #block
        }
        /// True if the grid satisfies `.reqnctapercluster`.
        #[doc(hidden)]
        pub const fn __admits_grid(x: u32, y: u32, z: u32) -> bool {
            #grid
        }
        /// True if the dynamic and the static shared memory together are within 227 KiB, the largest limit
        /// of any device.
        #[doc(hidden)]
        pub const fn __admits_shared(bytes: u32) -> bool {
            bytes as u64 + #shared <= 232_448
        }
    }
}

/// Returns the proved facts as lines of documentation.
pub fn documentation(parameters: Option<&[Parameter]>, checked: Option<&CheckedKernel>) -> Vec<String> {
    let mut lines = Vec::new();
    let (Some(parameters), Some(checked)) = (parameters, checked) else { return lines };
    for (parameter, proof) in taken(parameters).zip(&checked.proofs) {
        if let Some(proof) = proof {
            lines.push(format!("- `{}`: {}", parameter.name, proof.text));
            // The access is part of the proof's text already.
            let assumed = proof.unproved.iter().filter(|open| open.what != DeclaredPart::Access);
            let assumed =
                assumed.map(|Unproved { what, reason }| format!("  - assumed: {what}, since {reason}"));
            lines.extend(assumed);
        }
    }
    let hidden = &checked.hidden;
    for (what, names) in [("reads", &hidden.reads), ("writes", &hidden.writes)] {
        if !names.is_empty() {
            lines.push(format!("- {what} the module's `{}`", names.join("`, `")));
        }
    }
    if checked.cooperative {
        lines.push("- waits for all blocks of its grid: it is launched cooperatively".to_owned());
    }
    if let Some([x, y, z]) = checked.block.required {
        lines.push(format!("- takes blocks of {x} x {y} x {z} threads"));
    } else if let Some(most) = checked.block.max_threads {
        lines.push(format!("- takes blocks of at most {most} threads"));
    }
    if !lines.is_empty() {
        lines.splice(0..0, [String::new(), "Against the PTX:".to_owned(), String::new()]);
    }
    lines
}
