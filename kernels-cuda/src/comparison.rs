//! Elementwise comparison.
#![expect(unsafe_code, reason = "kernels are native code")]

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    eq eq_ eq_tensor_out [F32 F64 I32 I64] (this, other) => |a, b| "return a == b;";
    ne ne_ ne_tensor_out [F32 F64 I32 I64] (this, other) => |a, b| "return a != b;";
    lt lt_ lt_tensor_out [F32 F64 I32 I64] (this, other) => |a, b| "return a < b;";
    le le_ le_tensor_out [F32 F64 I32 I64] (this, other) => |a, b| "return a <= b;";
    gt gt_ gt_tensor_out [F32 F64 I32 I64] (this, other) => |a, b| "return a > b;";
    ge ge_ ge_tensor_out [F32 F64 I32 I64] (this, other) => |a, b| "return a >= b;";
});
