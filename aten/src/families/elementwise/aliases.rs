//! Aliases: operators that call another operator under a second PyTorch name.

use dispatch_runtime::prelude::*;

use crate::{
    abs, acos, acosh, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_and_, bitwise_and__scalar,
    bitwise_and_scalar, bitwise_left_shift, bitwise_left_shift_, bitwise_left_shift__tensor_scalar,
    bitwise_left_shift_tensor_scalar, bitwise_or, bitwise_or_, bitwise_or__scalar, bitwise_or_scalar,
    bitwise_right_shift, bitwise_right_shift_, bitwise_right_shift__tensor_scalar, bitwise_right_shift_tensor_scalar,
    bitwise_xor, bitwise_xor_, bitwise_xor__scalar, bitwise_xor_scalar, clamp, clamp_tensor, digamma, div, div_scalar,
    div_scalar_mode, div_tensor_mode, erf, erfc, erfinv, exp2, expm1, ge, ge_scalar, gt, gt_scalar, i0, igamma,
    igammac, le, le_scalar, lgamma, log1p, logit, logsumexp, lt, lt_scalar, mul, mul_scalar, mvlgamma, ne, ne_scalar,
    neg, polygamma, round_decimals, sigmoid, sinc, sub, sub_scalar, trunc, xlogy, xlogy_scalar_other,
    xlogy_scalar_self,
};

/// Defines aliases, one per line: the function, the operator that it calls, the return type, the schema, and the variants (`inplace`,
/// `out`).
macro_rules! define_aliases {
    ($($name:ident = $to:ident -> $result:ty: $schema:literal $([$($form:tt)+])?;)*) => {$(
        #[doc = concat!("Another name of [`", stringify!($to), "`](fn@crate::", stringify!($to), ")")]
        #[op_def($schema, $($($form)+,)? calls = $to)]
        pub fn $name(_: ...) -> Result<$result>;
    )*};
}

define_aliases! {
    absolute = abs -> Tensor: "absolute(Tensor self) -> Tensor" [inplace, out = "out"];
    negative = neg -> Tensor: "negative(Tensor self) -> Tensor" [inplace, out = "out"];
    fix = trunc -> Tensor: "fix(Tensor self) -> Tensor" [inplace, out = "out"];
    arccos = acos -> Tensor: "arccos(Tensor self) -> Tensor" [inplace, out = "out"];
    arccosh = acosh -> Tensor: "arccosh(Tensor self) -> Tensor" [inplace, out = "out"];
    arcsin = asin -> Tensor: "arcsin(Tensor self) -> Tensor" [inplace, out = "out"];
    arcsinh = asinh -> Tensor: "arcsinh(Tensor self) -> Tensor" [inplace, out = "out"];
    arctan = atan -> Tensor: "arctan(Tensor self) -> Tensor" [inplace, out = "out"];
    arctanh = atanh -> Tensor: "arctanh(Tensor self) -> Tensor" [inplace, out = "out"];
    arctan2 = atan2 -> Tensor: "arctan2(Tensor self, Tensor other) -> Tensor" [inplace, out = "out"];
    subtract = sub -> Tensor: "subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" [inplace, out = "out"];
    subtract_scalar = sub_scalar -> Tensor: "subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor" [inplace];
    multiply = mul -> Tensor: "multiply.Tensor(Tensor self, Tensor other) -> Tensor" [inplace, out = "out"];
    multiply_scalar = mul_scalar -> Tensor: "multiply.Scalar(Tensor self, Scalar other) -> Tensor" [inplace];
    divide = div -> Tensor: "divide.Tensor(Tensor self, Tensor other) -> Tensor" [inplace, out = "out"];
    divide_scalar = div_scalar -> Tensor: "divide.Scalar(Tensor self, Scalar other) -> Tensor" [inplace];
    divide_tensor_mode = div_tensor_mode -> Tensor: "divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor" [inplace, out = "out_mode"];
    divide_scalar_mode = div_scalar_mode -> Tensor: "divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor" [inplace];
    true_divide = div -> Tensor: "true_divide.Tensor(Tensor self, Tensor other) -> Tensor" [inplace, out = "out"];
    true_divide_scalar = div_scalar -> Tensor: "true_divide.Scalar(Tensor self, Scalar other) -> Tensor" [inplace];
    clip = clamp -> Tensor: "clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor" [inplace, out = "out"];
    clip_tensor = clamp_tensor -> Tensor: "clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor" [inplace, out = "Tensor_out"];
    not_equal = ne -> Tensor: "not_equal.Tensor(Tensor self, Tensor other) -> Tensor" [inplace, out = "Tensor_out"];
    not_equal_scalar = ne_scalar -> Tensor: "not_equal.Scalar(Tensor self, Scalar other) -> Tensor" [inplace, out = "Scalar_out"];
    less = lt -> Tensor: "less.Tensor(Tensor self, Tensor other) -> Tensor" [inplace, out = "Tensor_out"];
    less_scalar = lt_scalar -> Tensor: "less.Scalar(Tensor self, Scalar other) -> Tensor" [inplace, out = "Scalar_out"];
    less_equal = le -> Tensor: "less_equal.Tensor(Tensor self, Tensor other) -> Tensor" [inplace, out = "Tensor_out"];
    less_equal_scalar = le_scalar -> Tensor: "less_equal.Scalar(Tensor self, Scalar other) -> Tensor" [inplace, out = "Scalar_out"];
    greater = gt -> Tensor: "greater.Tensor(Tensor self, Tensor other) -> Tensor" [inplace, out = "Tensor_out"];
    greater_scalar = gt_scalar -> Tensor: "greater.Scalar(Tensor self, Scalar other) -> Tensor" [inplace, out = "Scalar_out"];
    greater_equal = ge -> Tensor: "greater_equal.Tensor(Tensor self, Tensor other) -> Tensor" [inplace, out = "Tensor_out"];
    greater_equal_scalar = ge_scalar -> Tensor: "greater_equal.Scalar(Tensor self, Scalar other) -> Tensor" [inplace, out = "Scalar_out"];
    __and__ = bitwise_and -> Tensor: "__and__.Tensor(Tensor self, Tensor other) -> Tensor";
    __and___scalar = bitwise_and_scalar -> Tensor: "__and__.Scalar(Tensor self, Scalar other) -> Tensor";
    __iand__ = bitwise_and_ -> (): "__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    __iand___scalar = bitwise_and__scalar -> (): "__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    __or__ = bitwise_or -> Tensor: "__or__.Tensor(Tensor self, Tensor other) -> Tensor";
    __or___scalar = bitwise_or_scalar -> Tensor: "__or__.Scalar(Tensor self, Scalar other) -> Tensor";
    __ior__ = bitwise_or_ -> (): "__ior__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    __ior___scalar = bitwise_or__scalar -> (): "__ior__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    __xor__ = bitwise_xor -> Tensor: "__xor__.Tensor(Tensor self, Tensor other) -> Tensor";
    __xor___scalar = bitwise_xor_scalar -> Tensor: "__xor__.Scalar(Tensor self, Scalar other) -> Tensor";
    __ixor__ = bitwise_xor_ -> (): "__ixor__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    __ixor___scalar = bitwise_xor__scalar -> (): "__ixor__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    __lshift__ = bitwise_left_shift -> Tensor: "__lshift__.Tensor(Tensor self, Tensor other) -> Tensor" [out = "Tensor_out"];
    __lshift___scalar = bitwise_left_shift_tensor_scalar -> Tensor: "__lshift__.Scalar(Tensor self, Scalar other) -> Tensor" [out = "Scalar_out"];
    __ilshift__ = bitwise_left_shift_ -> (): "__ilshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    __ilshift___scalar = bitwise_left_shift__tensor_scalar -> (): "__ilshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    __rshift__ = bitwise_right_shift -> Tensor: "__rshift__.Tensor(Tensor self, Tensor other) -> Tensor" [out = "Tensor_out"];
    __rshift___scalar = bitwise_right_shift_tensor_scalar -> Tensor: "__rshift__.Scalar(Tensor self, Scalar other) -> Tensor" [out = "Scalar_out"];
    __irshift__ = bitwise_right_shift_ -> (): "__irshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    __irshift___scalar = bitwise_right_shift__tensor_scalar -> (): "__irshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    special_digamma = digamma -> Tensor: "special_digamma(Tensor self) -> Tensor" [out = "out"];
    special_psi = digamma -> Tensor: "special_psi(Tensor self) -> Tensor" [out = "out"];
    special_erf = erf -> Tensor: "special_erf(Tensor self) -> Tensor" [out = "out"];
    special_erfc = erfc -> Tensor: "special_erfc(Tensor self) -> Tensor" [out = "out"];
    special_erfinv = erfinv -> Tensor: "special_erfinv(Tensor self) -> Tensor" [out = "out"];
    special_exp2 = exp2 -> Tensor: "special_exp2(Tensor self) -> Tensor" [out = "out"];
    special_expit = sigmoid -> Tensor: "special_expit(Tensor self) -> Tensor" [out = "out"];
    special_expm1 = expm1 -> Tensor: "special_expm1(Tensor self) -> Tensor" [out = "out"];
    special_gammainc = igamma -> Tensor: "special_gammainc(Tensor self, Tensor other) -> Tensor" [out = "out"];
    special_gammaincc = igammac -> Tensor: "special_gammaincc(Tensor self, Tensor other) -> Tensor" [out = "out"];
    special_gammaln = lgamma -> Tensor: "special_gammaln(Tensor self) -> Tensor" [out = "out"];
    special_i0 = i0 -> Tensor: "special_i0(Tensor self) -> Tensor" [out = "out"];
    special_log1p = log1p -> Tensor: "special_log1p(Tensor self) -> Tensor" [out = "out"];
    special_logit = logit -> Tensor: "special_logit(Tensor self, float? eps=None) -> Tensor" [out = "out"];
    special_logsumexp = logsumexp -> Tensor: "special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor" [out = "out"];
    special_multigammaln = mvlgamma -> Tensor: "special_multigammaln(Tensor self, int p) -> Tensor" [out = "out"];
    special_polygamma = polygamma -> Tensor: "special_polygamma(int n, Tensor self) -> Tensor" [out = "out"];
    special_round = round_decimals -> Tensor: "special_round(Tensor self, *, int decimals=0) -> Tensor" [out = "out"];
    special_sinc = sinc -> Tensor: "special_sinc(Tensor self) -> Tensor" [out = "out"];
    special_xlogy = xlogy -> Tensor: "special_xlogy(Tensor self, Tensor other) -> Tensor" [out = "out"];
    special_xlogy_other_scalar = xlogy_scalar_other -> Tensor: "special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor" [out = "other_scalar_out"];
    special_xlogy_self_scalar = xlogy_scalar_self -> Tensor: "special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor" [out = "self_scalar_out"];
}
