//! Gradient formulas of decompositions and linear systems.

use crate::not_differentiable;

not_differentiable!(aten::_linalg_check_errors);
