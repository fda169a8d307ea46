//! Tests of the command lines of both programs.

use std::process::{Command, Output, Stdio};

const CONFORMANCE: &str = env!("CARGO_BIN_EXE_conformance");
const FUZZ: &str = env!("CARGO_BIN_EXE_fuzz");

/// Runs a program with these arguments, and returns its output, its error output and its exit code.
fn run(program: &str, arguments: &str) -> (String, String, Option<i32>) {
    let Output { stdout, stderr, status } =
        Command::new(program).args(arguments.split_whitespace()).output().expect("the program starts");
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap(), status.code())
}

#[test]
fn wrong_arguments_end_with_2_and_a_suggestion() {
    for (program, arguments, message) in [
        (
            CONFORMANCE,
            "--devise cpu",
            "unexpected argument '--devise' found\n\n  tip: a similar argument exists: '--device'",
        ),
        (CONFORMANCE, "--check value", "invalid value 'value' for '--check <NAME>'"),
        (CONFORMANCE, "--check value", "tip: a similar value exists: 'values'"),
        (
            CONFORMANCE,
            "--part 2/2",
            "'--part <NUMBER/PARTS>': it needs a number and the larger number of parts, such as 0/2",
        ),
        (CONFORMANCE, "--without f31", "invalid value 'f31' for '--without <DTYPE>'"),
        (CONFORMANCE, "--device cup", "invalid value 'cup' for '--device <DEVICE>'"),
        (CONFORMANCE, "--call one", "invalid value 'one' for '--call <NUMBER>'"),
        (
            CONFORMANCE,
            "completion bash",
            "unrecognized subcommand 'completion'\n\n  tip: a similar subcommand exists: 'completions'",
        ),
        (CONFORMANCE, "--only aten::rleu --check values", "aten::relu"),
        (FUZZ, "--second 1", "tip: a similar argument exists: '--seconds'"),
        (FUZZ, "--only aten::rleu", "aten::relu"),
        (FUZZ, "--case 7", "invalid value '7' for '--case <SEED:NUMBER>': it needs a seed and a number, such as 0:17"),
        (FUZZ, "--case 7:1 --seed 3", "cannot be used with"),
    ] {
        let (out, errors, code) = run(program, arguments);
        assert_eq!((out.as_str(), code), ("", Some(2)), "{arguments}: {errors}");
        assert!(errors.starts_with("error: ") && errors.contains(message), "{arguments}: {errors}");
    }
}

#[test]
fn help_has_examples_and_exit_codes() {
    for (program, example) in [(CONFORMANCE, "conformance --only aten::relu"), (FUZZ, "fuzz --case 7:1234")] {
        let (out, errors, code) = run(program, "--help");
        assert_eq!((errors.as_str(), code), ("", Some(0)));
        assert!(out.contains(example) && out.contains("Exit codes:\n  0 "), "{out}");
        assert!(!out.contains("--worker"), "{out}");
    }
}

#[test]
fn completions_have_the_options() {
    for (program, option) in [(CONFORMANCE, "not-applicable"), (FUZZ, "seconds")] {
        for shell in ["bash", "zsh", "fish"] {
            let (script, errors, code) = run(program, &format!("completions {shell}"));
            assert_eq!((errors.as_str(), code), ("", Some(0)));
            assert!(script.contains(option), "{script}");
        }
    }
}

#[test]
fn success_ends_with_0_and_a_failure_with_1() {
    let (out, errors, code) = run(CONFORMANCE, "--only aten::relu --check values");
    assert_eq!((errors.as_str(), code), ("", Some(0)), "{out}");
    assert!(out.contains("cpu: 1 operators: 1 passed, 0 failed"), "{out}");
    let (_, errors, code) = run(FUZZ, "--seconds 0");
    assert_eq!((errors.as_str(), code), ("", Some(0)));
    let (out, _, code) = run(FUZZ, "--case 0:1 --only aten::relu");
    assert_eq!(code, Some(0), "{out}");

    // A recording with a wrong result.
    let folder = std::env::temp_dir().join(format!("conformance-usage-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let one = r#"{"dtype": "f32", "shape": [1], "data": [1.0]}"#;
    let two = r#"{"dtype": "f32", "shape": [1], "data": [2.0]}"#;
    let call =
        format!(r#"{{"op": "aten::relu", "args": [{{"tensor": {one}}}], "kwargs": {{}}, "out": {{"tensor": {two}}}}}"#);
    std::fs::write(folder.join("ops.jsonl"), call).unwrap();
    let mut program = Command::new(CONFORMANCE);
    program.args(["--only", "aten::relu", "--check", "values", "--failures"]).env("DISPATCH_GOLDEN", &folder);
    let Output { stdout, status, .. } = program.output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let out = String::from_utf8(stdout).unwrap();
    assert!(out.starts_with("aten::relu, call 0, values: "), "{out}");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_reader_that_closes_the_output_is_no_error() {
    for (program, arguments) in [
        (CONFORMANCE, "--only aten::relu --check values"),
        (CONFORMANCE, "--help"),
        (CONFORMANCE, "completions zsh"),
        (FUZZ, "--seconds 0"),
        (FUZZ, "--case 0:1 --only aten::relu"),
    ] {
        let mut command = Command::new(program);
        command.args(arguments.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The closed pipe refuses everything that the program writes.
        drop(child.stdout.take());
        let Output { stderr, status, .. } = child.wait_with_output().unwrap();
        assert_eq!((String::from_utf8_lossy(&stderr).as_ref(), status.code()), ("", Some(0)), "{program} {arguments}");
    }
}
