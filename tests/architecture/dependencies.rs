//! Tests that dependencies between crates follow the order in ARCHITECTURE.md, as read from the manifests.

use crate::manifests::{DependencyKind, Manifest, read_members};

/// The role of a crate in the order of dependencies, which its folder decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CrateRole {
    Schema,
    Macros,
    Runtime,
    Aten,
    Backend,
    /// A backend's kernels of one family of operators.
    KernelFamily,
    /// The loops that a backend's families share; it knows no operator.
    KernelEngine,
    /// The stack of levels that layers with function transforms share.
    Transform,
    Layer,
    /// The checks of operators. They know no backend.
    Checks,
    /// The test suite for backends. It knows no backend.
    Conformance,
    Facade,
    /// Tensors in files. It knows no operator.
    Files,
    /// Neural networks. They know no backend.
    Networks,
    /// Optimisers and schedules. They know no backend.
    Optimisers,
    /// Exported programs: reads, checks, runs and trains them. It knows no backend.
    ExportedPrograms,
    /// A library of operators, as a third party can write one. Only programs know it.
    Library,
    /// The library of the inspector. It knows no operator.
    Inspector,
    /// A program, or the part of a crate that only its program needs.
    Program,
    /// An application or a library as users write it: an example, or a crate for ui-tests.
    UserCode,
    /// Code that tests share, and these tests.
    TestTools,
}

impl CrateRole {
    fn from_folder(folder: &str) -> Option<Self> {
        Some(match folder.split_once('/').map_or((folder, ""), |(first, rest)| (first, rest)) {
            (".", "") => Self::Facade,
            ("dispatch-schema", "") => Self::Schema,
            ("dispatch-macros", "") => Self::Macros,
            ("dispatch-runtime", "") => Self::Runtime,
            ("aten", "") => Self::Aten,
            ("layers", "transform") => Self::Transform,
            ("layers", _) => Self::Layer,
            ("checks", "") => Self::Checks,
            ("conformance", "") => Self::Conformance,
            ("files", "") => Self::Files,
            ("nn", "") => Self::Networks,
            ("optim", "") => Self::Optimisers,
            ("pt2", "") => Self::ExportedPrograms,
            ("vision", "") => Self::Library,
            ("dispatch-inspect", "") => Self::Inspector,
            ("dispatch-inspect", _) | ("conformance", "program") => Self::Program,
            ("examples" | "ui-tests", _) => Self::UserCode,
            ("tests", _) => Self::TestTools,
            (backend, part) if backend.starts_with("kernels-") => match part {
                "" => Self::Backend,
                "engine" => Self::KernelEngine,
                _ => Self::KernelFamily,
            },
            _ => return None,
        })
    }

    /// Whether a crate with this role may depend on a crate with the role `other`.
    fn may_depend_on(self, other: Self) -> bool {
        use CrateRole::{
            Aten, Backend, Checks, Conformance, ExportedPrograms, Facade, Files, Inspector, KernelEngine, KernelFamily,
            Layer, Library, Macros, Networks, Optimisers, Program, Runtime, Schema, Transform, UserCode,
        };
        let known: &[Self] = match self {
            Schema | Self::TestTools => &[],
            Macros => &[Schema],
            Runtime => &[Schema, Macros],
            Aten | Transform | KernelEngine | Files | Inspector => &[Schema, Macros, Runtime],
            Backend | KernelFamily => &[Schema, Macros, Runtime, Aten, KernelFamily, KernelEngine],
            Layer => &[Schema, Macros, Runtime, Aten, Transform],
            Checks => &[Schema, Macros, Runtime, Aten, Transform, Layer],
            Conformance => &[Schema, Macros, Runtime, Aten, Transform, Layer, Checks],
            Networks => &[Schema, Macros, Runtime, Aten, Transform, Layer, Files],
            Optimisers => &[Schema, Macros, Runtime, Aten, Transform, Layer, Files, Networks],
            ExportedPrograms => &[Schema, Macros, Runtime, Aten, Transform, Layer, Files, Networks, Optimisers],
            Facade => &[
                Schema,
                Macros,
                Runtime,
                Aten,
                Backend,
                Transform,
                Layer,
                Checks,
                Files,
                Networks,
                Optimisers,
                ExportedPrograms,
            ],
            // Not the facade: a program that the facade knows can then link the library.
            Library => &[Runtime, Aten, Backend, Layer],
            Program => return !matches!(other, UserCode | Self::TestTools),
            UserCode => &[Runtime, Aten, Backend, Transform, Layer, Checks, Facade, UserCode],
        };
        known.contains(&other)
    }

    /// Whether the tests and examples of a crate with this role may depend on a crate with the role `other`. They run kernels, so any backend
    /// or layer is allowed, but no crate that uses all of them.
    fn tests_may_depend_on(self, other: Self) -> bool {
        let from_all = matches!(
            other,
            Self::Checks
                | Self::Conformance
                | Self::ExportedPrograms
                | Self::Facade
                | Self::Inspector
                | Self::Library
                | Self::Program
                | Self::UserCode
        );
        self.may_depend_on(other) || !from_all
    }
}

fn top_folder(folder: &str) -> &str {
    folder.split('/').next().unwrap_or(folder)
}

/// Returns a sentence for each dependency that breaks the order.
fn find_violations(members: &[Manifest]) -> Vec<String> {
    let mut found = Vec::new();
    for member in members {
        let Some(own) = CrateRole::from_folder(&member.folder) else {
            found.push(format!("{}: ARCHITECTURE.md gives no role to crates in this folder", member.folder));
            continue;
        };
        for kind in [DependencyKind::Normal, DependencyKind::Dev] {
            for dependency in member.dependencies(kind) {
                let name = &dependency.package;
                let Some(other) = members.iter().find(|other| other.name == *name) else { continue };
                let Some(part) = CrateRole::from_folder(&other.folder) else { continue };
                let own = if dependency.is_of_program { CrateRole::Program } else { own };
                // Only the backend itself may depend on its families and engine.
                let is_inner_crate = matches!(part, CrateRole::KernelFamily | CrateRole::KernelEngine)
                    && top_folder(&other.folder) != top_folder(&member.folder);
                let is_allowed = match kind {
                    _ if *name == member.name => kind == DependencyKind::Dev,
                    _ if is_inner_crate => false,
                    DependencyKind::Normal => own.may_depend_on(part),
                    DependencyKind::Dev => own.tests_may_depend_on(part),
                };
                if !is_allowed {
                    let tests = if kind == DependencyKind::Dev { " for its tests" } else { "" };
                    found.push(format!("{} must not depend on {name}{tests}", member.name));
                } else if kind == DependencyKind::Normal
                    && own != CrateRole::Program
                    && other.has_program_in(&dependency)
                {
                    found.push(format!("{} must depend on {name} without its feature `program`", member.name));
                }
            }
        }
    }
    found
}

#[test]
fn dependencies_follow_the_order() {
    let members = read_members(crate::workspace_root());
    assert!(members.len() > 25, "{}", members.len());
    let found = find_violations(&members);
    assert!(found.is_empty(), "{found:#?}");
}

/// Returns the violations of a sample workspace: crates with real names, and the given lines in their manifests.
fn violations_of_sample_workspace(lines: &[(&str, &str)]) -> Vec<String> {
    let folders = [
        (".", "opdispatch"),
        ("dispatch-schema", "dispatch-schema"),
        ("dispatch-macros", "dispatch-macros"),
        ("dispatch-runtime", "dispatch-runtime"),
        ("aten", "aten"),
        ("kernels-cpu", "kernels-cpu"),
        ("kernels-cpu/engine", "kernels-cpu-engine"),
        ("kernels-cpu/sort", "kernels-cpu-sort"),
        ("kernels-npu", "kernels-npu"),
        ("layers/transform", "dispatch-transform"),
        ("layers/vmap", "dispatch-vmap"),
        ("layers/trace", "dispatch-trace"),
        ("checks", "dispatch-checks"),
        ("conformance", "conformance"),
        ("conformance/program", "conformance-program"),
        ("examples/newcomer", "newcomer"),
        ("tests/tools", "test-tools"),
        ("files", "dispatch-files"),
        ("nn", "dispatch-nn"),
        ("optim", "dispatch-optim"),
        ("pt2", "dispatch-pt2"),
        ("vision", "dispatch-vision"),
        ("dispatch-inspect", "dispatch-inspect"),
        ("dispatch-inspect/browser", "dispatch-inspect-browser"),
    ];
    let workspace = "[workspace.dependencies]\naten.path = 'aten'\nmaths = { package = 'aten', path = 'aten' }\n\
        dispatch-pt2 = { path = 'pt2', default-features = false }"
        .parse()
        .unwrap();
    let manifest = |&(folder, name): &(&str, &str)| {
        let own: Vec<&str> = lines.iter().filter(|(of, _)| *of == name).map(|(_, line)| *line).collect();
        Manifest::parse(folder, &format!("[package]\nname = '{name}'\n{}\n", own.join("\n")), &workspace)
    };
    find_violations(&folders.iter().map(manifest).collect::<Vec<_>>())
}

#[test]
fn allowed_dependencies_are_no_violations() {
    let allowed = [
        ("dispatch-runtime", "[dependencies]\ndispatch-macros = '1'\nhalf = '2'"),
        ("kernels-cpu", "[dependencies]\naten.workspace = true\nkernels-cpu-sort = '1'"),
        ("kernels-cpu-sort", "[dependencies]\naten.workspace = true\nkernels-cpu-engine = '1'"),
        ("kernels-cpu-engine", "[dependencies]\ndispatch-runtime = '1'\n[dev-dependencies]\nkernels-cpu = '1'"),
        (
            "dispatch-vmap",
            "[dependencies]\ndispatch-transform = '1'\n[dev-dependencies]\nkernels-cpu = '1'\ndispatch-trace = '1'",
        ),
        ("aten", "[dev-dependencies]\nkernels-cpu = '1'\ntest-tools = '1'\naten = '1'"),
        ("dispatch-checks", "[dependencies]\ndispatch-vmap = '1'\n[dev-dependencies]\nkernels-npu = '1'"),
        ("conformance", "[dependencies]\ndispatch-checks = '1'\n[dev-dependencies]\nkernels-npu = '1'"),
        ("conformance-program", "[dependencies]\nkernels-npu = '1'\nconformance = '1'\ndispatch-vision = '1'"),
        ("dispatch-vision", "[dependencies]\nkernels-cpu = '1'\ndispatch-vmap = '1'"),
        ("dispatch-inspect", "[dependencies]\ndispatch-runtime = '1'"),
        ("dispatch-inspect-browser", "[dev-dependencies]\ndispatch-inspect = '1'\nopdispatch = '1'"),
        ("dispatch-pt2", "[dependencies]\ndispatch-nn = '1'\ndispatch-optim = '1'\ndispatch-vmap = '1'"),
        ("opdispatch", "[dependencies]\nkernels-npu = { version = '1', optional = true }"),
        ("newcomer", "[dependencies]\nopdispatch = '1'"),
    ];
    assert_eq!(violations_of_sample_workspace(&allowed), [""; 0]);
}

#[test]
fn forbidden_dependencies_are_found_in_every_notation() {
    let wrong = [
        ("dispatch-schema", "[dependencies]\ndispatch-runtime = '1'", "dispatch-runtime"),
        ("dispatch-macros", "[dependencies]\ndispatch-runtime = { path = '../dispatch-runtime' }", "dispatch-runtime"),
        ("dispatch-runtime", "[dependencies]\naten.workspace = true", "aten"),
        ("dispatch-runtime", "[dependencies]\nnumbers = { package = 'aten', version = '1' }", "aten"),
        ("dispatch-runtime", "[dependencies]\nmaths.workspace = true", "aten"),
        ("dispatch-runtime", "[build-dependencies]\naten = '1'", "aten"),
        ("dispatch-runtime", "[target.'cfg(unix)'.dependencies]\naten = { version = '1', optional = true }", "aten"),
        ("aten", "[dependencies]\nkernels-cpu = '1'", "kernels-cpu"),
        ("kernels-cpu", "[dependencies]\nkernels-npu = '1'", "kernels-npu"),
        ("kernels-cpu", "[dependencies]\ndispatch-vmap = '1'", "dispatch-vmap"),
        ("kernels-npu", "[dependencies]\nkernels-cpu-sort = '1'", "kernels-cpu-sort"),
        ("kernels-cpu-sort", "[dependencies]\nkernels-cpu = '1'", "kernels-cpu"),
        ("kernels-cpu-engine", "[dependencies]\naten = '1'", "aten"),
        ("dispatch-vmap", "[dependencies]\nkernels-cpu-engine = '1'", "kernels-cpu-engine"),
        ("dispatch-vmap", "[dependencies]\nkernels-cpu = '1'", "kernels-cpu"),
        ("dispatch-vmap", "[dependencies]\ndispatch-trace = '1'", "dispatch-trace"),
        ("dispatch-transform", "[dependencies]\ndispatch-vmap = '1'", "dispatch-vmap"),
        ("dispatch-checks", "[dependencies]\nconformance = '1'", "conformance"),
        ("dispatch-checks", "[dependencies]\nkernels-npu = '1'", "kernels-npu"),
        ("opdispatch", "[dependencies]\nconformance = '1'", "conformance"),
        ("conformance", "[dependencies]\nopdispatch = '1'", "opdispatch"),
        ("conformance", "[dependencies]\nkernels-npu = '1'", "kernels-npu"),
        ("opdispatch", "[dependencies]\nnewcomer = '1'", "newcomer"),
        ("opdispatch", "[dependencies]\ntest-tools = '1'", "test-tools"),
        ("newcomer", "[dependencies]\nconformance = '1'", "conformance"),
        ("opdispatch", "[dependencies]\ndispatch-vision = '1'", "dispatch-vision"),
        ("dispatch-vision", "[dependencies]\ndispatch-transform = '1'", "dispatch-transform"),
        ("dispatch-vision", "[dependencies]\nopdispatch = '1'", "opdispatch"),
        ("dispatch-inspect", "[dependencies]\nopdispatch = { version = '1', optional = true }", "opdispatch"),
        ("dispatch-pt2", "[dependencies]\nkernels-cpu = '1'", "kernels-cpu"),
        ("dispatch-pt2", "[dependencies]\ndispatch-vision = '1'", "dispatch-vision"),
        ("dispatch-nn", "[dependencies]\ndispatch-pt2 = '1'", "dispatch-pt2"),
        ("newcomer", "[dependencies]\ndispatch-pt2 = '1'", "dispatch-pt2"),
    ];
    for (name, line, other) in wrong {
        assert_eq!(
            violations_of_sample_workspace(&[(name, line)]),
            [format!("{name} must not depend on {other}")],
            "{line}"
        );
    }
    for (name, other) in [
        ("kernels-cpu", "conformance"),
        ("dispatch-vmap", "dispatch-checks"),
        ("aten", "opdispatch"),
        ("dispatch-vmap", "newcomer"),
        ("conformance", "dispatch-vision"),
        ("dispatch-nn", "dispatch-pt2"),
        ("aten", "dispatch-inspect"),
    ] {
        let line = format!("[dev-dependencies]\n{other} = '1'");
        assert_eq!(
            violations_of_sample_workspace(&[(name, &line)]),
            [format!("{name} must not depend on {other} for its tests")],
            "{line}"
        );
    }
}

const PROGRAM_OF_PT2: &str =
    "[features]\ndefault = ['program']\nprogram = ['dep:kernels-cpu', 'dep:dispatch-vision', 'maths?/x']";

#[test]
fn dependencies_of_a_program_are_those_of_its_feature_alone() {
    const DEPENDENCIES: &str = "[dependencies]\nkernels-cpu = { version = '1', optional = true }\ndispatch-vision = { version = '1', optional = true }";
    let violations = |features: &str, dependencies: &str| {
        violations_of_sample_workspace(&[("dispatch-pt2", features), ("dispatch-pt2", dependencies)])
    };
    assert_eq!(violations(PROGRAM_OF_PT2, DEPENDENCIES), [""; 0]);
    let without_program = PROGRAM_OF_PT2.replace("program =", "tool =");
    assert_eq!(violations(&without_program, DEPENDENCIES).len(), 2);
    // Each makes the CPU backend a dependency that the library can have without the program.
    for (features, dependencies) in [
        (PROGRAM_OF_PT2.to_owned(), &*DEPENDENCIES.replacen(", optional = true", "", 1)),
        (format!("{PROGRAM_OF_PT2}\nfast = ['dep:kernels-cpu']"), DEPENDENCIES),
        (format!("{PROGRAM_OF_PT2}\nfast = ['kernels-cpu/sort']"), DEPENDENCIES),
        (PROGRAM_OF_PT2.replace("dep:kernels-cpu", "kernels-cpu"), DEPENDENCIES),
    ] {
        let expected = "dispatch-pt2 must not depend on kernels-cpu";
        assert_eq!(violations(&features, dependencies), [expected], "{features} {dependencies}");
    }
}

#[test]
fn library_that_takes_the_program_of_another_crate_is_found() {
    let violations = |dependency: &str| {
        let lines = format!("[dependencies]\ndispatch-pt2 = {{ {dependency}, optional = true }}");
        violations_of_sample_workspace(&[("dispatch-pt2", PROGRAM_OF_PT2), ("opdispatch", &lines)])
    };
    for library in ["workspace = true", "version = '1', default-features = false"] {
        assert_eq!(violations(library), [""; 0], "{library}");
    }
    for program in [
        "version = '1'",
        "version = '1', default-features = false, features = ['default']",
        "version = '1', default-features = false, features = ['program']",
        "workspace = true, features = ['program']",
    ] {
        let expected = "opdispatch must depend on dispatch-pt2 without its feature `program`";
        assert_eq!(violations(program), [expected], "{program}");
    }
}

#[test]
fn crate_in_an_unknown_folder_is_found() {
    let workspace = toml::Table::new();
    let member = Manifest::parse("helpers", "[package]\nname = 'helpers'", &workspace);
    assert_eq!(find_violations(&[member]), ["helpers: ARCHITECTURE.md gives no role to crates in this folder"]);
}
