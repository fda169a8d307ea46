//! Answers as text for terminals.

use std::fmt::Write;

use dispatch_runtime::Operator;

use crate::{CallExplanation, Cell, CellChange, Coverage, KernelKind, OperatorInfo, WhatIf, doc_comment};

/// The style of text: plain or coloured.
///
/// ```
/// use dispatch_inspect::Style;
/// assert_eq!(Style::Plain.bold("id"), "id");
/// assert_eq!(Style::Colour.bold("id"), "\x1b[1mid\x1b[0m");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Plain text.
    Plain,
    /// Text with colours for terminals.
    Colour,
}

impl Style {
    /// Formats text in bold.
    ///
    /// ```
    /// assert_eq!(dispatch_inspect::Style::Plain.bold("x"), "x");
    /// ```
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.with_escape_code("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.with_escape_code("2", text)
    }

    fn coloured_by_kind(self, served: KernelKind, text: &str) -> String {
        self.with_escape_code(
            match served {
                KernelKind::Kernel => "32",
                KernelKind::Composite => "36",
                KernelKind::Any => "34",
                KernelKind::Fallback => "33",
                KernelKind::Fallthrough | KernelKind::Missing => "2",
                KernelKind::Ambiguous => "31",
            },
            text,
        )
    }

    fn with_escape_code(self, code: &str, text: &str) -> String {
        if self == Self::Plain || text.is_empty() { text.to_owned() } else { format!("\x1b[{code}m{text}\x1b[0m") }
    }
}

/// A grid of cells. A column is as wide as its longest cell, and the last column is not padded.
struct TextGrid<const N: usize>(Vec<[(String, Option<KernelKind>); N]>);

impl<const N: usize> TextGrid<N> {
    fn write(&self, text: &mut String, style: Style) {
        let width = |column: usize| self.0.iter().map(|row| row[column].0.chars().count()).max().unwrap_or(0);
        let widths: [usize; N] = std::array::from_fn(width);
        for row in &self.0 {
            let mut line = String::new();
            for (column, ((cell, served), width)) in row.iter().zip(widths).enumerate() {
                let width = if column + 1 == N { 0 } else { width + 2 };
                let padded = format!("{cell:width$}");
                line += &served.map_or_else(|| padded.clone(), |served| style.coloured_by_kind(served, &padded));
            }
            _ = writeln!(text, "  {}", line.trim_end());
        }
    }
}

/// Returns the schemas of the operators, one per line.
///
/// ```
/// # let operator = dispatch_runtime::Registrar::new("text").define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
/// assert_eq!(dispatch_inspect::schema_list(&[operator]), "text::id(Tensor x) -> Tensor\n");
/// ```
#[must_use]
pub fn schema_list(operators: &[&'static Operator]) -> String {
    operators.iter().fold(String::new(), |mut text, operator| {
        _ = writeln!(text, "{:#}", operator.schema());
        text
    })
}

impl OperatorInfo {
    /// Formats the information as text.
    ///
    /// ```
    /// # let operator = dispatch_runtime::Registrar::new("sheet_text").define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
    /// let text = dispatch_inspect::OperatorInfo::for_operator(operator).text(dispatch_inspect::Style::Plain);
    /// assert!(text.starts_with("sheet_text::id(Tensor x) -> Tensor\n"));
    /// ```
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        let mut text = format!("{}\n", style.bold(&self.schema));
        for line in doc_comment::doc_lines(self.docs) {
            _ = writeln!(text, "{}", format!("  {}", line.written_text()).trim_end());
        }
        _ = writeln!(text, "\n  defined     {}", self.place);
        if let Some(form_of) = &self.form_of {
            _ = writeln!(text, "  form of     {form_of}");
        }
        if let Some(shape) = &self.shape {
            _ = writeln!(text, "  shape       {shape}");
        }
        _ = writeln!(text, "  derivative  {}", self.derivative);
        for (about, remark) in &self.remarks {
            _ = writeln!(text, "  {about:10}  {remark}");
        }
        if !self.rules.is_empty() {
            _ = writeln!(text, "\n{}", style.bold("rules"));
            TextGrid(
                self.rules
                    .iter()
                    .map(|(of, place)| [uncoloured_cell(of), uncoloured_cell(&place.to_string())])
                    .collect(),
            )
            .write(&mut text, style);
        }
        _ = writeln!(text, "\n{}", style.bold("kernels"));
        let rows = self.kernels.iter().map(|kernel| {
            let when = kernel.condition.map_or_else(String::new, |condition| format!("  when {condition}"));
            let inactive = if kernel.is_active { "" } else { "  (displaced)" };
            let place = format!("{}{when}{inactive}", kernel.place);
            [
                uncoloured_cell(&kernel.key),
                uncoloured_cell(kernel.name),
                uncoloured_cell(kernel.kind.unwrap_or_default()),
                uncoloured_cell(&place),
            ]
        });
        TextGrid(rows.collect()).write(&mut text, style);
        if self.kernels.is_empty() {
            text += "  none\n";
        }
        _ = writeln!(text, "\n{}", style.bold("coverage"));
        TextGrid(
            self.coverage
                .iter()
                .map(|(key, served)| [uncoloured_cell(key), (served.to_string(), Some(*served))])
                .collect(),
        )
        .write(&mut text, style);
        text
    }
}

/// Formats a table as text: the cells with a kernel, without those of backends that are not linked.
///
/// ```
/// # let operator = dispatch_runtime::Registrar::new("table_text").define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
/// use dispatch_inspect::{Style, table_cells, table_text};
/// assert_eq!(table_text(&table_cells(operator), Style::Plain), "  nothing is registered\n");
/// ```
#[must_use]
pub fn table_text(cells: &[Cell], style: Style) -> String {
    let mut text = String::new();
    let filled: Vec<&Cell> = cells.iter().filter(|cell| cell.served != KernelKind::Missing).collect();
    if filled.is_empty() {
        return "  nothing is registered\n".to_owned();
    }
    let (unlinked, linked): (Vec<&Cell>, Vec<&Cell>) = filled.into_iter().partition(|cell| cell.is_unlinked);
    TextGrid(linked.into_iter().map(table_row).collect()).write(&mut text, style);
    write_unlinked_count(&mut text, unlinked.len());
    text
}

fn write_unlinked_count(text: &mut String, count: usize) {
    if count != 0 {
        _ = writeln!(text, "  and {count} keys of backends that are not linked, which --json has");
    }
}

fn table_row(cell: &Cell) -> [(String, Option<KernelKind>); 4] {
    let by = cell.registered_for.as_deref().filter(|by| *by != cell.key).unwrap_or_default();
    let kernels = match cell.served {
        KernelKind::Missing => "nothing: a call fails here".to_owned(),
        _ => cell.kernels.join(" or "),
    };
    [
        uncoloured_cell(&cell.key),
        (cell.served.to_string(), Some(cell.served)),
        uncoloured_cell(by),
        uncoloured_cell(&kernels),
    ]
}

impl WhatIf {
    /// Formats the changes as text: each cell before and after.
    ///
    /// ```
    /// # let operator = dispatch_runtime::Registrar::new("if_text").define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
    /// let text = dispatch_inspect::WhatIf::for_changes(operator, &[]).unwrap().text(dispatch_inspect::Style::Plain);
    /// assert!(text.ends_with("  nothing would change\n"));
    /// ```
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        let added = self.added.iter().map(|key| format!("with a kernel for {key}"));
        let removed = self.removed.iter().map(|key| format!("without one for {key}"));
        let words: Vec<String> = added.chain(removed).collect();
        let mut text = format!("{} {}\n\n", style.bold(&self.operator), words.join(", "));
        let side = |cell: &Cell| {
            let by = cell.registered_for.as_deref().filter(|by| *by != cell.key);
            let by = by.map_or_else(String::new, |by| format!(" ({by})"));
            (format!("{}{by}", cell.served), Some(cell.served))
        };
        let (unlinked, linked): (Vec<&CellChange>, Vec<&CellChange>) =
            self.changes.iter().partition(|change| change.before.is_unlinked && change.after.is_unlinked);
        let rows = linked.iter();
        let rows = rows.map(|change| {
            [uncoloured_cell(&change.before.key), side(&change.before), uncoloured_cell("->"), side(&change.after)]
        });
        TextGrid(rows.collect()).write(&mut text, style);
        write_unlinked_count(&mut text, unlinked.len());
        if self.changes.is_empty() {
            text += "  nothing would change\n";
        }
        for key in &self.displaced {
            _ = writeln!(text, "  {key} has a kernel: another one without `override` is refused as a duplicate");
        }
        text
    }
}

impl CallExplanation {
    /// Formats the explanation as text.
    ///
    /// ```
    /// # let operator = dispatch_runtime::Registrar::new("account_text").define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
    /// let text = dispatch_inspect::CallExplanation::for_call(operator, &[]).unwrap().text(dispatch_inspect::Style::Plain);
    /// assert!(text.contains("runs nothing"));
    /// ```
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        let mut text = String::new();
        for line in self.plain_text.lines() {
            let line = match line.trim_start() {
                found if found.starts_with("runs ") => style.bold(line),
                found if found.starts_with("not ") => style.dim(line),
                _ => line.to_owned(),
            };
            _ = writeln!(text, "{line}");
        }
        for note in &self.notes {
            _ = writeln!(text, "  note {note}");
        }
        if !self.below.is_empty() {
            text += "\n  and below that, if each kernel redispatches\n";
            TextGrid(self.below.iter().map(table_row).collect()).write(&mut text, style);
        }
        text
    }
}

impl Coverage {
    /// Formats the coverage as text, with a column for each key.
    ///
    /// ```
    /// let text = dispatch_inspect::Coverage::for_operators(&[]).text(dispatch_inspect::Style::Plain);
    /// assert_eq!(text, "0 operators\n");
    /// ```
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        let longest = self.rows.iter().map(|row| row.operator.chars().count()).max().unwrap_or(0);
        let name = longest.max(format!("{} operators", self.rows.len()).len());
        let widths: Vec<usize> = self.keys.iter().map(|key| key.chars().count().max("fallthrough".len())).collect();
        let line =
            |first: &str, cells: Vec<String>| format!("{first:name$}  {}", cells.join("  ")).trim_end().to_owned();
        let padded =
            |texts: &[String]| texts.iter().zip(&widths).map(|(text, width)| format!("{text:width$}")).collect();
        let counts: Vec<String> = self.kernel_counts().iter().map(ToString::to_string).collect();
        let head = [line("", padded(&self.keys)), line(&format!("{} operators", self.rows.len()), padded(&counts))];
        let mut text = String::new();
        for line in head.iter().filter(|line| !line.is_empty()) {
            _ = writeln!(text, "{}", style.bold(line));
        }
        for row in &self.rows {
            let cells = row.cells.iter().zip(&row.words).zip(&widths);
            let cells = cells.map(|((cell, word), width)| style.coloured_by_kind(*cell, &format!("{word:width$}")));
            _ = writeln!(text, "{}", line(&row.operator, cells.collect()));
        }
        text
    }
}

fn uncoloured_cell(text: &str) -> (String, Option<KernelKind>) {
    (text.to_owned(), None)
}
