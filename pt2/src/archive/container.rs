//! The directory of the zip file.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::Range;

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::error::Pt2Problem;

/// Returns the entries of an archive by their names below its folder, as ranges of `bytes`.
pub(super) fn find_entries(bytes: &[u8]) -> Result<BTreeMap<String, Range<usize>>, Pt2Problem> {
    if bytes.is_empty() {
        return Err(Pt2Problem::Container("the file is empty".to_owned()));
    }
    let mut zip = ZipArchive::new(Cursor::new(bytes))?;
    if zip.has_duplicate_names() {
        return Err(Pt2Problem::DuplicateEntry);
    }
    let (mut entries, mut folder) = (BTreeMap::new(), None);
    for index in 0..zip.len() {
        let file = zip.by_index_raw(index)?;
        let name = file.name()?.into_owned();
        let refuse = |reason| Pt2Problem::Entry { entry: name.clone(), reason };
        if file.encrypted() {
            return Err(refuse("is encrypted"));
        }
        if file.compression() != CompressionMethod::Stored {
            return Err(refuse("is compressed; the entries of a `.pt2` file must be stored as they are"));
        }
        if name.split('/').any(|part| part == "..") || name.starts_with('/') || name.contains('\\') {
            return Err(refuse("leaves the folder of the archive"));
        }
        let Some((root, path)) = name.split_once('/') else {
            return Err(refuse("is outside of the archive's folder"));
        };
        if *folder.get_or_insert_with(|| root.to_owned()) != root {
            return Err(refuse("is outside of the archive's folder"));
        }
        if path.is_empty() || path.ends_with('/') {
            continue;
        }
        let start = file.data_start().and_then(|start| usize::try_from(start).ok());
        let size = usize::try_from(file.compressed_size()).ok();
        let range = start.and_then(|start| Some(start..start.checked_add(size?)?));
        let range = range.filter(|range| range.end <= bytes.len());
        entries.insert(path.to_owned(), range.ok_or_else(|| refuse("reaches beyond the end of the file"))?);
    }
    check_disjoint(&entries)?;
    Ok(entries)
}

/// Returns an error if two entries share bytes: their storages could not be written independently.
fn check_disjoint(entries: &BTreeMap<String, Range<usize>>) -> Result<(), Pt2Problem> {
    let mut ranges: Vec<_> = entries.iter().filter(|(_, range)| !range.is_empty()).collect();
    ranges.sort_by_key(|(_, range)| range.start);
    for pair in ranges.windows(2) {
        if let [(_, first), (name, second)] = pair
            && first.end > second.start
        {
            return Err(Pt2Problem::Entry { entry: (*name).clone(), reason: "shares bytes with another entry" });
        }
    }
    Ok(())
}

impl From<ZipError> for Pt2Problem {
    #[cold]
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::Io(error) => Self::Io(error),
            other => Self::Container(other.to_string()),
        }
    }
}
