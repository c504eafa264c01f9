//! Generates the `static` table of the checked program, which the runtime reads.

use std::collections::{BTreeSet, HashMap};

use cuweave_core::ids::{ArgumentId, LeafId, ScalarId};
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, Statement, StatementId, StatementKind};
use cuweave_core::table::{Parameter, PrintedFunction, Scalar, Setting, encode};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use super::lower::{Lowered, StatementSyntax, expression};
use super::paths;
use super::setters::Setter;
use super::signature::{Argument, ArgumentKind, Signature};
use super::steps::{RECORD_SCALAR_MARK, Steps};

/// Generates the body of a function that returns the table. An item with type parameters does not know its
/// element types: its [`layouts`] are added where they are known.
pub(super) fn table(
    lowered: &Lowered,
    signature: &Signature,
    steps: &Steps<'_>,
    setters: &Vector<ScalarId, Setter<'_>>,
    generic: bool,
) -> TokenStream {
    let (types, layouts) = types(lowered);
    let types = if generic { Vec::new() } else { types };
    let scalars = scalars(lowered, signature, steps, setters);
    let bytes = encode(&PrintedFunction {
        program: &lowered.source.program,
        layouts: &layouts,
        dims: &lowered.dims,
        steps: &steps.by_statement,
        scalars: &scalars,
        parameters: &parameters(lowered, signature),
        structure: &lowered.structure,
    });
    let bytes = Literal::byte_string(&bytes);
    let calls = calls(lowered);
    let called: BTreeSet<usize> = calls.iter().copied().collect();
    let named = |number: usize| {
        let path = &lowered.callees[number].path;
        (path, format_ident!("__table_{number}", span = path.span()))
    };
    let functions = called.into_iter().map(|number| {
        let (path, name) = named(number);
        let found = paths::called(path, number);
        quote_spanned! {path.span()=>
            fn #name() -> &'static ::cuweave::__private::Table {
                #found.__table()
            }
        }
    });
    let names = calls.iter().map(|&number| named(number).1);
    let calling = if names.len() == 0 { quote!() } else { quote!(.with_callees(&[#(#names),*])) };
    quote! {
        #(#functions)*
        static TABLE: ::cuweave::__private::Table = ::cuweave::__private::Table::new(
            #bytes,
            &[#(::cuweave::__private::ElementLayout::of::<#types>()),*],
        )
        #calling;
        &TABLE
    }
}

/// Generates the list of the layouts of the element types.
pub(super) fn layouts(lowered: &Lowered) -> TokenStream {
    let (types, _) = types(lowered);
    quote!(&[#(::cuweave::__private::ElementLayout::of::<#types>()),*])
}

/// Returns the number of the graph function that each call invokes.
fn calls(lowered: &Lowered) -> Vec<usize> {
    let statements = lowered.source.program.statements.iter().zip(&lowered.syntax);
    let callee = |(statement, syntax): (&Statement, &StatementSyntax)| match (statement.kind, syntax) {
        (StatementKind::Call(_), StatementSyntax { path: Some(callee), faulty: false, .. }) => {
            lowered.callees.iter().position(|known| known.path == *callee)
        }
        _ => None,
    };
    statements.filter_map(callee).collect()
}

/// Returns the names and kinds of the parameters.
fn parameters(lowered: &Lowered, signature: &Signature) -> Vec<(String, Parameter)> {
    let mut scalars = (0..).map(ScalarId::from_u32);
    let one = |(argument, first): (&Argument, &Option<BufferId>)| {
        let parameter = match (&argument.kind, first) {
            (ArgumentKind::Part(_), Some(declared)) => Parameter::Buffers(*declared),
            (ArgumentKind::Part(_), None) => Parameter::Part,
            (ArgumentKind::Array(_, count), Some(first)) => Parameter::Array(*first, *count as u32),
            (_, Some(first)) => Parameter::Buffer(*first),
            (ArgumentKind::Host(host), None) => Parameter::Host { resource: host.resource },
            (_, None) => Parameter::Scalar(scalars.next().unwrap_or(ScalarId::NONE)),
        };
        (argument.name.to_string(), parameter)
    };
    signature.arguments.iter().zip(&lowered.arguments.buffers).map(one).collect()
}

/// Returns the element types without duplicates, and for each buffer the index of its type.
fn types(lowered: &Lowered) -> (Vec<&Type>, Vec<u32>) {
    let mut types = Vec::new();
    let mut numbers: HashMap<&Type, u32> = HashMap::new();
    let number = |element| {
        *numbers.entry(element).or_insert_with(|| {
            types.push(element);
            types.len() as u32 - 1
        })
    };
    let buffers = lowered.source.program.buffers.len();
    let layouts = lowered.elements[..buffers].iter().map(number).collect();
    (types, layouts)
}

/// Returns the scalar arguments, the host values and then the record scalars, each with its uses in statements,
/// grids and blocks.
fn scalars(
    lowered: &Lowered,
    signature: &Signature,
    steps: &Steps<'_>,
    setters: &Vector<ScalarId, Setter<'_>>,
) -> Vec<Scalar> {
    let leaves: Vec<String> = lowered.leaves.iter().map(|leaf| expression(leaf).to_string()).collect();
    // A record scalar that a bound mentions cannot be set.
    let dims = &steps.names(&lowered.leaves) | &steps.names(&lowered.loops.choices);
    let (uses, configured, arguments) = (steps.mentioned(), steps.configured(), steps.arguments());
    let program = &lowered.source.program;
    let parameters = |mention: &str| -> Vec<(StatementId, u32)> {
        let launches =
            program.statements.enumerate().filter(|(_, one)| matches!(one.kind, StatementKind::Launch(())));
        let of = |(statement, _): (StatementId, &Statement)| {
            let names = arguments.get(steps.by_statement[statement.index()] as usize).into_iter().flatten();
            let mentions = (0..).zip(names).filter(|(_, names)| names.contains(mention));
            mentions.map(move |(parameter, _)| (statement, parameter)).collect::<Vec<_>>()
        };
        launches.flat_map(of).collect()
    };
    let named = |name: String, (argument, path): (usize, &[&str]), mention: &str, setting: Setting| {
        let statements_where = |mentions: &dyn Fn(usize) -> bool| -> Vec<StatementId> {
            // A faulty statement has no step.
            let evaluated = |statement: &StatementId| {
                !program.statements[*statement].kind.is_memory()
                    && (steps.by_statement[statement.index()] as usize) < uses.len()
            };
            let statements = program.statements.ids().filter(evaluated);
            statements.filter(|&statement| mentions(steps.by_statement[statement.index()] as usize)).collect()
        };
        Scalar {
            line: signature.arguments[argument].name.span().start().line as u32,
            argument: ArgumentId::new(argument),
            path: path.iter().map(|&field| field.to_owned().into()).collect(),
            setting,
            leaf: None,
            statements: statements_where(&|step| uses[step].contains(mention)),
            grids: statements_where(&|step| configured[step][0].contains(mention)),
            blocks: statements_where(&|step| configured[step][1].contains(mention)),
            parameters: if setting == Setting::Fixed { Vec::new() } else { parameters(mention) },
            name: name.into(),
        }
    };
    let mut scalars: Vec<Scalar> = signature
        .numbered()
        .zip(setters)
        .map(|(argument, setter)| {
            let name = argument.name();
            let mut scalar = Scalar {
                leaf: leaves.iter().position(|leaf| *leaf == name).map(LeafId::new),
                ..named(name.clone(), (argument.at.index(), &[]), &name, setter.setting())
            };
            // The function of a host statement may have a parameter of the same name.
            let is_given = |statement: &StatementId| {
                let given = &arguments[steps.by_statement[statement.index()] as usize];
                program.statements[*statement].kind != StatementKind::Host(())
                    || given.iter().rev().skip(1).any(|names| names.contains(&name))
            };
            if !argument.argument.is_scalar() {
                scalar.statements.retain(is_given);
            }
            scalar
        })
        .collect();
    let mut fields = lowered.arguments.field_scalars.clone();
    let sets = uses.iter().chain(configured.iter().flatten()).chain([&dims]);
    for mention in sets.flatten().filter_map(|name| name.strip_prefix(RECORD_SCALAR_MARK)) {
        if !fields.iter().any(|known| known == mention) {
            fields.push(mention.to_owned());
        }
    }
    scalars.extend(fields.into_iter().filter_map(|chain| {
        let mut path = chain.split('.');
        let root = path.next()?;
        let argument = signature.arguments.iter().position(|argument| argument.name == root)?;
        let path: Vec<&str> = path.collect();
        let mention = format!("{RECORD_SCALAR_MARK}{chain}");
        let setting = if dims.contains(&mention) { Setting::Fixed } else { Setting::Free };
        Some(named(chain.clone(), (argument, &path), &mention, setting))
    }));
    scalars
}
