//! Rendering of errors with their source lines and carets.

use std::fmt::Write;
use std::ops::Range;

use super::SyntaxErrors;

pub(super) fn render(errors: &SyntaxErrors, source: &str) -> String {
    let mut text = String::new();
    for error in errors {
        let (line, columns) = line_and_columns(source, &error.span);
        // Tabs are kept, so that the carets are aligned at any tab width.
        let blank: String = line.chars().take(columns.start).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let carets = "^".repeat(columns.len().max(1));
        writeln!(text, "{error}\n  {line}\n  {blank}{carets}").expect("writing to a string cannot fail");
    }
    text
}

/// Returns the line in which `span` begins, and the columns of the span in this line, in characters.
fn line_and_columns<'s>(source: &'s str, span: &Range<usize>) -> (&'s str, Range<usize>) {
    let start = char_boundary_before(source, span.start);
    let begin = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line = source[begin..].lines().next().unwrap_or("");
    let columns = |to: usize| line.get(..char_boundary_before(line, to - begin)).unwrap_or(line).chars().count();
    (line, columns(start)..columns(char_boundary_before(source, span.end).max(start)))
}

/// Returns the last character boundary at or before byte `at`.
fn char_boundary_before(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

#[cfg(test)]
mod tests {
    use crate::Schema;

    fn rendered_errors(source: &str) -> String {
        Schema::parse(source).unwrap_err().render(source)
    }

    #[test]
    fn columns_count_characters_and_tabs_are_kept() {
        let text = rendered_errors("f(\n\tstr é, tensor x) -> ()");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[2], "  \t    ^");
        assert_eq!(lines[4], "  \tstr é, tensor x) -> ()");
        assert_eq!(lines[5], "  \t       ^^^^^^");
    }

    #[test]
    fn an_error_at_the_end_has_one_caret_after_the_text() {
        let text = rendered_errors("f(Tensor x) ->");
        assert_eq!(text.lines().collect::<Vec<_>>()[1..], ["  f(Tensor x) ->", "                ^"]);
    }

    #[test]
    fn a_span_of_several_lines_is_marked_in_the_first_line() {
        let text = rendered_errors("f(str x='''\n\\q''') -> ()");
        assert!(text.lines().any(|line| line == "  ^^"), "{text}");
    }

    #[test]
    fn spans_outside_the_text_do_not_panic() {
        let errors = Schema::parse("f(Tensor x, tensor y, Tensro z) -> ()").unwrap_err();
        assert_eq!(errors.render("é").lines().count(), 6);
        assert_eq!(errors.render("").lines().count(), 6);
    }
}
