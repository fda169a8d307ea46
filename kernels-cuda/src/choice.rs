//! Elements of one tensor or another.
#![expect(unsafe_code, reason = "kernels are native code")]

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    where_self - where_self_out [F32 F64 I32 I64] (condition, this, other) if aten::check_where [truth 0] => |condition, a, b| "return condition != C(0) ? a : b;";
    masked_fill masked_fill_ masked_fill_tensor_out [F32 F64 I32 I64] (this, mask, value) if aten::check_masked_fill [truth 1] => |x, mask, value| "return mask != C(0) ? value : x;";
    heaviside heaviside_ heaviside_out [F32 F64 I64] (this, values) => |x, at_zero| "return x == C(0) ? at_zero : x > C(0) ? C(1) : C(0);";
});
