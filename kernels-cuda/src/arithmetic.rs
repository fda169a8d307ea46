//! Elementwise arithmetic of several operands.

elementwise! {
    add add_ add_out [F32 F64 I32 I64] (this, other; alpha: dispatch_runtime::Scalar) => |a, b| "return a + b * alpha;";
    mul mul_ mul_out [F32 F64 I32 I64] (this, other) => |a, b| "return a * b;";
}
