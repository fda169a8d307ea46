//! What a line of `elementwise!` becomes: loops, and kernels for the operator's forms.

/// The loops of an elementwise operator, as a static: `loops!(unsafe { NAME name [F32 F64] |a, b; number| "return a + b * number;"; })`.
///
/// # Safety
///
/// As for `elementwise!`.
macro_rules! loops {
    (unsafe { $($loops:ident $name:ident [$($ty:ident)+] $([$mark:ident $operand:literal])* |$($element:ident),+ $(; $($number:ident),+)?| $body:literal;)* }) => {
        $(loops! {
            $loops $name &[$(dispatch_runtime::DType::$ty),+], [$($mark $operand)*] [$($element)+] [$($($number)+)?] [$($element)+] $body,
            dispatch_runtime::Promotion::Common
        })*
    };
    ($loops:ident $name:ident $computes:expr, [$($mark:ident $marked:literal)*] [$($operand:ident)+] $numbers:tt $elements:tt $body:literal, $promotion:expr) => {
        static $loops: $crate::engine::elementwise::Loops = $crate::engine::elementwise::Loops {
            // SAFETY: `Loops` are launched by elementwise.rs alone, which gives places inside of the operands. The rest of the text says
            // what becomes of their elements, and those who invoke this macro with `unsafe` promise that it does nothing else.
            kernel: unsafe {
                $crate::Kernel::new(
                    stringify!($name),
                    loops!(@text [$($operand)+] $numbers $elements $body),
                    |instances| $loops.instances([$(stringify!($operand)),+].len(), const { $promotion }, instances),
                )
            },
            computes: $computes,
            marks: &[$(loops!(@mark $mark $marked)),*],
        };
        $crate::register_kernel!($loops.kernel);
    };
    (@mark truth $operand:literal) => { $crate::engine::elementwise::Mark::Truth($operand) };
    (@mark divisor $operand:literal) => { $crate::engine::elementwise::Mark::Divisor($operand) };
    (@mark keeps $operand:literal) => { $crate::engine::elementwise::Mark::Keeps($operand) };
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

/// Kernels of elementwise operators, a line each: the operator, options, and what becomes of elements `C` on their way to a result of
/// `O`, in C++. `by` chooses among loops by the operator's arguments instead. The definition says the rest.
///
/// `[few]` adds a loop for numbers of few bits; `[truth 0]` says that the first tensor is of booleans whatever the others are,
/// `[divisor 1]` that integers are divided by the second, `[keeps 1]` that it is used as the number that the CPU knows.
///
/// # Safety
///
/// The C++ of a line computes a value from its arguments: it ends, and touches no memory.
macro_rules! elementwise {
    (unsafe { $($name:ident $([$($option:tt)+])* => $(by $loops:block)? $(|$($element:ident),+| $body:literal)?;)* }) => {
        $(dispatch_runtime::op_row! {
            aten::$name => line, [$([$($option)+])*] [$(by $loops)? $(|$($element),+| $body)?]
        })*
    };
}

/// The kernel of one line.
macro_rules! line {
    ($name:ident $all:tt $operands:tt [$($ty:ty),+] [$($options:tt)*] $body:tt) => {
        line! { @options [$($options)*] $name $all $operands [$(<$ty as dispatch_runtime::Element>::DTYPE),+] [] $body }
    };
    (@options [[few] $($options:tt)*] $name:ident $all:tt $operands:tt [$($dtype:expr),+] $marks:tt $body:tt) => {
        line! { @options [$($options)*] $name $all $operands [$($dtype),+, dispatch_runtime::DType::I32] $marks $body }
    };
    (@options [[$mark:ident $operand:literal] $($options:tt)*] $name:ident $all:tt $operands:tt $dtypes:tt [$($marks:tt)*] $body:tt) => {
        line! { @options [$($options)*] $name $all $operands $dtypes [$($marks)* $mark $operand] $body }
    };
    (@options [] $name:ident { $($argument:ident: $ty:ty),+ } $operands:tt $dtypes:tt [] [by $loops:block]) => {
        #[allow(unused_variables, clippy::unnecessary_wraps, reason = "not all look at arguments")]
        #[dispatch_runtime::op_impl(aten::$name, CUDA, engine = $crate::engine::elementwise)]
        fn $name($($argument: $ty),+) -> dispatch_runtime::Result<$crate::engine::elementwise::Bound> { Ok($loops) }
    };
    (@options [] $name:ident { $($argument:ident: $ty:ty),+ } ($($tensor:ident),+; $($number:ident),*) [$($dtype:expr),+] $marks:tt
        [|$($element:ident),+| $body:literal]
    ) => {
        const _: () = {
            const DTYPES: &[dispatch_runtime::DType] = &[$($dtype),+];

            loops! {
                LOOPS $name
                {
                    const REAL: [dispatch_runtime::DType; $crate::engine::elementwise::count_real(DTYPES)] = $crate::engine::elementwise::real(DTYPES);
                    &REAL
                },
                $marks [$($tensor)+] [$($number)*] [$($element)+] $body, $crate::engine::elementwise::promotion::<aten::$name>()
            }

            #[allow(unused_variables, clippy::unnecessary_wraps, reason = "not all look at arguments")]
            #[dispatch_runtime::op_impl(aten::$name, CUDA, engine = $crate::engine::elementwise)]
            fn $name($($argument: $ty),+) -> dispatch_runtime::Result<$crate::engine::elementwise::Bound> {
                Ok(LOOPS.with(&[$(dispatch_runtime::Scalar::from($number)),*]))
            }
        };
    };
}
