//! Fuzzes programs of `.pt2` archives: records that were edited at random give a program or a typed error, and a program runs or fails.
//!
//! The first byte chooses a program. Then each group of six bytes is an edit of one of its JSON entries: it replaces, removes or repeats a
//! value, or puts a value of another place there. So most inputs are valid JSON, of nearly the right structure.
#![no_main]

use std::io::{Cursor, Read, Write};
use std::sync::LazyLock;

use dispatch_pt2::Archive;
use kernels_cpu as _;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use zip::read::{ArchiveOffset, Config};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The archives to edit.
const ARCHIVES: [&[u8]; 8] = [
    include_bytes!("../../pt2/tests/programs/mlp.pt2"),
    include_bytes!("../../pt2/tests/programs/mlp_core.pt2"),
    include_bytes!("../../pt2/tests/programs/constants.pt2"),
    include_bytes!("../../pt2/tests/programs/strided.pt2"),
    include_bytes!("../../pt2/tests/programs/structured.pt2"),
    include_bytes!("../../pt2/tests/programs/tied.pt2"),
    include_bytes!("../../pt2/tests/programs/views.pt2"),
    include_bytes!("../../pt2/tests/programs/higher_order.pt2"),
];

/// An archive, with its JSON entries apart.
struct Parts {
    records: Vec<(String, Value)>,
    others: Vec<(String, Vec<u8>)>,
}

static PARTS: LazyLock<Vec<Parts>> = LazyLock::new(|| ARCHIVES.iter().map(|bytes| read_parts(bytes)).collect());
static NEW_VALUES: LazyLock<Vec<Value>> = LazyLock::new(new_values);

fuzz_target!(|bytes: &[u8]| {
    let Some((first, edits)) = bytes.split_first() else { return };
    let parts = &PARTS[usize::from(*first) % PARTS.len()];
    let mut records = parts.records.clone();
    // One that is edited too often fails at its first record.
    for edit in edits.chunks_exact(6).take(8) {
        let [entry, kind, at_low, at_high, from_low, from_high] = *edit else { return };
        let entry = usize::from(entry) % records.len();
        let record = &mut records[entry].1;
        let at = usize::from(u16::from_le_bytes([at_low, at_high])) % count(record);
        let from = usize::from(u16::from_le_bytes([from_low, from_high]));
        apply(record, at, kind, from);
    }
    let Ok(archive) = Archive::from_bytes(write_archive(&records, &parts.others)) else { return };
    for name in archive.program_names() {
        let program = match archive.program(name) {
            Ok(program) => program,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        if let Ok(Some(inputs)) = archive.sample_inputs(name)
            && let Err(error) = program.run(inputs)
        {
            assert!(!error.to_string().is_empty());
        }
    }
});

/// Edits the value with this number.
fn apply(record: &mut Value, at: usize, kind: u8, from: usize) {
    match kind % 4 {
        0 => {
            let new = NEW_VALUES[from % NEW_VALUES.len()].clone();
            *find(record, at) = new;
        }
        1 => {
            let new = find(record, from % count(record)).clone();
            // A tree that grows inside of itself would double its size with each edit.
            if count(&new) < 400 {
                *find(record, at) = new;
            }
        }
        kind => match find(record, at) {
            Value::Array(items) if !items.is_empty() => {
                let at = from % items.len();
                if kind == 2 { drop(items.remove(at)) } else { items.insert(at, items[at].clone()) }
            }
            Value::Object(fields) if !fields.is_empty() => {
                let key = fields.keys().nth(from % fields.len()).cloned().unwrap_or_default();
                let value = fields.remove(&key);
                if kind == 3 {
                    fields.insert(format!("{key}_"), value.unwrap_or_default());
                }
            }
            Value::Number(number) => {
                let changed = number.as_i64().unwrap_or(0).wrapping_add(i64::try_from(from).unwrap_or(0) - 32768);
                *number = changed.into();
            }
            _ => {}
        },
    }
}

/// Returns the number of values in a tree.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// Returns the value with this number, in the order of the text.
fn find(value: &mut Value, mut at: usize) -> &mut Value {
    if at == 0 {
        return value;
    }
    at -= 1;
    let children: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => Vec::new(),
    };
    for child in children {
        let size = count(child);
        if at < size {
            return find(child, at);
        }
        at -= size;
    }
    unreachable!("the number is less than the count")
}

fn new_values() -> Vec<Value> {
    let mut values: Vec<Value> = [0, 1, -1, 2, 7, 255, 1 << 31, 1 << 40, i64::MAX, i64::MIN].map(Value::from).to_vec();
    values.extend([
        json!(u64::MAX),
        json!(1e300),
        json!(0.5),
        json!("NaN"),
        json!("Infinity"),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
    ]);
    let ints = |values: &[i64]| json!({ "as_ints": values });
    values.extend([
        json!({ "as_none": true }),
        json!({ "as_bool": true }),
        json!({ "as_float": "NaN" }),
        json!({ "as_string": "x" }),
    ]);
    values.extend([
        json!({ "as_int": 0 }),
        json!({ "as_int": -1 }),
        json!({ "as_int": i64::MAX }),
        json!({ "as_int": i64::MIN }),
    ]);
    values.extend([ints(&[]), ints(&[1 << 40, 1 << 30]), ints(&[-1]), ints(&[i64::MAX, 2])]);
    values.extend([
        json!({ "as_tensors": [] }),
        json!({ "as_scalar_type": 7 }),
        json!({ "as_device": { "type": "cuda", "index": 3 } }),
    ]);
    for name in ["x", "relu", "linear", "p_weight", "sym_size_int", ""] {
        values.push(json!(name));
        values.push(json!({ "as_tensor": { "name": name } }));
        values.push(json!({ "as_sym_int": { "as_name": name } }));
        values.push(json!({ "as_optional_tensors": [{ "as_tensor": { "name": name } }, { "as_none": true }] }));
        values.push(json!({ "as_sym_ints": [{ "as_name": name }, { "as_int": 1_i64 << 40 }] }));
    }
    for expression in [
        "s77",
        "Add(Symbol('s77', integer=True), Integer(1))",
        "FloorDiv(Symbol('s77'), Integer(0))",
        "Mod(s77, 0)",
        "(((((",
    ] {
        values.push(json!({ "as_expr": { "expr_str": expression, "hint": { "as_int": 3 } } }));
    }
    let targets = "aten.add.Tensor aten.add_.Tensor aten.view.default aten.reshape.default aten.expand.default aten.cat.default \
        aten.split.Tensor aten.index.Tensor aten.zeros.default aten.full.default aten.arange.default aten.sym_size.int aten.item.default \
        aten.select.int aten.slice.Tensor aten.as_strided.default aten.unbind.int aten.resize_.default aten.detach_.default \
        aten.copy_.default aten._assert_scalar.default higher_order.cond higher_order.map_impl higher_order.scan \
        higher_order.with_effects higher_order.wrap_with_set_grad_enabled higher_order.wrap_with_autocast";
    values.extend(targets.split_whitespace().map(|target| json!(format!("torch.ops.{target}"))));
    let python = "floordiv mod pow lshift truediv getitem neg";
    values.extend(python.split_whitespace().map(|target| json!(format!("_operator.{target}"))));
    values.extend(["math.trunc", "torch.sym_int", "torch.sym_float", "torch.sym_sqrt"].map(Value::from));
    values
}

fn read_parts(bytes: &[u8]) -> Parts {
    // Otherwise the end of an archive inside of the file is taken for the end of the file.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let mut zip = ZipArchive::with_config(config, Cursor::new(bytes)).expect("the file is an archive");
    let mut parts = Parts { records: Vec::new(), others: Vec::new() };
    for index in 0..zip.len() {
        let mut file = zip.by_index(index).expect("the entry exists");
        let mut data = Vec::new();
        file.read_to_end(&mut data).expect("the entry is in memory");
        let name = file.name().expect("the name is text").into_owned();
        if name.ends_with(".json") {
            parts.records.push((name, serde_json::from_slice(&data).expect("the entry is JSON")));
        } else {
            parts.others.push((name, data));
        }
    }
    parts
}

fn write_archive(records: &[(String, Value)], others: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, data: &[u8]| {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(name, options).expect("the name is new");
        zip.write_all(data).expect("memory takes bytes");
    };
    for (name, record) in records {
        add(name, &serde_json::to_vec(record).expect("a record is JSON"));
    }
    others.iter().for_each(|(name, data)| add(name, data));
    zip.finish().expect("memory takes bytes").into_inner()
}
