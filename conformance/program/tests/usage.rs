//! Tests of the command lines of both programs.

use std::process::{Command, Output, Stdio};

const CONFORMANCE_PROGRAM: &str = env!("CARGO_BIN_EXE_conformance");
const FUZZ_PROGRAM: &str = env!("CARGO_BIN_EXE_fuzz");

/// Runs a program with these arguments, and returns its output, its error output and its exit code.
fn run_program(program: &str, arguments: &str) -> (String, String, Option<i32>) {
    let Output { stdout, stderr, status } =
        Command::new(program).args(arguments.split_whitespace()).output().expect("the program starts");
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap(), status.code())
}

#[test]
fn wrong_arguments_exit_with_2_and_suggest_a_correction() {
    for (program, arguments, message) in [
        (
            CONFORMANCE_PROGRAM,
            "--devise cpu",
            "unexpected argument '--devise' found\n\n  tip: a similar argument exists: '--device'",
        ),
        (CONFORMANCE_PROGRAM, "--check value", "invalid value 'value' for '--check <NAME>'"),
        (CONFORMANCE_PROGRAM, "--check value", "tip: a similar value exists: 'values'"),
        (
            CONFORMANCE_PROGRAM,
            "--part 2/2",
            "'--part <NUMBER/PARTS>': it needs a number and the larger number of parts, such as 0/2",
        ),
        (CONFORMANCE_PROGRAM, "--without f31", "invalid value 'f31' for '--without <DTYPE>'"),
        (CONFORMANCE_PROGRAM, "--device cup", "invalid value 'cup' for '--device <DEVICE>'"),
        (CONFORMANCE_PROGRAM, "--call one", "invalid value 'one' for '--call <NUMBER>'"),
        (
            CONFORMANCE_PROGRAM,
            "completion bash",
            "unrecognized subcommand 'completion'\n\n  tip: a similar subcommand exists: 'completions'",
        ),
        (CONFORMANCE_PROGRAM, "--only aten::rleu --check values", "aten::relu"),
        (FUZZ_PROGRAM, "--second 1", "tip: a similar argument exists: '--seconds'"),
        (FUZZ_PROGRAM, "--only aten::rleu", "aten::relu"),
        (
            FUZZ_PROGRAM,
            "--case 7",
            "invalid value '7' for '--case <SEED:NUMBER>': it needs a seed and a number, such as 0:17",
        ),
        (FUZZ_PROGRAM, "--case 7:1 --seed 3", "cannot be used with"),
    ] {
        let (out, errors, code) = run_program(program, arguments);
        assert_eq!((out.as_str(), code), ("", Some(2)), "{arguments}: {errors}");
        assert!(errors.starts_with("error: ") && errors.contains(message), "{arguments}: {errors}");
    }
}

#[test]
fn help_has_examples_and_exit_codes() {
    for (program, example) in
        [(CONFORMANCE_PROGRAM, "conformance --only aten::relu"), (FUZZ_PROGRAM, "fuzz --case 7:1234")]
    {
        let (out, errors, code) = run_program(program, "--help");
        assert_eq!((errors.as_str(), code), ("", Some(0)));
        assert!(out.contains(example) && out.contains("Exit codes:\n  0 "), "{out}");
        assert!(!out.contains("--worker"), "{out}");
    }
}

#[test]
fn completion_scripts_contain_the_options() {
    for (program, option) in [(CONFORMANCE_PROGRAM, "not-applicable"), (FUZZ_PROGRAM, "seconds")] {
        for shell in ["bash", "zsh", "fish"] {
            let (script, errors, code) = run_program(program, &format!("completions {shell}"));
            assert_eq!((errors.as_str(), code), ("", Some(0)));
            assert!(script.contains(option), "{script}");
        }
    }
}

#[test]
fn exit_code_is_0_for_success_and_1_for_a_failure() {
    let (out, errors, code) = run_program(CONFORMANCE_PROGRAM, "--only aten::relu --check values");
    assert_eq!((errors.as_str(), code), ("", Some(0)), "{out}");
    assert!(out.contains("cpu: 1 operators: 1 passed, 0 failed"), "{out}");
    let (_, errors, code) = run_program(FUZZ_PROGRAM, "--seconds 0");
    assert_eq!((errors.as_str(), code), ("", Some(0)));
    let (out, _, code) = run_program(FUZZ_PROGRAM, "--case 0:1 --only aten::relu");
    assert_eq!(code, Some(0), "{out}");

    // A recording with a wrong result.
    let folder = std::env::temp_dir().join(format!("conformance-usage-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let one = r#"{"dtype": "f32", "shape": [1], "data": [1.0]}"#;
    let two = r#"{"dtype": "f32", "shape": [1], "data": [2.0]}"#;
    let call =
        format!(r#"{{"op": "aten::relu", "args": [{{"tensor": {one}}}], "kwargs": {{}}, "out": {{"tensor": {two}}}}}"#);
    std::fs::write(folder.join("ops.jsonl"), call).unwrap();
    let mut program = Command::new(CONFORMANCE_PROGRAM);
    program.args(["--only", "aten::relu", "--check", "values", "--failures"]).env("DISPATCH_GOLDEN", &folder);
    let Output { stdout, status, .. } = program.output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let out = String::from_utf8(stdout).unwrap();
    assert!(out.starts_with("aten::relu, call 0, values: "), "{out}");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_closed_output_pipe_is_no_error() {
    for (program, arguments) in [
        (CONFORMANCE_PROGRAM, "--only aten::relu --check values"),
        (CONFORMANCE_PROGRAM, "--help"),
        (CONFORMANCE_PROGRAM, "completions zsh"),
        (FUZZ_PROGRAM, "--seconds 0"),
        (FUZZ_PROGRAM, "--case 0:1 --only aten::relu"),
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
