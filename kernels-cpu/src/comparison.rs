//! Elementwise comparison.

use dispatch_runtime::{Bool, Complex32, Complex64};

use crate::elementwise::elementwise;

elementwise! {
    eq eq_ eq_tensor_out [f32 f64 i32 i64 Complex32 Complex64] (this, other) => |[a, b]| Bool::from(a == b);
    ne ne_ ne_tensor_out [f32 f64 i32 i64 Complex32 Complex64] (this, other) => |[a, b]| Bool::from(a != b);
    lt lt_ lt_tensor_out [f32 f64 i32 i64] (this, other) => |[a, b]| Bool::from(a < b);
    le le_ le_tensor_out [f32 f64 i32 i64] (this, other) => |[a, b]| Bool::from(a <= b);
    gt gt_ gt_tensor_out [f32 f64 i32 i64] (this, other) => |[a, b]| Bool::from(a > b);
    ge ge_ ge_tensor_out [f32 f64 i32 i64] (this, other) => |[a, b]| Bool::from(a >= b);
}
