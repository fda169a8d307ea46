//! Formatting of a tensor's elements as texts of equal width.
//!
//! All floats of a tensor have the same style. Integral values end with a bare point, other values have a few digits, and values that are
//! very large or very small make all use scientific notation. Zeros, infinities and NaN do not affect the style.

use num_complex::Complex64;

/// The elements to print, converted to bool, `i64`, `f64` or complex numbers.
pub(crate) enum ElementValues {
    Bools(Vec<bool>),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Complex(Vec<Complex64>),
}

/// The texts of the formatted elements, in order.
pub(crate) struct ElementTexts {
    texts: std::vec::IntoIter<String>,
    width: usize,
    padding: usize,
}

impl ElementTexts {
    pub(crate) fn new(numbers: &ElementValues, digits: usize) -> Self {
        let (texts, width): (Vec<String>, usize) = match numbers {
            ElementValues::Bools(values) => to_texts(values),
            ElementValues::Ints(values) => to_texts(values),
            ElementValues::Floats(values) => {
                let format = FloatFormat::for_values(values.iter().copied(), digits);
                (values.iter().map(|&value| format.format(value)).collect(), format.width)
            }
            ElementValues::Complex(values) => {
                let real = FloatFormat::for_values(values.iter().map(|value| value.re), digits);
                let imaginary = FloatFormat::for_values(values.iter().map(|value| value.im), digits);
                let text = |value: &Complex64| {
                    let (re, im) = (real.format_padded(value.re), imaginary.format(value.im));
                    let plus = if im.starts_with('-') { "" } else { "+" };
                    format!("{re}{plus}{im}j")
                };
                let width = real.width + imaginary.width + 1;
                return Self { texts: values.iter().map(text).collect::<Vec<_>>().into_iter(), width, padding: 0 };
            }
        };
        Self { texts: texts.into_iter(), width, padding: width }
    }

    /// Returns the common width in characters.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns the text of the next element, padded to the common width.
    pub(crate) fn next_padded(&mut self) -> String {
        format!("{:>1$}", self.texts.next().unwrap_or_default(), self.padding)
    }
}

fn to_texts<T: ToString>(values: &[T]) -> (Vec<String>, usize) {
    let texts: Vec<String> = values.iter().map(T::to_string).collect();
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    (texts, width)
}

/// The format of all floats of a tensor: the style, the digits and the width.
struct FloatFormat {
    style: FloatStyle,
    digits: usize,
    width: usize,
}

#[derive(Clone, Copy)]
enum FloatStyle {
    Integral,
    Decimal,
    Scientific,
}

impl FloatFormat {
    fn for_values(values: impl Iterator<Item = f64> + Clone, digits: usize) -> Self {
        let decisive = values.filter(|value| value.is_finite() && *value != 0.0);
        let (smallest, largest) = decisive.clone().fold((f64::INFINITY, 0.0_f64), |(smallest, largest), value| {
            (smallest.min(value.abs()), largest.max(value.abs()))
        });
        let style = if largest / smallest > 1e3 || largest > 1e8 || smallest < 1e-4 {
            FloatStyle::Scientific
        } else if decisive.clone().all(|value| value.fract() == 0.0) {
            FloatStyle::Integral
        } else {
            FloatStyle::Decimal
        };
        let mut format = Self { style, digits, width: 1 };
        format.width = decisive.map(|value| format.format(value).len()).max().unwrap_or(1);
        format
    }

    fn format(&self, value: f64) -> String {
        let digits = self.digits;
        if !value.is_finite() {
            return value.to_string().to_lowercase();
        }
        match self.style {
            FloatStyle::Integral => format!("{value:.0}."),
            FloatStyle::Decimal => format!("{value:.digits$}"),
            FloatStyle::Scientific => {
                let text = format!("{value:.digits$e}");
                let (number, power) = text.split_once('e').unwrap_or((&text, "0"));
                let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
                format!("{number}e{sign}{power:0>2}")
            }
        }
    }

    fn format_padded(&self, value: f64) -> String {
        format!("{:>1$}", self.format(value), self.width)
    }
}
