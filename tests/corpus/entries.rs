//! Declarations of the entries of a PTX file, derived from the PTX.

use cuweave_ptx::{
    self as ptx, AccessClass, Analysis, Function, Item, Site, StateSpace, Statement, TypeClass,
};

/// The declared kind of a parameter.
#[derive(Debug)]
pub enum Kind {
    /// `&[T; len]`
    Read,
    /// `&mut [T; len]`
    ReadWrite,
    /// `&mut [MaybeUninit<T>; len]`
    Write,
    /// `&[Atomic<T>; len]`
    Atomic,
    /// By value.
    Scalar,
    /// By value, with this size and alignment in bytes.
    Aggregate(u64, u64),
}

/// A parameter.
#[derive(Debug)]
pub struct Parameter {
    pub kind: Kind,
    /// The primitive type of the scalar or of the elements. Empty for an aggregate.
    pub ty: &'static str,
}

/// An entry.
#[derive(Debug)]
pub struct Entry {
    pub name: String,
    pub parameters: Vec<Parameter>,
    /// `.reqntid`
    pub required: Option<[u32; 3]>,
    /// `.maxntid`, as the product of its numbers.
    pub most: Option<u32>,
    /// `.reqnctapercluster`
    pub cluster: Option<[u32; 3]>,
    /// True if the file has `.extern .shared` variables.
    pub dynamic_shared: bool,
}

/// Returns the entries of a file, and the names of those that cannot be declared, because an aggregate or a buffer
/// holds addresses, because textures are used, or because a multicast object of several devices is needed. `declared`
/// returns those parameters of a kernel that are pointers although the analysis does not find them.
pub fn of(text: &str, declared: impl Fn(&str) -> Vec<usize>) -> Result<(Vec<Entry>, Vec<String>), String> {
    let module = ptx::parse(text).map_err(|error| error.to_string())?;
    let mut analysis = Analysis::new(&module);
    let (mut entries, mut left) = (Vec::new(), Vec::new());
    let external = |variable: &ptx::Variable<'_>| {
        variable.space == StateSpace::Shared && variable.linkage == ptx::Linkage::Extern
    };
    let outside = module.items.iter().any(|item| matches!(item, Item::Variable(found) if external(found)));
    for function in module.entries() {
        let mut pointers = analysis.pointers(function);
        declared(function.name).into_iter().for_each(|at| pointers[at] = true);
        let facts = analysis.kernel(function.name, &pointers);
        let opaque = function.parameters.iter().any(|parameter| parameter.class() == TypeClass::Opaque);
        let hidden_address = facts
            .parameters
            .iter()
            .zip(&pointers)
            .any(|(facts, pointer)| facts.table.is_some() || !pointer && facts.base.is_some());
        let multicast = facts
            .parameters
            .iter()
            .any(|facts| facts.multimem.possible.is_some() || facts.multimem.definite.is_some());
        let conditions = ptx::declare::sets_conditions(&module, function.name);
        if opaque || hidden_address || multicast || conditions || uses_textures(&module, function) {
            left.push(function.name.to_owned());
            continue;
        }
        let parameters = function.parameters.iter().zip(&facts.parameters).zip(&pointers);
        let inside = function.body.iter().flat_map(|body| &body.statements);
        let inside = inside
            .into_iter()
            .any(|statement| matches!(statement, Statement::Variable(_, variable) if external(variable)));
        entries.push(Entry {
            name: function.name.to_owned(),
            parameters: parameters
                .map(|((parameter, facts), &pointer)| if pointer { buffer(facts) } else { value(parameter) })
                .collect(),
            required: three(function, ".reqntid"),
            most: three(function, ".maxntid").map(|most| most.iter().product()),
            cluster: three(function, ".reqnctapercluster"),
            dynamic_shared: outside || inside,
        });
    }
    Ok((entries, left))
}

/// Returns true if the kernel cannot be declared, because it or a function that it calls uses textures or surfaces.
fn uses_textures(module: &ptx::Module<'_>, entry: &Function<'_>) -> bool {
    let textures = ["tex.", "tld4.", "txq.", "suld.", "sust.", "sured.", "suq."];
    let (mut seen, mut at) = (vec![entry], 0);
    while let Some(function) = seen.get(at).copied() {
        at += 1;
        for statement in function.body.iter().flat_map(|body| &body.statements) {
            let Statement::Instruction(one) = statement else { continue };
            if textures.iter().any(|prefix| one.opcode.starts_with(prefix)) {
                return true;
            }
            for operand in &one.operands {
                let ptx::Operand::Name(name) = operand else { continue };
                let called = module.function(name).filter(|_| one.opcode.starts_with("call"));
                seen.extend(called.filter(|called| seen.iter().all(|other| other.name != called.name)));
            }
        }
    }
    false
}

fn three(function: &Function<'_>, directive: &str) -> Option<[u32; 3]> {
    let values = function.performance(directive)?;
    Some([0, 1, 2].map(|at| values.get(at).copied().unwrap_or(1)))
}

fn buffer(facts: &ptx::ParameterFacts) -> Parameter {
    let kind = match facts.access() {
        AccessClass::Nothing | AccessClass::Reads => Kind::Read,
        AccessClass::Writes => Kind::Write,
        AccessClass::Atomics => Kind::Atomic,
        AccessClass::ReadsAndWrites | AccessClass::Unknown => Kind::ReadWrite,
    };
    let sites = [&facts.atomics, &facts.writes, &facts.reads];
    let ty = sites.into_iter().flatten().find_map(element).unwrap_or("u8");
    Parameter { kind, ty }
}

/// Returns the type of an access.
fn element(site: &Site) -> Option<&'static str> {
    let text = site.text.rsplit_once("@").map_or(site.text.as_str(), |(_, rest)| {
        rest.split_once(char::is_whitespace).map_or(rest, |(_, rest)| rest)
    });
    let opcode = text.split_whitespace().next()?;
    opcode.rsplit('.').find_map(|part| {
        Some(match part {
            "f32" => "f32",
            "f64" => "f64",
            "u32" | "b32" => "u32",
            "s32" => "i32",
            "u64" | "b64" => "u64",
            "s64" => "i64",
            "u16" | "b16" => "u16",
            "s16" => "i16",
            "u8" | "b8" => "u8",
            "s8" => "i8",
            _ => return None,
        })
    })
}

fn value(parameter: &ptx::Parameter<'_>) -> Parameter {
    let ty = match (parameter.class(), parameter.size()) {
        (TypeClass::Float, 4) => "f32",
        (TypeClass::Float, 8) => "f64",
        (TypeClass::Integer | TypeClass::Bits, 1) => "u8",
        (TypeClass::Integer | TypeClass::Bits, 2) => "u16",
        (TypeClass::Integer | TypeClass::Bits, 4) => "u32",
        (TypeClass::Integer | TypeClass::Bits, 8) => "u64",
        (_, size) => return Parameter { kind: Kind::Aggregate(size, parameter.align()), ty: "" },
    };
    Parameter { kind: Kind::Scalar, ty }
}
