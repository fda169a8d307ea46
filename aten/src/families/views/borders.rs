//! Borders that continue what is inside.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::pad::{Border, Bordered, bordered, unbordered};

macro_rules! borders {
    ($(#[doc = $doc:literal] $name:ident $plan:ident $schema:literal, $backward:ident $backward_plan:ident $backward_schema:literal:
        $count:literal $border:ident;)*) => {$(
        #[doc = $doc]
        #[op_def($schema, plan, out = "out")]
        pub fn $name(_: ...) -> Result<Tensor>;

        #[op_plan($name)]
        fn $plan(this: &Tensor, padding: &[i64]) -> Result<Plan<Bordered>, BadArgument> {
            bordered(this, padding, $count, Border::$border)
        }

        #[doc = concat!("The gradient of [`", stringify!($name), "`].")]
        #[op_def($backward_schema, plan, out = "grad_input"(grad_input))]
        pub fn $backward(_: ...) -> Result<Tensor>;

        #[op_plan($backward)]
        fn $backward_plan(_: ...) -> Result<Plan<Bordered>, BadArgument> {
            unbordered(grad_output, this, padding, $count, Border::$border)
        }
    )*};
}

borders! {
    /// The rows with a border in which they are mirrored.
    reflection_pad1d reflection_pad1d_plan "reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
    reflection_pad1d_backward reflection_pad1d_backward_plan "reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor": 1 Mirrored;
    /// The images with a border in which they are mirrored.
    reflection_pad2d reflection_pad2d_plan "reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
    reflection_pad2d_backward reflection_pad2d_backward_plan "reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor": 2 Mirrored;
    /// The volumes with a border in which they are mirrored.
    reflection_pad3d reflection_pad3d_plan "reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
    reflection_pad3d_backward reflection_pad3d_backward_plan "reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor": 3 Mirrored;
    /// The rows with a border of their outermost elements.
    replication_pad1d replication_pad1d_plan "replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
    replication_pad1d_backward replication_pad1d_backward_plan "replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor": 1 Repeated;
    /// The images with a border of their outermost elements.
    replication_pad2d replication_pad2d_plan "replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
    replication_pad2d_backward replication_pad2d_backward_plan "replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor": 2 Repeated;
    /// The volumes with a border of their outermost elements.
    replication_pad3d replication_pad3d_plan "replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
    replication_pad3d_backward replication_pad3d_backward_plan "replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor": 3 Repeated;
}
