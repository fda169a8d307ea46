//! Tables for terminals.

use std::fmt;

/// Writes rows of cells under a header. The first column is aligned to the left, the others to the right.
pub(crate) fn write_table(f: &mut fmt::Formatter<'_>, header: &[&str], rows: &[Vec<String>]) -> fmt::Result {
    let header: Vec<String> = header.iter().map(|&title| title.to_owned()).collect();
    let lines: Vec<&Vec<String>> = [&header].into_iter().chain(rows).collect();
    let width = |column: usize| lines.iter().filter_map(|line| Some(line.get(column)?.chars().count())).max();
    let widths: Vec<usize> = (0..header.len()).map(|column| width(column).unwrap_or(0)).collect();
    for (i, line) in lines.iter().enumerate() {
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            if column == 0 { write!(f, "{cell:width$}") } else { write!(f, "  {cell:>width$}") }?;
        }
        if i + 1 < lines.len() {
            writeln!(f)?;
        }
    }
    Ok(())
}

/// Formats a number with a unit prefix (k, M, G, T) and three decimals.
#[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
pub(crate) fn format_scaled(number: u64, unit: &str) -> String {
    let prefixes = [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    match prefixes.into_iter().find(|&(scale, _)| number >= scale) {
        Some((scale, prefix)) => format!("{:.3} {prefix}{unit}", number as f64 / scale as f64),
        None => format!("{number} {unit}"),
    }
}

/// Formats a part of a whole in percent.
#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
pub(crate) fn format_percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}
