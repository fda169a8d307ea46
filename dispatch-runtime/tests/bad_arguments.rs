//! Tests of the message of every typed expectation, and of the reason in it.

use dispatch_runtime::{BadArgument, DType, DTypes, Expected, Scalar, Sizes};

fn assert_ends_with(error: &BadArgument, expected: &str) {
    assert!(error.to_string().ends_with(expected), "`{error}` does not end with `{expected}`");
}

#[test]
fn every_number_expectation_has_a_message() {
    let bounds: [(Expected<Scalar>, &str); 9] = [
        (2.into(), "must be 2"),
        ((1..).into(), "must be at least 1"),
        ((..=9).into(), "must be at most 9"),
        ((0.5..=1.0).into(), "must be from 0.5 to 1.0"),
        (false.into(), "must be false"),
        (Expected::Above(0.into()), "must be more than 0"),
        (Expected::Below(4.into()), "must be less than 4"),
        (Expected::Not(0.into()), "must be other than 0"),
        (Expected::DivisorOf(6.into()), "must be a divisor of 6"),
    ];
    for (bound, message) in bounds {
        assert_ends_with(&BadArgument::number("n", 5, bound), message);
    }
    assert_ends_with(
        &BadArgument::keyword("mode", "up", &["left", "right", "both"]),
        "is `up`, but must be `left`, `right` or `both`",
    );
    assert_ends_with(&BadArgument::value("path", "[0, 1]", "a tree"), "is [0, 1], but must be a tree");
}

#[test]
fn expected_ranks_and_lengths_have_messages() {
    assert_ends_with(&BadArgument::rank("self", 1, &[2, 3]), "has 1 dimensions, but must have 2 or 3");
    assert_ends_with(&BadArgument::rank("self", 1, 2..=4), "but must have from 2 to 4");
    assert_ends_with(&BadArgument::length("stride", 3, 2).like("size"), "has length 3, but must have 2, as `size` has");
}

#[test]
fn expected_sizes_have_messages() {
    let found = [4, 5];
    assert_ends_with(
        &BadArgument::sizes("a", &found, &[4, 6][..]).like("b"),
        "has sizes [4, 5], but must have [4, 6], as `b` has",
    );
    let one = BadArgument::size("a", &found, 1, 6).like_dim("b", 0);
    assert_ends_with(&one, "but must have 6 in dimension 1, as `b` has in dimension 0");
    assert_ends_with(
        &BadArgument::size("a", &found, 0, Expected::MultipleOf(3)),
        "must have a multiple of 3 in dimension 0",
    );
    assert_ends_with(&BadArgument::element_count("a", &found, 1), "must have 1 element");
    assert_ends_with(&BadArgument::element_count("a", &found, 6..), "must have at least 6 elements");
    assert_ends_with(&BadArgument::sizes("a", &found, Sizes::from("square matrices")), "must have square matrices");
}

#[test]
fn expected_dtypes_have_messages() {
    let all: [(DTypes, &str); 9] = [
        (DType::F32.into(), "must be float32"),
        ((&[DType::U8, DType::I32, DType::I64]).into(), "must be uint8, int32 or int64"),
        (DTypes::Floating, "must be floating"),
        (DTypes::Integral, "must be integral"),
        (DTypes::Real, "must be real"),
        (DTypes::Numeric, "must be numeric"),
        (DTypes::FloatingOrComplex, "must be floating or complex"),
        (DTypes::CastableFrom(DType::F64), "must be able to hold float64"),
        (DTypes::from("numbers with a sign"), "must be numbers with a sign"),
    ];
    for (dtypes, message) in all {
        assert_ends_with(&BadArgument::dtype("a", DType::Bool, dtypes), message);
    }
    let error = BadArgument::dtype("a", DType::Bool, DTypes::Complex).because("`b` is");
    assert_eq!(error.to_string(), "argument `a` is of bool, but must be complex, as `b` is");
}
