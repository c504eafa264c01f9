//! Rewrites every kernel of the corpus in every form: the result is parsed again, and its proofs stay.

#[path = "common/corpus.rs"]
mod corpus;

use corpus::{all_forms, texts};
use cuweave_ptx::rewrite::{BatchTable, Refusal, batchable, batched, waiting};
use cuweave_ptx::{self as ptx, AccessClass, Analysis, Module};
use cuweave_testkit::files::name;
use std::collections::BTreeMap;

fn accesses(module: &Module<'_>) -> Vec<(String, Vec<AccessClass>)> {
    let mut analysis = Analysis::new(module);
    let mut found = Vec::new();
    for entry in module.entries() {
        let pointers: Vec<bool> =
            entry.parameters.iter().map(|parameter| parameter.may_be_pointer()).collect();
        let kernel = analysis.kernel(entry.name, &pointers);
        found.push((entry.name.to_owned(), kernel.parameters.iter().map(|found| found.access()).collect()));
    }
    found
}

#[test]
fn kernels_that_wait_are_the_same_kernels() {
    let (mut waits, mut kept) = (0, BTreeMap::new());
    for (file, text) in texts() {
        let Ok(module) = ptx::parse(&text) else { continue };
        let made = waiting(&module);
        assert_eq!(made.waits.len() + made.unchanged.len(), module.entries().count(), "{}", file.display());
        for (_, why) in &made.unchanged {
            *kept.entry(format!("{}: {why}", name(&file))).or_insert(0) += 1;
        }
        let again = ptx::parse(&made.text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        if made.waits.is_empty() {
            assert_eq!(made.text, text);
            continue;
        }
        waits += made.waits.len();
        assert_eq!(accesses(&module), accesses(&again), "{}", file.display());
        assert_eq!(text.lines().count(), made.text.lines().count());
    }
    for (why, count) in &kept {
        println!("{count} {why}");
    }
    assert!(waits > 600, "{waits}");
}

#[test]
fn kernels_are_batched_in_every_form() {
    let (mut variants, mut kept) = (0, BTreeMap::new());
    for (file, text) in texts() {
        let Ok(module) = ptx::parse(&text) else { continue };
        for entry in module.entries() {
            if let Err(why) = batchable(&module, entry.name) {
                *kept.entry(format!("{}: {}: {why}", name(&file), entry.name)).or_insert(0) += 1;
            }
        }
        let mut forms = all_forms(&module);
        let mut made = batched(&module, &forms);
        if matches!(made, Err(Refusal::Head(_))) {
            // The target cannot be raised.
            forms.retain(|form| !form.waits);
            made = batched(&module, &forms);
        }
        let made = made.unwrap_or_else(|why| panic!("{}: {why}", file.display()));
        let again = ptx::parse(&made).unwrap_or_else(|error| panic!("{}: {error}\n{made}", file.display()));
        for form in &forms {
            let table =
                BatchTable::new(&module.entry(&form.entry).unwrap().parameters, form.capacity, form.shape)
                    .unwrap();
            assert_eq!(again.entry(&form.name).unwrap().layout().1, u64::from(table.bytes));
        }
        variants += forms.len();
    }
    for (why, count) in &kept {
        println!("{count} {why}");
    }
    println!("{variants} variants");
    assert!(variants > 6000);
}
