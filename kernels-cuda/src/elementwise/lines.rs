//! What a line of `elementwise!` becomes: loops, and kernels for the operator's forms.

/// The loops of an elementwise operator, as a static: `loops!(unsafe { NAME name [F32 F64] |a, b; number| "return a + b * number;"; })`.
///
/// # Safety
///
/// As for `elementwise!`.
macro_rules! loops {
    (unsafe { $($loops:ident $name:ident [$($ty:ident)+] $([$mark:ident $operand:literal])* |$($element:ident),+ $(; $($number:ident),+)?| $body:literal;)* }) => {
        $(loops! { $loops $name [$($ty)+] [$($mark $operand)*] [$($element)+] [$($($number)+)?] [$($element)+] $body, dispatch_runtime::Promotion::Common })*
    };
    ($loops:ident $name:ident [$($ty:ident)+] [$($mark:ident $marked:literal)*] [$($operand:ident)+] $numbers:tt $elements:tt $body:literal, $promotion:expr) => {
        static $loops: $crate::elementwise::Loops = $crate::elementwise::Loops {
            // SAFETY: `Loops` are launched by elementwise.rs alone, which gives places inside of the operands. The rest of the text says
            // what becomes of their elements, and those who invoke this macro with `unsafe` promise that it does nothing else.
            kernel: unsafe {
                $crate::Kernel::new(
                    stringify!($name),
                    loops!(@text [$($operand)+] $numbers $elements $body),
                    |instances| $loops.instances([$(stringify!($operand)),+].len(), const { $promotion }, instances),
                )
            },
            computes: &[$(dispatch_runtime::DType::$ty),+],
            marks: &[$(loops!(@mark $mark $marked)),*],
        };
        $crate::known!($loops.kernel);
    };
    (@mark truth $operand:literal) => { $crate::elementwise::Mark::Truth($operand) };
    (@mark divisor $operand:literal) => { $crate::elementwise::Mark::Divisor($operand) };
    (@mark keeps $operand:literal) => { $crate::elementwise::Mark::Keeps($operand) };
    (@text [$($tensor:ident)+] [$($number:ident)*] [$first:ident $($element:ident)*] $body:literal) => {
        concat!(
            "#include \"functions.cuh\"\nstruct Operator {\n    enum { OPERANDS = 0", $(loops!(@plus $tensor),)+
            ", NUMBERS = 0", $(loops!(@plus $number),)*
            " };\n    template <class O, class C> static __device__ __forceinline__ auto of(C ", stringify!($first),
            $(", C ", stringify!($element),)* $(", C ", stringify!($number),)*
            ") { ", $body, " }\n};\n#include \"elementwise.cuh\"\n"
        )
    };
    (@plus $any:ident) => { " + 1" };
}

/// Elementwise operators, a line each: the names of its three forms (`-` for one that it lacks), the types that it computes in, its
/// arguments - tensors, then numbers - and what becomes of elements `C` on their way to a result of `O`, in C++. `if check` calls a function with the arguments
/// beforehand; `[truth 0]` says that the first tensor is of booleans whatever the others are, `[divisor 1]` that integers are
/// divided by the second, `[keeps 1]` that it is used as the number that the CPU knows.
///
/// # Safety
///
/// The C++ of a line computes a value from its arguments: it ends, and touches no memory.
macro_rules! elementwise {
    (unsafe { $($name:ident $in_place:tt $out:tt $types:tt $arguments:tt $(if $check:path)? $([$mark:ident $operand:literal])* => |$($element:ident),+| $body:literal;)* }) => {
        $(const _: () = { elementwise! { @one $name $in_place $out $types $arguments $arguments [$($check)?] [$($mark $operand)*] [$($element)+] $body } };)*
    };
    (@one $name:ident $in_place:tt $out:tt [$($ty:ident)+] $arguments:tt
        ($first:ident $(, $rest:ident)* $(; $($number:ident: $number_ty:ty),+)?) $check:tt $mark:tt $elements:tt $body:literal
    ) => {
        loops! { LOOPS $name [$($ty)+] $mark [$first $($rest)*] [$($($number)+)?] $elements $body, $crate::elementwise::promotion::<aten::$name>() }
        elementwise! { @fresh $name $arguments $check }
        elementwise! { @in_place $name $in_place $arguments $check }
        elementwise! { @out $name $out $arguments $check }
    };
    (@check [] $($argument:ident),*) => {};
    (@check [$check:path] $($argument:ident),*) => { $check($($argument),*)?; };
    (@numbers $($number:expr),*) => { &[$(dispatch_runtime::Scalar::from($number)),*] };
    (@fresh $name:ident ($first:ident $(, $rest:ident)* $(; $($number:ident: $number_ty:ty),+)?) $check:tt) => {
        #[allow(clippy::used_underscore_binding, reason = "what a definition takes and a loop does not need")]
        #[dispatch_runtime::op_impl(aten::$name, CUDA)]
        fn $name(
            $first: &dispatch_runtime::Tensor $(, $rest: &dispatch_runtime::Tensor)* $($(, $number: $number_ty)+)?
        ) -> dispatch_runtime::Result<dispatch_runtime::Tensor> {
            elementwise! { @check $check $first $(, $rest)* $($(, $number)+)? }
            $crate::elementwise::fresh::<aten::$name, _>(&LOOPS, [$first $(, $rest)*], elementwise!(@numbers $($($number),+)?))
        }
    };
    (@in_place $name:ident - $arguments:tt $check:tt) => {};
    (@in_place $name:ident $in_place:ident ($first:ident $(, $rest:ident)* $(; $($number:ident: $number_ty:ty),+)?) $check:tt) => {
        #[allow(non_snake_case, reason = "it is called as its operator is")]
        #[dispatch_runtime::op_impl(aten::$in_place, CUDA)]
        fn $in_place(
            $first: &mut dispatch_runtime::Tensor $(, $rest: &dispatch_runtime::Tensor)* $($(, $number: $number_ty)+)?
        ) -> dispatch_runtime::Result<()> {
            elementwise! { @check $check $first $(, $rest)* $($(, $number)+)? }
            $crate::elementwise::in_place::<aten::$name, aten::$in_place, _>(
                &LOOPS,
                $first,
                [None $(, Some($rest))*],
                elementwise!(@numbers $($($number),+)?),
            )
        }
    };
    (@out $name:ident - $arguments:tt $check:tt) => {};
    (@out $name:ident $out:ident ($first:ident $(, $rest:ident)* $(; $($number:ident: $number_ty:ty),+)?) $check:tt) => {
        #[dispatch_runtime::op_impl(aten::$out, CUDA)]
        fn $out(
            $first: &dispatch_runtime::Tensor $(, $rest: &dispatch_runtime::Tensor)* $($(, $number: $number_ty)+)?,
            out: &mut dispatch_runtime::Tensor
        ) -> dispatch_runtime::Result<()> {
            elementwise! { @check $check $first $(, $rest)* $($(, $number)+)? }
            $crate::elementwise::into::<aten::$name, _>(&LOOPS, out, [$first $(, $rest)*], elementwise!(@numbers $($($number),+)?))
        }
    };
}
