//! CUDA kernels of elementwise comparisons.
#![expect(unsafe_code, reason = "kernels are native code")]

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    eq [few] => |a, b| "return a == b;";
    ne [few] => |a, b| "return a != b;";
    lt [few] => |a, b| "return a < b;";
    le [few] => |a, b| "return a <= b;";
    gt [few] => |a, b| "return a > b;";
    ge [few] => |a, b| "return a >= b;";
});
