//! Special functions.

elementwise! {
    special_log_ndtr - special_log_ndtr_out [F32 F64] (this) => |x| "double y = double(x) * -0.7071067811865476; return C(x < C(-1) ? log(erfcx(y) * 0.5) - double(x) * double(x) * 0.5 : log1p(erfc(-y) * -0.5));";
    special_ndtri - special_ndtri_out [F32 F64] (this) => |x| "return C(normcdfinv(double(x)));";
    special_erfcx - special_erfcx_out [F32 F64] (this) => |x| "return erfcx(x);";
    special_entr - special_entr_out [F32 F64] (this) => |x| "return x < C(0) ? Bounds<C>::least() : C(0) - times_log(x, x);";
    special_xlog1py - special_xlog1py_out [F32 F64] (this, other) => |a, b| "return times_log1p(a, b);";
    special_bessel_j0 - special_bessel_j0_out [F32 F64] (this) => |x| "return is_infinite(x) ? Bounds<C>::nan() : C(j0(double(x)));";
    special_bessel_j1 - special_bessel_j1_out [F32 F64] (this) => |x| "return is_infinite(x) ? Bounds<C>::nan() : C(j1(double(x)));";
    special_bessel_y0 - special_bessel_y0_out [F32 F64] (this) => |x| "return is_infinite(x) ? Bounds<C>::nan() : C(y0(double(x)));";
    special_bessel_y1 - special_bessel_y1_out [F32 F64] (this) => |x| "return is_infinite(x) ? Bounds<C>::nan() : C(y1(double(x)));";
}
