//! Mutates the certificates in folders and prints, for each kind of mutation, how many mutants the checker refuses.
//! The oracle then runs the accepted mutants: each is either equivalent to the original or a hole in the checker.
//!
//! ```text
//! cargo run --release -p cuweave-check --example mutants -- FOLDER..
//! ```
//!
//! `MOST=n`: about n mutants of each kind per certificate (6). `DIRECTED=n`: orders for each mutant (400).
//! `SHARD=i/n`: each n-th file. `NAMES=1`: print the names of the files.

#[path = "../tests/mutants/mod.rs"]
mod mutants;
#[path = "../tests/oracle/mod.rs"]
mod oracle;

use std::collections::BTreeMap;
use std::path::PathBuf;

use cuweave_check::{Certificate, check};

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn main() {
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in std::env::args().skip(1) {
        let entries = std::fs::read_dir(folder).expect("a folder of certificates");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.sort();
    let shard = std::env::var("SHARD").unwrap_or_else(|_| "0/1".to_owned());
    let (shard, shards) = shard.split_once('/').expect("i/n");
    let (shard, shards): (usize, usize) = (shard.parse().expect("i"), shards.parse().expect("n"));
    let effort = oracle::Effort { all: 300, directed: number("DIRECTED", 400), decisions: 6 };
    let most = number("MOST", 6);
    let mut totals: BTreeMap<&'static str, [usize; 4]> = BTreeMap::new();
    let (mut count, mut orders) = (0, 0);
    for file in files.iter().skip(shard).step_by(shards) {
        let text = std::fs::read_to_string(file).expect("a certificate");
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if std::env::var_os("NAMES").is_some() {
            println!("FILE {name}");
        }
        let certificate: Certificate = match text.parse() {
            Ok(certificate) => certificate,
            Err(error) => {
                println!("PARSE {name}: {error}");
                continue;
            }
        };
        if certificate.to_string() != text {
            println!("TEXT {name} is printed otherwise");
        }
        if let Err(refusal) = check(&certificate) {
            println!("REFUSED {name}: {:?}: {refusal}", refusal.rule);
            continue;
        }
        count += 1;
        let began = std::time::Instant::now();
        let ran = oracle::run(&certificate, effort);
        if began.elapsed().as_secs() > 0 {
            println!("SLOW {name}: {:?}", began.elapsed());
        }
        match ran {
            Ok(more) => orders += more,
            Err(error) => {
                println!("WRONG {name}: {error}");
                continue;
            }
        }
        for mutant in mutants::all(&certificate, most) {
            let of = totals.entry(mutant.kind).or_default();
            of[0] += 1;
            if check(&mutant.certificate).is_err() {
                of[1] += 1;
                continue;
            }
            match oracle::run(&mutant.certificate, effort) {
                Ok(more) => {
                    of[2] += 1;
                    orders += more;
                }
                Err(error) => {
                    of[3] += 1;
                    println!("HOLE {name}: {}: {}: {error}", mutant.kind, mutant.at);
                }
            }
        }
    }
    println!("{count} certificates, {orders} orders");
    println!("| mutant | made | refused | equivalent | holes |\n| --- | ---: | ---: | ---: | ---: |");
    for (kind, [made, refused, equivalent, holes]) in &totals {
        println!("| {kind} | {made} | {refused} | {equivalent} | {holes} |");
    }
    let sum = |at: usize| totals.values().map(|of| of[at]).sum::<usize>();
    println!("| all | {} | {} | {} | {} |", sum(0), sum(1), sum(2), sum(3));
}
