//! Decoding of one function: allocates rows for its names, and decodes its statements in order.

use super::decoder::{Decoder, Emitter, INVALID_FILE, Result};
use super::names::{Names, SharedVariable, shared_variable};
use super::operation::{Alu, Binary, BitOp, Ternary, Unary};
use super::{alu, bits, compare, control, matrix, memory, moves, multimem};
use crate::interp::code::*;
use crate::interp::number::FloatOp;
use cuweave_ptx::isa::Opcode;
use cuweave_ptx::{self as ptx, Instruction, Module, Statement};
use cuweave_ptx::{Names as BodyNames, StateSpace as PtxSpace};
use std::collections::HashMap;

/// Decodes a function.
pub fn function<'d, 'm>(
    module: &'d Module<'m>,
    names: &'d Names<'d>,
    source: &'d ptx::Function<'m>,
    code: &'d mut Code,
    shared: &'d mut Vec<SharedVariable>,
) -> Function {
    let start = code.insts.len();
    let empty = Function { name: source.name.to_owned(), start: start as u32, ..Function::default() };
    let Some(body) = &source.body else {
        let error =
            Some(format!("line {}: function `{}` is declared but not defined", source.line, source.name));
        return Function { error, ..empty };
    };
    let mut decoder = Decoder {
        module,
        names,
        source,
        body: BodyNames::new(body),
        code: Emitter {
            insts: &mut code.insts,
            location: (0, 0),
            line: source.line,
            first: start,
            guard: (NONE, false),
        },
        shared,
        function: empty,
        registers: HashMap::new(),
        constants: HashMap::new(),
        locals: HashMap::new(),
        shareds: HashMap::new(),
        labels: HashMap::new(),
        carry: None,
        scope: 0,
    };
    let outcome = decode(&mut decoder, &body.statements);
    let line = decoder.code.line;
    let mut function = decoder.function;
    if let Err(what) = outcome {
        code.insts.truncate(start);
        function.invalid = what.ends_with(INVALID_FILE);
        function.error = Some(format!("line {line}: {what}"));
    }
    function.end = code.insts.len() as u32;
    function
}

fn decode<'d, 'm>(decoder: &mut Decoder<'d, 'm>, statements: &'d [Statement<'m>]) -> Result<()> {
    let source = decoder.source;
    if !source.entry {
        decoder.function.parameters = formals(decoder, &source.parameters)?;
        decoder.function.returns = formals(decoder, &source.returns)?;
    }
    declare(decoder, statements)?;
    for (at, statement) in statements.iter().enumerate() {
        match statement {
            Statement::Label(_) => {
                decoder.labels.insert(at, decoder.code.insts.len() as u32);
            }
            Statement::Location(location) => decoder.code.location = (location.file, location.line),
            Statement::Instruction(found) => instruction(decoder, found)?,
            _ => {}
        }
    }
    decoder.code.begin(source.line, NONE, false);
    decoder.code.emit(Op::Return);
    let start = decoder.function.start as usize;
    let labels = &decoder.labels;
    let resolve = |target: &mut u32| match labels.get(&(*target as usize)) {
        Some(&at) => {
            *target = at;
            Ok(())
        }
        None => Err("a branch to an operand that is not a label".to_owned()),
    };
    for inst in &mut decoder.code.insts[start..] {
        match &mut inst.op {
            Op::Branch(target) => resolve(target)?,
            Op::BranchTable(_, targets) => targets.iter_mut().try_for_each(resolve)?,
            _ => {}
        }
    }
    Ok(())
}

/// Returns the places of the parameters of a `.func`: in its frame or in registers.
fn formals<'m>(
    decoder: &mut Decoder<'_, 'm>,
    parameters: &[ptx::Parameter<'m>],
) -> Result<Vec<ParameterPlace>> {
    let mut places = Vec::new();
    for parameter in parameters {
        places.push(match parameter.space {
            PtxSpace::Reg => ParameterPlace::Register(decoder.temporary()),
            _ => {
                let offset = decoder.reserve(parameter.size(), parameter.align())?;
                ParameterPlace::Frame(offset, parameter.size() as u32)
            }
        });
    }
    Ok(places)
}

fn declare<'m>(decoder: &mut Decoder<'_, 'm>, statements: &[Statement<'m>]) -> Result<()> {
    for (at, statement) in statements.iter().enumerate() {
        let Statement::Variable(_, variable) = statement else { continue };
        decoder.code.line = variable.line;
        match variable.space {
            PtxSpace::Local | PtxSpace::Param => {
                let offset = decoder.reserve(variable.size(), variable.align())?;
                decoder.locals.insert(at as u32, (offset, variable.size() as u32));
            }
            PtxSpace::Shared => {
                decoder.shareds.insert(at as u32, decoder.shared.len() as u32);
                decoder.shared.push(shared_variable(variable));
            }
            PtxSpace::Reg if variable.ty.size() > 8 || variable.vector > 1 => {
                return Err(format!("registers of more than 64 bits (`{}`)", variable.name));
            }
            PtxSpace::Reg => {}
            _ => return Err(format!("variable `{}` in a function", variable.name)),
        }
    }
    Ok(())
}

fn instruction<'m>(decoder: &mut Decoder<'_, 'm>, instruction: &Instruction<'m>) -> Result<()> {
    decoder.scope = instruction.scope;
    decoder.code.line = instruction.line;
    let guard = match instruction.guard {
        Some(guard) => (decoder.register(guard.register)?, guard.negated),
        None => (NONE, false),
    };
    decoder.code.begin(instruction.line, guard.0, guard.1);
    dispatch(decoder, instruction).map_err(|what| match what.is_empty() {
        true => format!("`{}` is not supported", instruction.opcode),
        false => format!("`{}`: {what}", instruction.opcode),
    })?;
    // If an instruction becomes several operations, the first of them may overwrite the guard.
    if decoder.code.guard.0 != NONE && decoder.code.insts.len() - decoder.code.first > 1 {
        let kept = decoder.temporary();
        let op = Op::Map1(|p| p, kept, decoder.code.guard.0);
        for inst in &mut decoder.code.insts[decoder.code.first..] {
            inst.guard = kept;
        }
        let copy = Inst {
            op,
            guard: NONE,
            negated: false,
            counts: false,
            line: decoder.code.line,
            source: decoder.code.location,
        };
        decoder.code.insts.insert(decoder.code.first, copy);
    }
    Ok(())
}

/// Decodes an instruction. Every opcode of the table is listed: either decoded or refused.
fn dispatch<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    match i.op() {
        Opcode::Ld | Opcode::Ldu => memory::load(decoder, i),
        Opcode::St => memory::store(decoder, i),
        Opcode::Atom => memory::atom(decoder, i, true),
        Opcode::Red => memory::atom(decoder, i, false),
        Opcode::Multimem => multimem::multimem(decoder, i),
        Opcode::Cvta => memory::cvta(decoder, i),
        Opcode::Isspacep => memory::isspacep(decoder, i),
        Opcode::Cp => memory::copy(decoder, i),
        Opcode::Mbarrier => memory::mbarrier(decoder, i),
        Opcode::Mapa => memory::mapa(decoder, i),
        Opcode::Createpolicy => memory::createpolicy(decoder, i),
        Opcode::Membar | Opcode::Fence => plain(decoder, Op::Fence),
        // No effect: hints, and settings of features that are not simulated.
        Opcode::Prefetch
        | Opcode::Prefetchu
        | Opcode::Applypriority
        | Opcode::Discard
        | Opcode::Pmevent
        | Opcode::Setmaxnreg => plain(decoder, Op::Nop),
        Opcode::Bra => control::branch(decoder, i),
        Opcode::Brx => control::branch_table(decoder, i),
        Opcode::Call => control::call(decoder, i),
        Opcode::Ret => plain(decoder, Op::Return),
        Opcode::Exit => plain(decoder, Op::Exit),
        Opcode::Trap | Opcode::Brkpt => plain(decoder, Op::Trap),
        Opcode::Bar | Opcode::Barrier => control::barrier(decoder, i),
        Opcode::Nanosleep => plain(decoder, Op::Yield),
        Opcode::Griddepcontrol => plain(
            decoder,
            match i.opcode {
                "griddepcontrol.wait" => Op::GridWait,
                _ => Op::Nop,
            },
        ),
        Opcode::Shfl => control::shuffle(decoder, i),
        Opcode::Vote => control::vote(decoder, i),
        Opcode::Activemask => control::active_mask(decoder, i),
        Opcode::Elect => control::elect(decoder, i),
        Opcode::Match => control::match_lanes(decoder, i),
        Opcode::Redux => control::reduce_lanes(decoder, i),
        Opcode::Ldmatrix => matrix::rows(decoder, i, true),
        Opcode::Stmatrix => matrix::rows(decoder, i, false),
        Opcode::Mma => matrix::mma(decoder, i, false),
        Opcode::Wmma if i.has("mma") => matrix::mma(decoder, i, true),
        Opcode::Wmma => matrix::fragment(decoder, i),
        Opcode::Mov => moves::mov(decoder, i),
        Opcode::Cvt => moves::cvt(decoder, i),
        Opcode::Setp => compare::setp(decoder, i),
        Opcode::Set => compare::set(decoder, i),
        Opcode::Selp => bits::bits(decoder, i, BitOp::Select),
        Opcode::Slct => bits::bits(decoder, i, BitOp::SelectBySign),
        Opcode::Prmt => bits::bits(decoder, i, BitOp::Permute),
        Opcode::Copysign => bits::bits(decoder, i, BitOp::Copysign),
        Opcode::Szext => bits::bits(decoder, i, BitOp::Extend),
        Opcode::Bmsk => bits::bits(decoder, i, BitOp::Mask),
        Opcode::Dp4a => bits::bits(decoder, i, BitOp::Dot4),
        Opcode::Dp2a => bits::bits(decoder, i, BitOp::Dot2),
        Opcode::Lop3 => bits::bits(decoder, i, BitOp::Logic),
        Opcode::Shf => bits::bits(decoder, i, BitOp::Funnel),
        Opcode::Testp => bits::testp(decoder, i),
        Opcode::Add => alu::alu(decoder, i, Alu::Binary(Binary::Add)),
        Opcode::Sub => alu::alu(decoder, i, Alu::Binary(Binary::Sub)),
        Opcode::Mul => alu::alu(decoder, i, Alu::Binary(Binary::Mul)),
        Opcode::Mad => alu::alu(decoder, i, Alu::Ternary(Ternary::Mad)),
        Opcode::Fma => alu::alu(decoder, i, Alu::Float(FloatOp::Fma)),
        Opcode::Addc => alu::alu(decoder, i, Alu::WithCarry(Binary::Add)),
        Opcode::Subc => alu::alu(decoder, i, Alu::WithCarry(Binary::Sub)),
        Opcode::Madc => alu::alu(decoder, i, Alu::WithCarry(Binary::Add)),
        Opcode::Mul24 => alu::alu(decoder, i, Alu::Binary(Binary::Mul24)),
        Opcode::Abs => alu::alu(decoder, i, Alu::Unary(Unary::Abs)),
        Opcode::Neg => alu::alu(decoder, i, Alu::Unary(Unary::Neg)),
        Opcode::Min => alu::alu(decoder, i, Alu::Binary(Binary::Min)),
        Opcode::Max => alu::alu(decoder, i, Alu::Binary(Binary::Max)),
        Opcode::Div => alu::alu(decoder, i, Alu::Binary(Binary::Div)),
        Opcode::Rem => alu::alu(decoder, i, Alu::Binary(Binary::Rem)),
        Opcode::Mad24 => alu::alu(decoder, i, Alu::Ternary(Ternary::Mad24)),
        Opcode::Sad => alu::alu(decoder, i, Alu::Ternary(Ternary::Sad)),
        Opcode::Rcp => alu::alu(decoder, i, Alu::Float(FloatOp::Rcp)),
        Opcode::Sqrt => alu::alu(decoder, i, Alu::Float(FloatOp::Sqrt)),
        Opcode::Rsqrt => alu::alu(decoder, i, Alu::Float(FloatOp::Rsqrt)),
        Opcode::Sin => alu::alu(decoder, i, Alu::Float(FloatOp::Sin)),
        Opcode::Cos => alu::alu(decoder, i, Alu::Float(FloatOp::Cos)),
        Opcode::Lg2 => alu::alu(decoder, i, Alu::Float(FloatOp::Lg2)),
        Opcode::Ex2 => alu::alu(decoder, i, Alu::Float(FloatOp::Ex2)),
        Opcode::Tanh => alu::alu(decoder, i, Alu::Float(FloatOp::Tanh)),
        Opcode::Shl => alu::alu(decoder, i, Alu::Binary(Binary::Shl)),
        Opcode::Shr => alu::alu(decoder, i, Alu::Binary(Binary::Shr)),
        Opcode::And => alu::alu(decoder, i, Alu::Binary(Binary::And)),
        Opcode::Or => alu::alu(decoder, i, Alu::Binary(Binary::Or)),
        Opcode::Xor => alu::alu(decoder, i, Alu::Binary(Binary::Xor)),
        Opcode::Not => alu::alu(decoder, i, Alu::Unary(Unary::Not)),
        Opcode::Cnot => alu::alu(decoder, i, Alu::Unary(Unary::Cnot)),
        Opcode::Bfe => alu::alu(decoder, i, Alu::Ternary(Ternary::Bfe)),
        Opcode::Bfi => alu::alu(decoder, i, Alu::Ternary(Ternary::Bfi)),
        Opcode::Bfind => alu::alu(decoder, i, Alu::Unary(Unary::Bfind)),
        Opcode::Brev => alu::alu(decoder, i, Alu::Unary(Unary::Brev)),
        Opcode::Popc => alu::alu(decoder, i, Alu::Unary(Unary::Popc)),
        Opcode::Clz => alu::alu(decoder, i, Alu::Unary(Unary::Clz)),
        Opcode::Fns => alu::alu(decoder, i, Alu::Ternary(Ternary::Fns)),
        Opcode::Add3
        | Opcode::Vadd
        | Opcode::Vsub
        | Opcode::Vabsdiff
        | Opcode::Vmin
        | Opcode::Vmax
        | Opcode::Vshl
        | Opcode::Vshr
        | Opcode::Vmad
        | Opcode::Vset
        | Opcode::Vadd2
        | Opcode::Vsub2
        | Opcode::Vavrg2
        | Opcode::Vabsdiff2
        | Opcode::Vmin2
        | Opcode::Vmax2
        | Opcode::Vset2
        | Opcode::Vadd4
        | Opcode::Vsub4
        | Opcode::Vavrg4
        | Opcode::Vabsdiff4
        | Opcode::Vmin4
        | Opcode::Vmax4
        | Opcode::Vset4
        | Opcode::Getctarank
        | Opcode::Stacksave
        | Opcode::Stackrestore
        | Opcode::Alloca
        | Opcode::Movmatrix
        | Opcode::Istypep
        | Opcode::Txq
        | Opcode::Suq
        | Opcode::Tex
        | Opcode::Tld4
        | Opcode::Suld
        | Opcode::Sust
        | Opcode::Sured
        | Opcode::Tensormap
        | Opcode::Wgmma
        | Opcode::Tcgen05
        | Opcode::Clusterlaunchcontrol
        | Opcode::Unknown => Err(String::new()),
    }
}

/// Decodes an instruction that becomes one operation without operands.
fn plain(decoder: &mut Decoder<'_, '_>, op: Op) -> Result<()> {
    decoder.code.emit(op);
    Ok(())
}
