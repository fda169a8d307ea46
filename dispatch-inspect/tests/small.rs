//! Tests of the answers about a few operators, word for word.

use dispatch_inspect::{CommandOutcome, Failure, Style, run};
use dispatch_runtime::prelude::*;

/// Multiplies two tensors.
///
/// The product is elementwise.
#[op_def("mul(Tensor self, Tensor other) -> Tensor", shape = pointwise)]
pub fn mul(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(mul, CPU)]
fn mul_cpu(this: &Tensor, _: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(mul, CUDA)]
fn mul_cuda(this: &Tensor, _: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(mul, Autograd, boxed)]
fn mul_autograd(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys.below(keys::Autograd), stack)
}

/// Multiplies a tensor by itself, with [`mul`](fn@mul).
#[op_def("square(Tensor self) -> Tensor")]
pub fn square(this: &Tensor) -> Result<Tensor> {
    mul(this, this)
}

/// Returns the first tensor.
#[op_def("pick.first(Tensor self, Tensor? other=None) -> Tensor")]
pub fn pick_first(this: &Tensor, other: Option<&Tensor>) -> Result<Tensor>;

/// Returns the last tensor.
#[op_def("pick.last(Tensor[] tensors) -> Tensor")]
pub fn pick_last(tensors: &[Tensor]) -> Result<Tensor>;

#[op_impl(pick_first, CPU, when(other.is_none()), priority = 1)]
fn pick_first_without_other(this: &Tensor, other: Option<&Tensor>) -> Tensor {
    other.unwrap_or(this).clone()
}

#[op_impl(pick_first, CPU)]
fn pick_first_otherwise(this: &Tensor, _: Option<&Tensor>) -> Tensor {
    this.clone()
}

/// Creates a tensor.
#[op_def("made(int n, *, Device? device=None) -> Tensor")]
pub fn made(n: i64, device: Option<Device>) -> Result<Tensor>;

#[op_impl(made, CPU)]
fn made_cpu(_: i64, _: Option<Device>) -> Result<Tensor> {
    Ok(Tensor::from_slice(&[1.0_f32]))
}

/// Halves every element.
///
/// # Examples
///
/// ```
/// # use hidden as _;
/// #[inline]
/// fn halves() {}
/// ```
#[op_def("halve(Tensor self) -> Tensor")]
pub fn halve(this: &Tensor) -> Result<Tensor>;

#[op_impl(halve, Autograd, boxed)]
fn halve_autograd(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys.below(keys::Autograd), stack)
}

fn run_command(words: &str) -> Result<(String, CommandOutcome), Failure> {
    let mut out = Vec::new();
    let outcome = run(words.split(' ').map(str::to_owned), &mut out, Style::Plain)?;
    Ok((String::from_utf8(out).unwrap(), outcome))
}

/// Removes line numbers from locations in this file, as they change with each edit.
fn without_line_numbers(text: &str) -> String {
    let mut parts = text.split(concat!(file!(), ":"));
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + "HERE" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Compares an answer with the golden file of that name. `UPDATE=1` writes the file.
fn assert_matches_golden_file(name: &str, words: &str) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let answer = without_line_numbers(&run_command(words).unwrap().0);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, answer).unwrap();
        return;
    }
    assert_eq!(answer, std::fs::read_to_string(&file).unwrap(), "{name}: UPDATE=1 writes it");
}

fn error_message(words: &str) -> String {
    run_command(words).unwrap_err().to_string()
}

#[test]
fn text_answers_match_the_golden_files() {
    assert_matches_golden_file("list.txt", "list small::pick*");
    assert_matches_golden_file("show.txt", "show mul");
    assert_matches_golden_file("table.txt", "table square");
    assert_matches_golden_file("explain.txt", "explain mul cuda,f16");
    assert_matches_golden_file("explain_guards.txt", "explain mul cpu --inference --autocast --no-grad");
    assert_matches_golden_file("explain_choice.txt", "explain pick.first");
    assert_matches_golden_file("what_if.txt", "what-if square CPU");
    assert_matches_golden_file("coverage.txt", "coverage small::");
}

#[test]
fn an_omitted_tensor_is_like_the_previous_one_and_an_omitted_optional_argument_is_absent() {
    let explain = |words: &str| run_command(words).unwrap().0;
    let autograd = "ADInplaceOrView, AutogradCUDA, AutocastCUDA}";
    assert!(explain("explain mul cuda").contains(&format!("  other  -> {{CUDA, {autograd}")));
    assert!(explain("explain mul cpu cuda").contains("  key    -> AutogradCUDA"));
    assert!(explain("explain pick.first").contains("  other  -> {}"));
    assert!(explain("explain mul cuda,inference").contains("  key    -> CUDA"));
    assert!(explain("explain made").contains("  device -> {CPU}"));
}

#[test]
fn a_call_without_a_kernel_fails() {
    assert_eq!(run_command("explain mul").unwrap().1, CommandOutcome::Answered);
    let (text, outcome) = run_command("explain pick.last SparseCPU").unwrap();
    assert_eq!(outcome, CommandOutcome::CallFails);
    assert!(text.ends_with("  key     -> SparseCPU\n  runs nothing: missing\n"), "{text}");
}

#[test]
fn a_missing_backend_kernel_below_a_layer_is_shown() {
    let (text, _) = run_command("explain halve").unwrap();
    assert!(text.contains("  key    -> AutogradCPU\n"), "{text}");
    assert!(text.ends_with("redispatches\n  CPU  -    nothing: a call fails here\n"), "{text}");
    let account: serde_json::Value = serde_json::from_str(&run_command("explain halve --json").unwrap().0).unwrap();
    assert_eq!(account["below"][0]["served"], "missing");
    // A call that fails at its first key has no cells below.
    assert!(!run_command("explain mul cuda,SparseCPU --exclude=Autograd").unwrap().0.contains("redispatches"));
}

#[test]
fn what_if_reports_a_duplicate_kernel() {
    let (text, _) = run_command("what-if mul CPU CPU").unwrap();
    let expected = "small::mul with a kernel for CPU\n\n  CPU  kernel  ->  kernel\n  \
                    CPU has a kernel: another one without `override` is refused as a duplicate\n";
    assert_eq!(text, expected);
    assert!(!run_command("what-if mul -CPU CPU").unwrap().0.contains("override"));
}

#[test]
fn what_if_does_not_change_the_table() {
    let before = run_command("table mul --json").unwrap().0;
    let answer: serde_json::Value =
        serde_json::from_str(&run_command("what-if mul Meta -CUDA --json").unwrap().0).unwrap();
    let changes = answer["changes"].as_array().unwrap();
    let of = |key: &str| changes.iter().find(|change| change["before"]["key"] == key).unwrap();
    assert_eq!(
        (&of("CUDA")["before"]["served"], &of("CUDA")["after"]["served"]),
        (&"kernel".into(), &"missing".into())
    );
    assert!(of("Meta")["after"]["kernels"][0].as_str().unwrap().starts_with("`what if`"));
    assert_eq!(changes.len(), 2);
    assert_eq!(run_command("table mul --json").unwrap().0, before);
}

#[test]
fn errors_contain_advice() {
    for (words, message) in [
        (
            "show pick",
            "several operators are called `pick`; name one of them:\n  small::pick.first\n  small::pick.last",
        ),
        (
            "show small::pick",
            "several operators are called `small::pick`; name one of them:\n  small::pick.first\n  small::pick.last",
        ),
        ("show squar", "no operator is called `squar`; did you mean `square`?"),
        ("show small::pik", "no operator is called `small::pik`; did you mean `small::pick`?"),
        ("page --json", "`page` is HTML; name a FILE for it, and `--json` says which it is"),
        ("page /nowhere/page.html", "cannot write: /nowhere/page.html: No such file or directory (os error 2)"),
        (
            "list nothing_like_it",
            "no operator is called `nothing_like_it`; `list` shows those that are linked, and `use that_crate as _;` links more",
        ),
        ("explain mul cuad", "`cuad` does not describe an argument; did you mean `CUDA`?"),
        ("explain square cpu cpu", "2 arguments were described, but of those of `small::square` only self have keys"),
        ("explain mul --include=Autogrd", "unknown dispatch key `Autogrd`; did you mean `Autograd`?"),
        ("what-if mul Autogrd", "unknown dispatch key `Autogrd`; did you mean `Autograd`?"),
        ("completions bash --json", "`completions` prints a script for a shell, which has no form in JSON"),
        (
            "what-if mul -XLA",
            "`small::mul` has no kernel for XLA that could be removed; it has some for CPU, CUDA, Meta, Autograd",
        ),
        ("what-if mul Sparse", "`Sparse` is not a single runtime key; name each runtime key that this should cover"),
    ] {
        assert_eq!(error_message(words), message, "{words}");
    }
}

/// Returns the file name of this test program, which an application's own inspector has in its usages, too.
fn program_file_name() -> String {
    let path = std::path::PathBuf::from(std::env::args_os().next().unwrap());
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_wrong_command_line_has_a_suggestion_and_the_usage_of_this_program() {
    let program = program_file_name();
    for (words, message, usage) in [
        (
            "tabel mul",
            "unrecognized subcommand 'tabel'\n\n  tip: a similar subcommand exists: 'table'",
            "[OPTIONS] <COMMAND>",
        ),
        ("show", "the following required arguments were not provided:\n  <OPERATOR>", "show <OPERATOR>"),
        (
            "show mul --jsn",
            "unexpected argument '--jsn' found\n\n  tip: a similar argument exists: '--json'",
            "show --json",
        ),
        ("what-if mul", "the following required arguments were not provided:\n  <KEYS>", "what-if"),
    ] {
        let error = error_message(words);
        assert!(error.starts_with(message), "{words}: {error}");
        assert!(error.contains(&format!("\n\nUsage: {program} {usage}")), "{words}: {error}");
    }
}

#[test]
fn help_has_the_commands_and_examples_with_the_name_of_this_program() {
    let program = program_file_name();
    let (help, _) = run_command("--help").unwrap();
    for part in
        ["\n  what-if ", "\n  completions ", "Exit codes:\n  0 ", &format!("\n  {program} explain add.Tensor cpu,")]
    {
        assert!(help.contains(part), "{part}: {help}");
    }
    let (explain, _) = run_command("explain --help").unwrap();
    assert!(explain.contains("  --no-grad  "), "{explain}");
    assert!(explain.contains(&format!("Example:\n  {program} explain add.Tensor")), "{explain}");
    assert_eq!(run_command("help explain").unwrap().0, explain);
}

#[test]
fn completions_have_the_name_and_the_commands_of_this_program() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (script, _) = run_command(&format!("completions {shell}")).unwrap();
        assert!(
            script.contains(&program_file_name()) && script.contains("what-if") && script.contains("no-grad"),
            "{script}"
        );
    }
}

#[test]
fn the_option_without_and_a_word_with_minus_both_remove_a_kernel() {
    let answer = run_command("what-if mul Meta -CUDA --json").unwrap();
    assert_eq!(run_command("what-if mul Meta --without CUDA --json").unwrap(), answer);
    assert_eq!(run_command("--json what-if mul --without=CUDA Meta").unwrap(), answer);
}

#[test]
fn a_later_guard_can_undo_an_earlier_one() {
    let keys = |words: &str| {
        let answer: serde_json::Value = serde_json::from_str(&run_command(words).unwrap().0).unwrap();
        answer["keys"].as_array().unwrap().contains(&"AutocastCPU".into())
    };
    assert!(keys("explain mul --exclude=Autocast --autocast --json"));
    assert!(!keys("explain mul --autocast --exclude=Autocast --json"));
}

#[test]
fn only_usage_errors_have_the_exit_code_2() {
    let code = |words: &str| run_command(words).unwrap_err().exit_code();
    assert_eq!(code("explain mul cuad"), std::process::ExitCode::from(2));
    assert_eq!(code("tabel"), std::process::ExitCode::from(2));
    assert_eq!(code("show squar"), std::process::ExitCode::from(1));
}

#[test]
fn colour_adds_no_text() {
    let answer = |style| {
        let mut out = Vec::new();
        run(["table", "mul"].map(str::to_owned), &mut out, style).unwrap();
        String::from_utf8(out).unwrap()
    };
    let coloured = answer(Style::Colour);
    assert!(coloured.contains("\x1b[32mkernel"), "{coloured}");
    let stripped = ["1", "2", "31", "32", "33", "34", "36", "0"]
        .iter()
        .fold(coloured, |text, code| text.replace(&format!("\x1b[{code}m"), ""));
    assert_eq!(stripped, answer(Style::Plain));
}

#[test]
fn pages_have_the_documentation_of_operators() {
    let pages = dispatch_inspect::documentation_pages(&dispatch_inspect::matching_operators("small::"));
    let page = &pages["small.md"];
    assert!(pages["README.md"].contains("| [small](small.md) | 6 |"));
    assert!(pages["by-name.md"].contains("| [`small::pick.last`](small.md#picklast) | Returns the last tensor. |"));
    let row = pages["by-key.md"].lines().find(|line| line.contains("small::mul`")).unwrap();
    assert!(row.starts_with("| [`small::mul`](small.md#mul) | kernel | kernel | shape | formula |"), "{row}");
    assert!(
        page.contains(
            "## `mul`\n\n```\nsmall::mul(Tensor self, Tensor other) -> Tensor\n```\n\nMultiplies two tensors.\n"
        ),
        "{page}"
    );
    assert!(page.contains("\nMultiplies a tensor by itself, with `mul`.\n"), "{page}");
    assert!(page.contains(", when `other.is_none()` |"), "{page}");
    let example = "Halves every element.\n\n**Examples**\n\n```\n#[inline]\nfn halves() {}\n```\n";
    assert!(page.contains(example), "{page}");
    let shown = run_command("show halve").unwrap().0;
    assert!(shown.contains("  # Examples\n\n  ```\n  #[inline]\n  fn halves() {}\n"), "{shown}");
}

#[test]
fn a_namespace_of_any_name_has_its_page() {
    for namespace in ["index", "coverage", "by_name"] {
        let _for_good = dispatch_runtime::Registrar::new(namespace).define("id(Tensor self) -> Tensor").unwrap();
        let pages =
            dispatch_inspect::documentation_pages(&dispatch_inspect::matching_operators(&format!("{namespace}::")));
        assert!(pages[&format!("{namespace}.md")].contains("## `id`"), "{namespace}");
        assert_eq!(pages.len(), 4);
    }
}
