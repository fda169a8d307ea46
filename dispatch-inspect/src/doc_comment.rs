//! Doc comments of operators, as rustdoc shows them: without the lines that it hides in examples.

/// A line of a doc comment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DocLine<'a> {
    /// A heading: the whole line, and its title.
    Heading(&'a str, &'a str),
    /// Any other text.
    Text(&'a str),
    /// A line of an example, or a fence around it.
    Code(&'a str),
}

impl<'a> DocLine<'a> {
    /// Returns the line as it was written.
    pub(crate) const fn written_text(self) -> &'a str {
        match self {
            Self::Heading(text, _) | Self::Text(text) | Self::Code(text) => text,
        }
    }
}

/// Returns the lines of a doc comment, without the space after each `///`.
pub(crate) fn doc_lines(docs: &str) -> impl Iterator<Item = DocLine<'_>> {
    let mut is_code = false;
    docs.lines().filter_map(move |line| {
        let line = line.strip_prefix(' ').unwrap_or(line);
        let begun = line.trim_start();
        if begun.starts_with("```") {
            is_code = !is_code;
            return Some(DocLine::Code(line));
        }
        match begun.strip_prefix('#') {
            Some(rest) if is_code && (rest.is_empty() || rest.starts_with(' ')) => None,
            // Inside of an example, `##` stands for a visible line that begins with `#`.
            Some(rest) if is_code && rest.starts_with('#') => Some(DocLine::Code(rest)),
            _ if is_code => Some(DocLine::Code(line)),
            _ => Some(heading_title(begun).map_or(DocLine::Text(line), |title| DocLine::Heading(line, title))),
        }
    })
}

fn heading_title(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    (title.len() < line.len() && title.starts_with(' ')).then(|| title.trim())
}

/// Returns the visible lines as one text.
pub(crate) fn visible_text(docs: &str) -> String {
    doc_lines(docs).map(DocLine::written_text).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{DocLine, doc_lines};

    #[test]
    fn examples_keep_attributes_and_lose_hidden_lines() {
        let docs = "Halves.\n\n # Examples\n\n ```\n # use hidden as _;\n #\n #[test]\n ## shown\n     f(1);\n ```\n # After\n #7 is a number";
        let expected = [
            DocLine::Text("Halves."),
            DocLine::Text(""),
            DocLine::Heading("# Examples", "Examples"),
            DocLine::Text(""),
            DocLine::Code("```"),
            DocLine::Code("#[test]"),
            DocLine::Code("# shown"),
            DocLine::Code("    f(1);"),
            DocLine::Code("```"),
            DocLine::Heading("# After", "After"),
            DocLine::Text("#7 is a number"),
        ];
        assert_eq!(doc_lines(docs).collect::<Vec<_>>(), expected);
    }
}
