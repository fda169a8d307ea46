//! Reference pages of operators in Markdown.

use std::collections::BTreeMap;
use std::fmt::Write;

use dispatch_runtime::Operator;

use crate::doc_comment::{self, DocLine};
use crate::specific_kernel_kind::SPECIFIC_KERNEL_KINDS;
use crate::{Coverage, KernelKind, OperatorInfo};

/// Returns Markdown pages by file name: one for each namespace, `by-name.md` (every operator by name), `by-key.md` (kernels by operator and
/// key), and README.md with links to them.
///
/// ```
/// dispatch_runtime::Registrar::new("paged").define("id(Tensor self) -> Tensor")?;
/// let pages = dispatch_inspect::documentation_pages(&dispatch_inspect::matching_operators("paged::"));
/// let names: Vec<&str> = pages.keys().map(String::as_str).collect();
/// assert_eq!(names, ["README.md", "by-key.md", "by-name.md", "paged.md"]);
/// assert!(pages["paged.md"].contains("## `id`"));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[must_use]
pub fn documentation_pages(operators: &[&'static Operator]) -> BTreeMap<String, String> {
    let mut by_namespace: BTreeMap<&str, Vec<&'static Operator>> = BTreeMap::new();
    for &operator in operators {
        by_namespace.entry(operator.name().namespace).or_default().push(operator);
    }
    let mut readme = README_HEADER.to_owned();
    let mut pages = BTreeMap::new();
    for (namespace, operators) in by_namespace {
        _ = writeln!(readme, "| [{namespace}]({namespace}.md) | {} |", operators.len());
        pages.insert(format!("{namespace}.md"), namespace_page(namespace, &operators));
    }
    pages.insert("README.md".to_owned(), readme);
    // No namespace has such a name, as a `-` is not allowed there.
    pages.insert("by-name.md".to_owned(), by_name_page(operators));
    pages.insert("by-key.md".to_owned(), by_key_page(&Coverage::for_operators(operators)));
    pages
}

const README_HEADER: &str = "\
# Operators

All operators [by name](by-name.md), [their kernels by key](by-key.md), and a page for each namespace:

| namespace | operators |
|---|---|
";

/// Returns the page of all operators by name, with the first line of their documentation.
fn by_name_page(operators: &[&'static Operator]) -> String {
    let mut page = "# Operators by name\n\n| operator | |\n|---|---|\n".to_owned();
    for operator in operators {
        let first = operator.docs().trim().lines().next().unwrap_or_default();
        _ = writeln!(
            page,
            "| {} | {} |",
            operator_link(&operator.to_string()),
            without_item_links(first).replace('|', "\\|")
        );
    }
    page
}

/// Returns the page with a row for each operator and a column for each key, and the meanings of the words.
fn by_key_page(coverage: &Coverage) -> String {
    let mut page = "# Kernels by key\n\n| word | meaning |\n|---|---|\n".to_owned();
    let words = KernelKind::ALL.map(|served| (served.name(), served.meaning()));
    for (word, meaning) in words.into_iter().chain(SPECIFIC_KERNEL_KINDS) {
        _ = writeln!(page, "| {word} | {meaning} |");
    }
    let counts = coverage.keys.iter().zip(coverage.kernel_counts()).map(|(key, count)| format!(" {key} ({count}) |"));
    _ = writeln!(page, "\n| operator ({}) |{}", coverage.rows.len(), counts.collect::<String>());
    _ = writeln!(page, "|---|{}", "---|".repeat(coverage.keys.len()));
    for row in &coverage.rows {
        _ = writeln!(page, "| {} | {} |", operator_link(&row.operator), row.words.join(" | "));
    }
    page
}

/// Returns a link to the section of an operator. The anchor consists of the letters of the heading.
fn operator_link(operator: &str) -> String {
    let (namespace, name) = operator.split_once("::").unwrap_or_default();
    let anchor = name.to_lowercase().replace(|c: char| !c.is_alphanumeric() && c != '_', "");
    format!("[`{operator}`]({namespace}.md#{anchor})")
}

fn namespace_page(namespace: &str, operators: &[&'static Operator]) -> String {
    let mut page = format!("# `{namespace}`\n");
    for operator in operators {
        _ = write_operator_section(&mut page, &OperatorInfo::for_operator(operator));
    }
    page
}

fn write_operator_section(page: &mut String, info: &OperatorInfo) -> std::fmt::Result {
    let name = info.operator.split_once("::").map_or(info.operator.as_str(), |(_, name)| name);
    writeln!(page, "\n## `{name}`\n\n```\n{}\n```\n", info.schema)?;
    if !info.docs.is_empty() {
        for line in doc_comment::doc_lines(info.docs) {
            match line {
                // An author's heading would look like a section of the page, so it becomes bold text.
                DocLine::Heading(_, title) => writeln!(page, "**{}**", without_item_links(title))?,
                DocLine::Text(text) => writeln!(page, "{}", without_item_links(text))?,
                DocLine::Code(code) => writeln!(page, "{code}")?,
            }
        }
        writeln!(page)?;
    }
    writeln!(page, "* defined: {}", info.place)?;
    if let Some(form_of) = &info.form_of {
        writeln!(page, "* form of: `{form_of}`")?;
    }
    if let Some(shape) = &info.shape {
        writeln!(page, "* shape: `{shape}`")?;
    }
    writeln!(page, "* derivative: {}", info.derivative)?;
    for (about, remark) in &info.remarks {
        writeln!(page, "* {about}: {remark}")?;
    }
    if !info.kernels.is_empty() {
        writeln!(page, "\n| kernel | for | where |\n|---|---|---|")?;
    }
    for kernel in &info.kernels {
        let when = kernel
            .condition
            .map_or_else(String::new, |condition| format!(", when `{}`", condition.replace('|', "\\|")));
        let inactive = if kernel.is_active { "" } else { ", displaced" };
        writeln!(page, "| `{}` | {} | {}{when}{inactive} |", kernel.name, kernel.key, kernel.place)?;
    }
    Ok(())
}

/// Returns a line with rustdoc's links to items replaced by the items' names.
fn without_item_links(line: &str) -> String {
    let mut pieces = line.split("[`");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once("`]") {
            Some((name, rest)) => {
                let target = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
                let rest = target.map_or(rest, |(_, rest)| rest);
                text.extend(["`", name, "`", rest]);
            }
            None => text.extend(["[`", piece]),
        }
    }
    text
}
