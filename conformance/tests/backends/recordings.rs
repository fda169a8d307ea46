//! Tests that recorded calls decode by their schemas, and that their tensors can be created and read.

use std::collections::HashMap;

use conformance::{compare, decode_arguments, decode_results, recorded_calls};
use dispatch_runtime::Device;
use dispatch_runtime::schema::Schema;

use crate::schemas::read_recorded_schemas;

/// Returns the schemas of recorded operators and of the core set.
fn read_schemas() -> HashMap<String, Schema> {
    let core = conformance::core_operators().unwrap().unwrap_or_default();
    let core = core.into_iter().map(|(name, schema)| (name, Schema::parse(&schema).unwrap()));
    read_recorded_schemas().into_iter().chain(core).collect()
}

#[test]
fn golden_calls_decode_by_their_schemas_and_convert_to_tensors_and_back() {
    let Some(calls) = recorded_calls().unwrap() else { return println!("skipped: there is no ops.jsonl") };
    let schemas = read_schemas();
    let mut understood = 0;
    for call in &calls {
        let Some(schema) = schemas.get(&call.operator) else { continue };
        understood += 1;
        let place = format!("{}, call {}", call.operator, call.number);
        let mut data = decode_arguments(call, schema).unwrap_or_else(|error| panic!("{place}: {error}"));
        data.extend(decode_results(call, schema).unwrap_or_else(|error| panic!("{place}: {error}")));
        for datum in data {
            let value = datum.to_value(Device::CPU).unwrap_or_else(|error| panic!("{place}: {error}"));
            let back = conformance::Datum::from_value(&value).unwrap();
            if !datum.arrays().is_empty() && datum.arrays().len() == back.arrays().len() {
                for (there, back) in datum.arrays().into_iter().zip(back.arrays()) {
                    let [there, back] = [there, back].map(|array| conformance::Datum::Array(array.clone()));
                    compare(&back, &there).unwrap_or_else(|difference| panic!("{place}: {difference}"));
                }
            }
        }
    }
    assert!(understood * 5 >= calls.len() * 3, "only {understood} of {} calls have a schema", calls.len());
}

#[test]
fn golden_core_operators_have_schemas_that_parse() {
    let Some(operators) = conformance::core_operators().unwrap() else {
        return println!("skipped: no core_aten.jsonl");
    };
    for (name, schema) in operators {
        assert_eq!(Schema::parse(&schema).unwrap().name.to_string(), name);
    }
}
