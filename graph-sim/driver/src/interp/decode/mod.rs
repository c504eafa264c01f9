//! Decoding of PTX modules: functions, entries and variables become a [`Program`].
//!
//! Start at [`Program::decode`]. `function` decodes the statements of one function; `alu`, `bits`, `compare`,
//! `control`, `matrix`, `memory`, `moves` and `multimem` decode the groups of instructions.

mod alu;
mod bits;
mod compare;
mod control;
mod decoder;
mod function;
mod matrix;
mod memory;
mod moves;
mod multimem;
mod names;
mod operands;
mod operation;
mod rounding;

use super::code::{Code, Function};
use super::program::{Entry, GlobalVariable, Program};
use cuweave_ptx::{self as ptx, Initialiser, Module, StateSpace as PtxSpace};
use names::{Names, SharedVariable, function_address, shared_variable};
use std::collections::HashMap;

impl Program {
    /// Decodes a module. An entry that cannot be run records the reason; other entries are not affected.
    pub fn decode(module: &Module) -> Self {
        let mut names = Names { functions: HashMap::new(), globals: HashMap::new(), shared: HashMap::new() };
        let mut variables = Vec::new();
        let mut shared = Vec::new();
        let mut sources: Vec<&ptx::Function> = Vec::new();
        for function in module.functions() {
            match names.functions.get(function.name) {
                // A definition replaces its prototype.
                Some(&at) if function.body.is_some() => sources[at as usize] = function,
                Some(_) => {}
                None => {
                    names.functions.insert(function.name, sources.len() as u32);
                    sources.push(function);
                }
            }
        }
        for variable in module.variables() {
            match variable.space {
                PtxSpace::Shared => {
                    names.shared.insert(variable.name, shared.len() as u32);
                    shared.push(shared_variable(variable));
                }
                _ => {
                    names.globals.insert(variable.name, variables.len() as u32);
                    variables.push(global_variable(module, variable, &names.functions));
                }
            }
        }
        let mut code = Code::default();
        for item in &module.items {
            if let ptx::Item::File(file) = item {
                code.files.push((file.index, file.path.to_owned()));
            }
        }
        let mut functions = Vec::with_capacity(sources.len());
        for source in &sources {
            functions.push(function::function(module, &names, source, &mut code, &mut shared));
        }
        let mut entries = Vec::new();
        for (at, source) in sources.iter().enumerate() {
            if source.entry && source.body.is_some() {
                entries.push(entry(source, at, &functions, &shared));
            }
        }
        let invalid =
            functions.iter().filter(|function| function.invalid).find_map(|function| function.error.clone());
        Program { entries, variables, invalid, functions, code }
    }
}

/// The maximum size of a variable in bytes. An H200 has less memory.
const MAX_VARIABLE_BYTES: u64 = 1 << 37;
/// The maximum size of an initialiser in bytes.
const MAX_INITIALISER_BYTES: u64 = 1 << 28;

fn global_variable(
    module: &ptx::Module,
    variable: &ptx::Variable,
    functions: &HashMap<&str, u32>,
) -> GlobalVariable {
    let bytes = variable.size().min(MAX_VARIABLE_BYTES);
    let mut result = GlobalVariable {
        name: variable.name.to_owned(),
        bytes,
        align: variable.align(),
        constant: variable.space == PtxSpace::Const,
        managed: module.source(variable.span).contains(".managed"),
        external: variable.linkage == ptx::Linkage::Extern,
        initial: Vec::new(),
        addresses: Vec::new(),
    };
    let Some(initial) = &variable.initial else { return result };
    result.initial = vec![0; bytes.min(MAX_INITIALISER_BYTES) as usize];
    let element = variable.ty.size() as usize;
    // The size of a row of each dimension, so that an inner list begins where its row does.
    let mut strides = vec![element; variable.dimensions.len() + 1];
    for at in (1..variable.dimensions.len()).rev() {
        strides[at] =
            strides[at + 1].saturating_mul(variable.dimensions[at].min(MAX_VARIABLE_BYTES) as usize);
    }
    if !variable.dimensions.is_empty() {
        strides.remove(0);
    } else {
        strides = vec![element];
    }
    fill(initial, 0, &strides, 0, variable.ty, &mut result, functions);
    result
}

/// Writes an initialiser. The parser bounds the recursion depth.
fn fill(
    initial: &Initialiser,
    at: usize,
    strides: &[usize],
    depth: usize,
    ty: ptx::Type,
    result: &mut GlobalVariable,
    functions: &HashMap<&str, u32>,
) {
    let size = ty.size() as usize;
    let put = |result: &mut GlobalVariable, bits: u64| {
        if let Some(place) = result.initial.get_mut(at..at.saturating_add(size.min(8))) {
            place.copy_from_slice(&bits.to_le_bytes()[..place.len()]);
        }
    };
    match initial {
        Initialiser::List(list) => {
            let stride = strides.get(depth).copied().unwrap_or(size);
            for (number, inner) in list.iter().enumerate() {
                let at = at.saturating_add(number.saturating_mul(stride));
                fill(inner, at, strides, depth + 1, ty, result, functions);
            }
        }
        Initialiser::Integer(value) => put(
            result,
            match ty {
                ptx::Type::F32 => u64::from((*value as i64 as f32).to_bits()),
                ptx::Type::F64 => (*value as i64 as f64).to_bits(),
                _ => *value,
            },
        ),
        Initialiser::Single(bits) if ty == ptx::Type::F64 => {
            put(result, f64::from(f32::from_bits(*bits)).to_bits());
        }
        Initialiser::Single(bits) => put(result, u64::from(*bits)),
        Initialiser::Double(bits) if ty == ptx::Type::F32 => {
            put(result, u64::from((f64::from_bits(*bits) as f32).to_bits()));
        }
        Initialiser::Double(bits) => put(result, *bits),
        Initialiser::Address { name, offset, mask, .. } => {
            if let Some(&number) = functions.get(name) {
                put(result, function_address(number).wrapping_add(*offset as u64));
            } else if mask.is_none() {
                result.addresses.push((at, (*name).to_owned(), *offset));
            }
        }
    }
}

fn entry(
    source: &ptx::Function,
    function: usize,
    functions: &[Function],
    shared: &[SharedVariable],
) -> Entry {
    let (offsets, bytes) = source.layout();
    let parameters = offsets.iter().zip(&source.parameters).map(|(&at, p)| (at as usize, p.size() as usize));
    // All functions reachable by calls. An indirect call may reach every function whose address is taken.
    let mut reached = vec![false; functions.len()];
    let mut open = vec![function];
    let mut supported = Ok(());
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut reached[at], true) {
            continue;
        }
        if let (Some(error), Ok(())) = (&functions[at].error, &supported) {
            supported = Err(error.clone());
        }
        open.extend(functions[at].callees.iter().map(|&callee| callee as usize));
    }
    let mut offsets = vec![None; shared.len()];
    let mut end = 0u64;
    let mut used = vec![false; shared.len()];
    for (function, _) in functions.iter().zip(&reached).filter(|(_, reached)| **reached) {
        function.shared.iter().for_each(|&variable| used[variable as usize] = true);
    }
    for dynamic in [false, true] {
        let mut align = 1;
        for (at, variable) in shared.iter().enumerate().filter(|(at, v)| used[*at] && v.dynamic == dynamic) {
            if dynamic {
                align = align.max(variable.align);
                continue;
            }
            let start = end.next_multiple_of(variable.align);
            offsets[at] = Some(start.min(u64::from(u32::MAX)) as u32);
            end = start.saturating_add(variable.size).min(1 << 40);
        }
        if dynamic {
            // All dynamic arrays begin at the same address, after the static ones.
            end = end.next_multiple_of(align);
            for (at, _) in shared.iter().enumerate().filter(|(at, v)| used[*at] && v.dynamic) {
                offsets[at] = Some(end.min(u64::from(u32::MAX)) as u32);
            }
        }
    }
    if bytes > 32_764 && supported.is_ok() {
        supported = Err(format!("line {}: {bytes} bytes of parameters", source.line));
    }
    Entry {
        name: source.name.to_owned(),
        parameters: parameters.collect(),
        parameter_bytes: bytes as usize,
        shared_bytes: end.min(u64::from(u32::MAX)) as u32,
        local_bytes: functions[function].frame,
        supported,
        function,
        shared: offsets,
    }
}
