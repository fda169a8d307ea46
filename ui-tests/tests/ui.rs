//! Tests that every mistake in an attribute gives exactly the compiler error in its .stderr file.
//!
//! The compiler's own text changes with its version, so errors are compared on one version only. `TRYBUILD=overwrite` writes the files
//! again; read them before you commit.

#[rustversion::attr(
    not(stable(1.95)),
    ignore = "the .stderr files have the errors of Rust 1.95; run it with that compiler"
)]
#[test]
fn each_fail_case_gives_the_error_in_its_stderr_file() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}

/// Cases with several errors, all of them from the compiler.
const CASES_WITH_SEVERAL_ERRORS: [&str; 2] =
    ["op_def/each_option_of_an_unknown_operator", "op_impl/kernel_in_an_impl_block"];

#[test]
fn each_fail_case_has_one_error_and_no_warning() {
    let mut cases = 0;
    for case in fail_cases_in("fail") {
        let message = std::fs::read_to_string(case.with_extension("stderr")).expect("every case has a .stderr file");
        let count = |start: &str| message.lines().filter(|line| line.starts_with(start)).count();
        let name = case.display();
        assert_eq!(count("warning"), 0, "{name}: a warning");
        if !CASES_WITH_SEVERAL_ERRORS.iter().any(|several| case.with_extension("").ends_with(several)) {
            assert_eq!(count("error"), 1, "{name}: not exactly one error");
        }
        cases += 1;
    }
    assert!(cases > 200, "only {cases} cases");
}

fn fail_cases_in(folder: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of cases").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let inner = folders.iter().flat_map(|folder| fail_cases_in(&folder.display().to_string()));
    files.into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "rs")).chain(inner).collect()
}
