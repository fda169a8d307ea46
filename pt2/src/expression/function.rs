//! The functions of expressions, with their names in sympy, PyTorch and Python.

use std::ops::RangeInclusive;

/// A function of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Add,
    Mul,
    Neg,
    /// The exact quotient.
    Divide,
    /// The quotient as a floating-point number.
    TrueDivide,
    FloorDivide,
    CeilDivide,
    Modulo,
    /// `a // b % c`.
    ModularIndex,
    Power,
    FloatPower,
    LeftShift,
    RightShift,
    Max,
    Min,
    Absolute,
    IfThenElse,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Not,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    Floor,
    Ceil,
    Truncate,
    TruncateToFloat,
    Round,
    RoundDecimal,
    ToFloat,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Sinh,
    Cosh,
    Tanh,
    Asin,
    Acos,
    Atan,
    Asinh,
    Exp,
    Log,
    Log2,
}

impl Function {
    /// Finds a function by its name, without the module that Python has it in.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let prefixes = ["OpaqueUnaryFn_", "BitwiseFn_", "_sym_", "sym_"];
        let name = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
        Some(match name {
            "Add" => Self::Add,
            "Mul" => Self::Mul,
            "IntTrueDiv" | "FloatTrueDiv" => Self::TrueDivide,
            "FloorDiv" | "CleanDiv" => Self::FloorDivide,
            "CeilDiv" => Self::CeilDivide,
            "Mod" | "PythonMod" => Self::Modulo,
            "ModularIndexing" => Self::ModularIndex,
            "Pow" | "PowByNatural" => Self::Power,
            "FloatPow" => Self::FloatPower,
            "LShift" => Self::LeftShift,
            "RShift" => Self::RightShift,
            "Max" | "max" => Self::Max,
            "Min" | "min" => Self::Min,
            "Abs" | "abs" => Self::Absolute,
            "Where" | "ITE" | "ite" => Self::IfThenElse,
            "Equality" | "Eq" => Self::Equal,
            "Unequality" | "Ne" => Self::NotEqual,
            "StrictLessThan" | "Lt" => Self::Less,
            "LessThan" | "Le" => Self::LessEqual,
            "StrictGreaterThan" | "Gt" => Self::Greater,
            "GreaterThan" | "Ge" => Self::GreaterEqual,
            "And" => Self::And,
            "Or" => Self::Or,
            "Not" | "not" => Self::Not,
            "bitwise_and" => Self::BitwiseAnd,
            "bitwise_or" => Self::BitwiseOr,
            "bitwise_xor" => Self::BitwiseXor,
            "floor" | "FloorToInt" => Self::Floor,
            "ceiling" | "ceil" | "CeilToInt" => Self::Ceil,
            "trunc" | "TruncToInt" | "int" => Self::Truncate,
            "TruncToFloat" => Self::TruncateToFloat,
            "RoundToInt" => Self::Round,
            "RoundDecimal" | "round" => Self::RoundDecimal,
            "ToFloat" | "float" => Self::ToFloat,
            "sqrt" => Self::Sqrt,
            "sin" => Self::Sin,
            "cos" => Self::Cos,
            "tan" => Self::Tan,
            "sinh" => Self::Sinh,
            "cosh" => Self::Cosh,
            "tanh" => Self::Tanh,
            "asin" => Self::Asin,
            "acos" => Self::Acos,
            "atan" => Self::Atan,
            "asinh" => Self::Asinh,
            "exp" => Self::Exp,
            "log" => Self::Log,
            "log2" => Self::Log2,
            _ => return None,
        })
    }

    /// The numbers of arguments that the function takes.
    pub(super) const fn arity(self) -> RangeInclusive<usize> {
        match self {
            Self::Add | Self::Mul | Self::Max | Self::Min | Self::And | Self::Or => 1..=usize::MAX,
            Self::Divide
            | Self::TrueDivide
            | Self::FloorDivide
            | Self::CeilDivide
            | Self::Modulo
            | Self::Power
            | Self::FloatPower
            | Self::LeftShift
            | Self::RightShift
            | Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessEqual
            | Self::Greater
            | Self::GreaterEqual
            | Self::BitwiseAnd
            | Self::BitwiseOr
            | Self::BitwiseXor
            | Self::RoundDecimal => 2..=2,
            Self::ModularIndex | Self::IfThenElse => 3..=3,
            _ => 1..=1,
        }
    }

    /// The name in [`render`](super::render), for functions that are no operators there. [`from_name`](Self::from_name) knows it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::TrueDivide => "IntTrueDiv",
            Self::CeilDivide => "CeilDiv",
            Self::ModularIndex => "ModularIndexing",
            Self::FloatPower => "FloatPow",
            Self::LeftShift => "LShift",
            Self::RightShift => "RShift",
            Self::Max => "max",
            Self::Min => "min",
            Self::Absolute => "abs",
            Self::IfThenElse => "Where",
            Self::BitwiseAnd => "bitwise_and",
            Self::BitwiseOr => "bitwise_or",
            Self::BitwiseXor => "bitwise_xor",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Truncate => "trunc",
            Self::TruncateToFloat => "TruncToFloat",
            Self::Round => "RoundToInt",
            Self::RoundDecimal => "round",
            Self::ToFloat => "float",
            Self::Sqrt => "sqrt",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Tan => "tan",
            Self::Sinh => "sinh",
            Self::Cosh => "cosh",
            Self::Tanh => "tanh",
            Self::Asin => "asin",
            Self::Acos => "acos",
            Self::Atan => "atan",
            Self::Asinh => "asinh",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Log2 => "log2",
            // These are operators of the rendered text.
            Self::Add
            | Self::Mul
            | Self::Neg
            | Self::Divide
            | Self::FloorDivide
            | Self::Modulo
            | Self::Power
            | Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessEqual
            | Self::Greater
            | Self::GreaterEqual
            | Self::And
            | Self::Or
            | Self::Not => "",
        }
    }
}
