//! Tests of the texts that the language accepts, and of their canonical text.

mod printing;

use dispatch_schema::{Declaration, Schema, Type, TypeKind};
use printing::prints;

/// Asserts that a text is canonical: it prints unchanged.
#[track_caller]
fn stays(canonical: &str) {
    prints(canonical, canonical);
}

/// Asserts that the type of an argument prints as `canonical`.
#[track_caller]
fn type_prints(written: &str, canonical: &str) {
    prints(&format!("f({written} x) -> ()"), &format!("f({canonical} x) -> ()"));
}

#[test]
fn names_have_an_optional_namespace_and_overload() {
    for name in ["f", "ns::f", "f.o", "ns::f.o", "_::_._x", "profiler::exit._RecordFunction"] {
        stays(&format!("{name}() -> ()"));
        assert_eq!(Declaration::parse(name).unwrap().to_string(), name);
    }
    prints("ns :: f . o ( ) -> ( )", "ns::f.o() -> ()");
}

#[test]
fn words_that_only_python_reserves_are_names() {
    stays("f(float from, int lambda, int try) -> ()");
}

#[test]
fn every_atomic_type_keeps_its_word() {
    for word in [
        "Tensor",
        "Scalar",
        "int",
        "SymInt",
        "float",
        "bool",
        "SymBool",
        "complex",
        "str",
        "Device",
        "ScalarType",
        "Layout",
        "MemoryFormat",
        "Generator",
        "Storage",
        "Stream",
        "QScheme",
        "Quantizer",
        "NoneType",
        "Any",
        "AnyClassType",
        "AnyEnumType",
        "Capsule",
    ] {
        type_prints(word, word);
    }
}

#[test]
fn older_words_become_the_canonical_ones() {
    type_prints("DeviceIndex", "int");
    type_prints("ConstQuantizerPtr", "int");
    type_prints("number", "Scalar");
    type_prints("None", "NoneType");
}

#[test]
fn suffixes_nest_in_any_order() {
    for ty in ["int?[]", "int[]?", "Tensor?[]?", "int[][][]", "int[2]", "int[2]?", "int[0]", "int[][2]", "int?[2]"] {
        type_prints(ty, ty);
    }
    type_prints("int??", "int?");
    type_prints("Tensor ? [ ] ? ?", "Tensor?[]?");
}

#[test]
fn compound_types_nest() {
    for ty in [
        "(int, Tensor)",
        "()",
        "(int)",
        "(int, (float, str)[])[]",
        "Dict(str, Dict(int, str)?[])[]",
        "Future(Tensor)",
        "Await(t)",
        "RRef(t)",
        "Union(int, str)",
        "__torch__.torch.classes.ns.Name",
        "__torch__.torch.classes.rnn.CellParamsBase[]",
    ] {
        type_prints(ty, ty);
    }
}

#[test]
fn unions_come_to_one_form() {
    type_prints("Union(str, int)", "Union(int, str)");
    type_prints("Union(Tensor, NoneType)", "Tensor?");
    type_prints("Union(Tensor, NoneType)(a!)", "Tensor(a!)?");
    type_prints("Union(int, float, complex)", "Scalar");
    type_prints("Union(int, complex, NoneType, float)", "Scalar?");
    type_prints("Union(str, Union(int, str), Tensor)", "Union(Tensor, int, str)");
    type_prints("Union(int?, str)", "Union(int, NoneType, str)");
}

#[test]
fn unknown_words_in_lower_case_are_type_variables() {
    for variable in ["t", "t1", "tVal", "k", "elem"] {
        let ty = Type::parse(variable).unwrap();
        assert_eq!(ty.kind, TypeKind::Variable(variable.to_owned()));
    }
}

#[test]
fn alias_annotations_stand_after_the_word_or_the_brackets() {
    for ty in [
        "Tensor(a)",
        "Tensor(a!)",
        "Tensor(a -> *)",
        "Tensor(a! -> b|c)",
        "Tensor(*)",
        "Tensor(a!)?",
        "Tensor(a!)[]",
        "Tensor[](a!)",
        "Tensor(a!)[](b!)",
        "t(*)?",
        "t[](*)",
        "Dict(str, t)(a!)",
        "int(a)",
        "Union(int, str)(a)",
        "Tensor(a)[][]",
        "Tensor(a!)[]?[]",
        "Tensor(a)[2]",
        "Tensor(a)[2](b)?",
    ] {
        type_prints(ty, ty);
    }
}

#[test]
fn sets_are_sorted_and_named_once() {
    type_prints("Tensor(b|a)", "Tensor(a|b)");
    type_prints("Tensor(a|b|a)", "Tensor(a|b)");
    type_prints("Tensor(a|*)", "Tensor(*|a)");
    type_prints("Tensor(*|a)", "Tensor(*|a)");
    type_prints("Tensor(a! -> a)", "Tensor(a!)");
}

#[test]
fn annotations_inside_containers_are_kept() {
    for ty in ["Dict(str, Tensor(a))", "(Tensor(a), Tensor(b!))", "Future(Tensor(a))", "Union(Tensor(a), int)"] {
        type_prints(ty, ty);
    }
}

#[test]
fn a_lone_exclamation_mark_is_a_written_set_of_its_own() {
    prints("f(Tensor! x) -> ()", "f(Tensor(a!) x) -> ()");
    prints("f(Tensor! x, Tensor![]! y) -> Tensor(a)", "f(Tensor(b!) x, Tensor(d!)[](c!) y) -> Tensor(a)");
}

#[test]
fn the_star_and_the_dots_print_once_and_where_they_matter() {
    prints("f(*, *, int a, *, int b, *) -> ()", "f(*, int a, int b) -> ()");
    prints("f(int a, *) -> ()", "f(int a) -> ()");
    prints("f(*, ...) -> ()", "f(...) -> ()");
    stays("f(str self, ...) -> str");
    stays("f(...) -> ...");
    stays("f() -> (Tensor, ...)");
    prints("f() -> (...)", "f() -> ...");
}

#[test]
fn returns_print_with_parentheses_where_they_are_needed() {
    prints("f() -> (Tensor)", "f() -> Tensor");
    prints("f() -> (Tensor out)", "f() -> Tensor out");
    stays("f() -> (Tensor a, Tensor)");
    stays("f() -> ((Tensor, Tensor))");
    stays("f() -> ((str, t)[])");
    stays("f() -> ()");
    stays("f() -> (())");
    let schema = Schema::parse("f() -> (Tensor, Tensor)").unwrap();
    assert_eq!(schema.returns.len(), 2);
}

#[test]
fn white_space_newlines_and_comments_are_free() {
    prints(
        "\n\n  # c\r\n f (\n Tensor x, # a\n\n int y\n = 1 ) \\\n -> # b\n ( )\r\n # end",
        "f(Tensor x, int y=1) -> ()",
    );
}

#[test]
fn lists_may_follow_defaults_without_one() {
    stays("f(int a=1, Tensor[] b) -> ()");
    stays("f(int a=1, *, Tensor b) -> ()");
}

#[test]
fn equal_schemas_hash_alike() {
    use std::collections::HashSet;
    let texts = ["f(float x=1) -> ()", "f( float x = 1.0 ) -> ( )", "f(float x=-0.) -> ()", "f(float x=0.) -> ()"];
    let schemas: HashSet<_> = texts.iter().map(|text| Schema::parse(text).unwrap()).collect();
    assert_eq!(schemas.len(), 3);
}

#[test]
fn tokens_split_as_rust_splits_them_read_alike() {
    use dispatch_schema::{
        Token,
        TokenKind::{Ident, Number, Punct},
    };
    let kinds = [
        Ident("f".into()),
        Punct('('),
        Ident("float".into()),
        Ident("x".into()),
        Punct('='),
        Punct('-'),
        Number("1".into()),
        Punct('.'),
        Ident("e3".into()),
        Punct(','),
        Ident("float".into()),
        Ident("y".into()),
        Punct('='),
        Punct('.'),
        Number("5".into()),
        Punct(')'),
        Punct('-'),
        Punct('>'),
        Punct('('),
        Punct(')'),
    ];
    let tokens: Vec<_> = kinds.into_iter().enumerate().map(|(i, kind)| Token { kind, span: i..i + 1 }).collect();
    assert_eq!(Schema::parse_tokens(&tokens).unwrap().to_string(), "f(float x=-1000., float y=0.5) -> ()");
    let errors = Schema::parse_tokens(&tokens[..17]).unwrap_err();
    assert_eq!(errors[0].span, 16..17);
}
