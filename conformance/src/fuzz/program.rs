//! The command line of the program `fuzz`.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use dispatch_runtime::Operator;

use super::draw::Source;
use super::run::Outcome;
use super::watch::watch;
use super::worker::work;

const USAGE: &str = "\
usage: fuzz [--seconds N] [--seed S] [--only OPERATOR] [--case SEED:NUMBER]
  --seconds  how long, 60 unless told
  --seed     which trials, 0 unless told
  --only     trials of this operator alone
  --case     one trial, in this process";

struct Options {
    seconds: u64,
    seed: u64,
    only: Option<&'static Operator>,
    /// The number of the only trial to run.
    case: Option<u64>,
    /// For a worker process, the number of its first trial.
    worker: Option<u64>,
}

/// Runs the fuzzer with the command-line arguments of the process.
///
/// A program links the backends that it tests, and calls this function:
///
/// ```no_run
/// # use std::process::ExitCode;
/// use kernels_cpu as _;
///
/// fn main() -> ExitCode {
///     conformance::fuzz::main()
/// }
/// ```
#[must_use]
pub fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    run(&options).unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(2)
    })
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { seconds: 60, seed: 0, only: None, case: None, worker: None };
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        let number = |text: &str| text.parse::<u64>().map_err(|error| format!("{word} {text}: {error}"));
        match word.as_str() {
            "--seconds" => options.seconds = number(&value)?,
            "--seed" => options.seed = number(&value)?,
            "--only" => options.only = Some(Operator::find(&value).map_err(|error| error.to_string())?),
            "--case" => {
                let (seed, case) = value.split_once(':').ok_or("--case needs a seed and a number, such as 0:17")?;
                (options.seed, options.case) = (number(seed)?, Some(number(case)?));
            }
            "--worker" => options.worker = Some(number(&value)?),
            _ => return Err(format!("unknown option {word}")),
        }
    }
    Ok(options)
}

fn run(options: &Options) -> Result<ExitCode, Box<dyn std::error::Error>> {
    if let Some(from) = options.worker {
        return match work(&Source::new(options.seed, options.only)?, from) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(ExitCode::SUCCESS),
        };
    }
    if let Some(case) = options.case {
        let trial = Source::new(options.seed, options.only)?.trial(case);
        println!("{trial}");
        let outcome = trial.run();
        println!("{outcome:?}");
        return Ok(if matches!(outcome, Outcome::Found(_)) { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    let only = options.only.map(|operator| operator.name().to_string());
    let mut arguments = vec!["--seed".to_owned(), options.seed.to_string()];
    arguments.extend(only.iter().flat_map(|name| ["--only".to_owned(), name.clone()]));
    let repeat = |number: u64| {
        let only = only.as_ref().map(|name| format!(" --only {name}")).unwrap_or_default();
        format!("cargo run -p conformance-program --bin fuzz -- --case {}:{number}{only}", options.seed)
    };
    let tally = watch(&arguments, &repeat, Duration::from_secs(options.seconds))?;
    tally.print();
    Ok(if tally.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
