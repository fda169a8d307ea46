//! What was compiled, on disk.
//!
//! A file is named after all that made it, so a stale one is never asked for, and carries a sum of itself, so a broken one is made again.
//! Files appear whole: each is written beside its place and moved there. Where nothing can be written, everything works, and more slowly.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use crate::compiler::Code;

const MAGIC: &[u8; 8] = b"opdcuda1";

/// Where files are: the folder named by `OPDISPATCH_CUDA_CACHE`, or else `opdispatch/cuda` among the user's caches.
pub(crate) fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("OPDISPATCH_CUDA_CACHE").or_else(|| {
        let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
        Some(caches.join("opdispatch/cuda"))
    })
}

pub(crate) fn read(key: &str) -> Option<Code> {
    let file = folder()?.join(key);
    let bytes = std::fs::read(&file).ok()?;
    let code = decoded(&bytes);
    if code.is_none() {
        _ = std::fs::remove_file(file);
    }
    code
}

pub(crate) fn write(key: &str, code: &Code) {
    place(key, &encoded(code));
}

/// Puts a file into the folder, whole or not at all.
pub(crate) fn place(name: &str, bytes: &[u8]) -> Option<PathBuf> {
    let folder = folder()?;
    std::fs::create_dir_all(&folder).ok()?;
    let (beside, file) = (folder.join(format!("{name}.{}", std::process::id())), folder.join(name));
    std::fs::write(&beside, bytes).ok()?;
    std::fs::rename(&beside, &file).ok()?;
    Some(file)
}

fn sum(bytes: &[u8]) -> [u8; 8] {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish().to_le_bytes()
}

fn encoded(code: &Code) -> Vec<u8> {
    let names = code.names.join("\n");
    let mut body = (names.len() as u64).to_le_bytes().to_vec();
    body.extend_from_slice(names.as_bytes());
    body.extend_from_slice(&code.bytes);
    [MAGIC.as_slice(), &sum(&body), &body].concat()
}

fn decoded(bytes: &[u8]) -> Option<Code> {
    let (found, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    if *found != sum(body) {
        return None;
    }
    let (length, body) = body.split_first_chunk::<8>()?;
    let (names, bytes) = body.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let names = std::str::from_utf8(names).ok()?.split('\n').map(str::to_owned).collect();
    Some(Code { bytes: bytes.to_vec(), names })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_read_as_it_was_written_and_no_broken_byte_passes() {
        let code = Code { bytes: vec![127, 69, 76, 70, 0, 1], names: vec!["_Z3add".to_owned(), "_Z3sub".to_owned()] };
        let whole = encoded(&code);
        assert_eq!(decoded(&whole), Some(code));
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 1;
            assert_eq!(decoded(&broken), None, "byte {at}");
            assert_eq!(decoded(&whole[..at]), None, "cut at {at}");
        }
    }
}
