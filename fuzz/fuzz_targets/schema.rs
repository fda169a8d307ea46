//! Fuzzes the schema parser: it never panics, and the printed text of a schema parses to the same schema.
#![no_main]

use dispatch_schema::{Declaration, lex};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let declaration = match Declaration::parse(text) {
        Ok(declaration) => declaration,
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| error.span.start <= error.span.end && error.span.end <= text.len()));
            assert!(!errors.render(text).is_empty());
            return;
        }
    };
    let tokens = lex(text).expect("text that parses consists of tokens");
    assert_eq!(Declaration::parse_tokens(&tokens).as_ref(), Ok(&declaration));
    let printed = declaration.to_string();
    assert_eq!(Declaration::parse(&printed).as_ref(), Ok(&declaration), "{printed}");
    if let Declaration::Schema(schema) = declaration {
        assert_eq!(schema.check_backward_compatible(&schema), Ok(()));
        assert_eq!(schema.check_forward_compatible(&schema), Ok(()));
        let _ = (schema.kind(), schema.views());
    }
});
