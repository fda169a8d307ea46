//! The 8-bit floating-point types: elements that are stored and converted, and that few operators compute with.
//!
//! A format has `MANTISSA` bits of fraction, an exponent with a bias, and no or few special values. Conversion from `f32` rounds to nearest,
//! ties to even. What is too large becomes the largest number, infinity or NaN, which [`Overflow`] says of each format.

use std::fmt;

/// The result of a conversion of a number that is too large for a format, and the format's special values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overflow {
    /// The largest finite number; there is no infinity, and all bits but the sign are set in NaN.
    Saturates,
    /// Infinity, as in IEEE formats.
    Infinity,
    /// NaN, the only code with the sign bit and no other; there is neither infinity nor a negative zero.
    NaN,
}

/// Rounds a number to a format with a sign bit. Returns the code.
#[expect(clippy::cast_possible_truncation, reason = "codes have eight bits")]
const fn encode(number: f32, mantissa: u32, bias: u32, overflow: Overflow) -> u8 {
    let (sign, magnitude) = ((number.to_bits() >> 24 & 0x80) as u8, number.to_bits() & 0x7fff_ffff);
    let shift = 23 - mantissa;
    let lowest_normal = (128 - bias) << 23;
    let code = if magnitude < lowest_normal {
        // The addition of this power of two aligns the last bit with that of subnormal numbers of the format, and so rounds to it.
        let aligning = f32::from_bits(lowest_normal + (shift << 23));
        (f32::from_bits(magnitude) + aligning).to_bits() - aligning.to_bits()
    } else {
        // A carry out of the fraction correctly increments the exponent.
        (magnitude - ((127 - bias) << 23) + (1 << (shift - 1)) - 1 + (magnitude >> shift & 1)) >> shift
    };
    let infinity = 0x7f << mantissa & 0x7f;
    match overflow {
        Overflow::Saturates | Overflow::Infinity if number.is_nan() => sign | 0x7f,
        Overflow::Saturates => sign | if code < 0x7f { code as u8 } else { 0x7e },
        Overflow::Infinity => sign | if code < infinity { code as u8 } else { infinity as u8 },
        Overflow::NaN if number.is_nan() || code > 0x7f => 0x80,
        Overflow::NaN => {
            if code == 0 {
                0
            } else {
                sign | code as u8
            }
        }
    }
}

/// Converts a code of a format with a sign bit to a number.
const fn decode(code: u8, mantissa: u32, bias: u32, overflow: Overflow) -> f32 {
    let (sign, magnitude) = ((code as u32 & 0x80) << 24, code as u32 & 0x7f);
    let special = match overflow {
        Overflow::Saturates if magnitude == 0x7f => Some(f32::NAN),
        Overflow::Infinity if magnitude >= 0x7f << mantissa & 0x7f => {
            Some(if magnitude == 0x7f << mantissa & 0x7f { f32::INFINITY } else { f32::NAN })
        }
        Overflow::NaN if code == 0x80 => return f32::NAN,
        _ => None,
    };
    let number = match special {
        Some(special) => special,
        // The multiplication adapts the bias of the exponent, also of subnormal numbers.
        None => f32::from_bits(magnitude << (23 - mantissa)) * f32::from_bits((254 - bias) << 23),
    };
    f32::from_bits(sign | number.to_bits())
}

/// Rounds a number to a power of two, ties to even exponents. Returns the exponent with bias 127; the sign is dropped.
#[expect(clippy::cast_possible_truncation, reason = "exponents have eight bits")]
const fn encode_exponent(number: f32) -> u8 {
    let magnitude = number.to_bits() & 0x7fff_ffff;
    let (exponent, fraction) = (magnitude >> 23, magnitude & 0x7f_ffff);
    let rounds_up = fraction > 0x40_0000 || fraction == 0x40_0000 && exponent > 0;
    if exponent == 0xff { 0xff } else { (exponent + rounds_up as u32) as u8 }
}

const fn decode_exponent(code: u8) -> f32 {
    match code {
        0 => f32::from_bits(0x40_0000),
        0xff => f32::NAN,
        exponent => f32::from_bits((exponent as u32) << 23),
    }
}

macro_rules! define_float8 {
    ($($(#[$doc:meta])* $name:ident, |$number:ident| $encode:expr, |$code:ident| $decode:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The number of each code.
            const NUMBERS: [f32; 256] = {
                let (mut numbers, mut $code) = ([0.0; 256], 0_u8);
                loop {
                    numbers[$code as usize] = $decode;
                    if $code == 255 {
                        break numbers;
                    }
                    $code += 1;
                }
            };

            /// Returns the number with these bits.
            #[must_use]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// Returns the bits of the number.
            #[must_use]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// Rounds a number to this format, as PyTorch does.
            #[inline]
            #[must_use]
            pub const fn from_f32($number: f32) -> Self {
                Self($encode)
            }

            /// Converts the number to single precision, which represents it exactly.
            #[inline]
            #[must_use]
            pub const fn to_f32(self) -> f32 {
                Self::NUMBERS[self.0 as usize]
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl From<$name> for f64 {
            fn from(number: $name) -> Self {
                number.to_f32().into()
            }
        }
    )*};
}

define_float8! {
    /// A float of 4 exponent and 3 fraction bits, without infinities: the largest number is 448, and conversions saturate.
    ///
    /// ```
    /// use dispatch_runtime::Float8E4M3Fn;
    /// assert_eq!(Float8E4M3Fn::from_f32(1.05).to_f32(), 1.0);
    /// assert_eq!(Float8E4M3Fn::from_f32(f32::INFINITY).to_f32(), 448.0);
    /// ```
    Float8E4M3Fn, |number| encode(number, 3, 7, Overflow::Saturates), |code| decode(code, 3, 7, Overflow::Saturates);
    /// A float of 5 exponent and 2 fraction bits, with infinities and NaN as in IEEE formats.
    ///
    /// ```
    /// use dispatch_runtime::Float8E5M2;
    /// assert_eq!(Float8E5M2::from_f32(-1.2).to_f32(), -1.25);
    /// assert_eq!(Float8E5M2::from_f32(1e5).to_f32(), f32::INFINITY);
    /// ```
    Float8E5M2, |number| encode(number, 2, 15, Overflow::Infinity), |code| decode(code, 2, 15, Overflow::Infinity);
    /// A float of 4 exponent and 3 fraction bits, with one zero, one NaN and no infinities: the largest number is 240.
    ///
    /// ```
    /// use dispatch_runtime::Float8E4M3Fnuz;
    /// assert_eq!(Float8E4M3Fnuz::from_f32(-0.0).to_bits(), 0);
    /// assert!(Float8E4M3Fnuz::from_f32(300.0).to_f32().is_nan());
    /// ```
    Float8E4M3Fnuz, |number| encode(number, 3, 8, Overflow::NaN), |code| decode(code, 3, 8, Overflow::NaN);
    /// A float of 5 exponent and 2 fraction bits, with one zero, one NaN and no infinities: the largest number is 57344.
    ///
    /// ```
    /// use dispatch_runtime::Float8E5M2Fnuz;
    /// assert_eq!(Float8E5M2Fnuz::from_f32(-0.0).to_bits(), 0);
    /// assert_eq!(Float8E5M2Fnuz::from_f32(57344.0).to_bits(), 0x7f);
    /// ```
    Float8E5M2Fnuz, |number| encode(number, 2, 16, Overflow::NaN), |code| decode(code, 2, 16, Overflow::NaN);
    /// A power of two, from 2^-127 to 2^127, or NaN: the format of scales. It has neither a sign nor a zero.
    ///
    /// ```
    /// use dispatch_runtime::Float8E8M0Fnu;
    /// assert_eq!(Float8E8M0Fnu::from_f32(3.0).to_f32(), 4.0);
    /// ```
    Float8E8M0Fnu, |number| encode_exponent(number), |code| decode_exponent(code);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks for one format that each code converts to a number and back, that the middle of two neighbours rounds to the even one, and
    /// that what is next to the middle rounds to the nearer one.
    macro_rules! check_rounding {
        ($($name:ident)*) => {$({
            for bits in 0..=255_u8 {
                let number = $name(bits).to_f32();
                let back = $name::from_f32(number);
                assert!(back.to_bits() == bits || number.is_nan() && back.to_f32().is_nan(), "{} {bits:#x}", stringify!($name));
            }
            for bits in 0..127_u8 {
                let (low, high) = ($name(bits).to_f32(), $name(bits + 1).to_f32());
                if !high.is_finite() {
                    break;
                }
                #[expect(clippy::cast_possible_truncation, reason = "the middle of two floats of 8 bits is a float of 32 bits")]
                let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
                let even = if bits % 2 == 0 { bits } else { bits + 1 };
                assert_eq!($name::from_f32(middle).to_bits(), even, "{} {middle}", stringify!($name));
                assert_eq!($name::from_f32(middle.next_down()).to_bits(), bits);
                assert_eq!($name::from_f32(middle.next_up()).to_bits(), bits + 1);
            }
        })*};
    }

    #[test]
    fn numbers_round_to_nearest_with_ties_to_even() {
        check_rounding!(Float8E4M3Fn Float8E5M2 Float8E4M3Fnuz Float8E5M2Fnuz);
    }

    #[test]
    fn special_values_are_those_of_pytorch() {
        let specials = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0, 1e6];
        assert_eq!(specials.map(|x| Float8E4M3Fn::from_f32(x).to_bits()), [0x7e, 0xfe, 0x7f, 0x80, 0x7e]);
        assert_eq!(specials.map(|x| Float8E5M2::from_f32(x).to_bits()), [0x7c, 0xfc, 0x7f, 0x80, 0x7c]);
        assert_eq!(specials.map(|x| Float8E4M3Fnuz::from_f32(x).to_bits()), [0x80, 0x80, 0x80, 0, 0x80]);
        assert_eq!(specials.map(|x| Float8E5M2Fnuz::from_f32(x).to_bits()), [0x80, 0x80, 0x80, 0, 0x80]);
        assert_eq!(specials.map(|x| Float8E8M0Fnu::from_f32(x).to_bits()), [255, 255, 255, 0, 147]);
    }
}
