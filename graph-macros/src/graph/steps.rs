//! Evaluation of the statements: a step of generated code for each, or one for all that are alike.
//!
//! rustc takes a millisecond and more to check a step. In a small function each place of the source has a step of its own,
//! so that rustc reports every place that is wrong. In a large one, similar statements share a step: those with the same
//! kernel, configuration, scalars, and kinds and elements of the buffers. rustc then reports the first of them.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::marker::PhantomData;

use cuweave_core::ids::VariableId;
use cuweave_core::index::{Index, ids};
use cuweave_core::ir::{Kind, Mode, Origin, Program, Statement, StatementId};
use cuweave_core::kind::Stage;
use cuweave_core::structure::{Part, Step};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Path, Type};

use super::idents::{ident, named};
use super::launch;
use super::lower::{CallSyntax, LaunchArgument, LaunchSyntax, Lowered, chains, collect, indexed, turns_in};
use super::scope::Borrow;
use crate::dims::turn;

/// The number of steps of a generated function: rustc's time for one function grows faster than its length.
const CHUNK: usize = 64;
/// The number of places of statements from which on similar statements share a step.
const LARGE: usize = 512;

/// The steps of a function.
pub struct Steps<'l> {
    lowered: &'l Lowered,
    /// The step of each statement; 0 for those without evaluation.
    pub of: Vec<u32>,
    /// The first statement of each step.
    first: Vec<usize>,
}

/// The properties that statements with one step share.
#[derive(PartialEq, Eq, Hash)]
struct Alike<'l> {
    kind: Kind<Shared<'l>>,
    levels: Option<&'l [Attribute]>,
    /// In a small function: line and column.
    place: Option<(usize, usize)>,
}

/// The expressions and types of a statement by which it shares a step with others.
#[derive(PartialEq, Eq, Hash)]
struct Shared<'l>(PhantomData<&'l Expr>);

impl<'l> Stage for Shared<'l> {
    /// Kernel, configuration and arguments.
    type Launch = (&'l Path, &'l Expr, Vec<Given<'l>>);
    /// The element type and the value.
    type Fill = (Elements<'l>, &'l Expr);
    /// The element types of both sides.
    type Copy = [Elements<'l>; 2];
    /// The callee and the arguments.
    type Call = (&'l Path, Vec<Given<'l>>);
    type Memory = Infallible;
}

/// The element type of an access, and the part of an argument that it is, which has the type.
type Elements<'l> = (&'l Type, Option<&'l Expr>);

#[derive(PartialEq, Eq, Hash)]
enum Given<'l> {
    Scalar(&'l Expr),
    /// The name stands in rustc's messages; left out in a large function.
    Buffer(u8, Option<&'l str>, &'l Type),
    /// A buffer that is a part of an argument.
    Field(u8, Option<&'l str>, &'l Expr),
    /// A record or a list.
    Part(&'l Expr),
}

/// Marks the names of scalars of records among names.
pub const FIELD: char = '@';

impl<'l> Steps<'l> {
    /// Groups the statements.
    pub fn of(lowered: &'l Lowered) -> Steps<'l> {
        let places: BTreeSet<(usize, usize)> = lowered.spans.places.iter().copied().collect();
        let large = places.len() >= LARGE;
        let mut steps = Steps { lowered, of: Vec::with_capacity(lowered.kinds.len()), first: Vec::new() };
        let mut known: HashMap<Alike<'l>, u32> = HashMap::new();
        for at in 0..lowered.kinds.len() {
            let Some(kind) = steps.shared(at, large) else {
                steps.of.push(0);
                continue;
            };
            let place = (!large).then(|| lowered.spans.places[at]);
            let next = steps.first.len() as u32;
            let levels = lowered.lints.get(&StatementId::new(at)).map(Vec::as_slice);
            let step = *known.entry(Alike { kind, levels, place }).or_insert(next);
            if step == next {
                steps.first.push(at);
            }
            steps.of.push(step);
        }
        steps
    }

    fn program(&self) -> &'l Program {
        &self.lowered.source.program
    }

    fn statement(&self, at: usize) -> &'l Statement {
        &self.program().statements.as_slice()[at]
    }

    /// The type of the elements that an access of a statement is about.
    fn element(&self, at: usize, access: usize) -> &'l Type {
        &self.lowered.elements[self.statement(at).accesses[access].buffer.index()]
    }

    fn buffer_name(&self, at: usize, access: usize) -> &'l str {
        let buffer = &self.program().buffers[self.statement(at).accesses[access].buffer];
        let Origin::Part(part) = buffer.origin else { return buffer.base_name() };
        let Part { argument, path } = &self.lowered.structure.parts[part];
        let field = path.iter().rev().find_map(Step::field);
        field.map_or_else(|| self.lowered.argument_names[*argument].as_str(), |field| field)
    }

    /// Returns the expression of an access of a part of an argument.
    fn part(&self, at: usize, access: usize) -> Option<&'l Expr> {
        self.lowered.part_exprs.get(&self.statement(at).accesses[access].buffer)
    }

    /// Returns the expression by which generated code names the element type of an access, as a `PhantomData`.
    fn element_of(&self, at: usize, access: usize, written: bool) -> TokenStream {
        match self.part(at, access) {
            Some(part) => {
                let function = ident(if written { "element_mut" } else { "element" });
                let name = named(self.buffer_name(at, access));
                let span = self.lowered.spans.accesses[at][access];
                quote_spanned! {span=>
                    ::cuweave::__private::mark::#function(::core::marker::PhantomData::<__buffers::#name>, &#part)
                }
            }
            None => {
                let element = self.element(at, access);
                quote!(::core::marker::PhantomData::<#element>)
            }
        }
    }

    /// Returns the kind of a statement by which it shares a step; `None` for memory statements, which have no step.
    fn shared(&self, at: usize, large: bool) -> Option<Kind<Shared<'l>>> {
        Some(match &self.lowered.kinds[at] {
            Kind::Alloc(_) | Kind::Free(_) => return None,
            Kind::Call(CallSyntax { faulty: true, .. }) => return None,
            Kind::Call(CallSyntax { callee, arguments, .. }) => {
                let given = |argument: &'l LaunchArgument| self.given(at, argument, large);
                Kind::Call((callee, arguments.iter().map(given).collect()))
            }
            Kind::Copy(()) => {
                Kind::Copy([0, 1].map(|access| (self.element(at, access), self.part(at, access))))
            }
            Kind::Fill(value) => Kind::Fill(((self.element(at, 0), self.part(at, 0)), value)),
            Kind::Launch(LaunchSyntax { faulty: true, .. }) => return None,
            Kind::Launch(LaunchSyntax { kernel, config, arguments, .. }) => {
                let given = |argument: &'l LaunchArgument| self.given(at, argument, large);
                Kind::Launch((kernel, config, arguments.iter().map(given).collect()))
            }
        })
    }

    fn given(&self, at: usize, argument: &'l LaunchArgument, large: bool) -> Given<'l> {
        match argument {
            LaunchArgument::Scalar(value) => Given::Scalar(value),
            LaunchArgument::Buffer(index) | LaunchArgument::Field(index, _) => {
                let index = *index as usize;
                let mode = self.statement(at).accesses[index].mode as u8;
                let name = (!large).then(|| self.buffer_name(at, index));
                match self.part(at, index) {
                    Some(part) => Given::Field(mode, name, part),
                    None => Given::Buffer(mode, name, self.element(at, index)),
                }
            }
            LaunchArgument::Part(part) => Given::Part(part),
        }
    }

    /// The names that stand in the configuration, the arguments or the value of each step.
    pub fn mentioned(&self) -> Vec<BTreeSet<String>> {
        let one = |&at: &usize| match &self.lowered.kinds[at] {
            Kind::Launch(LaunchSyntax { config, arguments, .. }) => {
                let scalars = arguments.iter().filter_map(|argument| match argument {
                    LaunchArgument::Scalar(value) => Some(&**value),
                    LaunchArgument::Buffer(_) | LaunchArgument::Part(_) | LaunchArgument::Field(..) => None,
                });
                self.names(scalars.chain([config]))
            }
            Kind::Fill(value) => self.names([value]),
            Kind::Call(CallSyntax { arguments, .. }) => {
                let scalars = arguments.iter().filter_map(|argument| match argument {
                    LaunchArgument::Scalar(value) => Some(&**value),
                    LaunchArgument::Buffer(_) | LaunchArgument::Part(_) | LaunchArgument::Field(..) => None,
                });
                self.names(scalars)
            }
            Kind::Copy(()) | Kind::Alloc(_) | Kind::Free(_) => BTreeSet::new(),
        };
        self.first.iter().map(one).collect()
    }

    /// Returns the names in the configuration of each step: in the grid, and in the block and the shared memory.
    pub fn configured(&self) -> Vec<[BTreeSet<String>; 2]> {
        let one = |&at: &usize| match &self.lowered.kinds[at] {
            Kind::Launch(LaunchSyntax { config, .. }) => {
                launch::configured_by(config).map(|part| self.names(part))
            }
            Kind::Fill(_) | Kind::Copy(()) | Kind::Call(_) | Kind::Alloc(_) | Kind::Free(_) => {
                Default::default()
            }
        };
        self.first.iter().map(one).collect()
    }

    /// Returns the names in tokens.
    pub fn names<T: ToTokens>(&self, tokens: impl IntoIterator<Item = T>) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut fields = BTreeSet::new();
        for tokens in tokens {
            let tokens = tokens.to_token_stream();
            if !self.lowered.roots.is_empty() {
                chains(tokens.clone(), &self.lowered.roots, &mut fields);
            }
            collect(tokens, &mut names);
        }
        names.extend(fields.into_iter().map(|field| format!("{FIELD}{field}")));
        names
    }

    /// Returns a type for each name of a buffer in a step, for rustc's messages about arguments.
    pub fn buffer_names(&self) -> TokenStream {
        let mut names = BTreeSet::new();
        for &at in &self.first {
            names.extend((0..self.statement(at).accesses.len()).map(|access| self.buffer_name(at, access)));
        }
        let names = names.into_iter().map(named);
        quote! {
            mod __buffers {
                #(pub struct #names {})*
            }
        }
    }

    /// Returns functions that evaluate some steps each, and the body that calls the right one.
    ///
    /// The user's expressions stand in functions of their own, where no `self` is and no name of generated code.
    pub fn evaluation(&self, function: &Ident, scalars: &[&Ident]) -> (TokenStream, TokenStream) {
        // No name that a user's could meet: their expressions stand among these.
        let [args, number, turns, evaluation] =
            ["args", "step", "turns", "evaluation"].map(|name| Ident::new(name, Span::mixed_site()));
        let mut chunks = TokenStream::new();
        let mut arms = TokenStream::new();
        for (index, statements) in self.first.chunks(CHUNK).enumerate() {
            let steps = (index * CHUNK..).zip(statements).map(|(step, &at)| {
                let (step, evaluated) = (step as u32, self.step(at, &evaluation));
                let evaluated = self.in_turn(evaluated, &turns);
                match self.lowered.lints.get(&StatementId::new(at)) {
                    Some(levels) => quote!(#step => { #(#levels)* let done = #evaluated; done }),
                    None => quote!(#step => #evaluated,),
                }
            });
            let chunk = format_ident!("__evaluate_{index}");
            chunks.extend(quote! {
                fn #chunk(
                    #args: &#function::Values<'_>,
                    #number: u32,
                    #turns: &[u64],
                    #evaluation: &mut ::cuweave::__private::Evaluation<'_>,
                ) -> ::cuweave::Result<()> {
                    let #function::Values { #(#scalars,)* .. } = #args;
                    #(let #scalars = *#scalars;)*
                    match #number {
                        #(#steps)*
                        _ => ::core::result::Result::Ok(()),
                    }
                }
            });
            let end = (index * CHUNK + statements.len()) as u32;
            arms.extend(quote!(..#end => #chunk(self, step, turns, evaluation),));
        }
        let body = quote!(match step { #arms _ => ::core::result::Result::Ok(()) });
        (chunks, body)
    }

    /// Returns functions that give the values of some expressions of bounds each, and the body that calls the right one.
    pub fn leaves(&self, function: &Ident, scalars: &[&Ident]) -> (TokenStream, TokenStream) {
        let [values, number, turns] =
            ["values", "number", "turns"].map(|name| Ident::new(name, Span::mixed_site()));
        let mut chunks = TokenStream::new();
        let mut arms = TokenStream::new();
        for (index, leaves) in self.lowered.leaves.chunks(CHUNK).enumerate() {
            let numbers = (index * CHUNK..).map(|number| number as u32);
            let leaves_of_chunk = numbers.zip(leaves).map(|(number, leaf)| {
                let leaf = self.in_turn(leaf.clone(), &turns);
                quote!(#number => #leaf,)
            });
            let chunk = format_ident!("__leaf_{index}");
            chunks.extend(quote! {
                fn #chunk(
                    #values: &#function::Values<'_>,
                    #number: u32,
                    #turns: &[u64],
                ) -> ::cuweave::__private::Dim {
                    let #function::Values { #(#scalars,)* .. } = #values;
                    #(let #scalars = *#scalars;)*
                    match #number {
                        #(#leaves_of_chunk)*
                        _ => ::cuweave::__private::dim(0u64),
                    }
                }
            });
            let end = (index * CHUNK + leaves.len()) as u32;
            arms.extend(quote!(..#end => #chunk(self, number, turns),));
        }
        (chunks, quote!(match number { #arms _ => ::cuweave::__private::dim(0u64) }))
    }

    /// Returns a function that gives the numbers of the arms that choices take, and the body that calls it.
    pub fn arms(&self, function: &Ident, scalars: &[&Ident]) -> (TokenStream, TokenStream) {
        if self.lowered.choices.is_empty() {
            return (TokenStream::new(), quote!(0));
        }
        let [values, number, turns] =
            ["values", "number", "turns"].map(|name| Ident::new(name, Span::mixed_site()));
        let choices = (0u32..).zip(&self.lowered.choices).map(|(number, choice)| {
            let choice = self.in_turn(choice.to_token_stream(), &turns);
            quote!(#number => #choice,)
        });
        let function = quote! {
            fn __arm(#values: &#function::Values<'_>, #number: u32, #turns: &[u64]) -> u32 {
                let #function::Values { #(#scalars,)* .. } = #values;
                #(let #scalars = *#scalars;)*
                match #number {
                    #(#choices)*
                    _ => 0,
                }
            }
        };
        (function, quote!(__arm(self, number, turns)))
    }

    /// Returns a function that enters the functions that steps call, and the body that calls it.
    pub fn calls(&self, function: &Ident, scalars: &[&Ident]) -> (TokenStream, TokenStream) {
        let [values, number, turns, enter] =
            ["values", "number", "turns", "enter"].map(|name| Ident::new(name, Span::mixed_site()));
        let mut arms = TokenStream::new();
        for (step, &at) in (0u32..).zip(&self.first) {
            let Kind::Call(CallSyntax { callee, arguments, .. }) = &self.lowered.kinds[at] else { continue };
            let arguments = arguments.iter().map(|argument| match argument {
                LaunchArgument::Scalar(value) => quote!(#value),
                LaunchArgument::Buffer(index) => self.marker(at, *index),
                LaunchArgument::Part(part) => quote!(#part),
                LaunchArgument::Field(index, borrow) => self.field(at, *index as usize, *borrow),
            });
            let Some(last) = callee.segments.last().map(|last| &last.ident) else { continue };
            let call = quote_spanned!(callee.span()=> #callee::#last::__call(#(#arguments),*));
            let entered = self.in_turn(quote!(#enter(&#call)), &turns);
            arms.extend(quote!(#step => { #entered }));
        }
        if arms.is_empty() {
            return (TokenStream::new(), TokenStream::new());
        }
        let function = quote! {
            fn __enter(
                #values: &#function::Values<'_>,
                #number: u32,
                #turns: &[u64],
                #enter: &mut dyn ::core::ops::FnMut(&dyn ::cuweave::__private::Body),
            ) {
                let #function::Values { #(#scalars,)* .. } = #values;
                #(let #scalars = *#scalars;)*
                match #number {
                    #arms
                    _ => {}
                }
            }
        };
        (function, quote!(__enter(self, step, turns, enter)))
    }

    /// Returns an expression with the variables of the loops that it mentions in scope, of the types of their ranges.
    fn in_turn(&self, expression: TokenStream, turns: &Ident) -> TokenStream {
        let roots = &self.lowered.roots;
        let expression = if roots.is_empty() { expression } else { indexed(expression, roots) };
        let mut mentioned: BTreeSet<VariableId> = turns_in(expression.clone()).into_iter().collect();
        // The ranges of inner loops mention outer ones, which have lower numbers.
        for variable in ids::<VariableId>(self.lowered.turns.len()).rev() {
            if mentioned.contains(&variable) {
                let range = &self.lowered.turns[variable.index()].range;
                mentioned.extend(turns_in(range.to_token_stream()));
            }
        }
        if mentioned.is_empty() {
            return expression;
        }
        let bindings = mentioned.iter().map(|&variable| {
            let (name, at) = (turn(variable), variable.index());
            let range = &self.lowered.turns[at].range;
            // The closure is never called: it says the type of the range.
            quote!(let #name = ::cuweave::__private::turn(|| #range, #turns[#at]);)
        });
        quote!({ #(#bindings)* #expression })
    }

    /// The expression that evaluates a step.
    fn step(&self, at: usize, evaluation: &Ident) -> TokenStream {
        match &self.lowered.kinds[at] {
            Kind::Call(_) | Kind::Alloc(_) | Kind::Free(_) => quote!(::core::result::Result::Ok(())),
            Kind::Copy(()) if self.part(at, 0).is_some() || self.part(at, 1).is_some() => {
                let (from, to) = (self.element_of(at, 0, false), self.element_of(at, 1, true));
                let span = self.lowered.spans.accesses[at][1];
                let same = quote_spanned!(span=> ::cuweave::__private::mark::same(#from, #to););
                quote!({ #same #evaluation.copy() })
            }
            Kind::Copy(()) => {
                let (from, to) = (self.element(at, 0), self.element(at, 1));
                // rustc holds one element type against the other, at the destination.
                let span = self.lowered.spans.accesses[at][1];
                let same = quote_spanned! {span=>
                    let _: ::core::marker::PhantomData<#from> = ::core::marker::PhantomData::<#to>;
                };
                quote!({ #same #evaluation.copy() })
            }
            Kind::Fill(value) if self.part(at, 0).is_some() => {
                let element = self.element_of(at, 0, true);
                let fill = quote_spanned!(self.lowered.spans.accesses[at][0]=> fill_part);
                quote!(#evaluation.#fill(#element, #value))
            }
            Kind::Fill(value) => {
                let element = self.element(at, 0);
                // rustc says at the buffer that its elements cannot be filled with.
                let fill = quote_spanned!(self.lowered.spans.accesses[at][0]=> fill::<#element>);
                quote!(#evaluation.#fill(#value))
            }
            Kind::Launch(LaunchSyntax { kernel, config, arguments, .. }) => {
                let arguments = arguments.iter().map(|argument| match argument {
                    LaunchArgument::Scalar(value) => quote!(#value),
                    LaunchArgument::Buffer(index) => self.marker(at, *index),
                    LaunchArgument::Part(part) => quote!(#part),
                    LaunchArgument::Field(index, borrow) => self.field(at, *index as usize, *borrow),
                });
                // rustc points at the kernel where the number of arguments is wrong.
                let call = quote_spanned!(kernel.span()=> <#kernel>::__launch(#(#arguments),*));
                // Only an item of `#[kernels]` has this: a type of the user's with a `__launch` is no kernel.
                let item = quote_spanned! {kernel.span()=>
                    <#kernel as ::cuweave::__private::KernelItem>::kernel(::cuweave::__private::Token)
                };
                let config = launch::tokens(config, &self.lowered.integers);
                quote!(#evaluation.run(#item, #config, #call))
            }
        }
    }

    /// Returns the argument for a buffer of a launch, whose type rustc holds against the declaration.
    fn marker(&self, at: usize, index: u32) -> TokenStream {
        let kind = match self.statement(at).accesses[index as usize].mode {
            Mode::Read => "Shared",
            Mode::ReadWrite => "Unique",
            Mode::Write => "Fresh",
            Mode::Atomic => "Atomic",
        };
        let span = self.lowered.spans.accesses[at][index as usize];
        let (kind, buffer) = (ident(kind), named(self.buffer_name(at, index as usize)));
        if let Some(part) = self.part(at, index as usize) {
            return quote_spanned!(span=> ::cuweave::__private::mark::#kind::<__buffers::#buffer, _>::of(#index, &#part));
        }
        let element = self.element(at, index as usize);
        quote_spanned!(span=> ::cuweave::__private::mark::#kind::<__buffers::#buffer, #element>::at(#index))
    }

    /// Returns the argument for a field of a record in a call.
    fn field(&self, at: usize, access: usize, borrow: Borrow) -> TokenStream {
        let function = ident(if borrow == Borrow::Mutable { "lent_mut" } else { "lent" });
        let (name, part) = (named(self.buffer_name(at, access)), self.part(at, access));
        let span = self.lowered.spans.accesses[at][access];
        quote_spanned! {span=>
            ::cuweave::__private::mark::#function(::core::marker::PhantomData::<__buffers::#name>, &#part)
        }
    }

    /// Returns the assertions that kernels take the literals of their configurations, each once.
    pub fn assertions(&self) -> TokenStream {
        let mut told = BTreeSet::new();
        let mut assertions = TokenStream::new();
        for &at in &self.first {
            let Kind::Launch(LaunchSyntax { kernel, literals, .. }) = &self.lowered.kinds[at] else {
                continue;
            };
            for literal in literals {
                let start = literal.span.start();
                if told.insert((start.line, start.column, &literal.values)) {
                    assertions.extend(literal.assertion(kernel));
                }
            }
        }
        assertions
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    /// How often rustc has to check a launch, in a function of these statements.
    fn launches(statements: impl Iterator<Item = String>) -> usize {
        let body: String = statements.collect();
        let function = format!(
            "fn f(n: u32, by: f32, x: &mut [f32; n], y: &mut [f64; n], w: [&mut [f32; n]; 4]) {{\n{body}}}"
        );
        let function = TokenStream::from_str(&function).expect("tokens");
        let expanded = crate::graph::graph(TokenStream::new(), function).to_string();
        assert!(!expanded.contains("compile_error"), "{expanded}");
        expanded.matches("__launch").count()
    }

    fn line(buffer: &str, by: &str) -> String {
        format!("scale[per_item(n)](&mut {buffer}, {by}, n);\n")
    }

    #[test]
    fn in_a_small_function_every_place_is_checked() {
        assert_eq!(launches((0..LARGE - 1).map(|_| line("x", "by"))), LARGE - 1);
    }

    #[test]
    fn the_turns_of_a_loop_share_what_they_can() {
        assert_eq!(launches([format!("for i in 0..4 {{ {} }}", line("w[i]", "by"))].into_iter()), 1);
        assert_eq!(launches([format!("for i in 0..4 {{ {} }}", line("w[i]", "i"))].into_iter()), 4);
    }

    #[test]
    fn in_a_large_function_what_is_alike_is_checked_once() {
        let buffers = ["w[0]", "w[1]", "x", "w[2]"];
        assert_eq!(launches((0..LARGE).map(|at| line(buffers[at % 4], "by"))), 1);
        // Another scalar, another element type, another way to borrow.
        assert_eq!(launches((0..LARGE).map(|at| line("x", ["by", "2.0"][at % 2]))), 2);
        assert_eq!(launches((0..LARGE).map(|at| line(["x", "y"][at % 2], "by"))), 2);
        let borrows = |at: usize| line("x", "by").replace("&mut", ["&mut", "&"][at % 2]);
        assert_eq!(launches((0..LARGE).map(borrows)), 2);
    }
}
