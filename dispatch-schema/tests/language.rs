//! What the language accepts, and what it is printed as.

use dispatch_schema::{Declaration, DefaultValue, Schema, Type, TypeKind, lex};

/// Asserts that `written` prints as `canonical`, and that this reads as the same schema.
#[track_caller]
fn prints(written: &str, canonical: &str) {
    let schema = Schema::parse(written).unwrap_or_else(|errors| panic!("{}", errors.render(written)));
    assert_eq!(schema.to_string(), canonical);
    assert_eq!(Schema::parse(canonical).as_ref(), Ok(&schema), "{canonical}");
    assert_eq!(Schema::parse_tokens(&lex(written).unwrap()).as_ref(), Ok(&schema), "{written}");
}

#[track_caller]
fn stays(canonical: &str) {
    prints(canonical, canonical);
}

/// The same for the type of an argument.
#[track_caller]
fn type_prints(written: &str, canonical: &str) {
    prints(&format!("f({written} x) -> ()"), &format!("f({canonical} x) -> ()"));
}

/// The same for an argument with a default.
#[track_caller]
fn argument_prints(written: &str, canonical: &str) {
    prints(&format!("f({written}) -> ()"), &format!("f({canonical}) -> ()"));
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
    prints("\n\n  # c\r\n f (\n Tensor x, # a\n\n int y\n = 1 ) \\\n -> # b\n ( )\r\n # end", "f(Tensor x, int y=1) -> ()");
}

#[test]
fn whole_numbers_are_in_base_ten_with_64_bits() {
    argument_prints("int x=010", "int x=10");
    argument_prints("int x=- 1", "int x=-1");
    argument_prints("int x=-9223372036854775808", "int x=-9223372036854775808");
    argument_prints("SymInt x=0, Scalar y=1, ScalarType z=4", "SymInt x=0, Scalar y=1, ScalarType z=4");
}

#[test]
fn floats_print_with_17_digits_or_a_point() {
    for (written, canonical) in [
        ("1", "1."),
        ("0.1", "0.10000000000000001"),
        ("1e10", "10000000000."),
        ("1e-5", "1.0000000000000001e-05"),
        (".5", "0.5"),
        ("1.", "1."),
        ("1.e3", "1000."),
        ("1E5", "100000."),
        ("0x1p3", "8."),
        ("0x10", "16."),
        ("-0.0", "-0."),
        ("inf", "inf"),
        ("-inf", "-inf"),
        ("nan", "nan"),
        ("99999999999999999999", "1e+20"),
        ("5e-324", "4.9406564584124654e-324"),
    ] {
        argument_prints(&format!("float x={written}"), &format!("float x={canonical}"));
    }
    argument_prints("Scalar x=1.0, Scalar y=1e3, Scalar z=inf", "Scalar x=1., Scalar y=1000., Scalar z=inf");
}

#[test]
fn complex_numbers_print_with_both_parts() {
    argument_prints("complex x=1j, complex y=1.5j, complex z=-1j", "complex x=0.+1.j, complex y=0.+1.5j, complex z=0.-1.j");
    argument_prints("complex x=1+2j, Scalar y=1j, complex z=12", "complex x=1.+2.j, Scalar y=0.+1.j, complex z=12.+0.j");
    argument_prints("complex x=-0.-0.j, complex y=inf-infj", "complex x=-0.-0.j, complex y=inf-infj");
}

#[test]
fn booleans_and_none_keep_their_words() {
    argument_prints("bool x=True, bool? y=False, Scalar z=True", "bool x=True, bool? y=False, Scalar z=True");
    argument_prints("Tensor? a=None, int[]? b=None, Any? c=None", "Tensor? a=None, int[]? b=None, Any? c=None");
}

#[test]
fn words_for_numbers_become_the_numbers() {
    argument_prints(
        "int a=Mean, ScalarType b=long, ScalarType? c=float, ScalarType d=double, ScalarType e=complex",
        "int a=1, ScalarType b=4, ScalarType? c=6, ScalarType d=7, ScalarType e=9",
    );
    argument_prints("Layout x=strided, MemoryFormat? y=contiguous_format", "Layout x=0, MemoryFormat? y=0");
    argument_prints("int x=long, int? y=contiguous_format", "int x=4, int? y=0");
}

#[test]
fn strings_print_in_double_quotes_with_escapes() {
    argument_prints("str x='none'", "str x=\"none\"");
    argument_prints(r#"str a="\"'\\", str b='"\'\\'"#, r#"str a="\"\'\\", str b="\"\'\\""#);
    argument_prints("str x='''a\n#b'''", r#"str x="a\n#b""#);
    argument_prints(r"str x='\015\000\177'", r#"str x="\015\000\177""#);
    argument_prints(r"str x='\303\251é'", "str x=\"éé\"");
    argument_prints("str? x=\"NCHW\"", "str? x=\"NCHW\"");
}

#[test]
fn devices_are_quoted() {
    argument_prints("Device x='cpu', Device? y=\"cuda:0\"", "Device x=\"cpu\", Device? y=\"cuda:0\"");
}

#[test]
fn lists_shorten_only_where_one_value_is_read_as_the_same_list() {
    argument_prints("int[2] x=[0,0]", "int[2] x=0");
    argument_prints("int[1] x=0", "int[1] x=[0]");
    argument_prints("int[] x=[0, 0]", "int[] x=[0, 0]");
    argument_prints("int[1] x=[5, 5]", "int[1] x=[5, 5]");
    argument_prints("SymInt[2] x=0", "SymInt[2] x=[0, 0]");
    argument_prints("bool[2] x=True, float[2] y=1", "bool[2] x=[True, True], float[2] y=[1., 1.]");
    argument_prints("int[2]? x=1, int[1]? y=1", "int[2]? x=1, int[1]? y=1");
    argument_prints("int[2] x=[], int[] y=[]", "int[2] x=[], int[] y=[]");
    argument_prints("int[]? x=[0, 1], float[] y=[1, .5]", "int[]? x=[0, 1], float[] y=[1., 0.5]");
    argument_prints("complex[] x=[1j], ScalarType[] y=[long]", "complex[] x=[0.+1.j], ScalarType[] y=[4]");
}

#[test]
fn lists_may_follow_defaults_without_one() {
    stays("f(int a=1, Tensor[] b) -> ()");
    stays("f(int a=1, *, Tensor b) -> ()");
}

#[test]
fn floats_differ_by_their_bits_and_nan_is_itself() {
    assert_ne!(DefaultValue::Float(0.0), DefaultValue::Float(-0.0));
    assert_eq!(DefaultValue::Float(f64::NAN), DefaultValue::Float(f64::NAN));
    assert_ne!(DefaultValue::Float(1.0), DefaultValue::Int(1));
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
