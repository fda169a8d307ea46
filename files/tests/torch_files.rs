//! Files that `torch.save` wrote (torch/write.py) are read with the same values, and others are refused with the reason.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use dispatch_files::{
    FileError, FileProblem, PtValue, load_pt, load_pt_value, load_safetensors, read_pt, read_pt_value, save_safetensors,
};
use dispatch_runtime::{
    Bool, Complex32, Complex64, DType, Element, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz,
    Float8E8M0Fnu, Tensor, bf16, f16,
};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/torch").join(name)
}

fn refusal(name: &str) -> FileError {
    let error = load_pt(path(name)).unwrap_err();
    assert!(error.to_string().contains(name), "{error}");
    error
}

#[test]
fn state_dicts_are_read() {
    for name in ["linear.pt", "without_checksums.pt"] {
        let weights = load_pt(path(name)).unwrap();
        assert_eq!(weights.keys().collect::<Vec<_>>(), ["bias", "weight"]);
        assert_eq!(weights["weight"].sizes(), [3, 2]);
        assert_eq!(weights["weight"].to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(weights["bias"].to_vec::<f32>().unwrap(), [0.5, -1.5, 2.0]);
    }
    assert_eq!(read_pt(&fs::read(path("linear.pt")).unwrap()).unwrap().len(), 2);
}

fn text(value: &PtValue) -> &str {
    match value {
        PtValue::Text(text) => text,
        other => panic!("{other:?} is no text"),
    }
}

#[test]
fn checkpoints_are_read_in_every_protocol() {
    for name in ["checkpoint.pt", "protocol3.pt", "protocol4.pt", "protocol5.pt"] {
        let all = load_pt_value(path(name)).unwrap();
        let get = |key: &str| all.get(key).unwrap_or_else(|| panic!("{name} has no {key}"));
        assert!(matches!(get("epoch"), PtValue::Int(3)), "{name}");
        assert!(matches!(get("large"), PtValue::Int(value) if *value == -(1 << 40)), "{name}");
        assert!(matches!(get("negative"), PtValue::Int(-5)));
        assert!(matches!(get("loss"), PtValue::Float(value) if value.to_bits() == 0.25_f64.to_bits()));
        assert!(matches!(get("done"), PtValue::Bool(false)) && matches!(get("nothing"), PtValue::None));
        assert_eq!(text(get("name")), "größer");
        assert!(matches!(get("bytes"), PtValue::Bytes(bytes) if bytes == b"\x00\xff"), "{name}");
        assert!(matches!(get("size"), PtValue::Size(sizes) if sizes == &[2, 3]));
        assert!(matches!(get("dtype"), PtValue::DType(DType::BF16)));
        let PtValue::Tuple(items) = get("tuple") else { panic!("no tuple") };
        let lengths = items[1..].iter().map(|item| match item {
            PtValue::Tuple(items) => items.len(),
            _ => panic!("no tuple"),
        });
        assert_eq!((text(&items[0]), lengths.collect::<Vec<_>>()), ("a", vec![0, 1, 4]));
        assert!(
            matches!(get("lists"), PtValue::List(lists) if matches!(&lists[1], PtValue::List(items) if items.len() == 2))
        );

        let weights = get("model").to_tensors().unwrap();
        assert_eq!(weights.keys().collect::<Vec<_>>(), ["layer.bias", "layer.weight"]);
        assert_eq!((weights["layer.weight"].sizes(), weights["layer.weight"].dtype()), (&[3, 2][..], DType::F32));
        let moments = get("optimizer").get("state").unwrap();
        let PtValue::Dict(parameters) = moments else { panic!("no dict") };
        assert!(matches!(parameters[0], (PtValue::Int(0), PtValue::Dict(_))) && parameters.len() == 2);
        let groups = get("optimizer").get("param_groups").unwrap();
        let PtValue::List(groups) = groups else { panic!("no list") };
        assert!(matches!(groups[0].get("lr"), Some(PtValue::Float(rate)) if (rate - 0.01).abs() < 1e-12));

        let error = load_pt(path(name)).unwrap_err();
        assert!(matches!(*error.problem, FileProblem::NotATensor { .. }), "{error}");
        assert!(error.entry.as_deref().is_some_and(|entry| entry.starts_with("optimizer.param_groups")), "{error}");
    }
}

fn check_views(name: &str) {
    let views = load_pt(path(name)).unwrap();
    let check = |name: &str, sizes: &[i64], strides: &[i64], elements: &[f32]| {
        let view: &Tensor = &views[name];
        assert_eq!((view.sizes(), view.strides()), (sizes, strides), "{name}");
        assert_eq!(view.to_vec::<f32>().unwrap(), elements, "{name}");
        assert_eq!(view.storage().same(views["all"].storage()), name != "empty_storage", "{name}");
    };
    let all: Vec<f32> = (0_u8..12).map(f32::from).collect();
    check("all", &[3, 4], &[4, 1], &all);
    check("again", &[3, 4], &[4, 1], &all);
    check("transposed", &[4, 3], &[1, 4], &[0.0, 4.0, 8.0, 1.0, 5.0, 9.0, 2.0, 6.0, 10.0, 3.0, 7.0, 11.0]);
    check("column", &[3], &[4], &[1.0, 5.0, 9.0]);
    check("every_other", &[2, 2], &[8, 2], &[1.0, 3.0, 9.0, 11.0]);
    check("expanded", &[2, 3], &[0, 0], &[5.0; 6]);
    check("scalar", &[], &[], &[11.0]);
    check("empty", &[0, 4], &[4, 1], &[]);
    check("empty_storage", &[0, 3], &[3, 1], &[]);
}

#[test]
fn views_share_their_storage_in_archives_with_and_without_compression() {
    check_views("views.pt");
    check_views("compressed.pt");
}

/// Tied weights of a `.pt` file are one tensor of a safetensors file.
#[test]
fn tied_weights_stay_tied() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("x.safetensors");
    let views = load_pt(path("views.pt")).unwrap();
    save_safetensors(&saved, [("all", &views["all"]), ("again", &views["again"])]).unwrap();
    let loaded = load_safetensors(&saved).unwrap();
    assert!(loaded["all"].same(&loaded["again"]));
}

/// The elements that write.py saves.
const NUMBERS: [i8; 6] = [0, 1, 2, -3, 100, 5];

fn check_dtype<T: Element>(tensors: &BTreeMap<String, Tensor>, name: &str, expected: impl Fn(i8) -> T) {
    let tensor = &tensors[name];
    assert_eq!((tensor.dtype(), tensor.sizes()), (T::DTYPE, &[6][..]), "{name}");
    assert_eq!(tensor.to_vec::<T>().unwrap(), NUMBERS.map(expected), "{name}");
}

#[test]
fn all_dtypes_are_read() {
    let tensors = load_pt(path("dtypes.pt")).unwrap();
    check_dtype(&tensors, "bool", |x| Bool::from(x > 1));
    check_dtype(&tensors, "uint8", i8::unsigned_abs);
    check_dtype(&tensors, "int8", |x| x);
    check_dtype(&tensors, "int16", i16::from);
    check_dtype(&tensors, "int32", i32::from);
    check_dtype(&tensors, "int64", i64::from);
    check_dtype(&tensors, "float16", |x| f16::from_f32(x.into()));
    check_dtype(&tensors, "bfloat16", |x| bf16::from_f32(x.into()));
    check_dtype(&tensors, "float32", f32::from);
    check_dtype(&tensors, "float64", f64::from);
    check_dtype(&tensors, "complex64", |x| Complex32::new(x.into(), 0.0));
    check_dtype(&tensors, "complex128", |x| Complex64::new(x.into(), 0.0));
    check_dtype(&tensors, "float8_e5m2", |x| Float8E5M2::from_f32(x.into()));
    check_dtype(&tensors, "float8_e4m3fn", |x| Float8E4M3Fn::from_f32(x.into()));
    check_dtype(&tensors, "float8_e5m2fnuz", |x| Float8E5M2Fnuz::from_f32(x.into()));
    check_dtype(&tensors, "float8_e4m3fnuz", |x| Float8E4M3Fnuz::from_f32(x.into()));
    check_dtype(&tensors, "float8_e8m0fnu", |x| Float8E8M0Fnu::from_f32(f32::from(x).abs().max(1.0)));
    assert_eq!(tensors.len(), 17);
}

#[test]
fn lazy_conjugates_and_negatives_are_read() {
    let tensors = load_pt(path("math_bits.pt")).unwrap();
    let expected = [Complex32::new(1.0, -2.0), Complex32::new(3.0, 4.0)];
    assert_eq!(tensors["conjugate"].to_vec::<Complex32>().unwrap(), expected);
    assert_eq!(tensors["negative"].to_vec::<f32>().unwrap(), [-2.0, 4.0]);
}

#[test]
fn bytes_in_the_other_order_are_read() {
    let tensors = load_pt(path("big_endian.pt")).unwrap();
    check_dtype(&tensors, "f", f32::from);
    check_dtype(&tensors, "i", i64::from);
    check_dtype(&tensors, "h", |x| f16::from_f32(x.into()));
}

#[test]
fn names_of_python_outside_of_plain_data_are_refused() {
    for (file, name) in [
        ("command.pt", "posix.system"),
        ("model.pt", "torch.nn.modules.linear.Linear"),
        ("sparse.pt", "torch._utils._rebuild_sparse_tensor"),
        ("quantized.pt", "torch._utils._rebuild_qtensor"),
        ("device.pt", "torch.device"),
        ("set.pt", "__builtin__.set"),
    ] {
        let error = refusal(file);
        assert!(matches!(&*error.problem, FileProblem::ForbiddenGlobal { name: found } if found == name), "{error}");
        assert!(error.to_string().contains(name) && error.to_string().contains("state_dict()"), "{error}");
    }
}

#[test]
fn other_formats_and_values_are_refused_with_the_way_out() {
    let error = refusal("legacy.pt");
    assert!(
        matches!(*error.problem, FileProblem::LegacyPt) && error.to_string().contains("torch.save(torch.load("),
        "{error}"
    );
    let error = refusal("script.pt");
    assert!(matches!(*error.problem, FileProblem::TorchScript), "{error}");
    let error = refusal("uint16.pt");
    assert!(matches!(*error.problem, FileProblem::UnsupportedElements { .. }), "{error}");
    assert!(error.to_string().contains("torch.uint16"), "{error}");
    let error = refusal("tensor.pt");
    assert!(matches!(*error.problem, FileProblem::NotADict { found: "torch.Tensor" }), "{error}");
    assert!(matches!(load_pt_value(path("tensor.pt")).unwrap(), PtValue::Tensor(_)));
    for (file, found) in [("set4.pt", "a set"), ("large.pt", "64 bits"), ("loop.pt", "contains itself")] {
        let error = refusal(file);
        assert!(matches!(*error.problem, FileProblem::UnsupportedValue { .. }), "{error}");
        assert!(error.to_string().contains(found), "{error}");
    }
    let not_pt = |bytes: &[u8]| *read_pt_value(bytes).unwrap_err().problem;
    assert!(matches!(not_pt(b"\x93NUMPY"), FileProblem::NotPt) && matches!(not_pt(b""), FileProblem::NotPt));
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    assert!(matches!(not_pt(&tar), FileProblem::LegacyPt));
}
