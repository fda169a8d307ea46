//! The table of all operators and keys as one HTML file.
//!
//! The file contains markup (page.html), styles (page.css), the data, and the program: explain.js computes where calls go, grid.js shows
//! the table, why.js explains a cell, panel.js shows its details, page.js connects them. It loads nothing else.

mod data;
mod intern;

use dispatch_runtime::Operator;

use data::PageData;

const PAGE_MARKUP: &str = include_str!("page/page.html");
const PAGE_STYLES: &str = include_str!("page/page.css");
const PAGE_SCRIPTS: [&str; 5] = [
    include_str!("page/explain.js"),
    include_str!("page/grid.js"),
    include_str!("page/why.js"),
    include_str!("page/panel.js"),
    include_str!("page/page.js"),
];

/// Returns a page with a row for each operator and a column for each key. It is one HTML document, and loads nothing.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// /// Mends </script> tags.
/// #[op_def("mend(Tensor self) -> Tensor")]
/// pub fn mend(this: &Tensor) -> Result<Tensor>;
///
/// let page = dispatch_inspect::html_page(&[mend::operator()]);
/// assert!(page.starts_with("<!doctype html>") && page.contains("::mend(Tensor self) -> Tensor"));
/// // Text from authors is data and never markup.
/// assert!(!page.contains("Mends </script>") && page.contains("Mends \\u003c/script>"));
/// ```
#[must_use]
pub fn html_page(operators: &[&'static Operator]) -> String {
    let data = serde_json::to_string(&PageData::for_operators(operators)).unwrap_or_default();
    // Without `<`, no text in the data can end the element around it, or begin a comment.
    let data = data.replace('<', "\\u003c");
    let scripts = PAGE_SCRIPTS.join("\n");
    let parts = [("{{styles}}", PAGE_STYLES), ("{{data}}", &data), ("{{scripts}}", &scripts)];
    let mut page = String::with_capacity(PAGE_MARKUP.len() + PAGE_STYLES.len() + data.len() + scripts.len());
    let mut rest = PAGE_MARKUP;
    for (placeholder, part) in parts {
        let (before, after) = rest.split_once(placeholder).unwrap_or((rest, ""));
        page.extend([before, part]);
        rest = after;
    }
    page + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_markup_has_a_placeholder_for_each_part_in_order() {
        let at = ["{{styles}}", "{{data}}", "{{scripts}}"].map(|place| PAGE_MARKUP.find(place).unwrap());
        assert!(at.is_sorted());
        assert_eq!(PAGE_MARKUP.matches("{{").count(), 3);
    }

    #[test]
    fn scripts_and_styles_end_no_element_and_load_nothing() {
        for text in PAGE_SCRIPTS.into_iter().chain([PAGE_STYLES]) {
            assert!(!text.contains("</") && !text.contains("<!--"));
        }
        let page = html_page(&[]);
        for word in ["http:", "https:", "src=", "@import", "url(", "fetch(", "innerHTML"] {
            assert!(!page.contains(word), "{word}");
        }
    }
}
