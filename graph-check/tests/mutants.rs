//! Mutates the certificates of a folder. Each mutant must be refused, or be equivalent in the orders that the
//! oracle runs.

#[path = "mutants/mod.rs"]
mod mutants;
#[path = "oracle/mod.rs"]
mod oracle;

use std::collections::BTreeMap;
use std::path::Path;

use cuweave_check::{Certificate, check};

fn certificates() -> Vec<(String, Certificate)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of certificates") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a certificate");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let certificate: Certificate = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(certificate.to_string(), text, "{name} is printed as it was");
        all.push((name, certificate));
    }
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

#[test]
fn mutants_are_refused_or_equivalent() {
    let effort = oracle::Effort { all: 60, directed: 40, decisions: 4 };
    let mut totals: BTreeMap<&'static str, [usize; 3]> = BTreeMap::new();
    let mut holes = Vec::new();
    for (name, certificate) in certificates() {
        assert_eq!(check(&certificate), Ok(()), "{name}");
        assert_eq!(oracle::run(&certificate, effort).err(), None, "{name}");
        for mutant in mutants::all(&certificate, 4) {
            let of = totals.entry(mutant.kind).or_default();
            of[0] += 1;
            if check(&mutant.certificate).is_err() {
                of[1] += 1;
            } else if let Err(error) = oracle::run(&mutant.certificate, effort) {
                holes.push(format!("{name}: {}: {}: {error}", mutant.kind, mutant.at));
            } else {
                of[2] += 1;
            }
        }
    }
    assert!(holes.is_empty(), "accepted, and wrong:\n{}", holes.join("\n"));
    let sum = |at: usize| totals.values().map(|of| of[at]).sum::<usize>();
    assert!(totals.len() >= 30, "only {} kinds of mutants were made", totals.len());
    assert!(sum(0) > 3_000 && sum(1) > sum(2), "{totals:?}");
}

/// Most refused mutants are wrong in one of the orders, and the oracle finds that.
#[test]
fn the_oracle_finds_most_of_what_is_refused() {
    let effort = oracle::Effort { all: 60, directed: 40, decisions: 4 };
    let (mut refused, mut wrong) = (0, 0);
    for (_, certificate) in certificates().into_iter().step_by(3) {
        for mutant in mutants::all(&certificate, 2) {
            if check(&mutant.certificate).is_err() {
                refused += 1;
                wrong += usize::from(oracle::run(&mutant.certificate, effort).is_err());
            }
        }
    }
    assert!(10 * wrong > 7 * refused, "{wrong} of {refused}");
}
