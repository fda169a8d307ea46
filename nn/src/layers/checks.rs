//! Checks of options.

use dispatch_runtime::BadArgument;

/// Refuses a number that is no probability.
pub(super) fn check_probability(name: &'static str, p: f64) -> Result<(), BadArgument> {
    if (0.0..=1.0).contains(&p) {
        Ok(())
    } else {
        Err(BadArgument::number(name, p, 0.0..=1.0).because("it is a probability"))
    }
}

/// Refuses a number that is not positive.
pub(super) fn check_positive(name: &'static str, number: i64) -> Result<(), BadArgument> {
    if number > 0 { Ok(()) } else { Err(BadArgument::number(name, number, 1..)) }
}
