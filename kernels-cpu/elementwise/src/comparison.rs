//! Kernels of elementwise comparison.

use dispatch_runtime::Bool;

use engine::elementwise::elementwise;

elementwise! {
    eq [few] => |[a, b]| Bool::from(a == b);
    ne [few] => |[a, b]| Bool::from(a != b);
    lt [few] => |[a, b]| Bool::from(a < b);
    le [few] => |[a, b]| Bool::from(a <= b);
    gt [few] => |[a, b]| Bool::from(a > b);
    ge [few] => |[a, b]| Bool::from(a >= b);
}
