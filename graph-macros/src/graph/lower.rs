//! From tokens to the IR: statements in program order, loops unrolled, names resolved, views as ranges of their
//! buffers. Syntax outside the language is CW001; statements that depend on a faulty name are left out without further errors.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::ids::{ArgumentId, ScalarId, VariableId};
use cuweave_core::index::{Index, Vector, ids};
use cuweave_core::ir::{
    self, Access, Buffer, BufferId, CallId, Device, DimId, Kind, Options, Order, Origin, Program, Statement,
    StatementId,
};
use cuweave_core::order::{Regions, Source};
use cuweave_core::sample::Condition;
use cuweave_core::structure::{Around, Call, Item, Structure};
use cuweave_core::table::{Op, tell_apart};
use cuweave_ptx::poly::{Poly, Symbols};
use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Block, Expr, Path, Type};

use super::launch::Literal;
use super::options::OptionValues;
use super::paths::Callee;
use super::place::{Parts, Uses};
use super::scope::{Binding, Borrow, Scopes, View};
use super::signature::{ArgumentKind, Signature};
use crate::dims::{Bound, turn, variable};
use crate::meaning::Meaning;
use crate::report::Report;

mod after;
mod arguments;
mod arrays;
mod calls;
mod conditionals;
mod conditions;
mod devices;
mod elements;
mod expressions;
mod functions;
mod host_statements;
mod hosts;
pub mod kinds;
mod lets;
pub mod library;
mod names;
mod numbers;
mod optional;
mod places;
mod pointers;
mod refused;
mod spans;
mod statements;
mod structure;
mod syncs;
mod tail;
mod views;

pub use names::{chains, collect, indexed};
pub use numbers::{Turn, expression, turns_in};
use numbers::{codes, readable, scalars, scalars_in, variables};
pub use spans::Spans;

/// A lowered function: the IR, and the syntax that generated code needs.
pub struct Lowered {
    pub source: Source,
    /// The postfix code of each of the program's dims.
    pub dims: Vec<Vec<Op>>,
    /// The leaves of that code: the user's expressions, converted to `Dim`.
    pub leaves: Vec<TokenStream>,
    /// Names of the integer arguments. Arithmetic on them is done in 64 bits and checked.
    pub integers: BTreeSet<String>,
    /// Names of the scalar arguments that an expression names.
    pub mentioned: BTreeSet<String>,
    /// The element type of each buffer.
    pub elements: Vec<Type>,
    /// The expressions of each statement.
    pub syntax: Vec<Syntax>,
    /// The lint levels of the statements that set any.
    pub lints: BTreeMap<StatementId, Vec<Attribute>>,
    /// The first buffer of each argument; `None` if the argument is no buffer.
    pub argument_buffers: Vec<Option<BufferId>>,
    /// The spans of faults.
    pub spans: Spans,
    /// The nesting of the statements.
    pub structure: Structure,
    /// The loops that are unrolled when the graph is built.
    pub turns: Vec<Turn>,
    /// The `if`s and `match`es, as expressions that return the number of the arm taken.
    pub choices: Vec<Expr>,
    /// The values of scalars with a written type, as expressions of that type.
    pub typed: Vec<Expr>,
    /// The conditions of the choices, which the check samples.
    pub conditions: Vec<Condition>,
    /// The polynomial variable of each loop in `turns`.
    pub variables: Vector<VariableId, Poly>,
    /// The names that `let` gives to statements.
    pub named: Vec<String>,
    /// The graph functions that it calls, without duplicates.
    pub callees: Vec<Callee>,
    /// The expressions by which generated code names the buffers that are parts of arguments.
    pub part_exprs: Uses,
    /// The names of the arguments.
    pub argument_names: Vector<ArgumentId, String>,
    /// The names of the arguments that have parts.
    pub roots: BTreeSet<String>,
    /// The scalars of records that arguments of calls mention, in the order of their numbers.
    pub field_scalars: Vec<String>,
    /// The names of the host values that host statements and events keep.
    pub kept: BTreeSet<String>,
    /// The labels of the loops with a limit.
    pub counted: Vec<Ident>,
    /// Names used as buffers that are not bound in the function. rustc reports them.
    pub unknown: Vec<Ident>,
    /// True if the function is faulty. Only its signature is generated then.
    pub faulty: bool,
}

/// The user's expressions in a statement, whatever its kind: generated code evaluates them.
#[derive(Default)]
pub struct Syntax {
    /// The kernel of a launch, the callee of a call.
    pub path: Option<Path>,
    /// The configuration of a launch.
    pub config: Option<Expr>,
    /// The literals of the configuration.
    pub literals: Vec<Literal>,
    pub arguments: Vec<LaunchArgument>,
    /// True for a call in a body that the device decides about.
    pub in_body: bool,
    /// The number of allocations that a `let` names; `None` if its name may be that of the statement.
    pub returns: Option<usize>,
    /// True if an argument is faulty. Generated code does not evaluate the statement then, so that rustc reports nothing
    /// further.
    pub faulty: bool,
}

impl Syntax {
    /// Returns the expressions of scalars among the arguments.
    pub fn scalars(&self) -> impl Iterator<Item = &Expr> {
        self.arguments.iter().filter_map(|argument| match argument {
            LaunchArgument::Scalar(value) => Some(&**value),
            LaunchArgument::Buffer(_)
            | LaunchArgument::Moved(_)
            | LaunchArgument::Part(_)
            | LaunchArgument::Field(..)
            | LaunchArgument::Given(..) => None,
        })
    }
}

/// An argument of a statement.
pub enum LaunchArgument {
    Scalar(Box<Expr>),
    /// A buffer: the index of the statement's access.
    Buffer(u32),
    /// An allocation whose ownership passes to the callee: the index of the access.
    Moved(u32),
    /// A record or a list, for a graph function.
    Part(Box<Expr>),
    /// A field of a record, for a graph function: a buffer (then with the index of its access), a record or a list.
    Field(u32, Borrow),
    /// `Some` of a buffer, for a graph function: the index of the access, and how the field of a record is lent.
    Given(u32, Option<Borrow>),
}

/// A function being lowered.
struct Lowering<'r> {
    report: &'r mut Report,
    /// The name of the function.
    function: &'r Ident,
    /// True if the order is the user's.
    explicit: bool,
    symbols: Symbols,
    scopes: Scopes,
    /// Loop variables, innermost last.
    variables: Vec<(String, Meaning)>,
    /// The called graph functions, without duplicates.
    callees: Vec<Callee>,
    /// The calls of graph functions.
    calls: Vector<CallId, Call>,
    /// The numbers of the scalar arguments.
    scalar_numbers: BTreeMap<String, ScalarId>,
    /// The scalars of records that arguments of calls mention.
    field_scalars: Vec<String>,
    /// The names of the arguments that have parts.
    roots: BTreeSet<String>,
    /// The names of the arguments.
    argument_names: Vector<ArgumentId, String>,
    /// The parts of arguments.
    parts_of_arguments: Parts,
    /// Arguments with `#[at_least(n)]`.
    at_least: Vec<(ir::Text, DimId, u64)>,
    /// The items of the block that is being lowered.
    items: Vec<Item>,
    /// The loops that are unrolled when the graph is built, with their ranges as they are written.
    turns: Vec<Turn>,
    /// The loops around the statement that is being lowered, outermost first.
    around: Vec<Around>,
    /// True if there is a loop, a choice or a call, so that the items are nested.
    structured: bool,
    /// The `if`s and `match`es, as expressions that return the number of the arm taken.
    choices: Vec<Expr>,
    /// The values of scalars with a written type, as expressions of that type.
    typed: Vec<Expr>,
    /// The conditions of the choices, which the check samples.
    conditions: Vec<Condition>,
    /// The number of scopes around the innermost loop or arm that the build unrolls or chooses.
    outer_names: usize,
    /// The labels of the loops with a limit.
    counted: Vec<Ident>,
    /// The statement in front of the innermost body that the device decides about.
    body: Option<StatementId>,
    /// The value of `devices = expr`.
    devices: Option<Expr>,
    /// The device of the statements that name none.
    on: Option<DimId>,
    /// The names of the host values that host statements and events keep.
    kept: BTreeSet<String>,
    dims: Vector<DimId, Bound>,
    dim_ids: BTreeMap<Poly, DimId>,
    buffers: Vector<BufferId, Buffer>,
    elements: Vec<Type>,
    poisoned: Vector<BufferId, bool>,
    /// The ranges of arguments that are uninitialised on entry.
    fresh: Vec<(BufferId, DimId, DimId)>,
    /// The arguments among them whose contents are discarded before each launch.
    discarded: Vec<BufferId>,
    statements: Vector<StatementId, Statement>,
    syntax: Vec<Syntax>,
    lints: BTreeMap<StatementId, Vec<Attribute>>,
    /// The lint levels that the enclosing blocks set.
    levels: Vec<Attribute>,
    /// Parts of parts of buffers.
    parts: BTreeSet<ir::View>,
    outputs: Vec<BufferId>,
    /// The buffers on both sides of assignments and swaps of names.
    renames: Vec<BufferId>,
    spans: Spans,
    /// The outermost loop that is being unrolled.
    unrolling: Option<Unrolling>,
    /// The number of unrolled turns of that loop and of all loops inside it.
    unrolled: usize,
    /// True if a loop that is too long was reported.
    too_many: bool,
    /// True if syntax outside the language was refused.
    refused: bool,
    /// Names of scalar arguments.
    scalars: BTreeSet<String>,
    /// Names of the integer arguments. Arithmetic on them is done in 64 bits and checked.
    integers: BTreeSet<String>,
    /// The scalar arguments that an expression names.
    mentioned: BTreeSet<String>,
    returned_lengths: Vec<(BufferId, DimId, DimId)>,
    /// True if an `#[after]` names something unknown.
    order_unknown: bool,
    /// Names used as buffers that are not bound in the function. rustc reports them.
    unknown: Vec<Ident>,
}

/// A loop being unrolled: the number of statements before it, and its span.
#[derive(Clone, Copy)]
struct Unrolling {
    first: usize,
    span: Span,
}

/// A fault of the statement has been reported already.
struct Reported;
type Lower<T> = Result<T, Reported>;

impl<'r> Lowering<'r> {
    /// Returns the initial state of the lowering of a function.
    fn new(function: &'r Ident, signature: &Signature, report: &'r mut Report) -> Lowering<'r> {
        let parts = signature
            .arguments
            .iter()
            .filter(|argument| matches!(argument.kind, ArgumentKind::Part(_) | ArgumentKind::Array(..)));
        let names: Vec<String> =
            signature.arguments.iter().map(|argument| argument.name.to_string()).collect();
        Lowering {
            report,
            function,
            explicit: false,
            symbols: Symbols::default(),
            scopes: Scopes::new(),
            variables: Vec::new(),
            callees: Vec::new(),
            calls: Vector::new(),
            scalar_numbers: BTreeMap::new(),
            field_scalars: Vec::new(),
            argument_names: names.into(),
            roots: parts.map(|argument| argument.name.to_string()).collect(),
            parts_of_arguments: Parts::default(),
            at_least: Vec::new(),
            items: Vec::new(),
            turns: Vec::new(),
            around: Vec::new(),
            structured: false,
            choices: Vec::new(),
            typed: Vec::new(),
            conditions: Vec::new(),
            outer_names: 0,
            counted: Vec::new(),
            body: None,
            devices: None,
            on: None,
            kept: BTreeSet::new(),
            dims: Vector::new(),
            dim_ids: BTreeMap::new(),
            buffers: Vector::new(),
            elements: Vec::new(),
            poisoned: Vector::new(),
            fresh: Vec::new(),
            discarded: Vec::new(),
            statements: Vector::new(),
            syntax: Vec::new(),
            lints: BTreeMap::new(),
            levels: Vec::new(),
            parts: BTreeSet::new(),
            outputs: Vec::new(),
            renames: Vec::new(),
            spans: Spans::default(),
            unrolling: None,
            unrolled: 0,
            too_many: false,
            refused: false,
            scalars: BTreeSet::new(),
            integers: BTreeSet::new(),
            mentioned: BTreeSet::new(),
            returned_lengths: Vec::new(),
            order_unknown: false,
            unknown: Vec::new(),
        }
    }
}

/// Lowers a function. `body` is `None` if it does not parse.
pub fn lower(
    name: &Ident,
    file: String,
    options: Options,
    values: &OptionValues,
    signature: &Signature,
    body: Option<&Block>,
    report: &mut Report,
) -> Lowered {
    let mut lowering = Lowering::new(name, signature, report);
    lowering.explicit = options.order == Order::Explicit;
    lowering.dim(Bound::constant(0));
    (lowering.scalars, lowering.integers) = scalars(signature);
    let scalars =
        signature.arguments.iter().filter(|argument| matches!(argument.kind, ArgumentKind::Scalar(_)));
    lowering.scalar_numbers =
        scalars.map(|argument| argument.name.to_string()).zip((0..).map(ScalarId::from_u32)).collect();
    let argument_buffers = lowering.arguments(signature);
    signature.unknown.iter().for_each(|name| lowering.scopes.bind(name, Binding::Unknown));
    let options = Options {
        line: Span::call_site().start().line as u32,
        budget: values.budget.as_ref().map(|expr| {
            let bound = lowering.bound(expr);
            lowering.dim(bound)
        }),
        devices: values.devices.as_ref().map(|expr| {
            let bound = lowering.bound(expr);
            lowering.dim(bound)
        }),
        ..options
    };
    lowering.devices.clone_from(&values.devices);
    if let Some(body) = body {
        lowering.body(body, signature);
    }
    let (resolved, unknown) = lowering.scopes.leave();
    lowering.resolve(resolved);
    lowering.order_unknown |= !unknown.is_empty();
    for after in unknown {
        lowering.no_such_name(&after.name);
    }
    lowering.finish(name, file, options, argument_buffers)
}

impl Lowering<'_> {
    pub(super) fn finish(
        mut self,
        name: &Ident,
        file: String,
        options: Options,
        argument_buffers: Vec<Option<BufferId>>,
    ) -> Lowered {
        self.name_statements();
        let polys = self.dims.iter().map(|bound| bound.poly.clone()).collect();
        let (dims, leaves) = codes(self.dims.as_slice());
        let mut symbols = self.symbols;
        let symbols: Vector<VariableId, Poly> =
            ids(self.turns.len()).map(|number| variable(&turn(number), &mut symbols)).collect();
        let mut structure = Structure {
            body: if self.structured { self.items } else { Vec::new() },
            returned: self.returned_lengths,
            calls: self.calls,
            variables: variables(&self.turns, &dims, &leaves),
            leaf_variables: leaves.iter().map(|leaf| turns_in(leaf.clone())).collect(),
            leaf_scalars: leaves.iter().map(|leaf| scalars_in(leaf, &self.scalar_numbers)).collect(),
            parts: self.parts_of_arguments.list,
            at_least: self.at_least,
        };
        let program = Program {
            name: name.to_string().into(),
            file: file.into(),
            options,
            dims: self.dims.into_iter().map(|bound| readable(bound.text, &self.turns).into()).collect(),
            buffers: self.buffers,
            statements: self.statements,
            views: self.parts.into_iter().collect(),
            outputs: self.outputs.into(),
        };
        let places = &self.spans.places;
        tell_apart(&program, |at| places[at.index()].1 as u32 + 1, &mut structure.calls);
        Lowered {
            source: Source {
                program,
                polys,
                poisoned: self.poisoned,
                order_unknown: self.order_unknown,
                regions: Regions { fresh: self.fresh, discarded: self.discarded, ..Regions::default() },
            },
            dims,
            leaves,
            integers: self.integers,
            mentioned: self.mentioned,
            elements: self.elements,
            syntax: self.syntax,
            lints: self.lints,
            argument_buffers,
            spans: self.spans,
            structure,
            turns: self.turns,
            choices: self.choices,
            typed: self.typed,
            conditions: self.conditions,
            variables: symbols,
            named: self.scopes.known,
            callees: self.callees,
            part_exprs: self.parts_of_arguments.exprs,
            argument_names: self.argument_names,
            roots: self.roots,
            field_scalars: self.field_scalars,
            kept: self.kept,
            counted: self.counted,
            unknown: self.unknown,
            faulty: false,
        }
    }

    pub(super) fn buffer(
        &mut self,
        name: String,
        span: Span,
        origin: Origin,
        len: Bound,
        element: Type,
        borrow: Option<Borrow>,
    ) -> View {
        let dim = self.dim(len.clone());
        let buffer = self.buffers.push(Buffer {
            name: name.into(),
            line: span.start().line as u32,
            column: 0,
            file: None,
            origin,
            len: dim,
            element: 0,
            align: 0,
        });
        self.elements.push(element);
        self.spans.buffers.push(span);
        self.poisoned.push(false);
        View { buffer, lo: Bound::constant(0), hi: len, borrow }
    }

    pub(super) fn dim(&mut self, bound: Bound) -> DimId {
        let next = DimId::new(self.dims.len());
        let id = *self.dim_ids.entry(bound.poly.clone()).or_insert(next);
        if id == next {
            self.dims.push(bound);
        } else if bound.text.len() < self.dims[id].text.len() {
            self.dims[id] = bound;
        }
        id
    }

    pub(super) fn push(
        &mut self,
        name: String,
        span: Span,
        kind: Kind,
        syntax: Syntax,
        accesses: Vec<(Access, Span)>,
    ) -> StatementId {
        let start = span.start();
        self.spans.statements.push(span);
        self.spans.places.push((start.line, start.column));
        self.spans.accesses.push(accesses.iter().map(|access| access.1).collect());
        self.spans.after.push(Vec::new());
        self.syntax.push(syntax);
        let id = self.statements.push(Statement {
            name: name.into(),
            line: start.line as u32,
            column: 0,
            file: None,
            kind,
            accesses: accesses.into_iter().map(|access| access.0).collect(),
            after: Vec::new().into(),
            on: self.on,
            device: Device::FIRST,
        });
        self.items.push(Item::Statement(id));
        id
    }
}
