//! Assertion that a schema prints as its canonical text, and that this text parses as the same schema.

use dispatch_schema::{Schema, lex};

/// Asserts that `written` prints as `canonical`, and that `canonical` parses as the same schema.
#[track_caller]
pub(crate) fn assert_prints(written: &str, canonical: &str) {
    let schema = Schema::parse(written).unwrap_or_else(|errors| panic!("{}", errors.render(written)));
    assert_eq!(schema.to_string(), canonical);
    assert_eq!(Schema::parse(canonical).as_ref(), Ok(&schema), "{canonical}");
    assert_eq!(Schema::parse_tokens(&lex(written).unwrap()).as_ref(), Ok(&schema), "{written}");
}
