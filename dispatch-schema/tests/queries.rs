//! Tests of queries of alias annotations: out arguments, views, and shared memory.

use dispatch_schema::{Schema, SchemaKind, ValuePosition, View};

fn parse_schema(text: &str) -> Schema {
    Schema::parse(text).unwrap_or_else(|errors| panic!("{}", errors.render(text)))
}

use ValuePosition::{Argument, Return};

#[test]
fn written_keyword_arguments_are_out_arguments() {
    let with_out = parse_schema("any.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
    assert!(with_out.arguments[1].is_out());
    let lists = parse_schema("foo(Tensor self, *, Tensor(a!)[] out) -> ()");
    assert!(lists.arguments[1].is_out() && lists.kind() == SchemaKind::Out);
    let plain = parse_schema("any.not_out(Tensor self, Tensor b) -> Tensor");
    assert!(!plain.arguments[1].is_out());
    let positional = parse_schema("any_(Tensor(a!) self) -> Tensor(a!)");
    assert!(!positional.arguments[0].is_out() && positional.kind() == SchemaKind::InPlace);
}

#[test]
fn written_values_inside_containers_make_a_schema_mutable() {
    assert!(parse_schema("f(Dict(str, Tensor(a!)) x) -> ()").is_mutable());
    assert!(!parse_schema("f(Dict(str, Tensor(a)) x) -> Tensor(a)").is_mutable());
}

#[test]
fn views_share_an_alias_set_with_a_read_argument() {
    let chunk = parse_schema("f(Tensor x, Tensor(a -> *) self, Tensor(b) y) -> (Tensor(a)[], Tensor(b|a))");
    let view = |ret, argument| View { ret, argument };
    assert_eq!(chunk.views(), [view(0, 1), view(1, 1), view(1, 2)]);
    assert_eq!(parse_schema("f(Tensor(a!) self) -> Tensor(a!)").views(), []);
    assert_eq!(parse_schema("f(Tensor(*) self) -> Tensor(*)").views(), []);
}

#[test]
fn written_argument_of_return_gives_the_index_of_the_argument() {
    let schema = parse_schema(
        "f(Tensor(a!) x, *, Tensor(b!) y, Tensor(c!)[] z) -> (Tensor(b!), Tensor(a!), Tensor(c!)[], Tensor)",
    );
    let written: Vec<_> = (0..5).map(|i| schema.written_argument_of_return(i)).collect();
    assert_eq!(written, [Some(1), Some(0), Some(2), None, None]);
}

#[test]
fn values_of_one_kind_may_alias_through_a_common_set_or_a_wildcard() {
    let schema = parse_schema("f(Tensor(a) x, Tensor(b) y, Tensor(*) z, int(a) n, t(a) v, Tensor w) -> Tensor(a)");
    let with_return: Vec<_> = (0..7).map(|i| schema.may_alias(Argument(i), Return(0))).collect();
    assert_eq!(with_return, [true, false, true, false, true, false, false]);
    assert!(schema.may_alias(Argument(2), Argument(1)));
    assert!(!schema.may_alias(Argument(0), Return(9)));
}

#[test]
fn a_list_and_its_elements_have_separate_alias_sets() {
    let schema = parse_schema("f(Tensor(a)[](b) x, Tensor(a)? y, Tensor[](b) z) -> Tensor(a)");
    assert!(!schema.may_alias(Argument(0), Return(0)));
    assert!(schema.may_contain_alias(Argument(0), Return(0)));
    assert!(schema.may_alias(Argument(1), Return(0)));
    assert!(schema.may_alias(Argument(0), Argument(2)));
    assert!(!schema.may_contain_alias(Argument(2), Return(0)));
}
