//! The pipeline from bound arguments to a graph: evaluate, check, plan, add.
//!
//! All faults of the input are found before the first node is added. After an error everything that was created has been
//! destroyed by its owner's drop, and the caller's buffers are unchanged.

use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::CudaContext;

use crate::index::Vector;
use crate::ir::{DimId, StatementId};
use crate::launches::Allowed;

use crate::runtime::bind::{Operands, Owners, Visitor};
use crate::runtime::build::{
    Asked, Body, Built, Definition, Flattened, Nodes, apply_hook, check_operands, check_overlap,
    check_recursion, flattened, plan,
};
use crate::runtime::context;
use crate::runtime::cuda::{self, Context, Word};
use crate::runtime::error::{Error, Result};
use crate::runtime::kernels::{Limits, Modules, programmatic};
use crate::runtime::observe::BuildTimes;
use crate::runtime::ranges;
use crate::runtime::statements::{Evaluation, Open, Record};
use crate::runtime::token::Token;

use super::core::Core;
use super::graph::{Graph, GraphFn};

/// Builds a graph function's graph.
pub fn build<A: GraphFn>(ctx: &Arc<CudaContext>, mut args: A) -> Result<Graph<A>> {
    let began = Instant::now();
    let driver = cuda::driver()?;
    ranges::collect();
    context::enter(driver, ctx)?;
    cuda::mark_log(driver);
    if let Some(table) = A::table(Token) {
        check_recursion(table)?;
    }
    let table = args
        .values(Token)
        .table(Token)
        .ok_or_else(|| Error::Plan("the graph function is of another version of cuweave".to_owned()))?;
    let Built { flat, dims, symbols } = {
        let body = args.values(Token);
        let described = args.described(Token);
        let flat = described.and_then(|described| flattened(&table, &described, &mut Asked::new(&body)));
        // The user's expressions may have changed the current context.
        driver.enter(Context::of(ctx))?;
        flat?
    };
    let program = flat.checked.program();

    let mut owners = Owners::default();
    let mut visitor = Visitor::new(ctx, &mut owners);
    args.operands(&mut visitor, Token);
    let operands = visitor.finish()?;
    check_operands(program, &dims, 0, &operands)?;
    check_overlap(program, &dims, &operands)?;

    let limits = Limits::of(driver, ctx)?;
    let evaluate = |programmatic| {
        evaluate((&flat, &dims), &args, &limits, Modules::new(driver, ctx.clone(), programmatic))
    };
    let allowed = Allowed::of(program, flat.checked.functions());
    let programmatic = programmatic(driver, ctx, allowed);
    let (mut modules, records, words, open) = match programmatic {
        Err(_) => evaluate(programmatic)?,
        // A kernel that waits first may support fewer threads than the kernel as written.
        Ok(()) => evaluate(programmatic)
            .or_else(|error| evaluate(Err(format!("with the wait in front, {error}"))))?,
    };

    driver.enter(Context::of(ctx))?;
    let evaluated = Instant::now();
    let known = (&records, words.as_slice());
    let mut planned = plan(&flat, (driver, ctx), known, &mut modules, (None, allowed))?;
    apply_hook(program, &mut planned.operations)?;
    let definition = Definition {
        flat: flat.clone(),
        dims,
        symbols,
        driver,
        ctx: ctx.clone(),
        context: Context::of(ctx),
        limits,
        modules,
    };
    let nodes = Nodes::new(&definition, (records, words), open, planned);
    let mut core = Core::new(definition, nodes, Operands::new(operands, owners))?;
    let planned = Instant::now();
    {
        let body = args.values(Token);
        core.add_nodes(&body).or_else(|error| core.as_written(error, |core| core.add_nodes(&body)))?;
    }
    core.times = BuildTimes {
        evaluated: evaluated - began,
        planned: planned - evaluated,
        allocated: core.times.allocated,
        added: planned.elapsed().saturating_sub(core.times.allocated),
    };
    Ok(Graph::new(core, args))
}

/// A record for each statement.
type Evaluated = Vector<StatementId, Record>;

/// Evaluates all statements. Returns the modules of the kernels, a record for each statement, the values of parameters, and
/// the launches that do not provably write all elements.
fn evaluate<A: GraphFn>(
    (flat, dims): (&Flattened, &Vector<DimId, u64>),
    args: &A,
    limits: &Limits,
    mut modules: Modules,
) -> Result<(Modules, Evaluated, Vec<Word>, Open)> {
    let program = flat.checked.program();
    let statements: Vec<StatementId> = program.statements.ids().collect();
    let mut evaluation = Evaluation::new(program, dims, limits, &mut modules, (statements.len(), Vec::new()));
    evaluation.statements(flat, &args.values(Token), &statements)?;
    let (records, words, open) = evaluation.into_parts();
    Ok((modules, records.into(), words, open))
}
