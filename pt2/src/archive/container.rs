//! The directory of the zip file.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::Range;

use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::error::Pt2Problem;

/// Returns the entries of an archive by their names below its folder, as ranges of `bytes`.
///
/// Sizes and places are those of the directory at the end of the file: PyTorch writes zeros into the headers of the entries.
pub(super) fn find_entries(bytes: &[u8]) -> Result<BTreeMap<String, Range<usize>>, Pt2Problem> {
    check_start(bytes)?;
    // The archive begins with the file. Otherwise the end of an archive inside of it, such as the sample inputs, could pass for its own end.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let mut zip = ZipArchive::with_config(config, Cursor::new(bytes)).map_err(|error| no_directory(&error))?;
    if zip.has_duplicate_names() {
        return Err(Pt2Problem::DuplicateEntry);
    }
    if zip.index_for_name("serialized_exported_program.json").is_some() {
        return Err(Pt2Problem::ArchiveVersion { found: "`PyTorch before 2.9`".to_owned() });
    }
    let (mut entries, mut folder) = (BTreeMap::new(), None);
    for index in 0..zip.len() {
        let name = zip.by_index_data(index).and_then(|data| Ok(data.name()?.into_owned()));
        let name = name.map_err(|error| no_directory(&error))?;
        let path = path_below_folder(&name, &mut folder)?;
        let refuse = |reason| Pt2Problem::Entry { entry: path.to_owned(), reason };
        // This reads the header of the entry.
        let no_header = |_| refuse("has no header at its place in the file; the file is damaged");
        let file = zip.by_index_raw(index).map_err(no_header)?;
        if file.encrypted() {
            return Err(refuse("is encrypted; save the program without a password"));
        }
        if file.compression() != CompressionMethod::Stored {
            return Err(refuse(
                "is compressed, and the entries of a `.pt2` file are stored as they are; save the program with `torch.export.save`",
            ));
        }
        let start = file.data_start().and_then(|start| usize::try_from(start).ok());
        let size = usize::try_from(file.compressed_size()).ok();
        let range = start.and_then(|start| Some(start..start.checked_add(size?)?));
        let range = range.ok_or_else(|| refuse("reaches beyond the end of the file"))?;
        if !path.is_empty() && !path.ends_with('/') {
            entries.insert(path.to_owned(), range);
        }
    }
    Ok(entries)
}

/// Returns an error if the bytes are no zip archive from their start.
fn check_start(bytes: &[u8]) -> Result<(), Pt2Problem> {
    let reason = match bytes {
        [] => "the file is empty",
        // The header of the first entry.
        [b'P', b'K', 3, 4, ..] => return Ok(()),
        [b'P', b'K', 5 | 6, _, ..] => "it has no entries",
        _ => "it does not begin as a zip archive",
    };
    Err(Pt2Problem::Container(reason.to_owned()))
}

fn no_directory(error: &ZipError) -> Pt2Problem {
    let reason = "the directory at its end is missing or damaged, so the file may be cut off";
    Pt2Problem::Container(format!("{reason} ({error}). Copy or save it again"))
}

/// Returns the path of an entry below the archive's folder, which the first entry decides.
fn path_below_folder<'n>(name: &'n str, folder: &mut Option<String>) -> Result<&'n str, Pt2Problem> {
    let refuse = |reason| Err(Pt2Problem::Entry { entry: name.to_owned(), reason });
    if name.starts_with('/') || name.split(['/', '\\']).any(|part| part == "..") {
        return refuse("leaves the folder of the archive");
    }
    let Some((root, path)) = name.split_once('/') else {
        return refuse("is outside of the archive's folder");
    };
    if *folder.get_or_insert_with(|| root.to_owned()) != root {
        return refuse("is outside of the archive's folder");
    }
    Ok(path)
}
