//! The checked program, printed as the `static` that the runtime reads.

use cuweave_core::ir::{
    Access, Buffer, Kind, Launches, Memory, Mode, Options, Order, Origin, Program, Statement,
};
use proc_macro2::TokenStream;
use quote::quote;
use syn::Type;

/// A `Program` expression, for use where `__ir` names the module of its types.
pub fn program(program: &Program, elements: &[Type]) -> TokenStream {
    let Program { name, file, options, dims, buffers, statements, outputs, edges, edges_before_reduction } =
        program;
    let options = self::options(options);
    let buffers = buffers.iter().zip(elements).map(|(buffer, element)| self::buffer(buffer, element));
    let statements = statements.iter().map(statement);
    let edges = edges.iter().map(|(from, to)| quote!((#from, #to)));
    let list = |items: TokenStream| quote!(::std::borrow::Cow::Borrowed(&[#items]));
    let text = |text: &str| quote!(::std::borrow::Cow::Borrowed(#text));
    let dims = dims.iter().map(|dim| text(dim));
    let (name, file) = (text(name), text(file));
    let (buffer_count, statement_count) = (buffers.len(), statements.len());
    let dims = list(quote!(#(#dims),*));
    let (outputs, edges) = (list(quote!(#(#outputs),*)), list(quote!(#(#edges),*)));
    // Statics of their own: up to Rust 1.88 a borrowed array of what has a destructor is not promoted.
    quote! {{
        static BUFFERS: [__ir::Buffer; #buffer_count] = [#(#buffers),*];
        static STATEMENTS: [__ir::Statement; #statement_count] = [#(#statements),*];
        __ir::Program {
            name: #name,
            file: #file,
            options: #options,
            dims: #dims,
            buffers: ::std::borrow::Cow::Borrowed(&BUFFERS),
            statements: ::std::borrow::Cow::Borrowed(&STATEMENTS),
            outputs: #outputs,
            edges: #edges,
            edges_before_reduction: #edges_before_reduction,
        }
    }}
}

fn options(options: &Options) -> TokenStream {
    let order = match options.order {
        Order::Inferred => quote!(Inferred),
        Order::Explicit => quote!(Explicit),
    };
    let memory = optional(options.memory.map(|memory| match memory {
        Memory::Nodes => quote!(__ir::Memory::Nodes),
        Memory::Arena => quote!(__ir::Memory::Arena),
        Memory::Owned => quote!(__ir::Memory::Owned),
    }));
    let launches = optional(options.launches.map(|launches| match launches {
        Launches::AsWritten => quote!(__ir::Launches::AsWritten),
        Launches::Batched => quote!(__ir::Launches::Batched),
        Launches::Overlapped => quote!(__ir::Launches::Overlapped),
    }));
    let budget = optional(options.budget.map(|budget| quote!(#budget)));
    quote!(__ir::Options { order: __ir::Order::#order, memory: #memory, launches: #launches, budget: #budget })
}

fn optional(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

fn buffer(buffer: &Buffer, element: &Type) -> TokenStream {
    let Buffer { name, line, origin, len, .. } = buffer;
    let origin = match origin {
        Origin::Alloc(statement) => quote!(Alloc(#statement)),
        Origin::Device { mutable } => quote!(Device { mutable: #mutable }),
        Origin::Pinned { mutable } => quote!(Pinned { mutable: #mutable }),
        Origin::Taken => quote!(Taken),
    };
    quote!(__ir::Buffer::fixed::<#element>(#name, #line, __ir::Origin::#origin, #len))
}

fn statement(statement: &Statement) -> TokenStream {
    let Statement { name, line, kind, accesses, after } = statement;
    let kind = match kind {
        Kind::Launch => quote!(Launch),
        Kind::Fill => quote!(Fill),
        Kind::Copy => quote!(Copy),
        Kind::Alloc(buffer) => quote!(Alloc(#buffer)),
        Kind::Free(buffer) => quote!(Free(#buffer)),
    };
    let accesses = accesses.iter().map(access);
    quote!(__ir::Statement::fixed(#name, #line, __ir::Kind::#kind, &[#(#accesses),*], &[#(#after),*]))
}

fn access(access: &Access) -> TokenStream {
    let Access { buffer, mode, lo, hi, relied_on } = access;
    let mode = match mode {
        Mode::Read => quote!(Read),
        Mode::ReadWrite => quote!(ReadWrite),
        Mode::Write => quote!(Write),
        Mode::Atomic => quote!(Atomic),
    };
    quote!(__ir::Access::fixed(#buffer, __ir::Mode::#mode, #lo, #hi, #relied_on))
}
