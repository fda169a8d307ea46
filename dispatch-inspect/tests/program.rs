//! Tests of the program with every operator that the facade links.

use std::process::{Command, Output, Stdio};

fn run_program(words: &[&str]) -> (String, String, Option<i32>) {
    let Output { stdout, stderr, status } =
        Command::new(env!("CARGO_BIN_EXE_dispatch-inspect")).args(words).output().unwrap();
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap(), status.code())
}

fn run_json(words: &[&str]) -> serde_json::Value {
    let (out, errors, code) = run_program(&[words, &["--json"]].concat());
    assert_eq!((errors.as_str(), code), ("", Some(0)));
    serde_json::from_str(&out).unwrap()
}

#[test]
fn standard_operators_have_kernels_of_every_linked_backend_and_layer() {
    let sheet = run_json(&["show", "relu"]);
    assert_eq!(sheet["schema"], "aten::relu(Tensor self) -> Tensor");
    assert_eq!(sheet["shape"], "pointwise(self)");
    assert_eq!(sheet["remarks"], serde_json::json!([["vmap", "by its shape word"]]));
    let kernels: Vec<&str> = sheet["kernels"].as_array().unwrap().iter().filter_map(|k| k["key"].as_str()).collect();
    assert_eq!(kernels, ["CPU", "CUDA", "Meta", "Autograd"]);
    assert!(sheet["kernels"][0]["place"]["file"].as_str().unwrap().ends_with("activation.rs"));
}

#[test]
fn the_kind_of_each_derivative_is_reported() {
    let derivative = |name: &str| run_json(&["show", name])["derivative"].clone();
    assert!(derivative("relu")["kernel"].as_str().unwrap().starts_with("`relu`"));
    assert_eq!(derivative("add_.Tensor"), derivative("add.Tensor"));
    assert_eq!(derivative("__and__.Tensor"), "composite");
    assert_eq!(derivative("add.out"), "none");
    assert_eq!(derivative("argmax"), "none");
    assert_eq!(derivative("zeros"), "none");
}

#[test]
fn explain_shows_the_kernels_from_autograd_to_the_backend() {
    let account = run_json(&["explain", "add.Tensor", "cpu,f32,requires_grad"]);
    assert_eq!((&account["key"], &account["winner"]["name"]), (&"AutogradCPU".into(), &"add".into()));
    assert_eq!(account["below"][0]["key"], "CPU");
    // No tensor here has a mark, so the layer `ADInplaceOrView` is skipped.
    let key = |arguments: &[&str]| run_json(&[&["explain", "add_.Tensor"], arguments].concat())["key"].clone();
    assert_eq!(key(&["cpu"]), "CPU");
    assert_eq!(key(&["cpu,requires_grad"]), "AutogradCPU");
    // The CPU does not track writes to the memory of other devices, so the layer records them here.
    assert_eq!(key(&["cuda", "--inference"]), "ADInplaceOrView");
}

#[test]
fn coverage_has_a_row_for_every_operator_and_cells_for_every_key() {
    let coverage = run_json(&["coverage"]);
    let (keys, rows) = (coverage["keys"].as_array().unwrap(), coverage["rows"].as_array().unwrap());
    assert!(rows.len() > 1900 && rows.iter().all(|row| row["cells"].as_array().unwrap().len() == keys.len()));
    for key in ["CPU", "CUDA", "Meta", "AutogradCPU", "AutocastCPU"] {
        assert!(keys.contains(&key.into()), "{key}");
    }
    assert!(!keys.contains(&"XLA".into()));
    let words = |operator: &str| rows.iter().find(|row| row["operator"] == operator).unwrap()["words"].clone();
    let at = |key: &str| keys.iter().position(|other| other == key).unwrap();
    assert_eq!(words("aten::relu")[at("Meta")], "shape");
    assert_eq!(words("aten::nonzero")[at("Meta")], "data");
    assert_eq!(words("aten::zeros")[at("AutogradCPU")], "none");
    assert_eq!(words("aten::relu_")[at("AutogradCPU")], "formula");
}

#[test]
fn exit_code_is_0_for_an_answer_1_for_none_and_2_for_usage_errors() {
    assert_eq!(run_program(&["explain", "relu"]).2, Some(0));
    let (out, errors, code) = run_program(&["explain", "relu", "SparseCPU"]);
    assert!(out.contains("runs nothing"), "{out}");
    assert_eq!((errors.as_str(), code), ("", Some(1)));
    let (_, errors, code) = run_program(&["show", "add"]);
    assert!(errors.starts_with("error: several operators are called `add`"), "{errors}");
    assert_eq!(code, Some(1));
    let (out, errors, code) = run_program(&["shwo"]);
    assert_eq!((out.as_str(), code), ("", Some(2)));
    let expected = "error: unrecognized subcommand 'shwo'\n\n  tip: a similar subcommand exists: 'show'\n\n\
                    Usage: dispatch-inspect [OPTIONS] <COMMAND>\n";
    assert!(errors.starts_with(expected), "{errors}");
    let (out, errors, code) = run_program(&[]);
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert!(errors.contains("trace, plan") && errors.contains("completions"), "{errors}");
    assert_eq!(run_program(&["page", "/nowhere/page.html"]).2, Some(1));
}

#[test]
fn help_names_the_exit_codes_and_the_commands_of_this_program() {
    let (out, errors, code) = run_program(&["--help"]);
    assert_eq!((errors.as_str(), code), ("", Some(0)));
    for part in ["\n  trace ", "\n  plan ", "\n  completions ", "Exit codes:", "  dispatch-inspect explain add.Tensor"]
    {
        assert!(out.contains(part), "{part}: {out}");
    }
    let (script, _, code) = run_program(&["completions", "bash"]);
    assert!(script.contains("dispatch-inspect") && script.contains("what-if"), "{script}");
    assert_eq!(code, Some(0));
}

#[test]
fn a_closed_output_pipe_is_no_error() {
    for words in ["coverage", "--help", "completions zsh", "coverage --json"] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_dispatch-inspect"));
        let mut child = program.args(words.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The closed pipe refuses everything that the program writes.
        drop(child.stdout.take());
        let Output { stderr, status, .. } = child.wait_with_output().unwrap();
        assert_eq!((String::from_utf8_lossy(&stderr).as_ref(), status.code()), ("", Some(0)), "{words}");
    }
}

#[test]
fn piped_output_has_no_colour() {
    let (out, ..) = run_program(&["table", "relu"]);
    assert!(out.contains("kernel") && !out.contains('\x1b'), "{out}");
}

#[test]
fn trace_shows_a_call_and_its_inner_calls() {
    let (out, errors, code) = run_program(&["trace", "linear", "f32[2,3],requires_grad", "f32[4,3]"]);
    assert_eq!((errors.as_str(), code), ("", Some(0)));
    let lines: Vec<&str> = out.lines().map(|line| line.split(" (").next().unwrap_or_default()).collect();
    let expected = [
        "aten::linear(Tensor",
        "  AutogradCPU `linear`",
        "  aten::t(Tensor",
        "    AutogradCPU `t`",
        "    then CPU `t`",
    ];
    assert_eq!(
        lines.iter().map(|line| line.split("(f").next().unwrap()).take(5).collect::<Vec<_>>(),
        expected,
        "{out}"
    );
    assert!(out.ends_with("returns Tensor(float32 [2, 4] on cpu)\n"), "{out}");

    let traced = run_json(&["trace", "conv2d", "f32[1,2,5,5]", "f32[3,2,3,3]", "stride=[2,2]"]);
    assert_eq!(traced["results"][0], "Tensor(float32 [1, 3, 2, 2] on cpu)");
    assert_eq!(traced["calls"][1]["operator"], "aten::convolution");
    let lowered = run_json(&["trace", "mm", "f32[2,2]", "--autocast"]);
    let calls = lowered["calls"].as_array().unwrap();
    let stops = |call: &serde_json::Value| (call["first"]["key"].clone(), call["last"]["key"].clone());
    assert_eq!(stops(&calls[0]), ("AutocastCPU".into(), ().into()));
    // Autocast calls the operator again with autocast off for the CPU, and this call reaches the kernel.
    assert_eq!(stops(calls.last().unwrap()), ("AutogradCPU".into(), "CPU".into()));

    let kept = run_json(&["trace", "sum.dim_IntList", "f32[2,3]", "[1]", "true"]);
    assert_eq!(kept["results"][0], "Tensor(float32 [2, 1] on cpu)");
}

#[test]
fn trace_reports_failed_calls_and_wrong_arguments() {
    let (out, _, code) = run_program(&["trace", "mm"]);
    assert!(
        out.ends_with("fails: `aten::mm`: argument `mat2` has sizes [2, 3], but must have 3 in dimension 0, as `self` has in dimension 1\n"),
        "{out}"
    );
    assert_eq!(code, Some(1));
    for (words, message) in [
        (&["trace", "reshape"][..], "`aten::reshape` needs `shape`, which is SymInt[] and has no default"),
        (&["trace", "relu", "nowhere"], "`self` is Tensor, and `nowhere` does not describe one"),
        (&["trace", "relu", "cpu", "3"], "`aten::relu` has no argument for `3`: aten::relu(Tensor self) -> Tensor"),
    ] {
        assert_eq!(run_program(words), (String::new(), format!("error: {message}\n"), Some(2)));
    }
    let (_, errors, code) = run_program(&["trace", "relu", "--autocats"]);
    assert!(errors.contains("tip: a similar argument exists: '--autocast'"), "{errors}");
    assert_eq!(code, Some(2));
}

#[test]
fn plan_shows_results_without_a_call_and_without_memory() {
    let words = "plan aten::convolution f32[1,3,224,224] f32[64,3,7,7] none [2,2] [3,3] [1,1] false [0,0] 1";
    let (out, errors, code) = run_program(&words.split(' ').collect::<Vec<_>>());
    assert_eq!((out.as_str(), errors.as_str()), ("float32 [1, 64, 112, 112], strides [802816, 12544, 112, 1]\n", ""));
    assert_eq!(code, Some(0));
    // The plan of a composite comes from the plans of its parts. Such tensors would not fit into memory.
    let linear = run_json(&["plan", "linear", "f32[1000000,1000]", "f32[1000000,1000]"]);
    assert_eq!(linear["results"][0]["sizes"], serde_json::json!([1_000_000, 1_000_000]));
    let (out, _, code) = run_program(&["plan", "mm", "f32[2,3]", "f32[2,3]"]);
    assert!(out.starts_with("refused: `aten::mm`: argument `mat2` has sizes [2, 3]"), "{out}");
    assert_eq!(code, Some(1));
}

#[test]
fn guards_change_the_key_of_a_call() {
    let key = |guard: &str| run_json(&["explain", "mm", "cpu", guard])["key"].clone();
    assert_eq!(key("--inference"), "CPU");
    assert_eq!(key("--autocast"), "AutocastCPU");
    assert_eq!(key("--vmap"), "FuncTorchDynamicLayerFrontMode");
    assert_eq!(key("--modes"), "PreDispatch");
    assert_eq!(key("--trace"), "Tracer");
    assert_eq!(key("--exclude=Autograd"), "CPU");
    assert_eq!(key("--include=Meta"), "AutogradMeta");
    assert_eq!(run_json(&["explain", "mm", "--no-grad"])["notes"].as_array().unwrap().len(), 1);
    assert_eq!(run_program(&["list", "--vmap"]).2, Some(2));
}

#[test]
fn the_page_is_one_file_with_every_operator() {
    let file = std::env::temp_dir().join(format!("dispatch-inspect-{}.html", std::process::id()));
    let (out, ..) = run_program(&["page", file.to_str().unwrap()]);
    let page = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(out.ends_with(&format!(" operators in {}\n", file.display())), "{out}");
    assert_eq!(page, run_program(&["page"]).0);
    assert!(page.contains("aten::relu(Tensor self) -> Tensor") && page.len() < 2_000_000, "{}", page.len());
}

#[test]
fn pages_are_written_for_every_namespace() {
    let folder = std::env::temp_dir().join(format!("dispatch-inspect-{}", std::process::id()));
    let names = run_json(&["docs", folder.to_str().unwrap()]);
    assert!(names.as_array().unwrap().contains(&"aten.md".into()));
    let page = std::fs::read_to_string(folder.join("aten.md")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(page.contains("\n## `relu`\n") && !page.contains("](fn@"));
}
