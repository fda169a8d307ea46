//! Tests of syntax errors: each mistake gives one error at the exact span, with a message that says what to write instead.

use dispatch_schema::{Declaration, OperatorName, Schema, SyntaxErrors};

/// Asserts that the text has exactly the errors whose spans are marked with `^` in `marks`, with these messages.
#[track_caller]
fn assert_errors(source: &str, marks: &str, messages: &[&str]) {
    let errors = Schema::parse(source).err().unwrap_or_else(|| panic!("`{source}` is accepted"));
    assert_error_spans(source, &errors, marks, messages);
}

#[track_caller]
fn assert_error_spans(source: &str, errors: &SyntaxErrors, marks: &str, messages: &[&str]) {
    let rendered = errors.render(source);
    let mut lines = vec![' '; source.len() + 1];
    for line in rendered.lines().skip(2).step_by(3) {
        for (at, c) in line.chars().skip(2).enumerate().filter(|(_, c)| *c == '^') {
            lines[at] = c;
        }
    }
    let carets: String = lines.into_iter().collect();
    assert_eq!(carets.trim_end(), marks.trim_end(), "\n{rendered}");
    assert_eq!(errors.len(), messages.len(), "\n{rendered}");
    for (error, message) in errors.iter().zip(messages) {
        assert!(error.to_string().contains(message), "no `{message}` in `{error}`");
    }
}

/// Asserts that an argument is refused, with one error that contains `message`.
#[track_caller]
fn assert_argument_error(argument: &str, message: &str) {
    let source = format!("f({argument}) -> ()");
    let errors = Schema::parse(&source).err().unwrap_or_else(|| panic!("`{source}` is accepted"));
    assert_eq!(errors.len(), 1, "{}", errors.render(&source));
    assert!(errors[0].to_string().contains(message), "no `{message}` in `{}`", errors[0]);
}

#[test]
fn misspelt_types_get_a_suggestion() {
    for (word, meant) in [
        ("Tensro", "Tensor"),
        ("tensor", "Tensor"),
        ("Tensors", "Tensor"),
        ("double", "float"),
        ("int64_t", "int"),
        ("int64", "int"),
        ("string", "str"),
        ("String", "str"),
        ("boolean", "bool"),
        ("scalar", "Scalar"),
        ("Symint", "SymInt"),
        ("device", "Device"),
        ("dtype", "ScalarType"),
        ("Int", "int"),
        ("Float", "float"),
        ("generator", "Generator"),
        ("dict", "Dict"),
        ("optional", "Tensor?"),
        ("layout", "Layout"),
    ] {
        assert_argument_error(&format!("{word} x"), &format!("did you mean `{meant}"));
    }
}

#[test]
fn unknown_capitalised_types_are_errors() {
    for word in ["SymFloat", "Dimname", "PyObject", "Matrix"] {
        assert_argument_error(&format!("{word} x"), &format!("unknown type `{word}`"));
    }
    assert_argument_error("List(int) x", "write a list as `T[]`");
    assert_argument_error("List[int] x", "write a list as `T[]`");
    assert_argument_error("Optional[Tensor] x", "write an optional as `T?`");
    assert_argument_error("std::vector<int> x", "unknown type `std`");
}

#[test]
fn carets_mark_the_exact_columns() {
    assert_errors(
        "mul(Tensro self, Tensor self, int n=\"x\") -> ()",
        "    ^^^^^^              ^^^^        ^^^",
        &[
            "did you mean `Tensor`",
            "already an argument `self`",
            "`\"x\"` is not a value of `int`; write a whole number",
        ],
    );
    assert_errors("f(Tensor) -> ()", "        ^", &["no name; write one after its type"]);
    assert_errors("f(Tensor x)", "           ^", &["expected `->` and the returns, found the end"]);
    assert_errors("f(Tensor x", "          ^", &["expected `,` or `)` after the argument, found the end"]);
    assert_errors("f", "^", &["only a name is given"]);
    assert_errors("", "^", &["expected the operator's name, found the end"]);
}

#[test]
fn each_mistake_is_reported_once() {
    let source = "a::f.default(return x, Tensor() y, int z=1., float? w='q', (tensor, int[2]) v, str s='\\q') \
                  -> (tensor, Tensor while)";
    let errors = Schema::parse(source).unwrap_err();
    let places: Vec<_> = errors.iter().map(|error| &source[error.span.clone()]).collect();
    assert_eq!(
        places,
        ["default", "return", ")", "1.", "'q'", "tensor", "int[2]", "\\q", "tensor", "while"],
        "{}",
        errors.render(source),
    );
}

#[test]
fn invalid_operator_names_are_errors() {
    for (name, message) in [
        ("a::b::c", "one namespace at most"),
        ("f.a.b", "one overload name at most"),
        ("f.default", "leave `.default` out"),
        ("f.__x", "reserved for methods; write `x`"),
        ("f.", "an overload name after `.`"),
        ("::f", "the operator's name"),
        ("a::", "the operator's name after `::`"),
        ("f.2d", "an overload name"),
        ("a: :b", "ends before `:`"),
        ("while", "`while` is a reserved word"),
        ("f.None", "`None` is a reserved word"),
        ("a b", "ends before `b`"),
        ("é", "the operator's name"),
    ] {
        let errors = OperatorName::parse(name).err().unwrap_or_else(|| panic!("`{name}` is accepted"));
        assert!(errors[0].to_string().contains(message), "{name}: {}", errors[0]);
    }
}

#[test]
fn text_after_a_declaration_is_an_error() {
    for text in ["f() -> ();", "f() -> () g() -> ()", "f() -> Tensor a b"] {
        let errors = Schema::parse(text).unwrap_err();
        assert!(errors[0].to_string().contains("the declaration ends before"), "{text}: {errors}");
    }
    assert!(Declaration::parse("f;").is_err());
}

#[test]
fn declarations_of_other_languages_get_one_error_per_mistake() {
    assert_argument_error("x: Tensor", "the type comes first, without `:`; write `Tensor x`");
    assert_errors("def f(Tensor x) -> Tensor", "^^^", &["`def` is a reserved word"]);
    assert_errors(
        "f(at::Tensor x) -> void",
        "  ^^               ^^^^",
        &["did you mean `Tensor`", "did you mean `()`"],
    );
}

#[test]
fn reserved_words_cannot_be_argument_names() {
    for word in ["def", "if", "for", "in", "is", "not", "global", "import", "Ellipsis"] {
        assert_argument_error(&format!("int {word}"), &format!("`{word}` is a reserved word"));
    }
}

#[test]
fn misplaced_arguments_and_commas_are_errors() {
    assert_argument_error("int a,", "nothing follows the comma");
    assert_argument_error("int a=1, Tensor b", "`b` has no default but follows an argument with one");
    assert_argument_error("..., int a", "`...` must come last");
    assert_argument_error("int a=0, ...", "`a` cannot have a default beside `...`");
    assert_argument_error("int a int b", "expected `,` or `)` after the argument");
    assert_errors("f() -> (..., Tensor)", "             ^^^^^^", &["`...` must come last"]);
    assert_errors("f() -> (Tensor,)", "               ^", &["nothing follows the comma"]);
    assert_errors("f() -> ", "      ^", &["expected a type"]);
}

#[test]
fn sized_lists_inside_other_types_are_errors() {
    for ty in ["int[2][]", "int[2]??", "(int[2])", "Dict(str, int[2])", "Future(int[1])"] {
        assert_argument_error(&format!("{ty} x"), "a list with a size cannot be inside another type");
    }
    for ty in ["int[2.5]", "int[-1]", "int[a]", "int[99999999]", "int[0x2]"] {
        assert_argument_error(&format!("{ty} x"), "the size of a list is a whole number");
    }
}

#[test]
fn invalid_compound_types_are_errors() {
    assert_argument_error("None? x", "leave the `?` out");
    assert_argument_error("Dict(Tensor[], int) x", "this type cannot be the key of a `Dict`");
    assert_argument_error("Dict(int) x", "`(K, V)` after `Dict`");
    assert_argument_error("Dict x", "`(K, V)` after `Dict`");
    assert_argument_error("Future x", "`(T)` with the type inside");
    assert_argument_error("Union(int) x", "at least two different types");
    assert_argument_error("Union(int, int) x", "at least two different types");
    assert_argument_error("__torch__.torch.classes.A x", "by its full path");
    assert_argument_error("__torch__.A x", "by its full path");
    assert_argument_error("1 x", "expected a type");
    assert_argument_error("while x", "reserved word");
    let deep = format!("{}int{} x", "(".repeat(99), ")".repeat(99));
    assert_argument_error(&deep, "nested too deeply");
    assert_argument_error(&format!("int{} x", "[]".repeat(9999)), "nested too deeply");
}

#[test]
fn invalid_alias_annotations_are_errors() {
    assert_argument_error("Tensor() x", "names no set");
    assert_argument_error("Tensor(!) x", "names no set");
    assert_argument_error("Tensor?(a) x", "goes before `?`");
    assert_argument_error("Tensor(a -> b!) x", "`!` goes before `->`");
    assert_argument_error("Tensor(a -> ) x", "`->` names no set");
    assert_argument_error("Tensor(a)(b) x", "already has an annotation");
    assert_argument_error("Tensor(a x", "`)` after the alias annotation");
    assert_argument_error("Tensor(1) x", "the name of an alias set");
}

#[test]
fn a_default_must_be_a_value_of_its_type() {
    for argument in [
        "int x=\"a\"",
        "int x=1.5",
        "int x=1e3",
        "int x=True",
        "int x=None",
        "float x=True",
        "float x=None",
        "bool x=1",
        "str x=1",
        "str x=None",
        "Tensor? x=1",
        "Tensor x=1",
        "Tensor x=None",
        "Generator x=None",
        "Scalar x=\"1\"",
        "int? x=\"a\"",
        "Any x=None",
        "Stream x=None",
        "SymBool x=True",
        "Dict(str, int) x=None",
        "(int, int) x=None",
        "Future(int) x=None",
        "Any? x=1",
        "Device x=\"\"",
        "Device x=\"cuda:x\"",
        "Device x=0",
        "complex x=\"1j\"",
        "float x=1j",
        "Layout x=Mean",
        "ScalarType x=strided",
        "SymInt x=Mean",
        "int x=[1]",
        "int[] x=1",
        "int[] x=None",
        "int[] x=[1.5]",
        "int[] x=[True]",
        "int[] x=[None]",
        "bool[] x=[1]",
        "Tensor[] x=[]",
        "str[] x=[]",
        "Tensor?[] x=[None]",
        "int[][] x=[]",
        "int[2]? x=\"a\"",
    ] {
        assert_argument_error(argument, "is not a value of");
    }
    assert_argument_error("int[2] x=[1, 2, 3]", "the list has 3 elements");
}

#[test]
fn unknown_default_words_get_a_suggestion() {
    assert_argument_error("bool x=true", "did you mean `True`?");
    assert_argument_error("Tensor? x=none", "did you mean `None`?");
    assert_argument_error("int x=mean", "did you mean `Mean`?");
    assert_argument_error("MemoryFormat x=contiguous_fromat", "did you mean `contiguous_format`?");
    assert_argument_error("int x=Sum", "unknown default `Sum`");
    assert_argument_error("MemoryFormat x=channels_last", "unknown default `channels_last`");
    assert_argument_error("str x=mean_of", "quote a string: `\"mean_of\"`");
}

#[test]
fn invalid_numbers_are_errors_with_the_reason() {
    assert_argument_error("int x=1_000", "without separators");
    assert_argument_error("int x=1L", "without separators");
    assert_argument_error("float x=1f", "without separators");
    assert_argument_error("int x=9223372036854775808", "does not fit 64 bits");
    assert_argument_error("int x=0x8000000000000000", "does not fit 64 bits");
    assert_argument_error("int? x=-0x8000000000000001", "does not fit 64 bits");
    assert_argument_error("int x=0x1_0", "without separators");
    assert_argument_error("int x=0x", "without separators");
    assert_argument_error("int x=0x1p3", "not a value of `int`");
    assert_argument_error("float x=1e999", "too large for a float");
    assert_argument_error("float x=1e-999", "too close to zero for a float");
    assert_argument_error("float x=-nan", "not a number");
    assert_argument_error("complex x=1+2", "not a number");
    for argument in ["int x=--1", "int x=+1", "int x=", "int x=-a", "int x=[1,]", "int x=[[1]]"] {
        assert_argument_error(argument, "expected a default");
    }
}

#[test]
fn invalid_strings_are_errors_with_the_reason() {
    for escape in [r"\r", r"\0", r"\x41", r"\u0041", r"\N", r"\400"] {
        assert_argument_error(&format!("str x='a{escape}'"), "unknown escape");
    }
    assert_argument_error(r"str x='\377'", "are not valid UTF-8");
    assert_argument_error("str x='a' 'b'", "expected `,` or `)`");
    assert_errors("f(str x='a) -> ()", "        ^^^^^^^^^", &["the string does not end"]);
}

#[test]
fn defaults_of_invalid_types_are_not_checked() {
    assert_argument_error("tensor x=1", "did you mean `Tensor`?");
}
