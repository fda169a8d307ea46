//! Files that NumPy and safetensors wrote (numpy/write.py) are read with the same values.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use dispatch_files::{FileProblem, load_npy, load_npz, load_safetensors};
use dispatch_runtime::{Complex32, Complex64, DType, Element, Tensor, bf16, f16};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/numpy").join(name)
}

/// The elements that write.py saves.
const NUMBERS: [i8; 6] = [0, 1, 2, -3, 100, 5];

fn check<T: Element>(name: &str, dtype: DType, expected: impl Fn(i8) -> T) {
    let tensor = load_npy(path(name)).unwrap();
    assert_eq!((tensor.dtype(), tensor.sizes()), (dtype, &[2, 3][..]), "{name}");
    assert_eq!(tensor.to_vec::<T>().unwrap(), NUMBERS.map(expected), "{name}");
}

#[test]
fn all_dtypes_are_read() {
    check("i1.npy", DType::I8, |x| x);
    check("u1.npy", DType::U8, i8::unsigned_abs);
    check("i2.npy", DType::I16, i16::from);
    check("i4.npy", DType::I32, i32::from);
    check("i8.npy", DType::I64, i64::from);
    check("f2.npy", DType::F16, |x| f16::from_f32(x.into()));
    check("f4.npy", DType::F32, f32::from);
    check("f8.npy", DType::F64, f64::from);
    check("c8.npy", DType::C64, |x| Complex32::new(x.into(), 0.0));
    check("c16.npy", DType::C128, |x| Complex64::new(x.into(), 0.0));
    check("b1.npy", DType::Bool, |x| dispatch_runtime::Bool::from(x > 1));
}

#[test]
fn other_orders_of_bytes_and_elements_are_read() {
    check("big_endian.npy", DType::F32, f32::from);
    check("big_endian_complex.npy", DType::C64, |x| Complex32::new(x.into(), 1.0));
    check("fortran.npy", DType::F32, f32::from);
    assert_eq!(load_npy(path("fortran.npy")).unwrap().strides(), [1, 2]);
}

#[test]
fn scalars_and_empty_arrays_are_read() {
    let scalar = load_npy(path("scalar.npy")).unwrap();
    assert_eq!((scalar.sizes(), scalar.to_vec::<f64>().unwrap()), (&[][..], vec![2.5]));
    let empty = load_npy(path("empty.npy")).unwrap();
    assert_eq!((empty.sizes(), empty.dtype()), (&[2, 0, 3][..], DType::F32));
}

#[test]
fn other_types_are_refused_by_name() {
    for (name, type_name) in [
        ("u2.npy", "uint16"),
        ("text.npy", "str"),
        ("objects.npy", "object"),
        ("structure.npy", "structure"),
        ("bfloat16.npy", "bfloat16"),
    ] {
        let error = load_npy(path(name)).unwrap_err();
        assert!(matches!(*error.problem, FileProblem::UnsupportedElements { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains(name) && message.contains(type_name), "{message}");
    }
}

fn check_archive(name: &str) {
    let tensors = load_npz(path(name)).unwrap();
    assert_eq!(tensors["numbers"].to_vec::<i64>().unwrap(), NUMBERS.map(i64::from));
    assert_eq!(tensors["group/scale"].to_vec::<f32>().unwrap(), [0.5]);
    assert_eq!(tensors["empty"].sizes(), [0, 2]);
}

#[test]
fn archives_are_read_with_and_without_compression() {
    check_archive("plain.npz");
    check_archive("compressed.npz");
    let zeros = &load_npz(path("compressed.npz")).unwrap()["zeros"];
    assert_eq!((zeros.sizes(), zeros.to_vec::<f64>().unwrap()), (&[100, 100][..], vec![0.0; 10_000]));
}

#[test]
fn safetensors_are_read() {
    let tensors = load_safetensors(path("model.safetensors")).unwrap();
    assert_eq!(tensors.keys().collect::<Vec<_>>(), ["bias", "weight"]);
    assert_eq!(tensors["weight"].to_vec::<bf16>().unwrap(), [bf16::ONE; 6]);
    assert_eq!(tensors["bias"].to_vec::<f32>().unwrap(), [0.5, 1.5]);
}

/// The bytes that are written are those that NumPy writes, so NumPy can read them.
#[test]
fn saved_arrays_are_byte_for_byte_those_of_numpy() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "i1.npy",
        "u1.npy",
        "i2.npy",
        "i4.npy",
        "i8.npy",
        "f2.npy",
        "f4.npy",
        "f8.npy",
        "c8.npy",
        "c16.npy",
        "b1.npy",
        "scalar.npy",
        "empty.npy",
    ] {
        let saved = folder.path().join(name);
        dispatch_files::save_npy(&saved, &load_npy(path(name)).unwrap()).unwrap();
        let read = |path: PathBuf| std::fs::read(path).unwrap();
        assert_eq!(read(saved), read(path(name)), "{name}");
    }
    let saved = folder.path().join("row.npy");
    dispatch_files::save_npy(&saved, &Tensor::from([1_u8])).unwrap();
    assert!(String::from_utf8_lossy(&std::fs::read(saved).unwrap()).contains("'shape': (1,), }"));
}
