//! Tests of defaults that arguments can have, and of their canonical text.

mod printing;

use dispatch_schema::DefaultValue;
use printing::assert_prints;

/// Asserts that arguments print as `canonical`.
#[track_caller]
fn assert_argument_prints(written: &str, canonical: &str) {
    assert_prints(&format!("f({written}) -> ()"), &format!("f({canonical}) -> ()"));
}

#[test]
fn integers_print_in_base_10_with_64_bits() {
    assert_argument_prints("int x=010", "int x=10");
    assert_argument_prints("int x=- 1", "int x=-1");
    assert_argument_prints("int x=-9223372036854775808", "int x=-9223372036854775808");
    assert_argument_prints("SymInt x=0, Scalar y=1, ScalarType z=4", "SymInt x=0, Scalar y=1, ScalarType z=4");
}

#[test]
fn integers_in_base_16_print_in_base_10() {
    assert_argument_prints("int x=0x2FFFFFF", "int x=50331647");
    assert_argument_prints(
        "int x=0X2ffffff, SymInt y=-0x10, Scalar z=0xff",
        "int x=50331647, SymInt y=-16, Scalar z=255",
    );
    assert_argument_prints("int x=0x7FFFFFFFFFFFFFFF", "int x=9223372036854775807");
    assert_argument_prints("int x=-0x8000000000000000", "int x=-9223372036854775808");
    assert_argument_prints("int? x=0x10, ScalarType y=0x6", "int? x=16, ScalarType y=6");
    assert_argument_prints("int[2] x=0x10, int[] y=[0x1, -0X2]", "int[2] x=16, int[] y=[1, -2]");
    assert_argument_prints("float x=0x2FFFFFF, complex y=0x10", "float x=50331647., complex y=16.+0.j");
}

#[test]
fn optional_numbers_stay_integers_or_floats_as_written() {
    assert_argument_prints("float? x=1, float? y=1., float? z=-2", "float? x=1, float? y=1., float? z=-2");
    assert_argument_prints("float? x=1.5, float? y=1e3, float? z=0x10", "float? x=1.5, float? y=1000., float? z=16");
    assert_argument_prints(
        "complex? x=1, complex? y=1.5, complex? z=2j",
        "complex? x=1, complex? y=1.5, complex? z=0.+2.j",
    );
    assert_argument_prints("Scalar? x=1, Scalar? y=1., Scalar? z=True", "Scalar? x=1, Scalar? y=1., Scalar? z=True");
    assert_argument_prints("int? x=1, SymInt? y=-1, ScalarType? z=6", "int? x=1, SymInt? y=-1, ScalarType? z=6");
    assert_argument_prints(
        "float[2]? x=1, float[2]? y=1., float[]? z=[1]",
        "float[2]? x=1, float[2]? y=1., float[]? z=[1.]",
    );
    assert_argument_prints("float? x=inf, float? y=99999999999999999999", "float? x=inf, float? y=1e+20");
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
        assert_argument_prints(&format!("float x={written}"), &format!("float x={canonical}"));
    }
    assert_argument_prints("Scalar x=1.0, Scalar y=1e3, Scalar z=inf", "Scalar x=1., Scalar y=1000., Scalar z=inf");
}

#[test]
fn complex_numbers_print_with_both_parts() {
    assert_argument_prints(
        "complex x=1j, complex y=1.5j, complex z=-1j",
        "complex x=0.+1.j, complex y=0.+1.5j, complex z=0.-1.j",
    );
    assert_argument_prints(
        "complex x=1+2j, Scalar y=1j, complex z=12",
        "complex x=1.+2.j, Scalar y=0.+1.j, complex z=12.+0.j",
    );
    assert_argument_prints("complex x=-0.-0.j, complex y=inf-infj", "complex x=-0.-0.j, complex y=inf-infj");
}

#[test]
fn booleans_and_none_print_as_written() {
    assert_argument_prints("bool x=True, bool? y=False, Scalar z=True", "bool x=True, bool? y=False, Scalar z=True");
    assert_argument_prints("Tensor? a=None, int[]? b=None, Any? c=None", "Tensor? a=None, int[]? b=None, Any? c=None");
}

#[test]
fn words_for_numbers_print_as_numbers() {
    assert_argument_prints(
        "int a=Mean, ScalarType b=long, ScalarType? c=float, ScalarType d=double, ScalarType e=complex",
        "int a=1, ScalarType b=4, ScalarType? c=6, ScalarType d=7, ScalarType e=9",
    );
    assert_argument_prints("Layout x=strided, MemoryFormat? y=contiguous_format", "Layout x=0, MemoryFormat? y=0");
    assert_argument_prints("int x=long, int? y=contiguous_format", "int x=4, int? y=0");
}

#[test]
fn strings_print_in_double_quotes_with_escapes() {
    assert_argument_prints("str x='none'", "str x=\"none\"");
    assert_argument_prints(r#"str a="\"'\\", str b='"\'\\'"#, r#"str a="\"\'\\", str b="\"\'\\""#);
    assert_argument_prints("str x='''a\n#b'''", r#"str x="a\n#b""#);
    assert_argument_prints(r"str x='\015\000\177'", r#"str x="\015\000\177""#);
    assert_argument_prints(r"str x='\303\251é'", "str x=\"éé\"");
    assert_argument_prints("str? x=\"NCHW\"", "str? x=\"NCHW\"");
}

#[test]
fn devices_print_in_quotes() {
    assert_argument_prints("Device x='cpu', Device? y=\"cuda:0\"", "Device x=\"cpu\", Device? y=\"cuda:0\"");
}

#[test]
fn lists_print_as_one_value_only_if_it_parses_as_the_same_list() {
    assert_argument_prints("int[2] x=[0,0]", "int[2] x=0");
    assert_argument_prints("int[1] x=0", "int[1] x=[0]");
    assert_argument_prints("int[] x=[0, 0]", "int[] x=[0, 0]");
    assert_argument_prints("int[1] x=[5, 5]", "int[1] x=[5, 5]");
    assert_argument_prints("SymInt[2] x=0", "SymInt[2] x=[0, 0]");
    assert_argument_prints("bool[2] x=True, float[2] y=1", "bool[2] x=[True, True], float[2] y=[1., 1.]");
    assert_argument_prints("int[2]? x=1, int[1]? y=1", "int[2]? x=1, int[1]? y=1");
    assert_argument_prints("int[2] x=[], int[] y=[]", "int[2] x=[], int[] y=[]");
    assert_argument_prints("int[]? x=[0, 1], float[] y=[1, .5]", "int[]? x=[0, 1], float[] y=[1., 0.5]");
    assert_argument_prints("complex[] x=[1j], ScalarType[] y=[long]", "complex[] x=[0.+1.j], ScalarType[] y=[4]");
}

#[test]
fn float_defaults_are_equal_if_their_bits_are_equal() {
    assert_ne!(DefaultValue::Float(0.0), DefaultValue::Float(-0.0));
    assert_eq!(DefaultValue::Float(f64::NAN), DefaultValue::Float(f64::NAN));
    assert_ne!(DefaultValue::Float(1.0), DefaultValue::Int(1));
}
