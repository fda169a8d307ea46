//! Expressions have the values that PyTorch computes, in each notation, and no text is evaluated or panics.

use std::io::Read;

use dispatch_pt2::Expression;
use dispatch_runtime::Scalar;
use flate2::read::GzDecoder;
use proptest::prelude::*;
use serde_json::Value as Json;

/// The names of the symbols in the recordings.
const NAMES: [&str; 4] = ["s0", "s1", "s17", "u3"];

/// The recordings of `record_expressions.py`.
fn recordings() -> Vec<Json> {
    let mut text = String::new();
    GzDecoder::new(&include_bytes!("expressions.jsonl.gz")[..]).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn evaluate(expression: &Expression, values: &[i64]) -> Option<Scalar> {
    expression.evaluate(|name| Some(Scalar::Int(values[NAMES.iter().position(|known| *known == name)?])))
}

fn is_close(found: Option<Scalar>, expected: &Json) -> bool {
    let found = match (found, expected) {
        (Some(Scalar::Bool(found)), Json::Bool(expected)) => return found == *expected,
        (Some(Scalar::Int(found)), Json::Number(expected)) if expected.is_i64() => {
            return Some(found) == expected.as_i64();
        }
        (Some(Scalar::Float(found)), _) => found,
        #[expect(clippy::cast_precision_loss, reason = "the recorded values are small")]
        (Some(Scalar::Int(found)), _) => found as f64,
        _ => return false,
    };
    expected.as_f64().is_some_and(|expected| (found - expected).abs() <= 1e-12 * expected.abs())
}

#[test]
fn values_agree_with_pytorch_in_each_notation() {
    let mut compared = 0;
    for row in recordings() {
        for notation in ["srepr", "str", "python"] {
            let Some(text) = row[notation].as_str() else { continue };
            let expression = Expression::parse(text);
            let again = Expression::parse(&expression.to_string());
            for case in row["values"].as_array().unwrap() {
                let values: Vec<i64> =
                    case[0].as_array().unwrap().iter().map(|value| value.as_i64().unwrap()).collect();
                for expression in [&expression, &again] {
                    let found = evaluate(expression, &values);
                    assert!(is_close(found, &case[1]), "{text} with {values:?}: {found:?}, not {}", case[1]);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 9000, "{compared}");
}

#[test]
fn a_text_that_is_no_expression_has_no_value() {
    let texts = [
        "__import__('os').system('touch found')",
        "exec('1')",
        "s0.__class__",
        "lambda: 1",
        "[x for x in y]",
        "s0 if s1 else u3",
        "a < b < c",
        "Symbol(s0)",
        "Integer('7')",
        "Rational(1, 0)",
        "Mod(s0)",
        "s0 +",
        "(s0",
        "s0)",
        "'s0'",
        "L['x'].item()[",
        "é",
        "",
        "\u{0}",
    ];
    for text in texts {
        let expression = Expression::parse(text);
        assert!(expression.is_unknown(), "{text}: {expression}");
        assert_eq!(expression.evaluate(|_| Some(Scalar::Int(1))), None);
        assert_eq!(expression.to_string(), "?");
    }
}

#[test]
fn length_and_depth_are_bounded() {
    for text in [
        "(".repeat(100_000),
        "-".repeat(1000) + "1",
        "Add(".repeat(3000),
        "2**".repeat(2000) + "2",
        "a//".repeat(200) + "a",
    ] {
        assert!(Expression::parse(&text).is_unknown());
    }
    // A long sum is not deep.
    let sum = Expression::parse(&vec!["s0"; 2000].join(" + "));
    assert_eq!(sum.evaluate(|_| Some(Scalar::Int(3))), Some(Scalar::Int(6000)));
}

#[test]
fn large_numbers_have_no_value_instead_of_a_wrong_one() {
    for text in [
        "2**64",
        "2**200",
        "9223372036854775807 + 1",
        "3**3**3**3",
        "170141183460469231731687303715884105728",
        "1 << 4000",
        "1//0",
        "1 % 0",
        "1/0",
    ] {
        assert_eq!(Expression::parse(text).evaluate(|_| None), None, "{text}");
    }
    assert_eq!(Expression::parse("2**63 - 1").evaluate(|_| None), Some(Scalar::Int(i64::MAX)));
}

#[test]
fn symbols_are_listed_once() {
    let guard = Expression::parse("L['x'].size()[0] * 2 == L['y'][0].mask.size()[1] + L['x'].size()[0]");
    assert_eq!(guard.symbols(), ["L['x'].size()[0]", "L['y'][0]['mask'].size()[1]"]);
}

/// Texts that are nearly expressions.
fn texts() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "s0",
        "u3",
        "1",
        "-7",
        "0",
        "2.5",
        "(",
        ")",
        ",",
        "+",
        "-",
        "*",
        "//",
        "%",
        "**",
        "<=",
        "==",
        " and ",
        "not ",
        "Add(",
        "Mod(",
        "Max(",
        "FloorDiv(",
        "Symbol('s0')",
        "Integer(",
        "Pow(",
        "L['x']",
        "[0]",
        ".size()",
        "Rational(1, 3)",
        "9223372036854775807",
        "oo",
        "RShift(",
    ]);
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_text_parses_without_a_panic(text in prop_oneof![texts(), any::<String>()], value in any::<i64>()) {
        let expression = Expression::parse(&text);
        let _value = expression.evaluate(|_| Some(Scalar::Int(value)));
        let _text = expression.to_string();
    }

    #[test]
    fn the_text_of_an_expression_means_the_same(text in texts(), value in -9_i64..99) {
        let expression = Expression::parse(&text);
        let again = Expression::parse(&expression.to_string());
        let evaluate = |expression: &Expression| format!("{:?}", expression.evaluate(|_| Some(Scalar::Int(value))));
        prop_assert_eq!(evaluate(&expression), evaluate(&again), "{} -> {}", text, expression);
    }

    #[test]
    fn integers_compute_as_in_python(a in -50_i64..50, b in -50_i64..50) {
        let value = |text: &str| {
            let text = text.replace('a', &format!("({a})")).replace('b', &format!("({b})"));
            Expression::parse(&text).evaluate(|_| None)
        };
        prop_assert_eq!(value("a + b*2 - 3"), Some(Scalar::Int(a + b * 2 - 3)));
        if b == 0 {
            prop_assert_eq!(value("a//b"), None);
        } else {
            // The remainder has the sign of the divisor.
            let Some(Scalar::Int(quotient)) = value("a//b") else { panic!("no quotient") };
            let Some(Scalar::Int(rest)) = value("a % b") else { panic!("no remainder") };
            prop_assert_eq!(quotient * b + rest, a);
            prop_assert!(rest.abs() < b.abs() && (rest == 0 || rest.signum() == b.signum()));
        }
    }
}
