//! Tables that are readable as text and valid as Markdown.

/// Prints rows under a header, with the first column aligned left and the others aligned right.
pub fn print_table<const N: usize>(header: [&str; N], rows: &[[String; N]]) {
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    });
    let line = |cells: [&str; N]| {
        for (column, (cell, width)) in cells.into_iter().zip(widths).enumerate() {
            if column == 0 { print!("| {cell:<width$} |") } else { print!(" {cell:>width$} |") }
        }
        println!();
    };
    line(header);
    let rules: [String; N] = std::array::from_fn(|column| {
        "-".repeat(widths[column] - usize::from(column > 0)) + if column > 0 { ":" } else { "" }
    });
    line(std::array::from_fn(|column| rules[column].as_str()));
    for row in rows {
        line(std::array::from_fn(|column| row[column].as_str()));
    }
    println!();
}
