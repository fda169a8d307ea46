//! The checks of arguments at a call, the checks of whole programs, and the expressions that both need.

use kernels_cpu as _;

mod calls;
mod expressions;
mod programs;
