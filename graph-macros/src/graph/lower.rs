//! From tokens to the IR: statements in program order, loops unrolled, names resolved, views as ranges of their
//! buffers. What is not in the language is CW001; what hangs on a faulty name is left out and not spoken of again.

use std::collections::BTreeMap;

use cuweave_core::diagnostic::{Site, nearest};
use cuweave_core::ir::{
    Access, Buffer, BufferId, DimId, Kind, Mode, Options, Origin, Program, Statement, StatementId,
};
use cuweave_core::order::Source;
use cuweave_core::poly::{Poly, Symbols};
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Block, Expr, ExprCall, Local, Pat, RangeLimits, Stmt, Type};

use super::launch::configuration;
use super::scope::{AfterName, Binding, Borrow, Resolved, Scopes, View};
use super::signature::{ArgumentKind, BufferMemory, BufferType, Signature};
use crate::dims::{Bound, Substitute, constant};
use crate::report::Report;

/// More statements than this in one function are refused: the driver's own time per launch would be seconds.
pub const MOST_STATEMENTS: usize = 10_000;

/// A lowered function: the IR, and what only the expansion needs.
pub struct Lowered {
    pub source: Source,
    /// Computes each of the program's dims.
    pub dim_tokens: Vec<TokenStream>,
    /// The element type of each buffer.
    pub elements: Vec<Type>,
    /// What evaluates each statement.
    pub bodies: Vec<Body>,
    /// Index of the first buffer of each argument, for those that are buffers.
    pub argument_buffers: Vec<Option<BufferId>>,
    /// Where faults are.
    pub spans: Spans,
    /// There were faults: only the signature is left.
    pub faulty: bool,
}

/// What evaluates a statement.
pub enum Body {
    Launch { kernel: TokenStream, config: TokenStream, arguments: Vec<LaunchArgument> },
    Fill { value: TokenStream },
    Copy,
    Memory,
}

/// An argument of a launch.
pub enum LaunchArgument {
    Scalar(TokenStream),
    /// The statement's access of this index.
    Buffer(u32),
}

/// The spans behind the sites.
#[derive(Default)]
pub struct Spans {
    pub statements: Vec<Span>,
    pub accesses: Vec<Vec<Span>>,
    pub after: Vec<Vec<Span>>,
    pub outputs: Vec<Span>,
}

impl Spans {
    pub fn of(&self, site: Site) -> Span {
        let pick = |list: &Vec<Vec<Span>>, at: u32, index: u32| {
            list.get(at as usize).and_then(|inner| inner.get(index as usize)).copied()
        };
        let found = match site {
            Site::Statement(at) | Site::Freed(at) => self.statements.get(at as usize).copied(),
            Site::Access(at, index) => pick(&self.accesses, at, index),
            Site::After(at, index) => pick(&self.after, at, index),
            Site::Output(index) => self.outputs.get(index as usize).copied(),
        };
        found.unwrap_or_else(Span::call_site)
    }
}

/// A function being lowered.
struct Lowering<'r> {
    report: &'r mut Report,
    symbols: Symbols,
    scopes: Scopes,
    /// Loop variables, innermost last.
    variables: Vec<(String, i128)>,
    dims: Vec<Bound>,
    dim_ids: BTreeMap<Poly, DimId>,
    buffers: Vec<Buffer>,
    elements: Vec<Type>,
    poisoned: Vec<bool>,
    statements: Vec<Statement>,
    bodies: Vec<Body>,
    outputs: Vec<BufferId>,
    spans: Spans,
    /// Told once.
    too_many: bool,
}

/// A statement's fault was reported: nothing more to say of it.
struct Reported;
type Lower<T> = Result<T, Reported>;

/// Lowers a function of this head and body.
pub fn lower(
    name: &Ident,
    file: String,
    options: Options,
    budget: Option<&Expr>,
    signature: &Signature,
    body: &Block,
    report: &mut Report,
) -> Lowered {
    let mut lowering = Lowering {
        report,
        symbols: Symbols::default(),
        scopes: Scopes::new(),
        variables: Vec::new(),
        dims: Vec::new(),
        dim_ids: BTreeMap::new(),
        buffers: Vec::new(),
        elements: Vec::new(),
        poisoned: Vec::new(),
        statements: Vec::new(),
        bodies: Vec::new(),
        outputs: Vec::new(),
        spans: Spans::default(),
        too_many: false,
    };
    lowering.dim(Bound::constant(0));
    let argument_buffers = lowering.arguments(signature);
    let options = Options {
        budget: budget.map(|expr| {
            let bound = lowering.bound(expr);
            lowering.dim(bound)
        }),
        ..options
    };
    lowering.body(body, signature);
    let (resolved, unknown) = lowering.scopes.leave();
    lowering.resolve(resolved);
    for after in unknown {
        lowering.no_such_name(&after.name);
    }
    lowering.finish(name, file, options, argument_buffers)
}

impl Lowering<'_> {
    fn finish(
        self,
        name: &Ident,
        file: String,
        options: Options,
        argument_buffers: Vec<Option<BufferId>>,
    ) -> Lowered {
        let polys = self.dims.iter().map(|bound| bound.poly.clone()).collect();
        let dim_tokens = self.dims.iter().map(|bound| bound.tokens.clone()).collect();
        let program = Program {
            name: name.to_string().into(),
            file: file.into(),
            options,
            dims: self.dims.into_iter().map(|bound| bound.text.into()).collect(),
            buffers: self.buffers.into(),
            statements: self.statements.into(),
            outputs: self.outputs.into(),
            edges: Vec::new().into(),
            edges_before_reduction: 0,
        };
        Lowered {
            source: Source { program, polys, poisoned: self.poisoned },
            dim_tokens,
            elements: self.elements,
            bodies: self.bodies,
            argument_buffers,
            spans: self.spans,
            faulty: false,
        }
    }

    // ---- arguments

    fn arguments(&mut self, signature: &Signature) -> Vec<Option<BufferId>> {
        let mut first = Vec::new();
        for argument in &signature.arguments {
            first.push(match &argument.kind {
                ArgumentKind::Scalar(_) => None,
                ArgumentKind::Buffer(ty) => {
                    let view = self.argument(&argument.name, argument.name.to_string(), ty);
                    let id = view.buffer;
                    self.scopes.bind(&argument.name, Binding::View(view));
                    Some(id)
                }
                ArgumentKind::Array(ty, count) => {
                    let first = self.buffers.len() as BufferId;
                    let views = (0..*count)
                        .map(|i| self.argument(&argument.name, format!("{}[{i}]", argument.name), ty))
                        .collect();
                    self.scopes.bind(&argument.name, Binding::Array(views));
                    Some(first)
                }
            });
        }
        first
    }

    fn argument(&mut self, name: &Ident, text: String, ty: &BufferType) -> View {
        let origin = match ty.memory {
            BufferMemory::Device => Origin::Device { mutable: ty.mutable },
            BufferMemory::Pinned => Origin::Pinned { mutable: ty.mutable },
            BufferMemory::Taken => Origin::Taken,
        };
        let borrow = match (ty.memory, ty.mutable) {
            (BufferMemory::Taken, _) => None,
            (_, true) => Some(Borrow::Mutable),
            (_, false) => Some(Borrow::Shared),
        };
        let len = self.bound(&ty.len);
        self.buffer(text, name.span(), origin, len, ty.element.clone(), borrow)
    }

    fn buffer(
        &mut self,
        name: String,
        span: Span,
        origin: Origin,
        len: Bound,
        element: Type,
        borrow: Option<Borrow>,
    ) -> View {
        let dim = self.dim(len.clone());
        self.buffers.push(Buffer {
            name: name.into(),
            line: span.start().line as u32,
            origin,
            len: dim,
            element: 0,
            align: 0,
        });
        self.elements.push(element);
        self.poisoned.push(false);
        View { buffer: self.buffers.len() as BufferId - 1, lo: Bound::constant(0), hi: len, borrow }
    }

    fn bound(&mut self, expr: &Expr) -> Bound {
        let substituted = self.substituted(expr);
        let as_written = substituted == *expr;
        Bound::of(&substituted, as_written, &mut self.symbols)
    }

    fn substituted(&self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        if !self.variables.is_empty() {
            Substitute { variables: &self.variables }.visit_expr_mut(&mut expr);
        }
        expr
    }

    fn dim(&mut self, bound: Bound) -> DimId {
        let next = self.dims.len() as DimId;
        let id = *self.dim_ids.entry(bound.poly.clone()).or_insert(next);
        if id == next {
            self.dims.push(bound);
        } else if bound.text.len() < self.dims[id as usize].text.len() {
            self.dims[id as usize] = bound;
        }
        id
    }

    // ---- statements

    fn body(&mut self, body: &Block, signature: &Signature) {
        let tail = match body.stmts.split_last() {
            Some((Stmt::Expr(tail, None), rest)) if !signature.returned.is_empty() || is_tail(tail) => {
                self.statements(rest);
                Some(tail)
            }
            _ => {
                self.statements(&body.stmts);
                None
            }
        };
        match tail {
            Some(tail) => self.tail(tail, signature),
            None if signature.returned.is_empty() => {}
            None => self.report.error(
                body.brace_token.span.close(),
                "CW001",
                "the function returns allocations, but its body does not end with their names",
                &[],
                Some("end it with the name of an allocation, or with a tuple of names"),
            ),
        }
    }

    fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            // Reported where it was found; the next one is read all the same.
            let _ = self.statement(statement);
        }
    }

    fn block(&mut self, statements: &[Stmt]) {
        self.scopes.enter();
        self.statements(statements);
        let (resolved, _) = self.scopes.leave();
        self.resolve(resolved);
    }

    fn statement(&mut self, statement: &Stmt) -> Lower<()> {
        match statement {
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(expr, _) => self.expression(expr, None, &[]),
            Stmt::Item(item) => Err(self.not_in_language(item, "an item is", &[])),
            Stmt::Macro(call) => Err(self.not_in_language(call, "a macro call is", &[])),
        }
    }

    /// CW001 at a statement or expression; the buffers that it names are unknown from here.
    fn not_in_language(&mut self, at: &(impl ToTokens + Spanned), what: &str, notes: &[String]) -> Reported {
        self.poison(at.to_token_stream());
        self.report.error(
            at.span(),
            "CW001",
            &format!("{what} not part of the language of graph functions"),
            notes,
            Some("statements are `let b = alloc::<T>(len);`, launches `kernel[config](args);`, `fill`, `copy`, `free`, `for` over literal bounds and blocks"),
        );
        Reported
    }

    fn refuse(&mut self, at: &(impl ToTokens + Spanned), message: &str, help: &str) -> Reported {
        self.poison(at.to_token_stream());
        self.report.error(at.span(), "CW001", message, &[], Some(help));
        Reported
    }

    fn poison(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Group(group) => self.poison(group.stream()),
                proc_macro2::TokenTree::Ident(name) => match self.scopes.get(&name) {
                    Some(Binding::View(view)) => self.poisoned[view.buffer as usize] = true,
                    Some(Binding::Array(views)) => {
                        for view in views {
                            self.poisoned[view.buffer as usize] = true;
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }

    fn local(&mut self, local: &Local) -> Lower<()> {
        let done = self.try_local(local);
        if done.is_err() {
            self.bind_unknown(&local.pat);
        }
        done
    }

    /// After a fault: its names are known, and nothing is known of them.
    fn bind_unknown(&mut self, pattern: &Pat) {
        match pattern {
            Pat::Ident(name) => {
                self.scopes.bind(&name.ident, Binding::Unknown);
                self.scopes.bind_statement(&name.ident, None);
            }
            Pat::Tuple(tuple) => tuple.elems.iter().for_each(|element| self.bind_unknown(element)),
            Pat::Type(typed) => self.bind_unknown(&typed.pat),
            _ => {}
        }
    }

    fn try_local(&mut self, local: &Local) -> Lower<()> {
        let Some(init) = &local.init else {
            return Err(self.not_in_language(local, "a `let` without a value is", &[]));
        };
        if init.diverge.is_some() {
            return Err(self.not_in_language(local, "`let ... else` is", &[]));
        }
        match &local.pat {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                self.expression(&init.expr, Some(&name.ident), &local.attrs)
            }
            Pat::Wild(_) => self.expression(&init.expr, None, &local.attrs),
            Pat::Tuple(tuple) => {
                let names: Option<Vec<&Ident>> = tuple.elems.iter().map(pattern_name).collect();
                match (names.as_deref(), &*init.expr) {
                    (Some([lo, hi]), Expr::MethodCall(call))
                        if call.method == "split_at_mut" && call.args.len() == 1 =>
                    {
                        self.split(lo, hi, &call.receiver, &call.args[0])
                    }
                    _ => Err(self.not_in_language(
                        local,
                        "this pattern is",
                        &["two names are bound by `split_at_mut` only".into()],
                    )),
                }
            }
            _ => Err(self.not_in_language(local, "this pattern is", &[])),
        }
    }

    fn split(&mut self, lo: &Ident, hi: &Ident, receiver: &Expr, at: &Expr) -> Lower<()> {
        let Some(view) = self.view(receiver)? else {
            return Err(self.refuse(
                receiver,
                "`split_at_mut` needs a buffer",
                "split an allocation, an argument or a part of one",
            ));
        };
        let middle = self.bound(at);
        let middle = view.lo.plus(&middle, &mut self.symbols);
        let borrow = Some(match view.borrow {
            Some(Borrow::Shared) => Borrow::Shared,
            _ => Borrow::Mutable,
        });
        let low = View { buffer: view.buffer, lo: view.lo, hi: middle.clone(), borrow };
        let high = View { buffer: view.buffer, lo: middle, hi: view.hi, borrow };
        self.scopes.bind(lo, Binding::View(low));
        self.scopes.bind(hi, Binding::View(high));
        Ok(())
    }

    /// A statement's expression, with the name that a `let` gives it.
    fn expression(&mut self, expr: &Expr, name: Option<&Ident>, outer: &[Attribute]) -> Lower<()> {
        match expr {
            Expr::Paren(inner) => self.expression(&inner.expr, name, outer),
            Expr::Group(inner) => self.expression(&inner.expr, name, outer),
            Expr::Call(call) => {
                let attributes = [outer, &call.attrs].concat();
                self.call(call, name, &attributes)
            }
            Expr::Block(block) if name.is_none() && block.label.is_none() => {
                self.no_after(&block.attrs);
                self.block(&block.block.stmts);
                Ok(())
            }
            Expr::ForLoop(each) if name.is_none() => self.for_loop(each),
            Expr::Reference(_) | Expr::Index(_) if name.is_some() => {
                let reference = self.view(expr)?;
                match (reference, name) {
                    (Some(view), Some(name)) => {
                        let borrow = Some(match expr {
                            Expr::Reference(reference) if reference.mutability.is_some() => Borrow::Mutable,
                            Expr::Reference(_) => Borrow::Shared,
                            _ => view.borrow.unwrap_or(Borrow::Shared),
                        });
                        self.scopes.bind(name, Binding::View(View { borrow, ..view }));
                        Ok(())
                    }
                    _ => Err(self.not_in_language(expr, "this expression is", &[])),
                }
            }
            Expr::MethodCall(call) if call.method == "split_at_mut" => Err(self.refuse(
                expr,
                "`split_at_mut` gives two parts",
                "bind both: `let (lo, hi) = x.split_at_mut(k);`",
            )),
            _ => {
                let what = match expr {
                    Expr::If(_) => "`if` is",
                    Expr::Match(_) => "`match` is",
                    Expr::While(_) => "`while` is",
                    Expr::Loop(_) => "`loop` is",
                    Expr::Return(_) => "`return` is",
                    Expr::Assign(_) => "an assignment is",
                    Expr::MethodCall(_) => "a method call is",
                    Expr::Macro(_) => "a macro call is",
                    Expr::Closure(_) => "a closure is",
                    Expr::Unsafe(_) => "`unsafe` is",
                    _ => "this expression is",
                };
                Err(self.not_in_language(expr, what, &[]))
            }
        }
    }

    fn no_after(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            self.report.error(
                attribute.span(),
                "CW001",
                "an attribute is not part of the language here",
                &[],
                Some("`#[after(..)]` stands on a launch, `fill`, `copy`, `alloc` or `free`"),
            );
        }
    }

    fn for_loop(&mut self, each: &syn::ExprForLoop) -> Lower<()> {
        self.no_after(&each.attrs);
        let variable = match &*each.pat {
            Pat::Ident(name) => Some(name.ident.to_string()),
            Pat::Wild(_) => None,
            _ => return Err(self.not_in_language(&each.pat, "this pattern is", &[])),
        };
        let Some((from, to)) = self.literal_range(&each.expr) else {
            return Err(self.refuse(
                &each.expr,
                "the bounds of a loop are literals",
                "write the numbers, as in `for i in 0..4`: the loop is unrolled while the crate compiles",
            ));
        };
        for value in from..to {
            if self.too_many {
                break;
            }
            if let Some(variable) = &variable {
                self.variables.push((variable.clone(), value));
            }
            self.block(&each.body.stmts);
            if variable.is_some() {
                self.variables.pop();
            }
            if self.statements.len() > MOST_STATEMENTS {
                self.over_limit(each.span());
            }
            if each.body.stmts.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn over_limit(&mut self, span: Span) {
        if !std::mem::replace(&mut self.too_many, true) {
            self.poisoned.fill(true);
            self.report.error(
                span,
                "CW001",
                &format!("the loops of this function unroll to more than {MOST_STATEMENTS} statements"),
                &[],
                Some("launch a graph of fewer steps several times"),
            );
        }
    }

    /// `0..4` or `0..=3`: half-open.
    fn literal_range(&self, expr: &Expr) -> Option<(i128, i128)> {
        let range = match expr {
            Expr::Paren(inner) => return self.literal_range(&inner.expr),
            Expr::Group(inner) => return self.literal_range(&inner.expr),
            Expr::Range(range) => range,
            _ => return None,
        };
        let from = constant(range.start.as_deref()?, &self.variables)?;
        let to = constant(range.end.as_deref()?, &self.variables)?;
        Some(match range.limits {
            RangeLimits::HalfOpen(_) => (from, to),
            RangeLimits::Closed(_) => (from, to.checked_add(1)?),
        })
    }

    // ---- calls

    fn call(&mut self, call: &ExprCall, name: Option<&Ident>, attributes: &[Attribute]) -> Lower<()> {
        match &*call.func {
            Expr::Index(launch) => self.launch(call, launch, name, attributes),
            Expr::Path(path) => {
                let last = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
                match (last.as_str(), call.args.len()) {
                    ("alloc", 1) => self.alloc(call, path, name, attributes),
                    ("fill", 2) => self.fill(call, name, attributes),
                    ("copy", 2) => self.copy(call, name, attributes),
                    ("free", 1) => self.free(call, name, attributes),
                    ("alloc" | "fill" | "copy" | "free", _) => Err(self.refuse(
                        call,
                        &format!("`{last}` does not take {} arguments", call.args.len()),
                        "write `alloc::<T>(len)`, `fill(&mut b, value)`, `copy(&a, &mut b)` or `free(b)`",
                    )),
                    _ => Err(self.refuse(
                        call,
                        "a call without a launch configuration is not part of the language of graph functions",
                        &format!("a kernel is launched by `{last}[per_item(n)](..)` or `{last}[(grid, block)](..)`"),
                    )),
                }
            }
            _ => Err(self.not_in_language(call, "this call is", &[])),
        }
    }

    fn alloc(
        &mut self,
        call: &ExprCall,
        path: &syn::ExprPath,
        name: Option<&Ident>,
        attributes: &[Attribute],
    ) -> Lower<()> {
        let element = path.path.segments.last().and_then(|last| match &last.arguments {
            syn::PathArguments::AngleBracketed(list) if list.args.len() == 1 => match list.args.first() {
                Some(syn::GenericArgument::Type(ty)) if !matches!(ty, Type::Infer(_)) => Some(ty.clone()),
                _ => None,
            },
            _ => None,
        });
        let Some(element) = element else {
            return Err(self.refuse(
                call,
                "an allocation needs the type of its elements",
                "write `alloc::<f32>(len)`",
            ));
        };
        let Some(name) = name else {
            return Err(self.refuse(call, "an allocation needs a name", "write `let b = alloc::<T>(len);`"));
        };
        let len = self.bound(&call.args[0]);
        let id = self.statements.len() as StatementId;
        let view = self.buffer(name.to_string(), name.span(), Origin::Alloc(id), len, element, None);
        let buffer = view.buffer;
        self.push(name.to_string(), name.span(), Kind::Alloc(buffer), Vec::new(), Body::Memory);
        self.after(id, attributes);
        self.scopes.bind(name, Binding::View(view));
        self.scopes.bind_statement(name, Some(id));
        Ok(())
    }

    fn free(&mut self, call: &ExprCall, name: Option<&Ident>, attributes: &[Attribute]) -> Lower<()> {
        let Expr::Path(path) = &call.args[0] else {
            return Err(self.refuse(
                &call.args[0],
                "`free` takes the name of an allocation",
                "write `free(b);`",
            ));
        };
        let binding = path.path.get_ident().and_then(|freed| Some((freed, self.scopes.get(freed)?.clone())));
        let (freed, view) = match binding {
            Some((_, Binding::Unknown)) => return Err(Reported),
            Some((freed, Binding::View(view))) if self.is_whole(&view) => (freed, view),
            Some((_, Binding::View(_))) => {
                return Err(self.refuse(
                    &call.args[0],
                    "a part of a buffer cannot be freed",
                    "free the whole allocation by its name",
                ));
            }
            Some((_, Binding::Array(views))) => {
                if let Some(view) = views.first() {
                    self.not_owned(&call.args[0], view.buffer);
                }
                return Err(Reported);
            }
            _ => {
                return Err(self.refuse(
                    &call.args[0],
                    "`free` takes the name of an allocation",
                    "write `free(b);`",
                ));
            }
        };
        let text = name.map_or_else(|| format!("free {freed}"), ToString::to_string);
        let id = self.push(text, freed.span(), Kind::Free(view.buffer), Vec::new(), Body::Memory);
        self.after(id, attributes);
        self.name(name, id);
        Ok(())
    }

    /// CW104 for a whole array of arguments.
    fn not_owned(&mut self, at: &Expr, buffer: BufferId) {
        let line = self.buffers[buffer as usize].line;
        self.report.error(
            at.span(),
            "CW104",
            "these buffers are freed, but the graph does not own them",
            &[format!("they are borrowed arguments, declared on line {line}")],
            Some("remove the `free`: their owner frees them"),
        );
    }

    fn is_whole(&self, view: &View) -> bool {
        let len = self.buffers[view.buffer as usize].len;
        view.lo.poly.as_constant() == Some(0) && view.hi.poly == self.dims[len as usize].poly
    }

    fn fill(&mut self, call: &ExprCall, name: Option<&Ident>, attributes: &[Attribute]) -> Lower<()> {
        let access = self.buffer_argument(&call.args[0], "fill", &[Mode::Write])?;
        self.device_only(&access, &call.args[0], "fill")?;
        let value = self.substituted(&call.args[1]);
        let body = Body::Fill { value: value.to_token_stream() };
        let text = name.map_or_else(|| "fill".to_owned(), ToString::to_string);
        let id =
            self.push(text, name.map_or_else(|| call.span(), Ident::span), Kind::Fill, vec![access], body);
        self.after(id, attributes);
        self.name(name, id);
        Ok(())
    }

    fn copy(&mut self, call: &ExprCall, name: Option<&Ident>, attributes: &[Attribute]) -> Lower<()> {
        let from = self.buffer_argument(&call.args[0], "copy", &[Mode::Read])?;
        let to = self.buffer_argument(&call.args[1], "copy", &[Mode::Write])?;
        let text = name.map_or_else(|| "copy".to_owned(), ToString::to_string);
        let span = name.map_or_else(|| call.span(), Ident::span);
        let id = self.push(text, span, Kind::Copy, vec![from, to], Body::Copy);
        self.after(id, attributes);
        self.name(name, id);
        Ok(())
    }

    fn launch(
        &mut self,
        call: &ExprCall,
        launch: &syn::ExprIndex,
        name: Option<&Ident>,
        attributes: &[Attribute],
    ) -> Lower<()> {
        let Expr::Path(kernel) = &*launch.expr else {
            return Err(self.not_in_language(
                call,
                "this call is",
                &["a launch names its kernel by a path".into()],
            ));
        };
        let kernel_name = kernel.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let config = configuration(&self.substituted(&launch.index), self.report);
        let mut accesses = Vec::new();
        let mut arguments = Vec::new();
        let mut faulty = false;
        for argument in &call.args {
            match self.launch_argument(argument, &kernel_name) {
                Ok(Some(access)) => {
                    arguments.push(LaunchArgument::Buffer(accesses.len() as u32));
                    accesses.push(access);
                }
                Ok(None) => {
                    let value = self.substituted(argument);
                    arguments.push(LaunchArgument::Scalar(value.to_token_stream()));
                }
                Err(Reported) => faulty = true,
            }
        }
        // What a faulty launch does with its other buffers still counts: it writes what it borrows mutably.
        let body = if faulty {
            Body::Memory
        } else {
            Body::Launch { kernel: kernel.path.to_token_stream(), config, arguments }
        };
        let span = name.map_or_else(|| kernel.span(), Ident::span);
        let text = name.map_or(kernel_name, ToString::to_string);
        let id = self.push(text, span, Kind::Launch, accesses, body);
        self.after(id, attributes);
        self.name(name, id);
        Ok(())
    }

    /// A buffer argument, or `None` for a scalar.
    fn launch_argument(&mut self, argument: &Expr, kernel: &str) -> Lower<Option<(Access, Span)>> {
        let (inner, mode) = match argument {
            Expr::Paren(paren) => return self.launch_argument(&paren.expr, kernel),
            Expr::Group(group) => return self.launch_argument(&group.expr, kernel),
            Expr::Call(call) if is_named(&call.func, "atomic") && call.args.len() == 1 => match &call.args[0]
            {
                Expr::Reference(reference) if reference.mutability.is_some() => {
                    (&*reference.expr, Mode::Atomic)
                }
                inner => match self.view(inner)? {
                    Some(View { borrow: Some(Borrow::Mutable), .. }) => (inner, Mode::Atomic),
                    _ => {
                        return Err(self.refuse(
                            argument,
                            "`atomic` takes a buffer by `&mut`",
                            "write `atomic(&mut b)`",
                        ));
                    }
                },
            },
            Expr::Reference(reference) if reference.mutability.is_some() => {
                (&*reference.expr, Mode::ReadWrite)
            }
            Expr::Reference(reference) => (&*reference.expr, Mode::Read),
            bare => match self.view(bare)? {
                Some(View { borrow: Some(Borrow::Shared), .. }) => (bare, Mode::Read),
                Some(View { borrow: Some(Borrow::Mutable), .. }) => (bare, Mode::ReadWrite),
                Some(View { borrow: None, .. }) => {
                    return Err(self.refuse(
                        bare,
                        "a buffer that the graph owns is passed by reference",
                        "write `&b`, `&mut b` or `atomic(&mut b)`",
                    ));
                }
                None => return Ok(None),
            },
        };
        let Some(view) = self.view(inner)? else { return Ok(None) };
        let access = self.access(&view, mode, inner.span());
        self.device_only(&access, argument, kernel)?;
        Ok(Some(access))
    }

    fn access(&mut self, view: &View, mode: Mode, span: Span) -> (Access, Span) {
        let (lo, hi) = (self.dim(view.lo.clone()), self.dim(view.hi.clone()));
        (Access { buffer: view.buffer, mode, lo, hi, relied_on: false }, span)
    }

    /// The buffer argument of `fill` or `copy`.
    fn buffer_argument(
        &mut self,
        argument: &Expr,
        statement: &str,
        modes: &[Mode; 1],
    ) -> Lower<(Access, Span)> {
        let mode = modes[0];
        let reference = match argument {
            Expr::Reference(reference) => Some(reference),
            _ => None,
        };
        let inner = reference.map_or(argument, |reference| &reference.expr);
        let Some(view) = self.view(inner)? else {
            return Err(self.refuse(
                argument,
                &format!("this argument of `{statement}` is not a buffer"),
                "pass an allocation or an argument by `&` or `&mut`",
            ));
        };
        let mutable = match (reference, view.borrow) {
            (Some(reference), _) => reference.mutability.is_some(),
            (None, Some(borrow)) => borrow == Borrow::Mutable,
            (None, None) => {
                return Err(self.refuse(
                    argument,
                    "a buffer that the graph owns is passed by reference",
                    "write `&b` or `&mut b`",
                ));
            }
        };
        // A shared argument passed bare to what writes it is CW205's, as one passed by `&mut` is.
        if mode == Mode::Write && !mutable && reference.is_some() {
            return Err(self.refuse(
                argument,
                &format!("`{statement}` writes this argument"),
                "borrow it by `&mut`",
            ));
        }
        Ok(self.access(&view, mode, inner.span()))
    }

    fn device_only(&mut self, access: &(Access, Span), at: &Expr, user: &str) -> Lower<()> {
        let buffer = &self.buffers[access.0.buffer as usize];
        if matches!(buffer.origin, Origin::Pinned { .. }) {
            let message = format!("`{}` is pinned host memory, which `{user}` does not take", buffer.name);
            return Err(self.refuse(at, &message, "`copy` it to or from a device buffer"));
        }
        Ok(())
    }

    /// The part of a buffer that an expression names: `b`, `b[lo..hi]`, `w[2]`, `w[i][..k]`, with or without `&`.
    fn view(&mut self, expr: &Expr) -> Lower<Option<View>> {
        match expr {
            Expr::Paren(inner) => self.view(&inner.expr),
            Expr::Group(inner) => self.view(&inner.expr),
            Expr::Reference(inner) => self.view(&inner.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.view(&unary.expr),
            Expr::Path(path) => match path.path.get_ident().and_then(|name| self.scopes.get(name)) {
                Some(Binding::View(view)) => Ok(Some(view.clone())),
                Some(Binding::Unknown) => Err(Reported),
                Some(Binding::Array(_)) => Err(self.refuse(
                    expr,
                    "an array of buffers is not a buffer",
                    "index it with a literal or with the variable of a loop",
                )),
                Some(Binding::Statement) => Err(self.refuse(
                    expr,
                    "this names a statement, not a buffer",
                    "pass an allocation or an argument",
                )),
                None => Ok(None),
            },
            Expr::Index(index) => self.indexed(expr, index),
            _ => Ok(None),
        }
    }

    fn indexed(&mut self, expr: &Expr, index: &syn::ExprIndex) -> Lower<Option<View>> {
        if let Expr::Path(path) = &*index.expr
            && let Some(Binding::Array(views)) = path.path.get_ident().and_then(|name| self.scopes.get(name))
        {
            let views = views.clone();
            let Some(at) = constant(&index.index, &self.variables) else {
                return Err(self.refuse(
                    &index.index,
                    "the index of an array of buffers is not a literal",
                    "index it with a literal or with the variable of a loop",
                ));
            };
            return match usize::try_from(at).ok().and_then(|at| views.get(at)) {
                Some(view) => Ok(Some(view.clone())),
                None => {
                    let message = format!("the index is {at}, but the array has {} buffers", views.len());
                    Err(self.refuse(&index.index, &message, "stay below the length of the array"))
                }
            };
        }
        let Some(view) = self.view(&index.expr)? else { return Ok(None) };
        let Expr::Range(range) = &*index.index else {
            return Err(self.refuse(
                expr,
                "an element of a buffer is not a buffer",
                "take a range of it: `&x[lo..hi]`",
            ));
        };
        let lo = match &range.start {
            Some(start) => {
                let start = self.bound(start);
                view.lo.plus(&start, &mut self.symbols)
            }
            None => view.lo.clone(),
        };
        let hi = match &range.end {
            Some(end) => {
                let end = self.bound(end);
                let end = match range.limits {
                    RangeLimits::HalfOpen(_) => end,
                    RangeLimits::Closed(_) => end.plus(&Bound::constant(1), &mut self.symbols),
                };
                view.lo.plus(&end, &mut self.symbols)
            }
            None => view.hi.clone(),
        };
        Ok(Some(View {
            buffer: view.buffer,
            lo,
            hi,
            borrow: view.borrow.map(|_| Borrow::Shared).and(view.borrow),
        }))
    }

    // ---- the pieces of a statement

    fn push(
        &mut self,
        name: String,
        span: Span,
        kind: Kind,
        accesses: Vec<(Access, Span)>,
        body: Body,
    ) -> StatementId {
        self.spans.statements.push(span);
        self.spans.accesses.push(accesses.iter().map(|access| access.1).collect());
        self.spans.after.push(Vec::new());
        self.statements.push(Statement {
            name: name.into(),
            line: span.start().line as u32,
            kind,
            accesses: accesses.into_iter().map(|access| access.0).collect(),
            after: Vec::new().into(),
        });
        self.bodies.push(body);
        if self.statements.len() > MOST_STATEMENTS && self.variables.is_empty() {
            self.over_limit(span);
        }
        self.statements.len() as StatementId - 1
    }

    fn name(&mut self, name: Option<&Ident>, id: StatementId) {
        if let Some(name) = name {
            self.scopes.bind(name, Binding::Statement);
            self.scopes.bind_statement(name, Some(id));
        }
    }

    fn after(&mut self, statement: StatementId, attributes: &[Attribute]) {
        for attribute in attributes {
            if !attribute.path().is_ident("after") {
                self.no_after(std::slice::from_ref(attribute));
                continue;
            }
            let names = attribute
                .parse_args_with(syn::punctuated::Punctuated::<Ident, syn::Token![,]>::parse_terminated);
            match names {
                Ok(names) => {
                    for name in names {
                        if let Some(resolved) = self.scopes.after(AfterName { statement, name }) {
                            self.resolve(vec![resolved]);
                        }
                    }
                }
                Err(_) => self.report.error(
                    attribute.span(),
                    "CW001",
                    "`#[after(..)]` takes names of statements",
                    &[],
                    Some("name a statement by `let`, as in `let a = kernel[config](args);`, then write `#[after(a)]`"),
                ),
            }
        }
    }

    fn resolve(&mut self, resolved: Vec<Resolved>) {
        for (after, target) in resolved {
            if let Some(target) = target {
                self.statements[after.statement as usize].after.to_mut().push(target);
                self.spans.after[after.statement as usize].push(after.name.span());
            }
        }
    }

    fn no_such_name(&mut self, name: &Ident) {
        let text = name.to_string();
        let help = match nearest(&text, self.scopes.known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name a statement by `let`, as in `let a = kernel[config](args);`".to_owned(),
        };
        self.report.error(
            name.span(),
            "CW206",
            &format!("`{text}` in `#[after]` names no statement"),
            &[],
            Some(&help),
        );
    }

    // ---- the tail

    fn tail(&mut self, tail: &Expr, signature: &Signature) {
        let names: Vec<&Expr> = match tail {
            Expr::Tuple(tuple) => tuple.elems.iter().collect(),
            Expr::Paren(inner) => vec![&*inner.expr],
            one => vec![one],
        };
        if names.len() != signature.returned.len() {
            let message = format!(
                "the function returns {}, but its body ends with {}",
                count(signature.returned.len()),
                count(names.len())
            );
            let _ = self.refuse(
                tail,
                &message,
                "return each allocation by its name, in the order of the return type",
            );
            return;
        }
        for name in names {
            let view = match self.view(name) {
                Ok(view) => view,
                Err(Reported) => continue,
            };
            let Some(view) = view.filter(|view| self.is_whole(view)) else {
                let _ = self.refuse(
                    name,
                    "only whole allocations leave a graph",
                    "end the body with the name of an allocation",
                );
                continue;
            };
            if !matches!(self.buffers[view.buffer as usize].origin, Origin::Alloc(_)) {
                let message = format!(
                    "`{}` is an argument: only allocations of this graph leave it",
                    self.buffers[view.buffer as usize].name
                );
                let _ = self.refuse(name, &message, "`copy` it into an allocation and return that");
                continue;
            }
            self.outputs.push(view.buffer);
            self.spans.outputs.push(name.span());
        }
    }
}

fn count(n: usize) -> String {
    match n {
        0 => "nothing".to_owned(),
        1 => "one value".to_owned(),
        n => format!("{n} values"),
    }
}

/// Whether the last expression of a body is a tail rather than a statement without a semicolon.
fn is_tail(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(_) | Expr::Tuple(_) | Expr::Paren(_))
}

fn pattern_name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(name) => Some(&name.ident),
        _ => None,
    }
}

fn is_named(function: &Expr, name: &str) -> bool {
    matches!(function, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}
