//! Generates the evaluation of statements: a step of generated code for each one, or one step shared by
//! similar statements.
//!
//! rustc takes a millisecond or more to check a step. In a small function every source position has its own
//! step, so that rustc reports all wrong positions. In a large one, similar statements share a step: those
//! with the same kernel, configuration, scalars, and kinds and element types of buffers. rustc then reports
//! only the first of them.

use std::collections::{BTreeSet, HashMap};
use std::mem::{Discriminant, discriminant};

use cuweave_core::ids::VariableId;
use cuweave_core::index::{Index, ids};
use cuweave_core::ir::{StatementId, StatementKind};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Path, Type};

use super::generics::TypeParameters;
use super::launch::{self, ConfigLiteral, LiteralKey};
use super::lower::builtins::{self, StatementContext};
use super::lower::{
    LaunchArgument, Lowered, StatementSyntax, collect_names, collect_record_scalars, indices_in, wrap_indices,
};
use super::paths;
use crate::dims::index_ident;

/// The number of steps per generated function. rustc's time for a function grows superlinearly with its
/// length.
const STEPS_PER_FUNCTION: usize = 64;
/// The number of statement positions from which similar statements share a step.
const MIN_POSITIONS_TO_SHARE: usize = 512;

/// The steps of a function.
pub struct Steps<'l> {
    lowered: &'l Lowered,
    /// The step of each statement. It is 0 for statements without evaluation.
    pub by_statement: Vec<u32>,
    /// The first statement of each step.
    first: Vec<usize>,
}

/// The properties that statements with a common step share.
#[derive(PartialEq, Eq, Hash)]
struct StepKey<'l> {
    kind: Discriminant<StatementKind>,
    /// The kernel or the callee.
    path: Option<&'l Path>,
    config: Option<&'l Expr>,
    arguments: Vec<ArgumentKey<'l>>,
    /// The number of results that a call binds.
    returns: Option<usize>,
    levels: Option<&'l [Attribute]>,
    /// Line and column. None in a large function.
    place: Option<(usize, usize)>,
}

#[derive(PartialEq, Eq, Hash)]
enum ArgumentKey<'l> {
    Scalar(&'l Expr),
    /// A buffer: its marker, its name for rustc's messages (None in a large function), and its element
    /// type.
    Buffer(&'static str, Option<&'l str>, &'l Type),
    /// A buffer that is a component of an argument.
    Field(&'static str, Option<&'l str>, &'l Expr),
    /// A record or a list.
    Part(&'l Expr),
}

/// The first literal at a source position, and the values of all literals there. They differ by the
/// iteration of a loop.
type LiteralValues<'l> = (&'l ConfigLiteral, BTreeSet<&'l [u32]>);

/// A prefix that marks record scalars among names.
pub const RECORD_SCALAR_MARK: char = '@';

impl<'l> Steps<'l> {
    /// Assigns the statements to steps.
    pub fn new(lowered: &'l Lowered) -> Steps<'l> {
        let places: BTreeSet<(usize, usize)> = lowered.spans.positions.iter().copied().collect();
        let large = places.len() >= MIN_POSITIONS_TO_SHARE;
        let statements = lowered.source.program.statements.len();
        let mut steps = Steps { lowered, by_statement: Vec::with_capacity(statements), first: Vec::new() };
        let mut known: HashMap<StepKey<'l>, u32> = HashMap::new();
        for at in 0..statements {
            let Some(step_key) = steps.step_key(at, large) else {
                steps.by_statement.push(0);
                continue;
            };
            let next = steps.first.len() as u32;
            let step = *known.entry(step_key).or_insert(next);
            if step == next {
                steps.first.push(at);
            }
            steps.by_statement.push(step);
        }
        steps
    }

    /// Returns a statement with its context.
    fn statement(&self, at: usize) -> StatementContext<'l> {
        StatementContext::new(self.lowered, at)
    }

    /// Returns the properties by which a statement shares a step. None for memory statements and faulty
    /// ones, which have no step.
    fn step_key(&self, at: usize, large: bool) -> Option<StepKey<'l>> {
        let of = self.statement(at);
        if of.statement.kind.is_memory() || of.syntax.faulty {
            return None;
        }
        let buffer = |index: u32, mark: &'static str| {
            let (index, name) = (index as usize, (!large).then(|| of.buffer_name(index as usize)));
            match of.place_expr(index) {
                Some(part) => ArgumentKey::Field(mark, name, part),
                None => ArgumentKey::Buffer(mark, name, of.element(index)),
            }
        };
        let given = |argument: &'l LaunchArgument| match argument {
            LaunchArgument::Scalar(value) => ArgumentKey::Scalar(value),
            LaunchArgument::Part(part) => ArgumentKey::Part(part),
            LaunchArgument::Buffer(index)
            | LaunchArgument::Moved(index)
            | LaunchArgument::Field(index, _)
            | LaunchArgument::InSome(index, _) => buffer(*index, of.mark(argument).unwrap_or_default()),
        };
        Some(StepKey {
            kind: discriminant(&of.statement.kind),
            path: of.syntax.path.as_ref(),
            config: of.syntax.config.as_ref(),
            arguments: of.syntax.arguments.iter().map(given).collect(),
            returns: of.syntax.returns,
            levels: self.lowered.lints.get(&StatementId::new(at)).map(Vec::as_slice),
            place: (!large).then(|| self.lowered.spans.positions[at]),
        })
    }

    /// Returns the names in the configuration and the arguments of each step.
    pub fn mentioned(&self) -> Vec<BTreeSet<String>> {
        let one = |&at: &usize| {
            let syntax = self.statement(at).syntax;
            self.names(syntax.scalars().chain(&syntax.config))
        };
        self.first.iter().map(one).collect()
    }

    /// Returns the names in each argument of each step. Buffers, records and lists contribute none.
    pub fn arguments(&self) -> Vec<Vec<BTreeSet<String>>> {
        let of = |argument: &LaunchArgument| match argument {
            LaunchArgument::Scalar(value) => self.names([value]),
            LaunchArgument::Buffer(_)
            | LaunchArgument::Moved(_)
            | LaunchArgument::Part(_)
            | LaunchArgument::Field(..)
            | LaunchArgument::InSome(..) => BTreeSet::new(),
        };
        let one = |&at: &usize| self.statement(at).syntax.arguments.iter().map(of).collect();
        self.first.iter().map(one).collect()
    }

    /// Returns the names in each step's configuration: those in the grid, and those in the block and the
    /// shared memory.
    pub fn configured(&self) -> Vec<[BTreeSet<String>; 2]> {
        let one = |&at: &usize| match &self.statement(at).syntax.config {
            Some(config) => launch::configured_by(config).map(|part| self.names(part)),
            None => Default::default(),
        };
        self.first.iter().map(one).collect()
    }

    /// Returns the names in tokens. Record scalars are prefixed by [`RECORD_SCALAR_MARK`].
    pub fn names<T: ToTokens>(&self, tokens: impl IntoIterator<Item = T>) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut fields = BTreeSet::new();
        for tokens in tokens {
            let tokens = tokens.to_token_stream();
            if !self.lowered.arguments.roots.is_empty() {
                collect_record_scalars(tokens.clone(), &self.lowered.arguments.roots, &mut fields);
            }
            collect_names(tokens, &mut names);
        }
        names.extend(fields.into_iter().map(|field| format!("{RECORD_SCALAR_MARK}{field}")));
        names
    }

    /// Generates functions that evaluate up to [`STEPS_PER_FUNCTION`] steps each, and the dispatching body of
    /// `evaluate`.
    ///
    /// The user's expressions are in free functions, so that they cannot name `self` or generated names.
    pub fn evaluation(&self, function: &Ident, scalars: &[&Ident]) -> (TokenStream, TokenStream) {
        // Mixed-site names, which cannot collide with names in the user's expressions.
        let [args, number, indices, evaluation] =
            ["args", "step", "indices", "evaluation"].map(|name| Ident::new(name, Span::mixed_site()));
        let mut chunks = TokenStream::new();
        let mut arms = TokenStream::new();
        for (index, statements) in self.first.chunks(STEPS_PER_FUNCTION).enumerate() {
            let steps = (index * STEPS_PER_FUNCTION..).zip(statements).map(|(step, &at)| {
                let (step, evaluated) = (step as u32, builtins::evaluation(&self.statement(at), &evaluation));
                let evaluated = self.with_indices(evaluated, &indices);
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
                    #indices: &[i64],
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
            let end = (index * STEPS_PER_FUNCTION + statements.len()) as u32;
            arms.extend(quote!(..#end => #chunk(self, step, indices, evaluation),));
        }
        let body = quote!(match step { #arms _ => ::core::result::Result::Ok(()) });
        (chunks, body)
    }

    /// Generates functions that evaluate up to [`STEPS_PER_FUNCTION`] leaves each, and the dispatching body of `leaf`.
    pub fn leaves(
        &self,
        function: &Ident,
        scalars: &[&Ident],
        types: &TypeParameters,
    ) -> (TokenStream, TokenStream) {
        let [values, number, indices] =
            ["values", "number", "indices"].map(|name| Ident::new(name, Span::mixed_site()));
        let mut chunks = TokenStream::new();
        let mut arms = TokenStream::new();
        for (index, leaves) in self.lowered.leaves.chunks(STEPS_PER_FUNCTION).enumerate() {
            let numbers = (index * STEPS_PER_FUNCTION..).map(|number| number as u32);
            let leaves_of_chunk = numbers.zip(leaves).map(|(number, leaf)| {
                let leaf = self.with_indices(leaf.clone(), &indices);
                quote!(#number => #leaf,)
            });
            let chunk = format_ident!("__leaf_{index}");
            let (declared, names, conditions) = (types.declared(), types.names(), types.conditions());
            chunks.extend(quote! {
                fn #chunk<#declared>(
                    #values: &#function::Values<'_, #names>,
                    #number: u32,
                    #indices: &[i64],
                ) -> ::cuweave::__private::Dim
                #conditions
                {
                    let #function::Values { #(#scalars,)* .. } = #values;
                    #(let #scalars = *#scalars;)*
                    match #number {
                        #(#leaves_of_chunk)*
                        _ => ::cuweave::__private::dim(0u64),
                    }
                }
            });
            let end = (index * STEPS_PER_FUNCTION + leaves.len()) as u32;
            arms.extend(quote!(..#end => #chunk(self, number, indices),));
        }
        (chunks, quote!(match number { #arms _ => ::cuweave::__private::dim(0u64) }))
    }

    /// Generates a function that returns the index of the arm that a choice takes, and the body that calls
    /// it. Empty without choices.
    pub fn arms(&self, function: &Ident, scalars: &[&Ident]) -> (TokenStream, TokenStream) {
        if self.lowered.loops.choices.is_empty() {
            return (TokenStream::new(), TokenStream::new());
        }
        let [values, number, indices] =
            ["values", "number", "indices"].map(|name| Ident::new(name, Span::mixed_site()));
        let choices = (0u32..).zip(&self.lowered.loops.choices).map(|(number, choice)| {
            let choice = self.with_indices(choice.to_token_stream(), &indices);
            quote!(#number => #choice,)
        });
        let function = quote! {
            fn __arm(#values: &#function::Values<'_>, #number: u32, #indices: &[i64]) -> u32 {
                let #function::Values { #(#scalars,)* .. } = #values;
                #(let #scalars = *#scalars;)*
                match #number {
                    #(#choices)*
                    _ => 0,
                }
            }
        };
        (function, quote!(__arm(self, number, indices)))
    }

    /// Generates a function that is never called. In it rustc checks the values of scalars against their
    /// types.
    pub fn typed(&self, function: &Ident, scalars: &[&Ident]) -> TokenStream {
        if self.lowered.typed.is_empty() {
            return TokenStream::new();
        }
        let [values, indices] = ["values", "indices"].map(|name| Ident::new(name, Span::mixed_site()));
        let typed =
            self.lowered.typed.iter().map(|value| self.with_indices(value.to_token_stream(), &indices));
        quote! {
            fn __typed(#values: &#function::Values<'_>, #indices: &[i64]) {
                let #function::Values { #(#scalars,)* .. } = #values;
                #(let #scalars = *#scalars;)*
                #(let _ = #typed;)*
            }
        }
    }

    /// Generates a function that enters the callees of steps, and the body that calls it. Empty without
    /// calls.
    pub fn calls(&self, function: &Ident, scalars: &[&Ident]) -> (TokenStream, TokenStream) {
        let [values, number, indices, enter] =
            ["values", "number", "indices", "enter"].map(|name| Ident::new(name, Span::mixed_site()));
        let mut arms = TokenStream::new();
        for (step, &at) in (0u32..).zip(&self.first) {
            let of = self.statement(at);
            let (StatementKind::Call(_), Some(callee)) = (of.statement.kind, &of.syntax.path) else {
                continue;
            };
            let Some(number) = self.lowered.callees.iter().position(|known| known.path == *callee) else {
                continue;
            };
            let (found, arguments) = (paths::called(callee, number), of.arguments());
            let returning = of.syntax.returns.map(|count| {
                let mut count = Literal::usize_unsuffixed(count);
                count.set_span(callee.span());
                quote_spanned!(callee.span()=> .__returning::<#count>())
            });
            let call = quote_spanned!(callee.span()=> #found #returning.__call(#(#arguments),*));
            let entered = self.with_indices(quote!(#enter(&#call)), &indices);
            arms.extend(quote!(#step => { #entered }));
        }
        if arms.is_empty() {
            return (TokenStream::new(), TokenStream::new());
        }
        let function = quote! {
            fn __enter(
                #values: &#function::Values<'_>,
                #number: u32,
                #indices: &[i64],
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
        (function, quote!(__enter(self, step, indices, enter)))
    }

    /// Wraps an expression in bindings of the loop indices that it mentions. Each index has the type of its
    /// range.
    fn with_indices(&self, expression: TokenStream, indices: &Ident) -> TokenStream {
        let roots = &self.lowered.arguments.roots;
        let expression = if roots.is_empty() { expression } else { wrap_indices(expression, roots) };
        let mut mentioned: BTreeSet<VariableId> = indices_in(expression.clone()).into_iter().collect();
        // Ranges of inner loops may mention outer loops, which have lower numbers.
        for variable in ids::<VariableId>(self.lowered.loops.build_loops.len()).rev() {
            if mentioned.contains(&variable) {
                let range = &self.lowered.loops.build_loops[variable.index()].range;
                mentioned.extend(indices_in(range.to_token_stream()));
            }
        }
        if mentioned.is_empty() {
            return expression;
        }
        let bindings = mentioned.iter().map(|&variable| {
            let (name, at) = (index_ident(variable), variable.index());
            let range = &self.lowered.loops.build_loops[at].range;
            // The closure is never called. It only determines the type of the range.
            quote!(let #name = ::cuweave::__private::loop_variable(|| #range, #indices[#at]);)
        });
        quote!({ #(#bindings)* #expression })
    }

    /// Generates the implementation of `HoldsHost`, which says if the function holds a statement that may
    /// not be in a conditional body, and assertions that no function called inside such a body holds one.
    pub fn bodies(&self, function: &Ident) -> TokenStream {
        let program = &self.lowered.source.program;
        let own = program.statements.iter().any(|statement| !statement.kind.is_allowed_in_body());
        let callees = self.lowered.callees.iter().enumerate();
        let inner = callees.map(|(number, callee)| paths::holds_host(&callee.path, number));
        let in_bodies: BTreeSet<usize> = self
            .lowered
            .syntax
            .iter()
            .filter(|syntax| syntax.in_body)
            .filter_map(|syntax| {
                let path = syntax.path.as_ref()?;
                self.lowered.callees.iter().position(|callee| callee.path == *path)
            })
            .collect();
        let assertions = in_bodies.into_iter().map(|number| {
            let path = &self.lowered.callees[number].path;
            let holds = paths::holds_host(path, number);
            let name = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            let text = format!(
                "`{name}` holds a host statement or an event, and cannot be called in the body of an `if`, `while` or \
                    `match` on a buffer"
            );
            quote_spanned!(path.span()=> const _: () = ::core::assert!(!#holds, #text);)
        });
        quote! {
            #[doc(hidden)]
            impl ::cuweave::__private::HoldsHost for #function::__Item {
                const HOST: bool = #own #(|| #inner)*;
            }
            #(#assertions)*
        }
    }

    /// Generates the assertions that kernels accept their literal configurations: one per source position,
    /// with all values there.
    pub fn assertions(&self) -> TokenStream {
        let mut places: HashMap<(LiteralKey, &Path), LiteralValues<'l>> = HashMap::new();
        let mut order: Vec<(LiteralKey, &Path)> = Vec::new();
        for &at in &self.first {
            let StatementSyntax { path: Some(kernel), literals, .. } = self.statement(at).syntax else {
                continue;
            };
            for literal in literals {
                let place = (literal.place(), kernel);
                let (_, values) = places.entry(place).or_insert_with(|| {
                    order.push(place);
                    (literal, BTreeSet::new())
                });
                values.insert(&literal.values);
            }
        }
        let assertion = |place: &(LiteralKey, &Path)| {
            let (literal, values) = places.get(place)?;
            let values: Vec<&[u32]> = values.iter().copied().collect();
            Some(literal.assertion(&values, place.1))
        };
        order.iter().filter_map(assertion).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    /// Returns the number of launches that rustc checks in a function of these statements.
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
        assert_eq!(
            launches((0..MIN_POSITIONS_TO_SHARE - 1).map(|_| line("x", "by"))),
            MIN_POSITIONS_TO_SHARE - 1
        );
    }

    #[test]
    fn the_turns_of_a_loop_share_what_they_can() {
        assert_eq!(launches([format!("for i in 0..4 {{ {} }}", line("w[i]", "by"))].into_iter()), 1);
        assert_eq!(launches([format!("for i in 0..4 {{ {} }}", line("w[i]", "i"))].into_iter()), 4);
    }

    #[test]
    fn in_a_large_function_what_is_alike_is_checked_once() {
        let buffers = ["w[0]", "w[1]", "x", "w[2]"];
        assert_eq!(launches((0..MIN_POSITIONS_TO_SHARE).map(|at| line(buffers[at % 4], "by"))), 1);
        // A different scalar, a different element type, a different borrow.
        assert_eq!(launches((0..MIN_POSITIONS_TO_SHARE).map(|at| line("x", ["by", "2.0"][at % 2]))), 2);
        assert_eq!(launches((0..MIN_POSITIONS_TO_SHARE).map(|at| line(["x", "y"][at % 2], "by"))), 2);
        let borrows = |at: usize| line("x", "by").replace("&mut", ["&mut", "&"][at % 2]);
        assert_eq!(launches((0..MIN_POSITIONS_TO_SHARE).map(borrows)), 2);
    }
}
