//! Tests of syntax errors: each mistake gives one error at the exact span, with a message that says what to write instead.

use dispatch_schema::{Declaration, OperatorName, Schema, SyntaxErrors};

/// Asserts that the text has exactly the errors whose spans are marked with `^` in `marks`, with these messages.
#[track_caller]
fn refuses(source: &str, marks: &str, messages: &[&str]) {
    let errors = Schema::parse(source).err().unwrap_or_else(|| panic!("`{source}` is accepted"));
    check(source, &errors, marks, messages);
}

#[track_caller]
fn check(source: &str, errors: &SyntaxErrors, marks: &str, messages: &[&str]) {
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
fn refuses_argument(argument: &str, message: &str) {
    let source = format!("f({argument}) -> ()");
    let errors = Schema::parse(&source).err().unwrap_or_else(|| panic!("`{source}` is accepted"));
    assert_eq!(errors.len(), 1, "{}", errors.render(&source));
    assert!(errors[0].to_string().contains(message), "no `{message}` in `{}`", errors[0]);
}

#[test]
fn misspelt_types_get_a_hint() {
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
        refuses_argument(&format!("{word} x"), &format!("did you mean `{meant}"));
    }
}

#[test]
fn unknown_types_in_capitals_are_refused() {
    for word in ["SymFloat", "Dimname", "PyObject", "Matrix"] {
        refuses_argument(&format!("{word} x"), &format!("unknown type `{word}`"));
    }
    refuses_argument("List(int) x", "write a list as `T[]`");
    refuses_argument("List[int] x", "write a list as `T[]`");
    refuses_argument("Optional[Tensor] x", "write an optional as `T?`");
    refuses_argument("std::vector<int> x", "unknown type `std`");
}

#[test]
fn the_caret_stands_under_the_exact_columns() {
    refuses(
        "mul(Tensro self, Tensor self, int n=\"x\") -> ()",
        "    ^^^^^^              ^^^^        ^^^",
        &["did you mean `Tensor`", "already an argument `self`", "`\"x\"` is no value of `int`; write a whole number"],
    );
    refuses("f(Tensor) -> ()", "        ^", &["no name; write one after its type"]);
    refuses("f(Tensor x)", "           ^", &["expected `->` and the returns, found the end"]);
    refuses("f(Tensor x", "          ^", &["expected `,` or `)` after the argument, found the end"]);
    refuses("f", "^", &["only a name is given"]);
    refuses("", "^", &["expected the operator's name, found the end"]);
}

#[test]
fn every_mistake_is_told_at_once_and_none_twice() {
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
fn names_follow_their_rules() {
    for (name, message) in [
        ("a::b::c", "one namespace at most"),
        ("f.a.b", "one overload name at most"),
        ("f.default", "leave `.default` out"),
        ("f.__x", "kept for methods; write `x`"),
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
fn one_text_is_one_declaration() {
    for text in ["f() -> ();", "f() -> () g() -> ()", "f() -> Tensor a b"] {
        let errors = Schema::parse(text).unwrap_err();
        assert!(errors[0].to_string().contains("the declaration ends before"), "{text}: {errors}");
    }
    assert!(Declaration::parse("f;").is_err());
}

#[test]
fn declarations_in_other_languages_get_one_hint_per_mistake() {
    refuses_argument("x: Tensor", "the type comes first, without `:`; write `Tensor x`");
    refuses("def f(Tensor x) -> Tensor", "^^^", &["`def` is a reserved word"]);
    refuses("f(at::Tensor x) -> void", "  ^^               ^^^^", &["did you mean `Tensor`", "did you mean `()`"]);
}

#[test]
fn reserved_words_are_no_names() {
    for word in ["def", "if", "for", "in", "is", "not", "global", "import", "Ellipsis"] {
        refuses_argument(&format!("int {word}"), &format!("`{word}` is a reserved word"));
    }
}

#[test]
fn lists_of_arguments_keep_their_order() {
    refuses_argument("int a,", "nothing follows the comma");
    refuses_argument("int a=1, Tensor b", "`b` has no default but follows an argument with one");
    refuses_argument("..., int a", "`...` must come last");
    refuses_argument("int a=0, ...", "`a` cannot have a default beside `...`");
    refuses_argument("int a int b", "expected `,` or `)` after the argument");
    refuses("f() -> (..., Tensor)", "             ^^^^^^", &["`...` must come last"]);
    refuses("f() -> (Tensor,)", "               ^", &["nothing follows the comma"]);
    refuses("f() -> ", "      ^", &["expected a type"]);
}

#[test]
fn sizes_are_for_the_outermost_list() {
    for ty in ["int[2][]", "int[2]??", "(int[2])", "Dict(str, int[2])", "Future(int[1])"] {
        refuses_argument(&format!("{ty} x"), "a list with a size cannot be inside another type");
    }
    for ty in ["int[2.5]", "int[-1]", "int[a]", "int[99999999]", "int[0x2]"] {
        refuses_argument(&format!("{ty} x"), "the size of a list is a whole number");
    }
}

#[test]
fn compound_types_follow_their_rules() {
    refuses_argument("None? x", "leave the `?` out");
    refuses_argument("Dict(Tensor[], int) x", "this type cannot be a key");
    refuses_argument("Dict(int) x", "`(K, V)` after `Dict`");
    refuses_argument("Dict x", "`(K, V)` after `Dict`");
    refuses_argument("Future x", "`(T)` with the type inside");
    refuses_argument("Union(int) x", "at least two different types");
    refuses_argument("Union(int, int) x", "at least two different types");
    refuses_argument("__torch__.torch.classes.A x", "by its full path");
    refuses_argument("__torch__.A x", "by its full path");
    refuses_argument("1 x", "expected a type");
    refuses_argument("while x", "reserved word");
    let deep = format!("{}int{} x", "(".repeat(99), ")".repeat(99));
    refuses_argument(&deep, "nested too deeply");
    refuses_argument(&format!("int{} x", "[]".repeat(9999)), "nested too deeply");
}

#[test]
fn alias_annotations_follow_their_rules() {
    refuses_argument("Tensor() x", "names no set");
    refuses_argument("Tensor(!) x", "names no set");
    refuses_argument("Tensor?(a) x", "goes before `?`");
    refuses_argument("Tensor(a -> b!) x", "`!` goes before `->`");
    refuses_argument("Tensor(a -> ) x", "`->` names no set");
    refuses_argument("Tensor(a)(b) x", "already has an annotation");
    refuses_argument("Tensor(a x", "`)` after the alias annotation");
    refuses_argument("Tensor(1) x", "the name of an alias set");
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
        refuses_argument(argument, "is no value of");
    }
    refuses_argument("int[2] x=[1, 2, 3]", "the list has 3 elements");
}

#[test]
fn unknown_default_words_get_a_hint() {
    refuses_argument("bool x=true", "did you mean `True`?");
    refuses_argument("Tensor? x=none", "did you mean `None`?");
    refuses_argument("int x=mean", "did you mean `Mean`?");
    refuses_argument("MemoryFormat x=contiguous_fromat", "did you mean `contiguous_format`?");
    refuses_argument("int x=Sum", "unknown default `Sum`");
    refuses_argument("MemoryFormat x=channels_last", "unknown default `channels_last`");
    refuses_argument("str x=mean_of", "quote a string: `\"mean_of\"`");
}

#[test]
fn numbers_that_cannot_be_read_say_why() {
    refuses_argument("int x=1_000", "without separators");
    refuses_argument("int x=1L", "without separators");
    refuses_argument("float x=1f", "without separators");
    refuses_argument("int x=9223372036854775808", "does not fit 64 bits");
    refuses_argument("int x=0x8000000000000000", "does not fit 64 bits");
    refuses_argument("int? x=-0x8000000000000001", "does not fit 64 bits");
    refuses_argument("int x=0x1_0", "without separators");
    refuses_argument("int x=0x", "without separators");
    refuses_argument("int x=0x1p3", "no value of `int`");
    refuses_argument("float x=1e999", "larger than every float");
    refuses_argument("float x=1e-999", "nearer to zero than every float");
    refuses_argument("float x=-nan", "not a number");
    refuses_argument("complex x=1+2", "not a number");
    for argument in ["int x=--1", "int x=+1", "int x=", "int x=-a", "int x=[1,]", "int x=[[1]]"] {
        refuses_argument(argument, "expected a default");
    }
}

#[test]
fn strings_that_cannot_be_read_say_why() {
    for escape in [r"\r", r"\0", r"\x41", r"\u0041", r"\N", r"\400"] {
        refuses_argument(&format!("str x='a{escape}'"), "unknown escape");
    }
    refuses_argument(r"str x='\377'", "do not spell UTF-8");
    refuses_argument("str x='a' 'b'", "expected `,` or `)`");
    refuses("f(str x='a) -> ()", "        ^^^^^^^^^", &["the string does not end"]);
}

#[test]
fn a_type_that_is_wrong_has_no_say_in_its_default() {
    refuses_argument("tensor x=1", "did you mean `Tensor`?");
}
