//! The header of an array: a mark, a version, and a Python dictionary as text.

use std::io::{Read, Write};

use dispatch_runtime::{DType, Tensor};

use crate::element_bytes::{ByteOrder, ElementLayout, ElementOrder, read_up_to};
use crate::error::FileProblem;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The longest header that is read. Those of arrays of numbers have less than a thousand bytes.
const MAX_HEADER_LENGTH: usize = 64 * 1024;
/// Elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// The types of NumPy that have a dtype: the letter, the size in bytes, and the dtype.
const ELEMENT_TYPES: [(char, usize, DType); 11] = [
    ('b', 1, DType::Bool),
    ('u', 1, DType::U8),
    ('i', 1, DType::I8),
    ('i', 2, DType::I16),
    ('i', 4, DType::I32),
    ('i', 8, DType::I64),
    ('f', 2, DType::F16),
    ('f', 4, DType::F32),
    ('f', 8, DType::F64),
    ('c', 8, DType::C64),
    ('c', 16, DType::C128),
];

/// Reads a header. Returns the layout of the elements, and the number of bytes before them.
pub(crate) fn read_header(reader: &mut impl Read) -> Result<(ElementLayout, u64), FileProblem> {
    let mut start = [0; 8];
    let found = read_up_to(reader, &mut start)?;
    let [magic @ .., major, minor] = &start;
    if found < start.len() || magic != MAGIC {
        return Err(FileProblem::NotNpy);
    }
    let length_bytes = match (major, minor) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        (&major, &minor) => return Err(FileProblem::NpyVersion { major, minor }),
    };
    let cut_off = |header: &[u8]| FileProblem::NpyHeader {
        header: String::from_utf8_lossy(header).into_owned(),
        expected: "a complete header; the file is cut off",
    };
    let mut length = [0; 4];
    if read_up_to(reader, &mut length[..length_bytes])? < length_bytes {
        return Err(cut_off(&[]));
    }
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MAX_HEADER_LENGTH {
        return Err(FileProblem::NpyHeader { header: format!("{length} bytes"), expected: "at most 65536 bytes" });
    }
    let mut bytes = vec![0; length];
    let found = read_up_to(reader, &mut bytes)?;
    if found < length {
        return Err(cut_off(&bytes[..found]));
    }
    let text = String::from_utf8_lossy(&bytes);
    let layout = Dictionary { text: &text, rest: &text }.read_layout()?;
    Ok((layout, (start.len() + length_bytes + length) as u64))
}

/// Writes the header of a tensor's elements.
pub(crate) fn write_header(tensor: &Tensor, writer: &mut impl Write) -> Result<(), FileProblem> {
    let dtype = tensor.dtype();
    let Some((letter, size, _)) = ELEMENT_TYPES.into_iter().find(|(.., known)| *known == dtype) else {
        return Err(FileProblem::UnsupportedDType { dtype, format: "NumPy's files" });
    };
    let order = if size == 1 { '|' } else { '<' };
    let sizes: String = match tensor.sizes() {
        [only] => format!("{only},"),
        sizes => sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    };
    let mut text = format!("{{'descr': '{order}{letter}{size}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // Version 1.0, with a length of two bytes, is enough unless there are thousands of dimensions.
    let is_long = text.len() > usize::from(u16::MAX) - ALIGNMENT;
    let before = MAGIC.len() + if is_long { 6 } else { 4 };
    while !(before + text.len() + 1).is_multiple_of(ALIGNMENT) {
        text.push(' ');
    }
    text.push('\n');
    writer.write_all(MAGIC)?;
    match u16::try_from(text.len()) {
        Ok(length) if !is_long => {
            writer.write_all(&[1, 0])?;
            writer.write_all(&length.to_le_bytes())?;
        }
        _ => {
            writer.write_all(&[2, 0])?;
            writer.write_all(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes())?;
        }
    }
    Ok(writer.write_all(text.as_bytes())?)
}

/// The text of a header, and the part that is not yet read.
struct Dictionary<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Dictionary<'a> {
    fn read_layout(&mut self) -> Result<ElementLayout, FileProblem> {
        let (mut elements, mut element_order, mut sizes) = (None, None, None);
        self.expect("{", "`{`")?;
        while !self.accept("}") {
            let key = self.read_string()?;
            self.expect(":", "`:`")?;
            match key {
                "descr" if self.starts_with("[") => {
                    return Err(FileProblem::UnsupportedElements { found: "structure".to_owned() });
                }
                "descr" => elements = Some(element_type(self.read_string()?)?),
                "fortran_order" => element_order = Some(self.read_element_order()?),
                "shape" => sizes = Some(self.read_sizes()?),
                _ => return Err(self.damaged("the keys `descr`, `fortran_order` and `shape`")),
            }
            if !self.accept(",") {
                self.expect("}", "`,` or `}`")?;
                break;
            }
        }
        match (elements, element_order, sizes) {
            (Some((dtype, byte_order)), Some(element_order), Some(sizes)) => {
                Ok(ElementLayout { dtype, byte_order, element_order, sizes })
            }
            _ => Err(self.damaged("the keys `descr`, `fortran_order` and `shape`")),
        }
    }

    fn starts_with(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.starts_with(token)
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.starts_with(token);
        if found {
            self.rest = &self.rest[token.len()..];
        }
        found
    }

    fn expect(&mut self, token: &str, expected: &'static str) -> Result<(), FileProblem> {
        if self.accept(token) { Ok(()) } else { Err(self.damaged(expected)) }
    }

    /// Reads a string between single or double quotes.
    fn read_string(&mut self) -> Result<&'a str, FileProblem> {
        for quote in ["'", "\""] {
            if self.accept(quote)
                && let Some((text, rest)) = self.rest.split_once(quote)
            {
                self.rest = rest;
                return Ok(text);
            }
        }
        Err(self.damaged("a string"))
    }

    fn read_element_order(&mut self) -> Result<ElementOrder, FileProblem> {
        if self.accept("True") {
            Ok(ElementOrder::ColumnMajor)
        } else if self.accept("False") {
            Ok(ElementOrder::RowMajor)
        } else {
            Err(self.damaged("`True` or `False`"))
        }
    }

    /// Reads a tuple of numbers. Those that Python 2 wrote may end in `L`.
    fn read_sizes(&mut self) -> Result<Vec<u64>, FileProblem> {
        let mut sizes = Vec::new();
        self.expect("(", "`(`")?;
        while !self.accept(")") {
            self.rest = self.rest.trim_start();
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let Ok(size) = self.rest[..end].parse() else { return Err(self.damaged("a size")) };
            sizes.push(size);
            self.rest = &self.rest[end..];
            self.accept("L");
            if !self.accept(",") {
                self.expect(")", "`,` or `)`")?;
                break;
            }
        }
        Ok(sizes)
    }

    #[cold]
    fn damaged(&self, expected: &'static str) -> FileProblem {
        FileProblem::NpyHeader { header: self.text.trim_end().to_owned(), expected }
    }
}

/// Returns the dtype for a type of NumPy, such as `<f4`.
fn element_type(descr: &str) -> Result<(DType, ByteOrder), FileProblem> {
    let mut chars = descr.chars();
    let byte_order = match chars.next() {
        // A type of one byte has no order.
        Some('<' | '|') => Some(ByteOrder::Little),
        Some('>') => Some(ByteOrder::Big),
        _ => None,
    };
    let (letter, size) = (chars.next(), chars.as_str().parse::<usize>().ok());
    let dtype = ELEMENT_TYPES.into_iter().find(|&(known, bytes, _)| (Some(known), Some(bytes)) == (letter, size));
    match (dtype, byte_order) {
        (Some((.., dtype)), Some(byte_order)) => Ok((dtype, byte_order)),
        _ => Err(FileProblem::UnsupportedElements { found: describe_element_type(descr, letter, size) }),
    }
}

/// Returns NumPy's name of a type, with the text from the header.
fn describe_element_type(descr: &str, letter: Option<char>, size: Option<usize>) -> String {
    let bits = size.unwrap_or(0).saturating_mul(8);
    let name = match letter {
        Some('u') => format!("uint{bits}"),
        Some('i') => format!("int{bits}"),
        Some('f') => format!("float{bits}"),
        Some('c') => format!("complex{bits}"),
        Some('O') => "object".to_owned(),
        Some('S') => "bytes".to_owned(),
        Some('U') => "str".to_owned(),
        Some('M') => "datetime64".to_owned(),
        Some('m') => "timedelta64".to_owned(),
        Some('V') => "void (as of bfloat16, which NumPy does not know)".to_owned(),
        _ => return format!("{descr:?}"),
    };
    format!("{name}, {descr:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ElementLayout, FileProblem> {
        Dictionary { text, rest: text }.read_layout()
    }

    #[test]
    fn headers_of_other_writers_are_read() {
        let expected = ElementLayout {
            dtype: DType::F32,
            byte_order: ByteOrder::Big,
            element_order: ElementOrder::ColumnMajor,
            sizes: vec![2, 3],
        };
        for text in [
            "{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }   \n",
            "{\"shape\":(2L,3L),\"fortran_order\":True,\"descr\":\">f4\"}",
            " { 'shape' : ( 2 , 3 , ) , 'descr' : '>f4' , 'fortran_order' : True } ",
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
        assert_eq!(parse("{'descr': '|b1', 'fortran_order': False, 'shape': ()}").unwrap().sizes, [0_u64; 0]);
    }

    #[test]
    fn errors_name_the_mistake() {
        let says = |text: &str, expected: &str| {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        says("", "expected `{`");
        says("{'descr': '<f4'}", "the keys `descr`, `fortran_order` and `shape`");
        says("{'descr': '<f4', 'color': 1}", "the keys");
        says("{'fortran_order': 1}", "`True` or `False`");
        says("{'shape': (2, -3)}", "a size");
        says("{'shape': (99999999999999999999,)}", "a size");
        says("{'shape': 3}", "`(`");
        says("{'descr: 3}", "a string");
        says("{'descr': '<u2'}", "uint16, \"<u2\"");
        says("{'descr': '|O'}", "object");
        says("{'descr': [('x', '<f4')]}", "structure");
        says("{'descr': 'f4'}", "\"f4\"");
        says("{'descr': '<é4'}", "\"<é4\"");
    }
}
