//! Tests of the command lines of both programs.

use std::process::Command;

#[test]
fn an_unknown_option_fails_and_is_named() {
    for program in [env!("CARGO_BIN_EXE_conformance"), env!("CARGO_BIN_EXE_fuzz")] {
        let output = Command::new(program).arg("--nonsense").output().expect("the program starts");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{program}: {message}");
        assert!(message.contains("--nonsense"), "{program}: {message}");
    }
}
