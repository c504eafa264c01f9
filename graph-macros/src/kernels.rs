//! Expands `#[kernels("path")] unsafe extern "ptx-kernel" { .. }`: declares an item per kernel, checked
//! against the PTX.
//!
//! The item is a struct with braces. It exists only in the type namespace, so an argument or a local may
//! have the kernel's name. Users call its `load`. Launches in graph functions call its `__launch`, whose
//! bounds let rustc check the arguments against the declaration. They find the item through `__ITEM`
//! (`graph/paths.rs`). No other name is added to the user's module.

use cuweave_core::codes::Code;
use cuweave_ptx::coverage::BackwardSlice;
use cuweave_ptx::declare::{CheckedKernel, DeclaredPart, Unproved};
use cuweave_ptx::{HiddenState, Update};
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, ForeignItem, ForeignItemFn, ItemForeignMod, Type};

use crate::dims::dim_tokens;
use crate::expanded_names::{self, ItemKind};
use crate::kernel_file::KernelFile;
use crate::parameters::{DeclaredAccess, Parameter, ParameterKind, parameters};
use crate::prelude_words::use_prelude_words;
use crate::proof;
use crate::report::Report;
use crate::variables::{DeclaredVariable, item_attributes, linked_name, without_raw_prefix};

/// Expands a block of kernels.
pub fn kernels(attribute: TokenStream, tokens: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let words = use_prelude_words(&tokens);
    let block = match syn::parse2::<ItemForeignMod>(tokens) {
        Ok(block) => block,
        Err(error) => {
            report.error(
                error.span(),
                Code::CW001,
                "`#[kernels]` stands on a block of declarations",
                &[error.to_string()],
                Some("write `unsafe extern \"ptx-kernel\" { fn name(..); }`"),
            );
            return report.into_tokens();
        }
    };
    check_block_head(&block, &mut report);
    let image = KernelFile::read(attribute, &mut report);
    let (mut functions, mut variables) = (Vec::new(), Vec::new());
    for item in &block.items {
        match item {
            ForeignItem::Fn(function) => functions.push(DeclaredKernel::new(function, &mut report)),
            ForeignItem::Static(variable) => variables.push(DeclaredVariable::new(variable, &mut report)),
            other => {
                let message = "a block of kernels has functions and statics only";
                report.error(other.span(), Code::CW001, message, &[], None);
            }
        }
    }
    let declared: Vec<proof::KernelToCheck<'_>> = functions
        .iter()
        .map(|DeclaredKernel { function, entry, parameters }| {
            let complete = parameters.len() == function.sig.inputs.len();
            proof::KernelToCheck {
                name: &function.sig.ident,
                entry,
                parameters: complete.then_some(parameters),
            }
        })
        .collect();
    let checked = proof::check(&image, &declared, &mut variables, &mut report);
    let items: Vec<KernelItemCode> = {
        let entries: Vec<&str> = variables.iter().map(|variable| variable.entry.as_str()).collect();
        let checked = functions.iter().zip(&checked);
        checked.map(|(declared, checked)| declared.expand(checked.as_ref(), &entries)).collect()
    };
    functions
        .iter()
        .for_each(|declared| expanded_names::add(&declared.function.sig.ident.to_string(), ItemKind::Kernel));
    let written = written(&variables, &checked);
    let variables = variable_items(&functions, &variables, &mut report);
    let (unsafe_block, module) = (unsafe_block(&block), module(&image, &items, &written));
    let errors = report.into_tokens();
    quote!(#errors #unsafe_block #module #variables #words)
}

/// Returns the names of the variables that a kernel of the block may write.
fn written<'v>(variables: &'v [DeclaredVariable<'_>], checked: &[Option<CheckedKernel>]) -> Vec<&'v str> {
    let entries = variables.iter().map(|variable| variable.entry.as_str());
    let writes = |kernel: &Option<CheckedKernel>, entry: &str| {
        kernel.as_ref().is_none_or(|kernel| kernel.hidden.writes.iter().any(|name| name == entry))
    };
    entries.filter(|entry| checked.iter().any(|kernel| writes(kernel, entry))).collect()
}

/// Generates the statics of a block's module variables.
fn variable_items(
    functions: &[DeclaredKernel<'_>],
    variables: &[DeclaredVariable<'_>],
    report: &mut Report,
) -> TokenStream {
    let is_conditional =
        |kernel: &&DeclaredKernel<'_>| kernel.function.attrs.iter().any(|one| one.path().is_ident("cfg"));
    let kernel = functions.iter().find(|kernel| !is_conditional(kernel)).or(functions.first());
    match (kernel, variables.first()) {
        (Some(kernel), _) => {
            variables.iter().map(|variable| variable.expand(&kernel.function.sig.ident)).collect()
        }
        (None, None) => TokenStream::new(),
        (None, Some(variable)) => {
            let note = "each block loads its own module, so only the kernels of this block would use it";
            let help = Some("declare the kernels that use it in the same block");
            let message = format!("`{}` stands in a block without kernels", variable.entry);
            report.error(variable.span(), Code::CW001, &message, &[note.into()], help);
            TokenStream::new()
        }
    }
}

/// Generates an empty block with the user's `unsafe` token, which the lint `unsafe_code` must see, and the
/// block's lint levels.
fn unsafe_block(block: &ItemForeignMod) -> Option<TokenStream> {
    let unsafety = block.unsafety.as_ref()?;
    let levels = block.attrs.iter().filter(|attribute| {
        let is_level =
            ["allow", "warn", "deny", "forbid"].iter().any(|level| attribute.path().is_ident(level));
        // An empty block would not fulfil the expectation of another lint.
        let expects = attribute.path().is_ident("expect") && names_unsafe_code(attribute);
        is_level || expects
    });
    let (keyword, mut braces) = (&block.abi.extern_token, Group::new(Delimiter::Brace, TokenStream::new()));
    braces.set_span(block.brace_token.span.join());
    let abi = Literal::string("C");
    Some(quote_spanned!(block.abi.span()=> #(#levels)* #unsafety #keyword #abi #braces))
}

fn names_unsafe_code(attribute: &Attribute) -> bool {
    attribute.to_token_stream().to_string().contains("unsafe_code")
}

fn check_block_head(block: &ItemForeignMod, report: &mut Report) {
    let abi = block.abi.name.as_ref();
    if abi.is_none_or(|abi| abi.value() != "ptx-kernel") {
        report.error(
            block.abi.span(),
            Code::CW001,
            "kernels have the ABI `ptx-kernel`",
            &[],
            Some("write `unsafe extern \"ptx-kernel\" { .. }`"),
        );
    }
    if block.unsafety.is_none() {
        report.error(
            block.abi.span(),
            Code::CW001,
            "a block of kernels is `unsafe`",
            &["with it you guarantee that each kernel does what its declaration says and touches no other \
                memory"
                .into()],
            Some("write `unsafe extern \"ptx-kernel\" { .. }`"),
        );
    }
}

/// The generated items of one kernel.
struct KernelItemCode {
    definition: TokenStream,
    implementation: TokenStream,
}

/// A kernel as declared in a block.
struct DeclaredKernel<'b> {
    function: &'b ForeignItemFn,
    /// The name in the PTX: that in `#[link_name = ".."]`, or else the function's.
    entry: String,
    parameters: Vec<Parameter>,
}

impl<'b> DeclaredKernel<'b> {
    fn new(function: &'b ForeignItemFn, report: &mut Report) -> DeclaredKernel<'b> {
        let entry = linked_name(&function.attrs, &function.sig.ident, report);
        DeclaredKernel { function, entry, parameters: parameters(function, report) }
    }

    /// `variables` are those that the block declares.
    fn expand(&self, checked: Option<&CheckedKernel>, variables: &[&str]) -> KernelItemCode {
        let DeclaredKernel { function, parameters, .. } = self;
        let name = &function.sig.ident;
        let attributes = item_attributes(&function.attrs);
        let visibility = &function.vis;
        let documented = format!("The kernel `{name}({})`.", parameter_list(function));
        let proved = proof::documentation(Some(parameters), checked);
        let definition = quote_spanned! {name.span()=>
            #[doc = #documented]
            #[doc = ""]
            #(#attributes)*
            #(#[doc = #proved])*
            #[allow(non_camel_case_types)]
            #[derive(Clone, Copy, Debug)]
            #visibility struct #name {}
        };
        KernelItemCode { definition, implementation: self.implementation(checked, variables) }
    }

    fn implementation(&self, checked: Option<&CheckedKernel>, variables: &[&str]) -> TokenStream {
        let DeclaredKernel { function, entry, parameters } = self;
        let name = &function.sig.ident;
        let text = without_raw_prefix(name);
        let linked = (*entry != text).then(|| quote!(.linked(#entry)));
        let private = quote!(::cuweave::__private);
        // Mixed-site, so that it cannot collide with a parameter's name.
        let launch = Ident::new("launch", Span::mixed_site());
        let given = Ident::new("given", Span::mixed_site());
        let buffers = parameters
            .iter()
            .filter(|parameter| matches!(parameter.kind, ParameterKind::Buffer { .. }))
            .count();
        let ParameterCode {
            generics,
            arguments,
            steps,
            given_scalars,
            given_steps,
            table,
            contract,
            any_bits,
        } = parts(parameters, checked, &launch, &given);
        let facts = facts(checked, variables);
        let contract = (!contract.is_empty()).then(|| quote!(.contract(&[#(#contract),*])));
        let (limits, load) = (proof::limits(&text, checked), load());
        let assertions = checked.map(|checked| proof::assertions(parameters, checked));
        quote! {
            #assertions
            #any_bits
            #[doc(hidden)]
            #[allow(clippy::all, unused)]
            impl #private::KernelItem for #name {
                fn kernel(_: #private::Token) -> &'static #private::Kernel {
                    static KERNEL: #private::Kernel =
                        #private::Kernel::new(#text, &MODULE, &[#(#table),*]) #linked #facts #contract;
                    &KERNEL
                }
            }

            #[doc(hidden)]
            #[allow(clippy::all, unused)]
            impl #private::LaunchedItem for #name {
                fn arguments(
                    #given: &mut #private::ArgumentReader<'_>,
                    _: #private::Token,
                ) -> ::core::option::Option<#private::Arguments> {
                    #(#given_scalars)*
                    let mut #launch = #private::Arguments::new(
                        <Self as #private::KernelItem>::kernel(#private::Token).words,
                        #buffers,
                    );
                    #(#given_steps)*
                    ::core::option::Option::Some(#launch)
                }
            }

            #[allow(clippy::all, unused)]
            impl #name {
                #load

                #[doc(hidden)]
                pub const __ITEM: #private::KernelPath<#name> = #private::KernelPath(#name {});

                #limits

                // Takes exactly the user's arguments, so that rustc's message about a wrong number counts
                // as the user does.
                #[doc(hidden)]
                pub fn __launch<#(#generics),*>(self, #(#arguments),*) -> #private::Arguments {
                    let mut #launch = #private::Arguments::new(
                        <Self as #private::KernelItem>::kernel(#private::Token).words,
                        #buffers,
                    );
                    #(#steps)*
                    #launch
                }
            }
        }
    }
}

/// Returns the parameters as written. The spaces between tokens depend on who expands.
fn parameter_list(function: &ForeignItemFn) -> String {
    let mut text = function.sig.inputs.to_token_stream().to_string();
    for (spaced, plain) in [
        (" :", ":"),
        (" ;", ";"),
        (" ,", ","),
        ("& ", "&"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("[ ", "["),
        (" ]", "]"),
    ] {
        text = text.replace(spaced, plain);
    }
    text
}

/// Generates the method `load` of a kernel.
fn load() -> TokenStream {
    quote! {
        /// Loads the module of the kernel's file into a context. The module stays loaded until the result
        /// is dropped.
        ///
        /// A graph loads its kernels' modules itself, and unloads them after its last launch. If a module
        /// is kept loaded, it is loaded only once for all graphs, and building them is faster.
        ///
        /// # Errors
        ///
        /// The driver rejects the module. The error contains its reason.
        pub fn load(
            ctx: &::std::sync::Arc<::cuweave::cudarc::driver::CudaContext>,
        ) -> ::cuweave::Result<::cuweave::Loaded> {
            ::cuweave::__private::load(&MODULE, ctx)
        }
    }
}

/// Generates the calls that record the kernel's proved facts in its description.
fn facts(checked: Option<&CheckedKernel>, variables: &[&str]) -> TokenStream {
    let hidden = match checked.map(|checked| &checked.hidden) {
        Some(HiddenState { reads, writes }) if reads.is_empty() && writes.is_empty() => None,
        Some(HiddenState { reads, writes }) => Some(quote!(.hidden(&[#(#reads),*], &[#(#writes),*]))),
        None if variables.is_empty() => None,
        // Of machine code nothing is known.
        None => Some(quote!(.hidden(&[], &[#(#variables),*]))),
    };
    let outlined = |outline: fn(&CheckedKernel) -> &BackwardSlice, set: TokenStream| {
        let outline = checked.map(outline).filter(|outline| !outline.blocks.is_empty())?;
        let bytes = Literal::byte_string(&outline.encode());
        Some(quote!(.#set(#bytes)))
    };
    let outline = outlined(|checked| &checked.slice, quote!(outlined));
    let accesses = outlined(|checked| &checked.accesses, quote!(accessing));
    let cooperative = checked.filter(|checked| checked.cooperative).map(|_| quote!(.cooperative()));
    quote!(#hidden #outline #accesses #cooperative)
}

/// The generated code for the parameters of a kernel.
#[derive(Default)]
struct ParameterCode {
    /// The generic parameters of `__launch`, one per buffer.
    generics: Vec<TokenStream>,
    /// The parameters of `__launch`.
    arguments: Vec<TokenStream>,
    /// The statements of `__launch` that add the arguments.
    steps: Vec<TokenStream>,
    /// The statements that fetch scalars whose types are known only at run time (the builder's).
    given_scalars: Vec<TokenStream>,
    /// The statements that add arguments whose types are known only at run time.
    given_steps: Vec<TokenStream>,
    /// The entries of the kernel's parameter table.
    table: Vec<TokenStream>,
    /// The contract numbers, which the kernel does not take, with their positions.
    contract: Vec<TokenStream>,
    /// The assertions that every bit pattern of an element is valid.
    any_bits: TokenStream,
}

/// Generates the code for the parameters of a kernel. `launch` and `given` are the names of variables in
/// it.
fn parts(
    parameters: &[Parameter],
    checked: Option<&CheckedKernel>,
    launch: &Ident,
    given: &Ident,
) -> ParameterCode {
    let private = quote!(::cuweave::__private);
    let mut parts = ParameterCode::default();
    let integers = proof::integers(parameters);
    // The index among the parameters that the kernel takes.
    let mut i = 0;
    for (given_as, Parameter { name: parameter, span, kind }) in parameters.iter().enumerate() {
        let label = parameter.to_string();
        match kind {
            ParameterKind::Contract(ty) => {
                parts.arguments.push(quote!(#parameter: #ty));
                parts.given_scalars.push(
                    quote!(let #parameter = #private::ArgumentReader::scalar::<#ty>(#given, #given_as)?;),
                );
                let at = given_as as u32;
                parts.contract.push(quote!((#at, #label)));
                continue;
            }
            ParameterKind::Scalar(ty) => {
                let constructor = if proof::is_primitive(ty) { "scalar" } else { "structure" };
                let constructor = Ident::new(constructor, Span::mixed_site());
                parts.table.push(quote!(#private::Param::#constructor::<#ty>(#label)));
                parts.arguments.push(quote!(#parameter: #ty));
                parts.steps.push(quote!(#private::Arguments::scalar::<#ty>(&mut #launch, #parameter);));
                parts.given_scalars.push(
                    quote!(let #parameter = #private::ArgumentReader::scalar::<#ty>(#given, #given_as)?;),
                );
                parts.given_steps.push(quote!(#private::Arguments::scalar::<#ty>(&mut #launch, #parameter);));
            }
            ParameterKind::Buffer { access, element, len, optional, pointee } => {
                let kind = access.ident();
                let declared = match access {
                    DeclaredAccess::Atomic => Ident::new("Atomics", Span::mixed_site()),
                    _ => access.ident(),
                };
                let generic = format_ident!("__A{i}", span = Span::mixed_site());
                let argument = format_ident!("a{i}", span = Span::mixed_site());
                let proof = checked.and_then(|checked| checked.proofs.get(i)?.as_ref());
                let updates = proof
                    .filter(|_| matches!(access, DeclaredAccess::Atomic))
                    .map(|proof| updates(&proof.updates));
                let open = proof::unproved(checked, i, *access, pointee.is_some());
                if open.iter().any(|open| open.what == DeclaredPart::Coverage) {
                    parts.any_bits.extend(proof::any_bits(element));
                }
                let entry = param(&label, &kind, *access, element, &open);
                let optional_entry = optional.then(|| quote!(.optional()));
                let table_entry = pointee.as_ref().map(|_| quote!(.table()));
                parts.table.push(quote!(#entry #updates #optional_entry #table_entry));
                let [fits, add, given_buffer] = match (optional, pointee) {
                    (true, _) => ["FitsOptional", "optional_buffer", "optional_buffer"],
                    (false, None) => ["Fits", "buffer", "buffer"],
                    (false, Some(_)) => ["Fits", "table", "buffer"],
                }
                .map(|name| Ident::new(name, Span::mixed_site()));
                parts.generics.push(
                    quote_spanned!(*span=> #generic: #private::#fits<#private::param::#declared<#element>>),
                );
                parts.arguments.push(quote!(#argument: #generic));
                let len = dim_tokens(len, &integers);
                let inner = pointee.as_ref().map(|pointee| dim_tokens(&pointee.len, &integers)).into_iter();
                let len = quote!(#len #(, #inner)*);
                parts.steps.push(quote!(#private::Arguments::#add(&mut #launch, #argument, #len);));
                parts.given_steps.push(quote! {
                    #private::Arguments::#add(
                        &mut #launch,
                        #private::ArgumentReader::#given_buffer::<#element>(#given, #given_as)?,
                        #len,
                    );
                });
            }
        }
        i += 1;
    }
    parts
}

/// Generates the call that records how a kernel's atomics update a buffer.
fn updates(found: &Update) -> TokenStream {
    let private = quote!(::cuweave::__private);
    match found {
        Update::Ordered => TokenStream::new(),
        Update::Nothing => quote!(.updates(#private::AtomicUpdates::Nothing)),
        Update::Reads => quote!(.updates(#private::AtomicUpdates::Reads)),
        Update::Reduction(operation) => quote!(.updates(#private::AtomicUpdates::Reduction(#operation))),
    }
}

/// Generates the entry of a buffer in the kernel's parameter table.
fn param(
    label: &str,
    kind: &Ident,
    access: DeclaredAccess,
    element: &Type,
    open: &[Unproved],
) -> TokenStream {
    let private = quote!(::cuweave::__private);
    let mut entry = quote!(#private::Param::fixed::<#element>(#label, #private::ParamKind::#kind));
    if matches!(access, DeclaredAccess::Write) {
        let dense = proof::is_primitive(element);
        entry.extend(quote!(.written(
            {
                use #private::NotAnyBits as _;
                <#private::Bits<#element>>::ANY
            },
            #dense
        )));
    }
    if !open.is_empty() {
        let open = open.iter().map(|Unproved { what, reason }| {
            let what = Ident::new(
                match what {
                    DeclaredPart::Access => "Access",
                    DeclaredPart::Extent => "Extent",
                    DeclaredPart::Elements => "Elements",
                    DeclaredPart::Pointers => "Pointers",
                    _ => "Coverage",
                },
                Span::mixed_site(),
            );
            quote!((#private::DeclaredPart::#what, #reason))
        });
        entry.extend(quote!(.unproved(&[#(#open),*])));
    }
    entry
}

/// Generates the items, and an unnamed constant that holds the module they share.
fn module(image: &KernelFile, items: &[KernelItemCode], written: &[&str]) -> TokenStream {
    let definitions = items.iter().map(|item| &item.definition);
    let implementations = items.iter().map(|item| &item.implementation);
    let (path, bytes) = (&image.path, &image.bytes);
    let writing = (!written.is_empty()).then(|| quote!(.writing(&[#(#written),*])));
    quote! {
        #(#definitions)*

        const _: () = {
            static MODULE: ::cuweave::__private::Module =
                ::cuweave::__private::Module::new(#path, #bytes) #writing;
            #(#implementations)*
        };
    }
}
