//! The expansion of `elementwise!`: loops, and kernels for each form of an operator.

/// Declares the loops of elementwise operators as statics: `loops!(unsafe { NAME name [F32 F64] |a, b; number| "return a + b * number;";
/// })`.
///
/// # Safety
///
/// The C++ of each line computes a value from its arguments: it terminates, and accesses no memory.
macro_rules! loops {
    (unsafe { $($loops:ident $name:ident [$($ty:ident)+] $([$mark:ident $operand:literal])* |$($element:ident),+ $(; $($number:ident),+)?| $body:literal;)* }) => {
        $(loops! {
            $loops $name &[$(dispatch_runtime::DType::$ty),+], [$($mark $operand)*] [$($element)+] [$($($number)+)?] [$($element)+] $body,
            dispatch_runtime::Promotion::Common
        })*
    };
    ($loops:ident $name:ident $computes:expr, [$($mark:ident $marked:literal)*] [$($operand:ident)+] $numbers:tt $elements:tt $body:literal, $promotion:expr) => {
        static $loops: $crate::engine::elementwise::Loops = $crate::engine::elementwise::Loops {
            // SAFETY: `Loops` are launched by elementwise.rs alone, which passes addresses inside of the operands. The rest of the text
            // computes elements, and the macro's caller vouches with `unsafe` that it does nothing else.
            kernel: unsafe {
                $crate::Kernel::new(
                    stringify!($name),
                    loops!(@text [$($operand)+] $numbers $elements $body),
                    |instances| $loops.add_instances([$(stringify!($operand)),+].len(), const { $promotion }, instances),
                )
            },
            compute_dtypes: $computes,
            marks: &[$(loops!(@mark $mark $marked)),*],
        };
        $crate::register_kernel!($loops.kernel);
    };
    (@mark truth $operand:literal) => { $crate::engine::elementwise::OperandMark::Boolean($operand) };
    (@mark divisor $operand:literal) => { $crate::engine::elementwise::OperandMark::Divisor($operand) };
    (@mark keeps $operand:literal) => { $crate::engine::elementwise::OperandMark::Unrounded($operand) };
    (@text [$($tensor:ident)+] [$($number:ident)*] [$first:ident $($element:ident)*] $body:literal) => {
        concat!(
            "#include \"functions.cuh\"\nstruct Operator {\n    enum { OPERANDS = 0", $(loops!(@plus $tensor),)+
            ", SCALARS = 0", $(loops!(@plus $number),)*
            " };\n    template <class O, class C> static __device__ __forceinline__ auto of(C ", stringify!($first),
            $(", C ", stringify!($element),)* $(", C ", stringify!($number),)*
            ") { ", $body, " }\n};\n#include \"elementwise.cuh\"\n"
        )
    };
    (@plus $any:ident) => { " + 1" };
}

/// Declares kernels of elementwise operators, a line each: the operator, options, and the C++ that computes an element of the result from
/// elements of type `C`. `O` is the type of the result. With `by`, an expression selects the loops from the operator's arguments. The rest
/// comes from the operator's definition.
///
/// `[few]` adds a loop that computes in 32-bit integers. `[truth 0]`: the first tensor is boolean, the others need not be. `[divisor 1]`:
/// the second tensor is a divisor of integers. `[keeps 1]`: if the second is a CPU scalar, it is not rounded to half precision.
///
/// # Safety
///
/// The C++ of each line computes a value from its arguments: it terminates, and accesses no memory.
macro_rules! elementwise {
    (unsafe { $($name:ident $([$($option:tt)+])* => $(by $loops:block)? $(|$($element:ident),+| $body:literal)?;)* }) => {
        $(dispatch_runtime::op_row! {
            aten::$name => elementwise_kernel, [$([$($option)+])*] [$(by $loops)? $(|$($element),+| $body)?]
        })*
    };
}

/// Declares the kernel of one line of `elementwise!`.
macro_rules! elementwise_kernel {
    ($name:ident $all:tt $operands:tt [$($ty:ty),+] [$($options:tt)*] $body:tt) => {
        elementwise_kernel! { @options [$($options)*] $name $all $operands [$(<$ty as dispatch_runtime::Element>::DTYPE),+] [] $body }
    };
    (@options [[few] $($options:tt)*] $name:ident $all:tt $operands:tt [$($dtype:expr),+] $marks:tt $body:tt) => {
        elementwise_kernel! { @options [$($options)*] $name $all $operands [$($dtype),+, dispatch_runtime::DType::I32] $marks $body }
    };
    (@options [[$mark:ident $operand:literal] $($options:tt)*] $name:ident $all:tt $operands:tt $dtypes:tt [$($marks:tt)*] $body:tt) => {
        elementwise_kernel! { @options [$($options)*] $name $all $operands $dtypes [$($marks)* $mark $operand] $body }
    };
    (@options [] $name:ident { $($argument:ident: $ty:ty),+ } $operands:tt $dtypes:tt [] [by $loops:block]) => {
        #[allow(unused_variables, clippy::unnecessary_wraps, reason = "some loops use no argument")]
        #[dispatch_runtime::op_impl(aten::$name, CUDA, engine = $crate::engine::elementwise)]
        fn $name($($argument: $ty),+) -> dispatch_runtime::Result<$crate::engine::elementwise::BoundLoops> { Ok($loops) }
    };
    (@options [] $name:ident { $($argument:ident: $ty:ty),+ } ($($tensor:ident),+; $($number:ident),*) [$($dtype:expr),+] $marks:tt
        [|$($element:ident),+| $body:literal]
    ) => {
        const _: () = {
            const LISTED_DTYPES: &[dispatch_runtime::DType] = &[$($dtype),+];

            loops! {
                LOOPS $name
                {
                    const COMPUTE_DTYPES: [dispatch_runtime::DType; $crate::engine::elementwise::count_real_dtypes(LISTED_DTYPES)] = $crate::engine::elementwise::filter_real_dtypes(LISTED_DTYPES);
                    &COMPUTE_DTYPES
                },
                $marks [$($tensor)+] [$($number)*] [$($element)+] $body, $crate::engine::elementwise::operator_promotion::<aten::$name>()
            }

            #[allow(unused_variables, clippy::unnecessary_wraps, reason = "some loops use no argument")]
            #[dispatch_runtime::op_impl(aten::$name, CUDA, engine = $crate::engine::elementwise)]
            fn $name($($argument: $ty),+) -> dispatch_runtime::Result<$crate::engine::elementwise::BoundLoops> {
                Ok(LOOPS.bind_scalars(&[$(dispatch_runtime::Scalar::from($number)),*]))
            }
        };
    };
}
