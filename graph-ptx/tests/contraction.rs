//! Compares the multiplications and additions that `ptxas` fuses in the corpus as written and as rewritten.
//!
//! `mul` and `add` without a rounding modifier may become one `fma`, which rounds once instead of twice. A rewritten
//! kernel gives the same bits only if the assembler fuses the same ones. Each kernel and each of its forms is
//! assembled and disassembled, and every floating-point instruction is described by its operation, its signs and the
//! operations that its operands come from. `$CUWEAVE_PTXAS` and `$CUWEAVE_NVDISASM` have the paths of the tools
//! (Python wheels nvidia-cuda-nvcc and nvidia-cuda-nvdisasm); if they are missing, the test prints this and passes.
//! If `$CUWEAVE_CONTRACTION` is set, the table goes to that file: `scripts/contraction.sh` makes it.

#[path = "common/corpus.rs"]
mod corpus;
#[path = "common/sass.rs"]
mod sass;

use corpus::{all_forms, texts};
use cuweave_ptx as ptx;
use cuweave_ptx::rewrite::{Axis, GridShape, batched, waiting};
use sass::{Arithmetic, Tools};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A form of a kernel, compared with the kernel as written.
struct Pair {
    file: String,
    entry: String,
    form: &'static str,
    written: Arithmetic,
    rewritten: Arithmetic,
}

#[test]
fn rewritten_kernels_are_contracted_as_they_were() {
    let Some(tools) = Tools::find() else {
        println!("no ptxas or no nvdisasm: set CUWEAVE_PTXAS and CUWEAVE_NVDISASM");
        return;
    };
    let mut pairs = Vec::new();
    let mut unread = Vec::new();
    for (file, text) in texts() {
        // Same as for a later architecture, with fewer instructions available.
        if file.to_string_lossy().contains(".75.") {
            continue;
        }
        let name = format!(
            "{}/{}",
            file.parent().and_then(|folder| folder.file_name()).unwrap_or_default().to_string_lossy(),
            cuweave_testkit::files::name(&file)
        );
        match of_file(&tools, &name, &text) {
            Ok(found) => pairs.extend(found),
            Err(why) => unread.push(format!("{name}: {why}")),
        }
    }
    println!(
        "{} rewritten kernels disassembled; not assembled as they are written:\n{}",
        pairs.len(),
        unread.join("\n")
    );
    let text = table(&pairs, &tools.version());
    println!("{text}");
    assert!(pairs.len() > 600, "{}", pairs.len());
    if let Some(file) = std::env::var_os("CUWEAVE_CONTRACTION") {
        std::fs::write(file, &text).unwrap();
    }
    let differ = pairs.iter().filter(|pair| !pair.has_the_same_operations()).count();
    assert_eq!(differ, 0, "{text}");
}

/// Returns the kernels of a file in each of their forms.
fn of_file(tools: &Tools, name: &str, text: &str) -> Result<Vec<Pair>, String> {
    // Removes names left over in sections, which the corpus does not have.
    let lines: Vec<&str> =
        text.lines().map(|line| line.split(", function_name").next().unwrap_or("")).collect();
    let without = lines.join("\n");
    let text = if text.contains(".section") { text } else { &without };
    let module = ptx::parse(text).map_err(|error| error.to_string())?;
    let written = tools.arithmetic(text, name)?;
    let mut pairs = Vec::new();
    let mut add = |entry: &str, form, rewritten: Option<&Arithmetic>| {
        if let (Some(written), Some(rewritten)) = (written.get(entry), rewritten) {
            pairs.push(Pair {
                file: name.to_owned(),
                entry: entry.to_owned(),
                form,
                written: written.clone(),
                rewritten: rewritten.clone(),
            });
        }
    };
    let waits = waiting(&module);
    let of_waiting = tools.arithmetic(&waits.text, name)?;
    for entry in &waits.waits {
        add(entry, "wait", of_waiting.get(entry));
    }
    let mut forms = all_forms(&module);
    // The axis, the wait and the number of members do not change arithmetic.
    let is_axis_z = |shape| shape == GridShape::Axis(Axis::Z);
    forms.retain(|form| form.capacity == 16 && form.waits && !is_axis_z(form.shape));
    let made = match batched(&module, &forms) {
        Ok(made) => made,
        Err(_) => {
            // The target cannot be raised.
            forms.iter_mut().for_each(|form| form.waits = false);
            batched(&module, &forms).map_err(|why| why.to_string())?
        }
    };
    let of_batches: BTreeMap<String, Arithmetic> = tools.arithmetic(&made, name)?;
    for form in &forms {
        let shape = match (form.shape, form.waits) {
            (GridShape::Flat, true) => "unequal grids, wait",
            (GridShape::Flat, false) => "unequal grids",
            (_, true) => "equal grids, wait",
            (_, false) => "equal grids",
        };
        add(&form.entry, shape, of_batches.get(&form.name));
    }
    Ok(pairs)
}

fn table(pairs: &[Pair], version: &str) -> String {
    let mut text = format!(
        "# Contraction in rewritten kernels\n\n`scripts/contraction.sh`, {version}, sm_90. \
            Floating-point instructions of \
         each kernel as it is written and in each rewritten form:\nby operation (how many of each), \
         and described by the operations \
         that their operands come from within a block, with signs.\nThe same operations: as many of each. \
         Descriptions also \
         differ where instructions are scheduled otherwise across guards and blocks.\n\n\
         | form | kernels | with float arithmetic | the same descriptions | the same operations | other operations |\n\
         |---|---|---|---|---|---|\n"
    );
    let mut forms: Vec<&str> = pairs.iter().map(|pair| pair.form).collect();
    forms.sort_unstable();
    forms.dedup();
    for form in forms {
        let of: Vec<&Pair> = pairs.iter().filter(|pair| pair.form == form).collect();
        let count = |is: &dyn Fn(&Pair) -> bool| of.iter().filter(|pair| is(pair)).count();
        let (all, same) = (of.len(), count(&|pair| pair.written == pair.rewritten));
        let operations = count(&Pair::has_the_same_operations);
        let float = count(&|pair| !pair.written.described.is_empty());
        writeln!(
            text,
            "| {form} | {all} | {float} | {same} | {} | {} |",
            operations - same,
            all - operations
        )
        .unwrap();
    }
    text.push_str(
        "\n| file | kernel | forms | other operations | other descriptions |\n|---|---|---|---|---|\n",
    );
    let mut rows: BTreeMap<(&str, &str, String, String), Vec<&str>> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| pair.written != pair.rewritten) {
        let operations = match pair.has_the_same_operations() {
            true => String::new(),
            false => format!("{:?} to {:?}", pair.written.operations(), pair.rewritten.operations()),
        };
        let differences: Vec<String> = pair
            .written
            .differences(&pair.rewritten)
            .into_iter()
            .map(|(what, one, two)| format!("`{what}` {one} to {two}"))
            .collect();
        let forms = rows.entry((&pair.file, &pair.entry, operations, differences.join(", "))).or_default();
        if !forms.contains(&pair.form) {
            forms.push(pair.form);
        }
    }
    for ((file, entry, operations, differences), forms) in rows {
        writeln!(text, "| {file} | `{entry}` | {} | {operations} | {differences} |", forms.join("; "))
            .unwrap();
    }
    text
}

impl Pair {
    fn has_the_same_operations(&self) -> bool {
        self.written.operations() == self.rewritten.operations()
    }
}
