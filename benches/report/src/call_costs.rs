//! The cost of a call, for every path and for five builds of the program.

use std::path::PathBuf;
use std::process::Command;

use measure::build::{run_cargo, target_folder};
use measure::{Result, single_step, table};
use paths::CALL_PATHS;

use crate::benches_folder;

/// A build of the probe program, with the shared library if the paths run in one.
struct ProbeBuild {
    probe: PathBuf,
    library: Option<PathBuf>,
}

/// The cost of a call without the loop around it.
#[derive(Clone, Copy)]
struct CallCost {
    instructions: Option<f64>,
    nanoseconds: f64,
}

pub(crate) fn report_call_costs() -> Result<()> {
    let target = target_folder()?;
    run_cargo(benches_folder(), &target, &["build", "--release", "-p", "probe", "-p", "shared"])?;
    run_cargo(benches_folder(), &target, &["build", "--profile", "user", "-p", "probe"])?;
    let release = target.join("release");
    let library = format!("{}shared{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let ours = ProbeBuild { probe: release.join("probe"), library: None }.measure_all_paths()?;
    let layered = ProbeBuild { probe: release.join("layered"), library: None };
    run_cargo(benches_folder(), &target, &["build", "--release", "-p", "layered", "--no-default-features"])?;
    let autograd = layered.measure_all_paths()?;
    run_cargo(benches_folder(), &target, &["build", "--release", "-p", "layered"])?;
    let layered = layered.measure_all_paths()?;
    let user = ProbeBuild { probe: target.join("user/probe"), library: None }.measure_all_paths()?;
    let shared =
        ProbeBuild { probe: release.join("probe"), library: Some(release.join(library)) }.measure_all_paths()?;

    println!(
        "A call of an operator with two tensors that returns a handle to the first, without the loop around it:\n"
    );
    let [function_pointer, dyn_trait, match_backend] = [1, 2, 3].map(|path| ours[path]);
    let rows: Vec<[String; 16]> = CALL_PATHS
        .iter()
        .enumerate()
        .skip(1)
        .map(|(i, path)| {
            let count = ours[i].instructions;
            let verdict = match (count, path.target) {
                (Some(count), Some(target)) if count > f64::from(target) => format!("{target}, missed"),
                (_, Some(target)) => target.to_string(),
                (_, None) => String::new(),
            };
            let ratio_to = |other: Option<f64>| match (count, other) {
                (Some(count), Some(other)) => format!("{:.2}", count / other),
                _ => String::new(),
            };
            [
                path.name.to_owned(),
                rounded_text(count),
                verdict,
                rounded_text(autograd[i].instructions),
                rounded_text(layered[i].instructions),
                ratio_to(function_pointer.instructions),
                ratio_to(dyn_trait.instructions),
                ratio_to(match_backend.instructions),
                path.pytorch.map(|pytorch| pytorch.to_string()).unwrap_or_default(),
                ratio_to(path.pytorch.map(f64::from)),
                rounded_text(user[i].instructions),
                rounded_text(shared[i].instructions),
                format!("{:.1}", ours[i].nanoseconds),
                format!("{:.1}", layered[i].nanoseconds),
                format!("{:.1}", user[i].nanoseconds),
                format!("{:.1}", shared[i].nanoseconds),
            ]
        })
        .collect();
    let header = [
        "path",
        "instr",
        "target",
        "autograd",
        "layers",
        "/ fn ptr",
        "/ dyn",
        "/ match",
        "PyTorch",
        "/ PyTorch",
        "no LTO",
        "cdylib",
        "ns",
        "layers",
        "no LTO",
        "cdylib",
    ];
    table::print_table(header, &rows);
    Ok(())
}

impl ProbeBuild {
    fn measure_all_paths(&self) -> Result<Vec<CallCost>> {
        let costs = (0..CALL_PATHS.len()).map(|path| self.measure_path(path)).collect::<Result<Vec<CallCost>>>()?;
        let empty = costs[0];
        let without_loop = |cost: &CallCost| CallCost {
            instructions: cost.instructions.zip(empty.instructions).map(|(cost, empty)| cost - empty),
            nanoseconds: cost.nanoseconds - empty.nanoseconds,
        };
        Ok(costs.iter().map(without_loop).collect())
    }

    fn measure_path(&self, path: usize) -> Result<CallCost> {
        let path = path.to_string();
        let probe = |command_name: &str| {
            let mut command = Command::new(&self.probe);
            command.args([command_name, &path]).args(&self.library);
            command
        };
        let instructions = single_step::instructions_per_call(&mut probe("count"), 100);
        if let Err(error) = &instructions
            && path == "0"
        {
            println!("instructions cannot be counted here ({error}): a container may need `--cap-add=SYS_PTRACE`");
        }
        let output = probe("time").output()?;
        let nanoseconds = String::from_utf8(output.stdout)?.trim().parse()?;
        Ok(CallCost { instructions: instructions.ok(), nanoseconds })
    }
}

fn rounded_text(count: Option<f64>) -> String {
    count.map_or_else(|| "-".to_owned(), |count| format!("{count:.0}"))
}
