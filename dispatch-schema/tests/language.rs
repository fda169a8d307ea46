//! Tests of the texts that the language accepts, and of their canonical text.

mod printing;

use dispatch_schema::{Declaration, Schema, Type, TypeKind};
use printing::assert_prints;

/// Asserts that a text is canonical: it prints unchanged.
#[track_caller]
fn assert_canonical(canonical: &str) {
    assert_prints(canonical, canonical);
}

/// Asserts that the type of an argument prints as `canonical`.
#[track_caller]
fn assert_type_prints(written: &str, canonical: &str) {
    assert_prints(&format!("f({written} x) -> ()"), &format!("f({canonical} x) -> ()"));
}

#[test]
fn namespace_and_overload_are_optional() {
    for name in ["f", "ns::f", "f.o", "ns::f.o", "_::_._x", "profiler::exit._RecordFunction"] {
        assert_canonical(&format!("{name}() -> ()"));
        assert_eq!(Declaration::parse(name).unwrap().to_string(), name);
    }
    assert_prints("ns :: f . o ( ) -> ( )", "ns::f.o() -> ()");
}

#[test]
fn python_keywords_can_be_argument_names() {
    assert_canonical("f(float from, int lambda, int try) -> ()");
}

#[test]
fn atomic_types_print_as_written() {
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
        assert_type_prints(word, word);
    }
}

#[test]
fn old_type_names_print_as_canonical_names() {
    assert_type_prints("DeviceIndex", "int");
    assert_type_prints("ConstQuantizerPtr", "int");
    assert_type_prints("number", "Scalar");
    assert_type_prints("None", "NoneType");
}

#[test]
fn suffixes_nest_in_any_order() {
    for ty in ["int?[]", "int[]?", "Tensor?[]?", "int[][][]", "int[2]", "int[2]?", "int[0]", "int[][2]", "int?[2]"] {
        assert_type_prints(ty, ty);
    }
    assert_type_prints("int??", "int?");
    assert_type_prints("Tensor ? [ ] ? ?", "Tensor?[]?");
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
        assert_type_prints(ty, ty);
    }
}

#[test]
fn unions_are_normalised() {
    assert_type_prints("Union(str, int)", "Union(int, str)");
    assert_type_prints("Union(Tensor, NoneType)", "Tensor?");
    assert_type_prints("Union(Tensor, NoneType)(a!)", "Tensor(a!)?");
    assert_type_prints("Union(int, float, complex)", "Scalar");
    assert_type_prints("Union(int, complex, NoneType, float)", "Scalar?");
    assert_type_prints("Union(str, Union(int, str), Tensor)", "Union(Tensor, int, str)");
    assert_type_prints("Union(int?, str)", "Union(int, NoneType, str)");
}

#[test]
fn unknown_words_in_lower_case_are_type_variables() {
    for variable in ["t", "t1", "tVal", "k", "elem"] {
        let ty = Type::parse(variable).unwrap();
        assert_eq!(ty.kind, TypeKind::Variable(variable.to_owned()));
    }
}

#[test]
fn alias_annotations_follow_a_word_or_brackets() {
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
        assert_type_prints(ty, ty);
    }
}

#[test]
fn alias_sets_are_sorted_without_duplicates() {
    assert_type_prints("Tensor(b|a)", "Tensor(a|b)");
    assert_type_prints("Tensor(a|b|a)", "Tensor(a|b)");
    assert_type_prints("Tensor(a|*)", "Tensor(*|a)");
    assert_type_prints("Tensor(*|a)", "Tensor(*|a)");
    assert_type_prints("Tensor(a! -> a)", "Tensor(a!)");
}

#[test]
fn annotations_inside_containers_are_kept() {
    for ty in ["Dict(str, Tensor(a))", "(Tensor(a), Tensor(b!))", "Future(Tensor(a))", "Union(Tensor(a), int)"] {
        assert_type_prints(ty, ty);
    }
}

#[test]
fn an_exclamation_mark_alone_creates_a_written_alias_set() {
    assert_prints("f(Tensor! x) -> ()", "f(Tensor(a!) x) -> ()");
    assert_prints("f(Tensor! x, Tensor![]! y) -> Tensor(a)", "f(Tensor(b!) x, Tensor(d!)[](c!) y) -> Tensor(a)");
}

#[test]
fn redundant_stars_are_not_printed() {
    assert_prints("f(*, *, int a, *, int b, *) -> ()", "f(*, int a, int b) -> ()");
    assert_prints("f(int a, *) -> ()", "f(int a) -> ()");
    assert_prints("f(*, ...) -> ()", "f(...) -> ()");
    assert_canonical("f(str self, ...) -> str");
    assert_canonical("f(...) -> ...");
    assert_canonical("f() -> (Tensor, ...)");
    assert_prints("f() -> (...)", "f() -> ...");
}

#[test]
fn returns_print_with_parentheses_only_if_needed() {
    assert_prints("f() -> (Tensor)", "f() -> Tensor");
    assert_prints("f() -> (Tensor out)", "f() -> Tensor out");
    assert_canonical("f() -> (Tensor a, Tensor)");
    assert_canonical("f() -> ((Tensor, Tensor))");
    assert_canonical("f() -> ((str, t)[])");
    assert_canonical("f() -> ()");
    assert_canonical("f() -> (())");
    let schema = Schema::parse("f() -> (Tensor, Tensor)").unwrap();
    assert_eq!(schema.returns.len(), 2);
}

#[test]
fn white_space_and_comments_are_ignored() {
    assert_prints(
        "\n\n  # c\r\n f (\n Tensor x, # a\n\n int y\n = 1 ) \\\n -> # b\n ( )\r\n # end",
        "f(Tensor x, int y=1) -> ()",
    );
}

#[test]
fn list_arguments_without_default_may_follow_defaults() {
    assert_canonical("f(int a=1, Tensor[] b) -> ()");
    assert_canonical("f(int a=1, *, Tensor b) -> ()");
}

#[test]
fn equal_schemas_have_equal_hashes() {
    use std::collections::HashSet;
    let texts = ["f(float x=1) -> ()", "f( float x = 1.0 ) -> ( )", "f(float x=-0.) -> ()", "f(float x=0.) -> ()"];
    let schemas: HashSet<_> = texts.iter().map(|text| Schema::parse(text).unwrap()).collect();
    assert_eq!(schemas.len(), 3);
}

#[test]
fn numbers_that_rust_splits_into_tokens_are_joined() {
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
