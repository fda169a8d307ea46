//! The bytes of a pickle, and the values that opcodes have in them.

use crate::error::FileProblem;

/// The bytes of a pickle, and a position.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Returns the error for a pickle that has something else before this position.
    #[cold]
    pub(super) fn damaged(&self, expected: &'static str) -> FileProblem {
        FileProblem::Pickle { at: self.at, expected }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], FileProblem> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..count).ok_or_else(|| self.damaged("more bytes; the file is cut off"))?;
        self.at += count;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], FileProblem> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| self.damaged("more bytes; the file is cut off"))
    }

    pub(super) fn byte(&mut self) -> Result<u8, FileProblem> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// Reads a number of at most eight bytes.
    pub(super) fn unsigned(&mut self, size: usize) -> Result<usize, FileProblem> {
        let bytes = self.take(size)?;
        let number = bytes.iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
        usize::try_from(number).map_err(|_| self.damaged("a number of bytes that fits into memory"))
    }

    /// Reads bytes after their number, which has this size.
    pub(super) fn counted(&mut self, count_size: usize) -> Result<&'a [u8], FileProblem> {
        let count = self.unsigned(count_size)?;
        self.take(count)
    }

    /// Reads text after its number of bytes. Python writes single surrogates, which are no text elsewhere.
    pub(super) fn text(&mut self, count_size: usize) -> Result<String, FileProblem> {
        let bytes = self.counted(count_size)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| self.damaged("text in UTF-8"))
    }

    /// Reads a signed number after its number of bytes.
    pub(super) fn long(&mut self, count_size: usize) -> Result<i64, FileProblem> {
        let bytes = self.counted(count_size)?;
        let (low, high) = bytes.split_at_checked(8).unwrap_or((bytes, &[]));
        let fill = if bytes.last().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 };
        let mut number = [fill; 8];
        number.iter_mut().zip(low).for_each(|(target, byte)| *target = *byte);
        let number = i64::from_le_bytes(number);
        if high.iter().any(|byte| *byte != fill) || (!high.is_empty() && (number < 0) != (fill != 0)) {
            return Err(FileProblem::UnsupportedValue { found: "an integer of more than 64 bits".to_owned() });
        }
        Ok(number)
    }

    /// Reads text to the end of a line.
    pub(super) fn line(&mut self) -> Result<&'a str, FileProblem> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'\n').ok_or_else(|| self.damaged("the end of a line"))?;
        let line = self.take(length)?;
        self.take(1)?;
        std::str::from_utf8(line).map_err(|_| self.damaged("text in UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_up_to_64_bits_are_read() {
        let long = |bytes: &[u8]| Cursor::new(&[&[u8::try_from(bytes.len()).unwrap()], bytes].concat()).long(1);
        assert_eq!(long(&[]).unwrap(), 0);
        assert_eq!(long(&[0xff]).unwrap(), -1);
        assert_eq!(long(&[0xff, 0]).unwrap(), 255);
        assert_eq!(long(&[0, 0, 0, 0, 0, 0, 0, 0x80]).unwrap(), i64::MIN);
        assert_eq!(long(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0]).unwrap(), i64::MAX);
        for too_large in [[0, 0, 0, 0, 0, 0, 0, 0x80, 0], [0, 0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0xff]] {
            assert!(matches!(long(&too_large), Err(FileProblem::UnsupportedValue { .. })), "{too_large:?}");
        }
    }
}
