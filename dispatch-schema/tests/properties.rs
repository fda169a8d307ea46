//! Property tests of schemas and texts: printing, parsing and compatibility.

mod generate;

use dispatch_schema::{Declaration, DefaultValue, Schema, lex};
use generate::{any_schema, random_text};
use proptest::prelude::*;
use proptest::sample::Index;

/// Returns recorded schemas for the damage test, with every kind of argument, default and annotation.
fn schemas_to_damage() -> Vec<String> {
    use std::io::Read;
    let packed: &[u8] = include_bytes!("golden/schemas.jsonl.gz");
    let mut lines = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut lines).expect("the recordings are valid gzip");
    let text =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("json")["in"].as_str().map(String::from);
    lines.lines().step_by(7).filter_map(text).collect()
}

/// Parses `text`, and checks the properties of any text: it prints and parses back, or its errors have valid spans.
fn check_parse_properties(text: &str) -> Result<(), TestCaseError> {
    match Declaration::parse(text) {
        Ok(declaration) => {
            let printed = declaration.to_string();
            prop_assert_eq!(Declaration::parse(&printed), Ok(declaration), "{}", printed);
        }
        Err(errors) => {
            prop_assert!(!errors.is_empty());
            prop_assert!(errors.iter().all(|error| text.get(error.span.clone()).is_some()));
            prop_assert_eq!(errors.render(text).lines().count(), 3 * errors.len());
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_printed_schema_parses_back(schema in any_schema()) {
        let text = schema.to_string();
        let again = Schema::parse(&text).map_err(|errors| TestCaseError::fail(errors.render(&text)))?;
        prop_assert_eq!(&again, &schema);
        prop_assert_eq!(again.to_string(), text);
    }

    #[test]
    fn a_schema_in_short_form_parses_back(schema in any_schema()) {
        prop_assert_eq!(Schema::parse(&format!("{schema:#}")), Ok(schema));
    }

    #[test]
    fn a_float_in_short_form_parses_to_the_same_bits(value in any::<f64>(), imaginary in any::<f64>()) {
        let written = format!("f(float x={value:?}, complex y={value:?}+{:?}j) -> ()", imaginary.abs());
        let schema = Schema::parse(&written).map_err(|errors| TestCaseError::fail(errors.render(&written)))?;
        let short = format!("{schema:#}");
        prop_assert_eq!(&short, &written);
        let again = Schema::parse(&short).map_err(|errors| TestCaseError::fail(errors.render(&short)))?;
        let defaults = [DefaultValue::Float(value), DefaultValue::Complex(value, imaginary.abs())];
        prop_assert!(again.arguments.into_iter().map(|argument| argument.default.unwrap()).eq(defaults), "{}", short);
    }

    #[test]
    fn tokens_and_text_parse_to_the_same_schema(schema in any_schema()) {
        let text = schema.to_string();
        prop_assert_eq!(Schema::parse_tokens(&lex(&text).unwrap()), Ok(schema));
    }

    #[test]
    fn a_schema_is_compatible_with_itself(schema in any_schema()) {
        prop_assert_eq!(schema.check_backward_compatible(&schema), Ok(()));
        prop_assert_eq!(schema.check_forward_compatible(&schema), Ok(()));
    }

    #[test]
    fn integers_in_base_16_and_base_10_are_equal(
        value in any::<i64>(),
        capitals in any::<bool>(),
        ty in prop::sample::select(vec!["int", "int?", "SymInt", "Scalar", "float?", "int[2]", "ScalarType"]),
    ) {
        let sign = if value < 0 { "-" } else { "" };
        let size = value.unsigned_abs();
        let hex = if capitals { format!("{sign}0X{size:X}") } else { format!("{sign}0x{size:x}") };
        let [hex, decimal] = [hex, value.to_string()].map(|value| format!("f({ty} x={value}) -> ()"));
        let schema = Schema::parse(&hex).map_err(|errors| TestCaseError::fail(errors.render(&hex)))?;
        prop_assert_eq!(schema.to_string(), &*decimal);
        prop_assert_eq!(Schema::parse_tokens(&lex(&hex).unwrap()), Ok(schema.clone()));
        prop_assert_eq!(Schema::parse(&decimal), Ok(schema));
    }

    #[test]
    fn random_texts_parse_or_give_valid_errors(text in random_text()) {
        check_parse_properties(&text)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn damaged_schemas_parse_or_give_valid_errors(
        places in prop::collection::vec(any::<Index>(), 3),
        insert in prop::sample::select(vec!["", "(", ")", "[", "]", ",", "->", "*", "...", "!", "?", "=", "'", "#", "é", "1"]),
    ) {
        for text in schemas_to_damage() {
            let chars: Vec<char> = text.chars().collect();
            let (at, cut) = (places[0].index(chars.len()), places[1].index(4));
            let damaged: String = chars[..at].iter().collect::<String>() + insert
                + &chars[(at + cut).min(chars.len())..].iter().collect::<String>();
            check_parse_properties(&damaged)?;
        }
    }
}
