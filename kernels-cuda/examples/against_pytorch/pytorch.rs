//! PyTorch's times, measured by a Python script in another process.

use std::collections::HashMap;
use std::process::Command;

const PYTORCH_SCRIPT: &str = include_str!("pytorch.py");

/// PyTorch's version, and its time for each benchmark.
pub(crate) struct PytorchTimes {
    version: String,
    seconds: HashMap<String, f64>,
}

impl PytorchTimes {
    pub(crate) fn measure(small: bool, only: &str) -> Self {
        let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
        let output =
            Command::new(python).args(["-c", PYTORCH_SCRIPT, if small { "small" } else { "large" }, only]).output();
        let output = match output {
            Ok(output) if output.status.success() => output,
            Ok(output) => {
                let message = String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned();
                return Self { version: format!("PyTorch cannot be run: {message}"), seconds: HashMap::new() };
            }
            Err(error) => {
                return Self { version: format!("PyTorch cannot be run: {error}"), seconds: HashMap::new() };
            }
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let mut lines = text.lines();
        let version = format!("PyTorch {}", lines.next().unwrap_or_default());
        let time = |line: &str| {
            let (seconds, name) = line.split_once(' ')?;
            Some((name.to_owned(), seconds.parse().ok()?))
        };
        Self { version, seconds: lines.filter_map(time).collect() }
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn seconds_of_benchmark(&self, name: &str) -> Option<f64> {
        self.seconds.get(name).copied()
    }
}
