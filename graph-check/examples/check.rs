//! Checks certificates and prints the verdict on each: `cargo run -p cuweave-check --example check -- FILE ..`

use cuweave_check::{Certificate, check};

fn main() {
    let mut accepted = true;
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string());
        let certificate =
            text.and_then(|text| text.parse::<Certificate>().map_err(|error| error.to_string()));
        let verdict = match certificate.map(|certificate| check(&certificate)) {
            Ok(Ok(())) => "accepted".to_owned(),
            Ok(Err(refusal)) => format!("refused by {:?}: {refusal}", refusal.rule),
            Err(error) => format!("no certificate: {error}"),
        };
        accepted &= verdict == "accepted";
        println!("{file}: {verdict}");
    }
    std::process::exit(i32::from(!accepted));
}
