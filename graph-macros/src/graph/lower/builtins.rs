//! The built-in words such as `fill`: how calls of them are lowered, and the generated code that evaluates
//! each statement.
//!
//! Launches are lowered in [`super::calls`], calls of graph functions in [`super::functions`].

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use cuweave_core::index::Index;
use cuweave_core::ir::{Mode, Origin, Program, Statement, StatementKind};
use cuweave_core::kind::SyncOperation;
use cuweave_core::structure::{ArgumentPart, PathStep};
use proc_macro2::{Ident, LineColumn, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprCall, Type};

use super::accesses::{reject_pinned, reject_swapped_copy, report_not_a_buffer};
use super::after::{apply_attributes, name_statement};
use super::conditionals::reject_outer_buffer;
use super::host_statements::{event, host};
use super::lowered::Lowered;
use super::lowering::{LowerResult, Lowering, Reported};
use super::own_conditions::condition;
use super::rows::transfer_argument;
use super::syncs::sync_statement;
use super::syntax::{LaunchArgument, StatementSyntax};
use super::views::view_of;
use crate::dims::compact;
use crate::graph::idents::{ident, located_type};
use crate::graph::launch;
use crate::graph::paths;
use crate::graph::scope::{Binding, Borrow};
use crate::parameters::is_condition;

/// A built-in word that makes a statement, such as `fill`.
pub(super) struct BuiltinWord {
    name: &'static str,
    /// The accepted numbers of arguments.
    arguments: RangeInclusive<usize>,
    /// The correct syntax, for error messages.
    usage: &'static str,
    lower: LowerWord,
}

/// Lowers a call of a word. The identifier is the name that a `let` gives the statement.
type LowerWord = fn(&mut Lowering<'_>, &ExprCall, Option<&Ident>, &[Attribute]) -> LowerResult<()>;

const WORDS: [BuiltinWord; 12] = [
    BuiltinWord { name: "alloc", arguments: 1..=1, usage: "alloc::<T>(len)", lower: alloc },
    BuiltinWord { name: "condition", arguments: 0..=0, usage: "condition()", lower: condition },
    BuiltinWord { name: "fill", arguments: 2..=2, usage: "fill(&mut b, value)", lower: fill },
    BuiltinWord { name: "copy", arguments: 2..=2, usage: "copy(&a, &mut b)", lower: copy },
    BuiltinWord { name: "free", arguments: 1..=1, usage: "free(b)", lower: free },
    BuiltinWord {
        name: "host",
        arguments: 1..=usize::MAX,
        usage: "host(&a, &mut b, |a, b| ..)",
        lower: host,
    },
    BuiltinWord {
        name: "record",
        arguments: 1..=1,
        usage: "record(&event)",
        lower: |to, call, name, given| event(to, call, name, given, StatementKind::Record(())),
    },
    BuiltinWord {
        name: "wait",
        arguments: 1..=1,
        usage: "wait(&event)",
        lower: |to, call, name, given| event(to, call, name, given, StatementKind::Wait(())),
    },
    BuiltinWord {
        name: "wait_value",
        arguments: 2..=3,
        usage: "wait_value(&flag, value)` or `wait_value(&flag, value, step)",
        lower: |to, call, name, given| sync_statement(to, SyncOperation::WaitValue, call, name, given),
    },
    BuiltinWord {
        name: "write_value",
        arguments: 2..=3,
        usage: "write_value(&flag, value)` or `write_value(&flag, value, step)",
        lower: |to, call, name, given| sync_statement(to, SyncOperation::WriteValue, call, name, given),
    },
    BuiltinWord {
        name: "wait_semaphore",
        arguments: 1..=3,
        usage: "wait_semaphore(&semaphore, value)",
        lower: |to, call, name, given| sync_statement(to, SyncOperation::WaitSemaphore, call, name, given),
    },
    BuiltinWord {
        name: "signal",
        arguments: 1..=3,
        usage: "signal(&semaphore, value)",
        lower: |to, call, name, given| sync_statement(to, SyncOperation::Signal, call, name, given),
    },
];

impl BuiltinWord {
    pub(super) fn named(name: &str) -> Option<&'static BuiltinWord> {
        WORDS.iter().find(|word| word.name == name)
    }
}

/// Generates the expression that evaluates a statement.
pub fn evaluation(of: &StatementContext<'_>, evaluation: &Ident) -> TokenStream {
    let StatementContext { syntax, .. } = of;
    match of.statement.kind {
        StatementKind::Condition(_) if !syntax.arguments.is_empty() => {
            // rustc reports an operand that is not a `u32`.
            let decides = match of.place_expr(0) {
                Some(part) => quote_spanned!(of.spans[0]=> ::cuweave::__private::mark::decides_by(&#part);),
                None => {
                    let element = located_type(of.element(0), of.spans[0]);
                    quote_spanned!(of.spans[0]=> ::cuweave::__private::mark::decides::<#element>();)
                }
            };
            quote!({ #decides ::core::result::Result::Ok(()) })
        }
        StatementKind::Condition(_)
        | StatementKind::Join(_)
        | StatementKind::Call(_)
        | StatementKind::Capture(()) => {
            quote!(::core::result::Result::Ok(()))
        }
        StatementKind::Alloc(_) | StatementKind::Free(_) => {
            quote!(::core::result::Result::Ok(()))
        }
        StatementKind::Host(()) => host_step(of, evaluation),
        StatementKind::Record(()) | StatementKind::Wait(()) => {
            let (method, event) = (ident(of.statement.kind.name()), syntax.scalars());
            quote!(#evaluation.#method(#(#event),*))
        }
        StatementKind::Sync(word, ()) => sync_step(of, word, evaluation),
        StatementKind::Copy(()) if of.place_expr(0).is_some() || of.place_expr(1).is_some() => {
            let (from, to) = (of.element_of(0, false), of.element_of(1, true));
            let same = quote_spanned!(of.spans[1]=> ::cuweave::__private::mark::same(#from, #to););
            quote!({ #same #evaluation.copy() })
        }
        StatementKind::Copy(()) => {
            let (from, to) = (of.element(0), of.element(1));
            // rustc compares the element types, and reports a mismatch at the destination.
            let [from, to] = [from, to].map(|ty| located_type(ty, of.spans[1]));
            let same = quote_spanned!(of.spans[1]=> ::cuweave::__private::mark::copies::<#from, #to>(););
            quote!({ #same #evaluation.copy() })
        }
        StatementKind::Fill(()) if of.place_expr(0).is_some() => {
            let (element, value) = (of.element_of(0, true), syntax.scalars());
            let fill = quote_spanned!(of.spans[0]=> fill_part);
            quote!(#evaluation.#fill(#element, #(#value),*))
        }
        StatementKind::Fill(()) => {
            let (element, value) = (of.element(0), syntax.scalars());
            // rustc reports element types that cannot be filled, at the buffer.
            let fill = quote_spanned!(of.spans[0]=> fill::<#element>);
            quote!(#evaluation.#fill(#(#value),*))
        }
        StatementKind::Launch(()) => {
            let (kernel, arguments) = (&syntax.path, of.arguments());
            // rustc reports a wrong number of arguments, at the kernel.
            let item = Ident::new("kernel", Span::mixed_site());
            let call = quote_spanned!(kernel.span()=> #item.__launch(#(#arguments),*));
            let found = kernel.as_ref().map(paths::launched);
            // Only items of `#[kernels]` implement this trait. A user's type with a `__launch` method is
            // therefore rejected.
            let declared = quote!(::cuweave::__private::kernel_of(&#item));
            let config = syntax.config.as_ref().map(|config| launch::tokens(config, of.integers));
            quote!({ let #item = #found; #evaluation.run(#declared, #config, #call) })
        }
    }
}

/// Generates the expression that evaluates a host statement. The closure is evaluated once, and called with
/// its buffers at each launch.
fn host_step(of: &StatementContext<'_>, evaluation: &Ident) -> TokenStream {
    let Some((LaunchArgument::Scalar(work), given)) = of.syntax.arguments.split_last() else {
        return quote!(::core::result::Result::Ok(()));
    };
    let [function, memory] = ["function", "memory"].map(|name| Ident::new(name, Span::mixed_site()));
    let (mut types, mut values, mut generics) = (Vec::new(), Vec::new(), Vec::new());
    let (mut kept, mut hosts) = (Vec::new(), Vec::new());
    for argument in given {
        match argument {
            LaunchArgument::Buffer(index) => {
                let element = of.element(*index as usize);
                if of.statement.accesses[*index as usize].mode == Mode::Read {
                    types.push(quote!(&[#element]));
                    values.push(quote!(#memory.slice::<#element>(#index)));
                } else {
                    types.push(quote!(&mut [#element]));
                    values.push(quote!(#memory.slice_mut::<#element>(#index)));
                }
            }
            LaunchArgument::Scalar(value) => {
                let generic = format_ident!("__T{}", hosts.len(), span = Span::mixed_site());
                let name = format_ident!("kept_{}", hosts.len(), span = Span::mixed_site());
                types.push(quote!(&#generic));
                values.push(quote!(&#name));
                kept.push(name);
                hosts.push(value);
                generics.push(generic);
            }
            LaunchArgument::Moved(_)
            | LaunchArgument::Part(_)
            | LaunchArgument::Field(..)
            | LaunchArgument::InSome(..) => {}
        }
    }
    // The bound lets rustc infer the types of the closure's parameters, and the span makes errors point at
    // the closure.
    let made = quote_spanned!(work.span()=> __function(#(#hosts,)* #work));
    quote! {{
        fn __function<
            #(#generics: ?::core::marker::Sized + ::core::marker::Send + ::core::marker::Sync + 'static,)*
            __F: ::core::ops::FnMut(#(#types),*) + ::core::marker::Send + 'static,
        >(#(_: &::std::sync::Arc<#generics>,)* function: __F) -> __F {
            function
        }
        let mut #function = #made;
        #(let #kept = ::core::clone::Clone::clone(#hosts);)*
        #evaluation.host(move |#memory: &::cuweave::__private::HostMemory<'_>| #function(#(#values),*))
    }}
}

/// Generates the expression that evaluates a statement on a flag or a semaphore. Without a written step the
/// value grows by 1 per launch. A semaphore without a written value starts at 1.
fn sync_step(of: &StatementContext<'_>, word: SyncOperation, evaluation: &Ident) -> TokenStream {
    let mut values: Vec<TokenStream> = of.syntax.scalars().map(ToTokens::to_token_stream).collect();
    let is_buffer = !of.statement.accesses.is_empty();
    values.resize_with(if is_buffer { 2 } else { 3 }, || quote!(1));
    let method = ident(word.name());
    if is_buffer {
        let (method, element) = (ident(&format!("{}_in", word.name())), of.element_of(0, !word.waits()));
        return quote!(#evaluation.#method(#element, #(#values),*));
    }
    quote!(#evaluation.#method(#(#values),*))
}

/// Lowers a call of a word after checking the number of its arguments.
pub(super) fn lower_word(
    lowering: &mut Lowering<'_>,
    word: &BuiltinWord,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> LowerResult<()> {
    if word.arguments.contains(&call.args.len()) {
        return (word.lower)(lowering, call, name, attributes);
    }
    Err(lowering.refuse(
        call,
        &format!(
            "`{}` does not take {} argument{}",
            word.name,
            call.args.len(),
            if call.args.len() == 1 { "" } else { "s" }
        ),
        &format!("write `{}`", word.usage),
    ))
}

/// Lowers `let b = alloc::<T>(len);`.
fn alloc(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> LowerResult<()> {
    let Some(element) = type_argument(&call.func) else {
        return Err(lowering.refuse(
            call,
            "an allocation needs the type of its elements",
            "write `alloc::<f32>(len)`",
        ));
    };
    if is_condition(&element) {
        return Err(lowering.refuse(call, "a condition has no memory", "write `let go = condition();`"));
    }
    let Some(name) = name else {
        return Err(lowering.refuse(call, "an allocation needs a name", "write `let b = alloc::<T>(len);`"));
    };
    let len = lowering.bound(&call.args[0]);
    let id = lowering.program.next_statement();
    let view =
        lowering.program.add_buffer(name.to_string(), name.span(), Origin::Alloc(id), len, element, None);
    let buffer = view.buffer;
    lowering.push(
        name.to_string(),
        name.span(),
        StatementKind::Alloc(buffer),
        StatementSyntax::default(),
        Vec::new(),
    );
    apply_attributes(lowering, id, attributes);
    lowering.scope.bind(name, Binding::View(view));
    lowering.scope.bind_statement(name, Some(vec![id]));
    Ok(())
}

/// Lowers `free(b);`.
fn free(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> LowerResult<()> {
    let freed = &call.args[0];
    if !matches!(freed, Expr::Path(_) | Expr::Index(_)) {
        let inner = match freed {
            Expr::Reference(reference) => &reference.expr,
            other => other,
        };
        let help = match inner {
            Expr::Path(_) => format!("write `free({});`", compact(inner)),
            _ => "write `free(b);`".to_owned(),
        };
        return Err(lowering.refuse(freed, "`free` takes the name of an allocation", &help));
    }
    let Some(view) = view_of(lowering, freed)? else {
        return Err(report_not_a_buffer(lowering, freed, "free"));
    };
    if !lowering.program.is_whole(&view) {
        return Err(lowering.refuse(
            freed,
            "a part of a buffer cannot be freed",
            "free the whole allocation by its name",
        ));
    }
    reject_outer_buffer(lowering, freed, view.buffer)?;
    let text = name.map_or_else(|| "free".to_owned(), ToString::to_string);
    let id = lowering.push(
        text,
        freed.span(),
        StatementKind::Free(view.buffer),
        StatementSyntax::default(),
        Vec::new(),
    );
    apply_attributes(lowering, id, attributes);
    name_statement(lowering, name, id);
    Ok(())
}

/// Lowers `fill(&mut b, value);`.
fn fill(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> LowerResult<()> {
    let access = transfer_argument(lowering, &call.args[0], "fill", Mode::Write)?;
    reject_pinned(lowering, &access, &call.args[0], "fill")?;
    let value = Box::new(lowering.substituted(&call.args[1]));
    let arguments = vec![LaunchArgument::Buffer(0), LaunchArgument::Scalar(value)];
    let syntax = StatementSyntax { arguments, ..StatementSyntax::default() };
    let text = name.map_or_else(|| "fill".to_owned(), ToString::to_string);
    let span = name.map_or_else(|| call.span(), Ident::span);
    let id = lowering.push(text, span, StatementKind::Fill(()), syntax, vec![access]);
    apply_attributes(lowering, id, attributes);
    name_statement(lowering, name, id);
    Ok(())
}

/// Lowers `copy(&a, &mut b);`.
fn copy(
    lowering: &mut Lowering<'_>,
    call: &ExprCall,
    name: Option<&Ident>,
    attributes: &[Attribute],
) -> LowerResult<()> {
    reject_swapped_copy(lowering, call)?;
    let from = transfer_argument(lowering, &call.args[0], "copy", Mode::Read);
    let to = transfer_argument(lowering, &call.args[1], "copy", Mode::Write);
    let (Ok(from), Ok(to)) = (from, to) else {
        lowering.poison(call.args.to_token_stream());
        return Err(Reported);
    };
    let text = name.map_or_else(|| "copy".to_owned(), ToString::to_string);
    let span = name.map_or_else(|| call.span(), Ident::span);
    let arguments = vec![LaunchArgument::Buffer(0), LaunchArgument::Buffer(1)];
    let syntax = StatementSyntax { arguments, ..StatementSyntax::default() };
    let id = lowering.push(text, span, StatementKind::Copy(()), syntax, vec![from, to]);
    apply_attributes(lowering, id, attributes);
    name_statement(lowering, name, id);
    Ok(())
}

/// Returns the type in `alloc::<T>`.
fn type_argument(function: &Expr) -> Option<Type> {
    let path = match function {
        Expr::Group(group) => return type_argument(&group.expr),
        Expr::Path(path) => path,
        _ => return None,
    };
    match &path.path.segments.last()?.arguments {
        syn::PathArguments::AngleBracketed(list) if list.args.len() == 1 => match list.args.first()? {
            syn::GenericArgument::Type(ty) if !matches!(ty, Type::Infer(_)) => Some(ty.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// A statement together with the context for generating its evaluation.
pub struct StatementContext<'l> {
    pub statement: &'l Statement,
    pub syntax: &'l StatementSyntax,
    program: &'l Program,
    elements: &'l [Type],
    /// The span of each access.
    spans: &'l [Span],
    integers: &'l BTreeSet<String>,
    lowered: &'l Lowered,
}

impl<'l> StatementContext<'l> {
    /// Returns the statement with index `at`.
    pub fn new(lowered: &'l Lowered, at: usize) -> StatementContext<'l> {
        let program = &lowered.source.program;
        StatementContext {
            statement: &program.statements.as_slice()[at],
            syntax: &lowered.syntax[at],
            program,
            elements: &lowered.elements,
            spans: &lowered.spans.accesses[at],
            integers: &lowered.integers,
            lowered,
        }
    }

    /// Returns the element type of an access's buffer.
    pub fn element(&self, access: usize) -> &'l Type {
        &self.elements[self.statement.accesses[access].buffer.index()]
    }

    /// Returns the name of an access's buffer. For a component of a record, it is the last field's name.
    pub fn buffer_name(&self, access: usize) -> &'l str {
        let buffer = &self.program.buffers[self.statement.accesses[access].buffer];
        let Origin::Part(part) = buffer.origin else { return buffer.base_name() };
        let ArgumentPart { argument, path } = &self.lowered.structure.parts[part];
        let field = path.iter().rev().find_map(PathStep::field);
        field.map_or(self.lowered.arguments.names[*argument].as_str(), |field| field)
    }

    /// Returns the expression of the component that an access denotes. None if the access is not to a
    /// component of a record or list.
    pub fn place_expr(&self, access: usize) -> Option<&'l Expr> {
        let (buffer, at) = (self.statement.accesses[access].buffer, self.spans[access].start());
        let uses = &self.lowered.arguments.parts.exprs;
        let first = || uses.range((buffer, LineColumn { line: 0, column: 0 })..).next();
        let first = || first().filter(|((other, _), _)| *other == buffer).map(|(_, expr)| expr);
        uses.get(&(buffer, at)).or_else(first)
    }

    /// Generates a `PhantomData` of an access's element type.
    fn element_of(&self, access: usize, written: bool) -> TokenStream {
        match self.place_expr(access) {
            Some(part) => {
                // Every token of the path needs this span. Otherwise rustc points at the attribute.
                let function =
                    Ident::new(if written { "element_mut" } else { "element" }, self.spans[access]);
                quote_spanned!(self.spans[access]=> ::cuweave::__private::mark::#function(&#part))
            }
            None => {
                let element = self.element(access);
                // rustc compares the element types, and reports a mismatch at the destination.
                let at = self.spans.last().copied().unwrap_or_else(Span::call_site);
                quote_spanned!(at=> ::core::marker::PhantomData::<#element>)
            }
        }
    }

    /// Generates the arguments of a launch or a call.
    pub fn arguments(&self) -> impl Iterator<Item = TokenStream> {
        self.syntax.arguments.iter().map(|argument| self.argument(argument))
    }

    fn argument(&self, argument: &LaunchArgument) -> TokenStream {
        match argument {
            LaunchArgument::Scalar(value) => quote!(#value),
            LaunchArgument::Part(part) => quote!(#part),
            LaunchArgument::Field(index, borrow) => self.field(*index as usize, *borrow),
            LaunchArgument::Buffer(index) | LaunchArgument::Moved(index) => {
                self.marker(*index, self.mark(argument).unwrap_or_default())
            }
            LaunchArgument::InSome(index, borrow) => {
                let buffer = match borrow {
                    Some(borrow) => self.field(*index as usize, *borrow),
                    None => self.marker(*index, self.mark(argument).unwrap_or_default()),
                };
                quote_spanned!(self.spans[*index as usize]=> ::cuweave::__private::mark::some(#buffer))
            }
        }
    }

    /// Returns true for pinned memory that a call is given.
    fn is_pinned_in_call(&self, access: u32) -> bool {
        let buffer = self.statement.accesses[access as usize].buffer;
        matches!(self.statement.kind, StatementKind::Call(_))
            && self.program.buffers[buffer].origin.is_pinned()
    }

    /// Returns the name of the marker type for a buffer argument. None for other arguments.
    pub fn mark(&self, argument: &LaunchArgument) -> Option<&'static str> {
        let mode = |index: u32| self.statement.accesses[index as usize].mode;
        Some(match argument {
            LaunchArgument::Scalar(_) | LaunchArgument::Part(_) => return None,
            LaunchArgument::Field(_, borrow) | LaunchArgument::InSome(_, Some(borrow)) => {
                borrow_marker(*borrow)
            }
            LaunchArgument::Moved(index) if mode(*index) == Mode::Write => "FreshMoved",
            LaunchArgument::Moved(_) => "Moved",
            LaunchArgument::Buffer(index) if self.is_pinned_in_call(*index) => match mode(*index) {
                Mode::Read => "PinnedShared",
                Mode::ReadWrite | Mode::Write | Mode::Atomic => "PinnedUnique",
            },
            LaunchArgument::Buffer(index) | LaunchArgument::InSome(index, None) => match mode(*index) {
                Mode::Read => "Shared",
                Mode::ReadWrite => "Unique",
                Mode::Write => "Fresh",
                Mode::Atomic => "Atomic",
            },
        })
    }

    /// Generates the argument for a borrowed field of a record.
    fn field(&self, access: usize, borrow: Borrow) -> TokenStream {
        let function = ident(borrow_marker(borrow));
        let part = self.place_expr(access);
        quote_spanned!(self.spans[access]=> ::cuweave::__private::mark::#function(&#part))
    }

    /// Generates the marker for a buffer argument. rustc checks its type against the declaration.
    fn marker(&self, index: u32, kind: &str) -> TokenStream {
        let access = index as usize;
        let kind = ident(kind);
        if let Some(part) = self.place_expr(access) {
            return quote_spanned! {self.spans[access]=>
                ::cuweave::__private::mark::#kind::of(#index, &#part)
            };
        }
        let element = self.element(access);
        quote_spanned!(self.spans[access]=> ::cuweave::__private::mark::#kind::<#element>::at(#index))
    }
}

/// Returns the function in `__private::mark` that borrows a field of a record.
fn borrow_marker(borrow: Borrow) -> &'static str {
    match borrow {
        Borrow::Mutable => "lent_mut",
        Borrow::Shared => "lent",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_with_a_word_is_lowered() {
        let mut lowered = WORDS.map(|word| word.name);
        // `condition` is an allocation without memory.
        let mut words: Vec<&str> = StatementKind::words().chain(["condition"]).collect();
        lowered.sort_unstable();
        words.sort_unstable();
        assert_eq!(words, lowered);
    }
}
