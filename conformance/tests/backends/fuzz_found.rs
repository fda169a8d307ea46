//! Tests of former findings of the fuzzer: each trial now returns results or a typed error.

use std::fs;

use conformance::fuzz::{Outcome, Trial};

#[test]
fn former_findings_return_results_or_typed_errors() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/found.jsonl");
    let lines = fs::read_to_string(file).unwrap();
    for line in lines.lines() {
        let trial = Trial::parse(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        // If the trial aborts the process, this is the last line of the test's output.
        println!("{line}");
        if let Outcome::Finding(finding) = trial.run() {
            panic!("{finding}: {line}");
        }
    }
    assert!(lines.lines().count() > 0);
}

#[test]
fn a_printed_trial_can_be_parsed() {
    let lines = [
        r#"{"args":[{"tensor":{"data":[1,-2],"dtype":"i64","memory":0,"offset":1,"shape":[2,1],"strides":[0,7]}},{"none":true}],"op":"aten::f"}"#,
        r#"{"args":[{"tensors":[{"dtype":"f32","on":"meta","shape":[2]}]},{"optional":[null]}],"gradients":true,"op":"aten::f"}"#,
        r#"{"args":[{"float":"nan"},{"complex":[0.0,"-inf"]},{"numbers":[true,1,1.5]},{"floats":[1e300]}],"mapped":5,"op":"aten::f"}"#,
        r#"{"args":[{"ints":[-9223372036854775808]},{"bools":[false]},{"str":"µ"},{"strs":["a"]},{"dtype":"bf16"}],"op":"aten::f"}"#,
        r#"{"args":[{"device":"meta"},{"layout":"strided"},{"format":"channels_last"},{"generator":"cpu"},{"list":[{"int":1}]}],"op":"aten::f"}"#,
        r#"{"graph":"fn graph() {\n    []\n}\n"}"#,
    ];
    for line in lines {
        assert_eq!(Trial::parse(line).unwrap().to_string().replace("1e+300", "1e300"), line);
    }
    assert!(Trial::parse(r#"{"op": "aten::f", "args": [{"tensro": 1}]}"#).is_err());
}
