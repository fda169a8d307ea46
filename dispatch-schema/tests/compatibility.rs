//! Tests of the compatibility of changed schemas.

use dispatch_schema::{Incompatibility, Schema};

fn parse_schema(text: &str) -> Schema {
    Schema::parse(text).unwrap_or_else(|errors| panic!("{}", errors.render(text)))
}

fn check_backward(new: &str, old: &str) -> Result<(), Vec<Incompatibility>> {
    parse_schema(new).check_backward_compatible(&parse_schema(old))
}

fn check_forward(new: &str, old: &str) -> Result<(), Vec<Incompatibility>> {
    parse_schema(new).check_forward_compatible(&parse_schema(old))
}

/// Asserts that the change is incompatible, for this one reason.
#[track_caller]
fn assert_incompatible(result: Result<(), Vec<Incompatibility>>, reason: &str) {
    let reasons = result.expect_err("the change is compatible");
    let reasons: Vec<_> = reasons.iter().map(ToString::to_string).collect();
    assert_eq!(reasons, [reason]);
}

#[test]
fn name_varargs_and_number_of_returns_must_not_change() {
    let old = "any.over(Tensor self, *, Tensor b) -> Tensor";
    assert_eq!(check_backward(old, old), Ok(()));
    assert_incompatible(
        check_backward("any_.over(Tensor self, *, Tensor b) -> Tensor", old),
        "the operator was called `any.over` and is now called `any_.over`",
    );
    assert!(check_backward("any.other(Tensor self, *, Tensor b) -> Tensor", old).is_err());
    assert_incompatible(
        check_backward("any.over(Tensor self, *, Tensor b, ...) -> Tensor", old),
        "only one of the two schemas takes further arguments (`...`)",
    );
    assert_incompatible(
        check_backward("any.over(Tensor self, *, Tensor b) -> (Tensor, Tensor)", old),
        "the number of returns was 1 and is now 2",
    );
}

#[test]
fn returns_may_narrow_and_not_widen() {
    let old = "any.over(Tensor self, *, Tensor b) -> Tensor";
    let optional = "any.over(Tensor self, *, Tensor b) -> Tensor?";
    assert_incompatible(
        check_backward(optional, old),
        "return 0: was `Tensor` and is now `Tensor?`, which is not compatible",
    );
    assert_eq!(check_backward(old, optional), Ok(()));
    assert!(check_backward("any.over(Tensor self, *, Tensor b) -> int", old).is_err());
    assert_incompatible(
        check_backward("any.over(Tensor self, *, Tensor b) -> Tensor out", old),
        "return 0: had no name and now has the name `out`",
    );
}

#[test]
fn old_arguments_keep_names_and_positions() {
    let old = "any(Tensor self, *, Tensor b, int c) -> Tensor";
    for good in [
        "any(Tensor self, *, Tensor b, int c, int d=1) -> Tensor",
        "any(Tensor self, Tensor b, *, int c) -> Tensor",
        "any(Tensor self, Tensor b, int c) -> Tensor",
        "any(Tensor self, *, Tensor b, int? c) -> Tensor",
        "any(Tensor self, *, Tensor b, int c=1) -> Tensor",
    ] {
        assert_eq!(check_backward(good, old), Ok(()), "{good}");
    }
    assert_incompatible(check_backward("any(Tensor self, *, Tensor b) -> Tensor", old), "the argument `c` was removed");
    assert_incompatible(
        check_backward("any(Tensor self, *, Tensor b, int c, int d) -> Tensor", old),
        "the new argument `d` has no default",
    );
    assert_incompatible(
        check_backward("any(Tensor self, *, Tensor b, int renamed) -> Tensor", old),
        "`renamed` has the position of the old argument `c`",
    );
    assert_incompatible(
        check_backward("any(Tensor self, *, Tensor b, int[] c) -> Tensor", old),
        "argument `c`: was `int` and is now `int[]`, which is not compatible",
    );
    assert!(check_backward("any(Tensor self, *, int c, Tensor b) -> Tensor", old).is_err());
    assert!(check_backward("any(Tensor self, int d=1, *, Tensor b, int c) -> Tensor", old).is_err());
    assert_incompatible(
        check_backward(old, "any(Tensor self, Tensor b, *, int c) -> Tensor"),
        "argument `b`: could be given by position and is now keyword-only",
    );
}

#[test]
fn defaults_must_not_change() {
    assert_incompatible(
        check_backward("f(int a) -> ()", "f(int a=1) -> ()"),
        "argument `a`: had a default and has none now",
    );
    assert_incompatible(
        check_backward("f(int a=2) -> ()", "f(int a=1) -> ()"),
        "argument `a`: had the default `1` and has `2` now",
    );
}

#[test]
fn alias_annotations_must_not_change() {
    assert_incompatible(
        check_backward("f(Tensor(a!) x) -> ()", "f(Tensor x) -> ()"),
        "argument `x`: was annotated as `Tensor` and is now annotated as `Tensor(a!)`",
    );
}

#[test]
fn new_arguments_come_before_the_out_arguments() {
    let old = "foo(Tensor self, *, int a, Tensor(a!) out) -> Tensor(a!)";
    for (new, good) in [
        ("foo(Tensor self, *, int a, int b=1, Tensor(a!) out) -> Tensor(a!)", true),
        ("foo(Tensor self, *, int a, int b=1, Tensor(a!) out, Tensor(b!) b2) -> Tensor(a!)", true),
        ("foo(Tensor self, *, int b=1, int a, Tensor(a!) out) -> Tensor(a!)", false),
        ("foo(Tensor self, *, int a, int b=1, Tensor(b!) b2, Tensor(a!) out) -> Tensor(a!)", false),
    ] {
        assert_eq!(check_backward(new, old).is_ok(), good, "{new}");
    }
    let old = "foo(Tensor self, int a, int b=1) -> int";
    assert_eq!(check_backward("foo(Tensor self, int a, int b=1, int c=2, int d=3) -> int", old), Ok(()));
    assert!(check_backward("foo(Tensor self, int a, int c=2, int b=1) -> int", old).is_err());
}

#[test]
fn forward_compatible_changes_add_or_remove_only_defaulted_arguments() {
    let old = "any(Tensor self, int a, int b=1) -> Tensor";
    assert_eq!(check_forward("any(Tensor self, int a) -> Tensor", old), Ok(()));
    assert_eq!(check_forward("any(Tensor self, int a, int b=1, int c=1) -> Tensor", old), Ok(()));
    for (new, reason) in [
        ("any(Tensor self, int a, int b=1, int[2] c=1) -> Tensor", "the new argument `c` has a list as its default"),
        ("any(Tensor self, int a, int b=4) -> Tensor", "argument `b`: had the default `1` and has `4` now"),
        ("any(Tensor self, int a, int c=1) -> Tensor", "`c` has the position of the old argument `b`"),
        ("any(Tensor self, int a, int b) -> Tensor", "argument `b`: had a default and has none now"),
        ("any(Tensor self, int a=1, int b=1) -> Tensor", "argument `a`: had no default and has one now"),
    ] {
        assert_incompatible(check_forward(new, old), reason);
    }
    assert!(check_forward("any(Tensor self, int a, int c=1, int b=1) -> Tensor", old).is_err());
}

#[test]
fn forward_compatible_returns_keep_their_types() {
    assert!(check_forward("f() -> Tensor", "f() -> Tensor?").is_err());
    assert!(check_forward("f() -> Tensor?", "f() -> Tensor").is_err());
}

#[test]
fn wider_argument_types_are_not_forward_compatible() {
    let old = "slice(Tensor(a) self, int dim=0, int start=0, int step=1) -> Tensor(a)";
    let new = "slice(Tensor(a) self, int dim=0, int? start=None, int step=1) -> Tensor(a)";
    let reasons = check_forward(new, old).unwrap_err();
    assert!(matches!(&reasons[0], Incompatibility::Argument { name, .. } if name == "start"));
}

#[test]
fn forward_compatible_schemas_have_the_same_out_arguments() {
    let old = "any(Tensor self, *, int a, int b=1, Tensor(a!) out) -> Tensor(a!)";
    assert_eq!(check_forward("any(Tensor self, *, int a, Tensor(a!) out) -> Tensor(a!)", old), Ok(()));
    assert_eq!(
        check_forward("any(Tensor self, *, int a, int b=1, int c=1, Tensor(a!) out) -> Tensor(a!)", old),
        Ok(())
    );
    let reasons = check_forward("any(Tensor self, *, int a, Tensor(d!) d, int b=1, Tensor(a!) out) -> Tensor(a!)", old);
    assert!(reasons.unwrap_err().iter().any(|reason| reason.to_string().contains("out arguments")));
}
