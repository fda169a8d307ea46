//! Zip archives, written byte by byte, so that each field can be wrong.

use std::io::{Cursor, Read};
use std::path::PathBuf;

use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};

/// An entry, with the values that its headers have.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
    /// The number of the compression method; 0 is stored.
    pub(crate) method: u16,
    pub(crate) flags: u16,
    /// The offset of the entry's header in the directory, if it is not the true one.
    pub(crate) offset: Option<u64>,
    /// The size of the data in the directory, if it is not the true one.
    pub(crate) size: Option<u64>,
}

/// The fields that writers of zip archives fill in differently. The defaults are those of PyTorch.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice that the format leaves")]
pub(crate) struct Style {
    /// The headers of entries have no sizes and checksums.
    pub(crate) empty_headers: bool,
    /// Sizes and checksums follow the data.
    pub(crate) data_descriptors: bool,
    /// The data begin at multiples of 64, by an extra field `FB` in the header.
    pub(crate) aligned: bool,
    /// There is an end record for 64-bit sizes.
    pub(crate) zip64_end: bool,
    /// The directory has sizes and offsets as 64-bit extra fields.
    pub(crate) zip64_entries: bool,
    pub(crate) comment: &'static [u8],
}

pub(crate) const PYTORCH: Style = Style {
    empty_headers: true,
    data_descriptors: true,
    aligned: true,
    zip64_end: true,
    zip64_entries: false,
    comment: b"",
};

impl Entry {
    pub(crate) fn new(name: &str, data: impl Into<Vec<u8>>) -> Self {
        Self { name: name.to_owned(), data: data.into(), method: 0, flags: 0, offset: None, size: None }
    }
}

/// Returns the path of a program of `tests/programs`.
pub(crate) fn program_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.pt2"))
}

/// Returns the entries of a program of `tests/programs`.
pub(crate) fn read_entries(name: &str) -> Vec<Entry> {
    let bytes = std::fs::read(program_path(name)).unwrap();
    // The end of the archive in the sample inputs must not pass for the end of the file.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let mut zip = ZipArchive::with_config(config, Cursor::new(bytes)).unwrap();
    let count = zip.len();
    let entry = |index| {
        let mut file = zip.by_index(index).unwrap();
        let mut data = Vec::new();
        file.read_to_end(&mut data).unwrap();
        Entry::new(&file.name().unwrap(), data)
    };
    (0..count).map(entry).collect()
}

/// Returns the entries of a program after a change of one of them. The name is that below the archive's folder.
pub(crate) fn with_changed_entry(program: &str, name: &str, change: impl FnOnce(&mut Entry)) -> Vec<Entry> {
    let mut entries = read_entries(program);
    let is_named = |entry: &&mut Entry| entry.name.split_once('/').is_some_and(|(_, path)| path == name);
    change(entries.iter_mut().find(is_named).unwrap());
    entries
}

/// Returns the archive of a program after a change of one of its JSON entries.
pub(crate) fn with_changed_json(program: &str, name: &str, change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let change = |entry: &mut Entry| {
        let mut json = serde_json::from_slice(&entry.data).unwrap();
        change(&mut json);
        entry.data = serde_json::to_vec(&json).unwrap();
    };
    write_zip(&with_changed_entry(program, name, change), PYTORCH)
}

/// Writes an archive.
pub(crate) fn write_zip(entries: &[Entry], style: Style) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let offset = file.len() as u64;
        write_entry(&mut file, entry, style);
        write_directory_entry(&mut directory, entry, style, entry.offset.unwrap_or(offset));
    }
    let (start, size, count) = (file.len() as u64, directory.len() as u64, entries.len() as u64);
    file.extend(directory);
    if style.zip64_end {
        let end = file.len() as u64;
        file.extend(0x0606_4b50_u32.to_le_bytes());
        file.extend(44_u64.to_le_bytes());
        file.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        file.extend([count, count, size, start].map(u64::to_le_bytes).concat());
        file.extend(0x0706_4b50_u32.to_le_bytes());
        file.extend(0_u32.to_le_bytes());
        file.extend(end.to_le_bytes());
        file.extend(1_u32.to_le_bytes());
    }
    let (count, size, start) =
        if style.zip64_end { (u16::MAX, u32::MAX, u32::MAX) } else { (count as u16, size as u32, start as u32) };
    file.extend(0x0605_4b50_u32.to_le_bytes());
    file.extend([0; 4]);
    file.extend([count, count].map(u16::to_le_bytes).concat());
    file.extend([size, start].map(u32::to_le_bytes).concat());
    file.extend((style.comment.len() as u16).to_le_bytes());
    file.extend(style.comment);
    file
}

fn write_entry(file: &mut Vec<u8>, entry: &Entry, style: Style) {
    let (checksum, size) = (crc32(&entry.data), entry.data.len() as u32);
    let (written_checksum, written_size) = if style.empty_headers { (0, 0) } else { (checksum, size) };
    let start = file.len() + 30 + entry.name.len();
    let padding = if style.aligned { 4 + (start + 4).wrapping_neg() % 64 } else { 0 };
    file.extend(0x0403_4b50_u32.to_le_bytes());
    write_fields(file, entry, style, written_checksum, written_size, written_size);
    file.extend((entry.name.len() as u16).to_le_bytes());
    file.extend((padding as u16).to_le_bytes());
    file.extend(entry.name.as_bytes());
    if style.aligned {
        file.extend(*b"FB");
        file.extend((padding as u16 - 4).to_le_bytes());
        file.resize(file.len() + padding - 4, b'Z');
    }
    file.extend(&entry.data);
    if style.data_descriptors {
        file.extend([0x0807_4b50, checksum, size, size].map(u32::to_le_bytes).concat());
    }
}

fn write_directory_entry(directory: &mut Vec<u8>, entry: &Entry, style: Style, offset: u64) {
    let size = entry.size.unwrap_or(entry.data.len() as u64);
    let wide = style.zip64_entries || size > u64::from(u32::MAX) || offset > u64::from(u32::MAX);
    let (narrow_size, narrow_offset) = if wide { (u32::MAX, u32::MAX) } else { (size as u32, offset as u32) };
    directory.extend(0x0201_4b50_u32.to_le_bytes());
    directory.extend([0, 0]);
    write_fields(directory, entry, style, crc32(&entry.data), narrow_size, narrow_size);
    directory.extend((entry.name.len() as u16).to_le_bytes());
    directory.extend(if wide { 28_u16 } else { 0 }.to_le_bytes());
    directory.extend([0; 10]);
    directory.extend(narrow_offset.to_le_bytes());
    directory.extend(entry.name.as_bytes());
    if wide {
        directory.extend([1_u16, 24].map(u16::to_le_bytes).concat());
        directory.extend([size, size, offset].map(u64::to_le_bytes).concat());
    }
}

/// Writes the fields that a header and an entry of the directory have in common.
fn write_fields(file: &mut Vec<u8>, entry: &Entry, style: Style, checksum: u32, compressed: u32, size: u32) {
    let flags = entry.flags | 0x0800 | if style.data_descriptors { 8 } else { 0 };
    file.extend([20, flags, entry.method, 0, 0].map(u16::to_le_bytes).concat());
    file.extend([checksum, compressed, size].map(u32::to_le_bytes).concat());
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut checksum = u32::MAX;
    for byte in bytes {
        checksum ^= u32::from(*byte);
        for _ in 0..8 {
            checksum = (checksum >> 1) ^ (0xedb8_8320 & (checksum & 1).wrapping_neg());
        }
    }
    !checksum
}
