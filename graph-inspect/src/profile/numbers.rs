//! Formats times, bytes and rates.

/// Returns the bandwidth in bytes per second. `None` if no bytes are moved or no time is taken.
pub(super) fn bandwidth(bytes: f64, microseconds: f64) -> Option<f64> {
    (bytes > 0.0 && microseconds > 0.0).then(|| bytes / microseconds * 1e6)
}

/// Formats a time given in microseconds, with a unit.
pub fn time(microseconds: f64) -> String {
    match microseconds {
        ..100.0 => format!("{microseconds:.2} us"),
        ..10_000.0 => format!("{microseconds:.1} us"),
        _ => format!("{:.2} ms", microseconds / 1000.0),
    }
}

/// Formats a quantity with a suitable decimal prefix.
fn prefixed(number: f64, unit: &str) -> String {
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match prefixes.iter().find(|prefix| number >= prefix.0) {
        Some((scale, prefix)) => {
            let number = number / scale;
            let decimals = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
            format!("{number:.decimals$} {prefix}{unit}")
        }
        None => format!("{number:.0} {unit}"),
    }
}

/// Formats bytes, with a decimal unit.
pub(super) fn bytes(bytes: f64) -> String {
    prefixed(bytes, "B")
}

/// Formats bytes per second, with a decimal unit.
pub(super) fn rate(rate: f64) -> String {
    prefixed(rate, "B/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0.0, 9.876, 123.45, 12_345.6].map(time), ["0.00 us", "9.88 us", "123.5 us", "12.35 ms"]);
        assert_eq!(
            [0.0, 999.0, 1000.0, 45.3e6, 812e9].map(bytes),
            ["0 B", "999 B", "1.00 kB", "45.3 MB", "812 GB"]
        );
        assert_eq!(rate(3.913e12), "3.91 TB/s");
        assert_eq!(bandwidth(4e6, 2.0), Some(2e12));
        assert_eq!((bandwidth(0.0, 1.0), bandwidth(1.0, 0.0)), (None, None));
    }
}
