//! Detection of tools that tests need, with a visible skip if a tool is missing.
//!
//! A test without its tool is skipped, and prints so. If the variable `OPDISPATCH_REQUIRE` names the tool, the test fails instead: CI sets
//! `OPDISPATCH_REQUIRE=emulator,nvrtc,browser`. This is the only place that reads the variable.
#![forbid(unsafe_code)]

use std::fmt::Display;

/// A tool, by its name in `OPDISPATCH_REQUIRE`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// `emulator`: a C++ compiler, for the CUDA emulator on machines without a CUDA device.
    Emulator,
    /// `nvrtc`: NVIDIA's run-time compiler.
    Nvrtc,
    /// `browser`: chromium with its driver.
    Browser,
}

impl Tool {
    const ALL: [Self; 3] = [Self::Emulator, Self::Nvrtc, Self::Browser];

    const fn name(self) -> &'static str {
        match self {
            Self::Emulator => "emulator",
            Self::Nvrtc => "nvrtc",
            Self::Browser => "browser",
        }
    }
}

const REQUIRE_VARIABLE: &str = "OPDISPATCH_REQUIRE";

/// Returns the tool that was found. If there is none, prints that the test is skipped, and returns `None`.
///
/// ```
/// use test_tools::{Tool, tool_or_skip};
/// let compiler = std::env::var("CXX").or_else(|_| Ok::<_, String>("c++".to_owned()));
/// assert!(tool_or_skip(Tool::Emulator, compiler).is_some());
/// ```
///
/// # Panics
///
/// Panics if the tool is missing and `OPDISPATCH_REQUIRE` names it, and always if the variable names an unknown tool.
#[track_caller]
pub fn tool_or_skip<T>(tool: Tool, answer: Result<T, impl Display>) -> Option<T> {
    let list = std::env::var_os(REQUIRE_VARIABLE).unwrap_or_default();
    match tool_or_message(tool, answer, &list.to_string_lossy()) {
        Ok(Ok(found)) => Some(found),
        Ok(Err(skipped)) => {
            println!("{skipped}");
            None
        }
        Err(failed) => panic!("{failed}"),
    }
}

/// Returns the tool, or the message of a skipped test. The outer error is the message of a failed test.
fn tool_or_message<T>(tool: Tool, answer: Result<T, impl Display>, list: &str) -> Result<Result<T, String>, String> {
    let required = parse_required_tools(list)?;
    answer.map(Ok).or_else(|missing| {
        let name = tool.name();
        if required.contains(&tool) {
            Err(format!("{REQUIRE_VARIABLE} requires the tool `{name}`: {missing}"))
        } else {
            Ok(Err(format!("SKIPPED: {missing} ({REQUIRE_VARIABLE}={name} makes this a failure)")))
        }
    })
}

fn parse_required_tools(list: &str) -> Result<Vec<Tool>, String> {
    let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
    let tool = |word: &str| {
        let known = Tool::ALL.into_iter().find(|tool| tool.name() == word);
        known.ok_or_else(|| {
            format!(
                "{REQUIRE_VARIABLE}: there is no tool `{word}`; name some of {}",
                Tool::ALL.map(Tool::name).join(",")
            )
        })
    };
    words.map(tool).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING_TOOL: Result<i32, &str> = Err("there is none");

    #[test]
    fn missing_tool_skips_the_test_unless_required() {
        for list in ["", "emulator", " emulator , browser,"] {
            let skipped = tool_or_message(Tool::Nvrtc, MISSING_TOOL, list).unwrap().unwrap_err();
            assert_eq!(skipped, "SKIPPED: there is none (OPDISPATCH_REQUIRE=nvrtc makes this a failure)");
        }
        for list in ["nvrtc", "emulator,nvrtc", " browser, nvrtc "] {
            let failed = tool_or_message(Tool::Nvrtc, MISSING_TOOL, list).unwrap_err();
            assert_eq!(failed, "OPDISPATCH_REQUIRE requires the tool `nvrtc`: there is none");
        }
    }

    #[test]
    fn available_tool_is_returned() {
        for list in ["", "browser", "emulator,nvrtc,browser"] {
            assert_eq!(tool_or_message(Tool::Browser, Ok::<_, &str>(7), list), Ok(Ok(7)));
        }
    }

    #[test]
    fn unknown_tool_name_is_an_error() {
        for answer in [Ok(7), MISSING_TOOL] {
            let failed = tool_or_message(Tool::Browser, answer, "browser,nvcc").unwrap_err();
            let expected = "OPDISPATCH_REQUIRE: there is no tool `nvcc`; name some of emulator,nvrtc,browser";
            assert_eq!(failed, expected);
        }
    }
}
