//! CUDA kernels of `where`, `masked_fill` and `heaviside`.
#![expect(unsafe_code, reason = "kernels are native code")]

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    where_self [few] [truth 0] => |condition, a, b| "return condition != C(0) ? a : b;";
    masked_fill [few] [truth 1] => |x, mask, value| "return mask != C(0) ? value : x;";
    heaviside => |x, at_zero| "return x == C(0) ? at_zero : x > C(0) ? C(1) : C(0);";
});
