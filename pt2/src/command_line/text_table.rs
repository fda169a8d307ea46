//! Tables for terminals.

use std::io::{self, Write};

/// Writes rows of cells under a header. The first `left` columns are aligned to the left, the others to the right.
pub(crate) fn write_table<const N: usize>(
    out: &mut dyn Write,
    header: [&str; N],
    rows: &[[String; N]],
    left: usize,
) -> io::Result<()> {
    let mut widths = header.map(|title| title.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    write_row(out, &header, widths, left)?;
    rows.iter().try_for_each(|row| write_row(out, &row.each_ref().map(String::as_str), widths, left))
}

/// Writes a row with columns of these widths.
pub(crate) fn write_row<const N: usize>(
    out: &mut dyn Write,
    cells: &[&str; N],
    widths: [usize; N],
    left: usize,
) -> io::Result<()> {
    let mut line = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if column > 0 {
            line.push_str("  ");
        }
        let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
        let (before, after) = if column < left { (*cell, &*padding) } else { (&*padding, *cell) };
        line.push_str(before);
        line.push_str(after);
    }
    writeln!(out, "{}", line.trim_end())
}
