//! Changed bytes and changed JSON give programs or typed errors: no panic, and no memory that the file does not justify.

use dispatch_pt2::Archive;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::zip_builder::{program_path, read_entries, with_changed_json};

/// The programs to damage, with the JSON of each.
const PROGRAMS: [&str; 6] = ["mlp", "mlp_core", "nested", "tied", "constants", "structured"];

/// Loads all programs of an archive. The results do not matter.
fn load(bytes: &[u8]) {
    if let Ok(archive) = Archive::from_bytes(bytes) {
        for name in archive.program_names() {
            let _ = archive.sample_inputs(name);
            if let Err(error) = archive.program(name) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

/// Replaces the value that `at` chooses among all values of a tree.
fn replace(value: &mut Value, at: &mut usize, new: &Value) {
    if *at == 0 {
        value.clone_from(new);
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, at, new)),
        Value::Object(fields) => fields.values_mut().for_each(|item| replace(item, at, new)),
        _ => {}
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

fn new_values() -> Vec<Value> {
    let mut values: Vec<Value> = [0, 1, -1, 7, i64::MAX, i64::MIN].into_iter().map(Value::from).collect();
    values.extend([json!(u64::MAX), json!(1e300), json!(""), json!("x"), json!("NaN"), json!(true), json!(null)]);
    values.extend([json!([]), json!({}), json!({ "as_none": true }), json!({ "as_int": i64::MAX })]);
    values.extend([
        json!({ "as_tensor": { "name": "x" } }),
        json!({ "as_tensors": [] }),
        json!({ "as_sym_int": { "as_name": "x" } }),
    ]);
    values
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_are_programs_or_errors(
        program in 0..PROGRAMS.len(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = std::fs::read(program_path(PROGRAMS[program])).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        load(&bytes);
    }

    #[test]
    fn changed_json_is_a_program_or_an_error(
        program in 0..PROGRAMS.len(), entry in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), new in any::<prop::sample::Index>(),
    ) {
        let program = PROGRAMS[program];
        let names = read_entries(program).into_iter().filter(|entry| entry.name.rsplit_once('.').is_some_and(|(_, extension)| extension == "json"));
        let names: Vec<String> = names.filter_map(|entry| Some(entry.name.split_once('/')?.1.to_owned())).collect();
        let (name, values) = (entry.get(&names), new_values());
        let new = new.get(&values).clone();
        load(&with_changed_json(program, name, |json| replace(json, &mut at.index(count(json)), &new)));
    }
}

#[test]
fn json_may_be_nested_as_deep_as_the_parser_allows() {
    // Each level is parsed, prepared and dropped on a small stack, as that of a thread.
    let nested = |depth: usize| {
        let graph = (0..depth).fold(json!({ "as_none": true }), |inner, _| {
            let node = json!({
                "target": "torch.ops.higher_order.wrap_with_set_grad_enabled",
                "inputs": [{ "name": "", "arg": { "as_bool": true } }, { "name": "", "arg": inner }],
                "outputs": [],
                "metadata": {},
            });
            json!({ "as_graph": {
                "name": "g",
                "graph": { "inputs": [], "outputs": [], "nodes": [node], "tensor_values": {}, "sym_int_values": {}, "sym_bool_values": {} },
            }})
        });
        with_changed_json("mlp", "models/model.json", |json| {
            json["graph_module"]["graph"]["nodes"][0]["inputs"][0]["arg"] = graph;
        })
    };
    for depth in [1, 10, 18, 30, 200] {
        let bytes = nested(depth);
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(move || load(&bytes));
        thread.unwrap().join().unwrap();
    }
}
