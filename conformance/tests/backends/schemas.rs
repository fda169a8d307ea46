//! Test that operators of `aten` have PyTorch's schemas.

use std::collections::HashMap;
use std::io::Read;

use dispatch_runtime::Operator;
use dispatch_runtime::schema::Schema;

/// Operators whose results or arguments have other names in PyTorch than in the functional operator.
const OPERATORS_WITH_OTHER_ARGUMENT_NAMES: [&str; 5] = [
    "aten::_pdist_backward.out",
    "aten::log_sigmoid_forward.output",
    "aten::multilabel_margin_loss_forward.output",
    "aten::nll_loss_forward.output",
    "aten::nll_loss2d_forward.output",
];

/// Returns the recorded schemas, from the tests of `dispatch-schema`. Some recorded operators have none.
pub(crate) fn read_recorded_schemas() -> HashMap<String, Schema> {
    let packed: &[u8] = include_bytes!("../../../dispatch-schema/tests/golden/schemas.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let schemas = text.lines().filter_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let schema = Schema::parse(line.get("canonical")?.as_str()?).ok()?;
        Some((schema.name.to_string(), schema))
    });
    schemas.collect()
}

#[test]
fn every_operator_has_its_recorded_schema() {
    let recorded = read_recorded_schemas();
    let mut found = 0;
    let mut others = Vec::new();
    for operator in Operator::all() {
        let name = operator.name().to_string();
        let Some(expected) = recorded.get(&name).filter(|_| !OPERATORS_WITH_OTHER_ARGUMENT_NAMES.contains(&&*name))
        else {
            continue;
        };
        found += 1;
        let (own, expected) = (operator.schema().to_string(), expected.to_string());
        if own != expected {
            others.push(format!("{own}\n  instead of {expected}"));
        }
    }
    assert!(found > 800, "only {found} operators were recorded");
    assert!(others.is_empty(), "{}", others.join("\n"));
}
