//! Prints the programs as graph functions.

use super::generate::{Factor, Grid, Len, Of, PROGRAMS, Part, Program, Statement, Work, name, program};

/// Returns the programs, and the function `run`, which builds and runs the one of a number.
pub fn text() -> String {
    let programs: String = (0..PROGRAMS).map(|number| function(&program(number))).collect();
    let arm = |number| {
        format!(
            "{number} => seen(p{number}(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),\n"
        )
    };
    let arms: String = (0..PROGRAMS).map(arm).collect();
    format!(
        "{programs}\npub fn run(number: u64, bench: &mut Bench) -> cuweave::Result<Seen> {{\n\
         let Bench {{ device, x, z, y, v, p, out, .. }} = bench;\nmatch number {{\n{arms}\
         _ => unreachable!(\"there are as many programs\"),\n}}\n}}\n"
    )
}

fn function(program: &Program) -> String {
    let mut options = Vec::new();
    if program.explicit {
        options.push("order = \"explicit\"".to_owned());
    }
    options.extend(program.memory.map(|memory| format!("memory = \"{memory}\"")));
    options.extend(program.launches.map(|launches| format!("launches = \"{launches}\"")));
    if program.budget {
        options.push("budget = 4096 * n".to_owned());
    }
    let options = if options.is_empty() { String::new() } else { format!("({})", options.join(", ")) };
    let types: Vec<String> =
        program.outputs.iter().map(|&output| format!("[f32; {}]", len(program.lens[output]))).collect();
    let returned = match types.as_slice() {
        [] => String::new(),
        [one] => format!(" -> {one}"),
        many => format!(" -> ({})", many.join(", ")),
    };
    let mut text = format!(
        "\n#[cuweave::graph{options}]\npub fn p{}(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], \
         y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>){returned} {{\n",
        program.number
    );
    for (at, statement) in program.statements.iter().enumerate() {
        text.push_str(&written(program, at, statement));
    }
    let names: Vec<String> = program.outputs.iter().map(|&output| name(output)).collect();
    match names.as_slice() {
        [] => {}
        [one] => text.push_str(&format!("    {one}\n")),
        many => text.push_str(&format!("    ({})\n", many.join(", "))),
    }
    text.push_str("}\n");
    text
}

fn written(program: &Program, at: usize, statement: &Statement) -> String {
    let mut text = String::new();
    if !statement.after.is_empty() {
        let names: Vec<String> = statement
            .after
            .iter()
            .map(|&before| statement_name(before, &program.statements[before]))
            .collect();
        text.push_str(&format!("    #[after({})]\n", names.join(", ")));
    }
    let bound = statement.named && !matches!(statement.work, Work::Alloc { .. });
    let name = if bound { format!("let s{at} = ") } else { String::new() };
    text.push_str(&format!("    {name}{}\n", work(program, &statement.work)));
    text
}

fn statement_name(at: usize, statement: &Statement) -> String {
    match statement.work {
        Work::Alloc { buffer } => name(buffer),
        _ => format!("s{at}"),
    }
}

fn len(len: Len) -> &'static str {
    match len {
        Len::One => "n",
        Len::Two => "2 * n",
        Len::Four => "4 * n",
        Len::More => "n + k",
    }
}

fn part(part: Part) -> String {
    let name = name(part.buffer);
    match part.of {
        Of::Whole => name,
        Of::Chunk(at) => format!("{name}[{at} * n..{} * n]", at + 1),
        Of::Turn => format!("{name}[i * n..(i + 1) * n]"),
        Of::Nested => format!("{name}[2 * n..4 * n][n..2 * n]"),
    }
}

/// Returns the number of elements of a part.
fn count(program: &Program, part: Part) -> &'static str {
    match part.of {
        Of::Whole => len(program.lens[part.buffer]),
        _ => "n",
    }
}

fn factor(factor: Factor) -> String {
    match factor {
        Factor::Literal(value) => format!("{value}.5"),
        Factor::Scalar => "a".to_owned(),
    }
}

fn config(grid: Grid, count: &str) -> String {
    match grid {
        Grid::PerItem => format!("per_item({count})"),
        Grid::Blocks => format!("(({count} + 127) / 128, 128)"),
    }
}

fn work(program: &Program, work: &Work) -> String {
    let count = |part: Part| count(program, part);
    match work {
        Work::Alloc { buffer } => {
            format!("let {} = alloc::<f32>({});", name(*buffer), len(program.lens[*buffer]))
        }
        Work::Fill { to, value } => format!("fill(&mut {}, {value}.0);", part(*to)),
        Work::Copy { from, to } => format!("copy(&{}, &mut {});", part(*from), part(*to)),
        Work::CopyPinned { to } => format!("copy(&p, &mut {});", part(*to)),
        Work::Set { to, value, grid } => {
            let n = count(*to);
            format!("set[{}](&mut {}, {}, {n});", config(*grid, n), part(*to), factor(*value))
        }
        Work::CopyTo { from, to, grid } => {
            let n = count(*to);
            format!("copy_to[{}](&{}, &mut {}, {n});", config(*grid, n), part(*from), part(*to))
        }
        Work::Scale { x, a, grid } => {
            let n = count(*x);
            format!("scale[{}](&mut {}, {}, {n});", config(*grid, n), part(*x), factor(*a))
        }
        Work::Axpy { a, x, y, grid } => {
            let n = count(*y);
            format!("axpy[{}]({}, &{}, &mut {}, {n});", config(*grid, n), factor(*a), part(*x), part(*y))
        }
        Work::Count { by } => format!("add_all[per_item(n)](atomic(&mut v), {by}, n);"),
        Work::Free { buffer } => format!("free({});", name(*buffer)),
        Work::Step { a, x, y } => format!("step(n, {}, &{}, &mut {});", factor(*a), part(*x), part(*y)),
        Work::Made { buffer, x } => format!("let {} = made(n, &{});", name(*buffer), part(*x)),
        Work::Loop { turns, body } => {
            let lines: Vec<String> =
                body.iter().map(|one| format!("        {}\n", self::work(program, one))).collect();
            format!("for i in 0..{turns} {{\n{}    }}", lines.concat())
        }
    }
}
