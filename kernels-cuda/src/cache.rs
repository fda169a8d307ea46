//! What was compiled, on disk.
//!
//! A kernel has a folder for each architecture, named after all that its code was made of, so a stale one is never asked for. Each file in it
//! is machine code of some instances and says of which: it does not matter whether they were compiled one at a time or together. A file
//! carries a sum of itself, so a broken one is made again, and appears whole: it is written elsewhere and moved there. Where nothing can be
//! written, everything works, and more slowly.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::compiler::Code;
use crate::source::fingerprint;

const MAGIC: &[u8; 8] = b"opdcuda2";

/// Where compiled kernels are kept: in the folder that `OPDISPATCH_CUDA_CACHE` names, or else in `opdispatch/cuda` among the user's caches.
///
/// ```
/// if let Some(folder) = kernels_cuda::cache_folder() {
///     println!("compiled kernels are kept in {}", folder.display());
/// }
/// ```
#[must_use]
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("OPDISPATCH_CUDA_CACHE").or_else(|| {
        let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
        Some(caches.join("opdispatch/cuda"))
    })
}

/// What there is of a kernel, in no order.
pub(crate) fn read(kernel: &str) -> impl Iterator<Item = Code> + use<> {
    let files = cache_folder().and_then(|folder| std::fs::read_dir(folder.join(kernel)).ok());
    files.into_iter().flatten().flatten().filter_map(|file| {
        let code = decoded(&std::fs::read(file.path()).ok()?);
        if code.is_none() {
            _ = std::fs::remove_file(file.path());
        }
        code
    })
}

/// Adds to what there is of a kernel.
pub(crate) fn write(kernel: &str, code: &Code) -> io::Result<()> {
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let folder = cache_folder().ok_or_else(|| io::Error::other("there is no folder for it"))?;
    let unfinished = format!("{kernel}.{}.{}", std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
    let (unfinished, kernel) = (folder.join(unfinished), folder.join(kernel));
    std::fs::create_dir_all(&kernel)?;
    std::fs::write(&unfinished, encoded(code))?;
    std::fs::rename(unfinished, kernel.join(fingerprint(&code.expressions)))
}

fn sum(bytes: &[u8]) -> [u8; 8] {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish().to_le_bytes()
}

fn encoded(code: &Code) -> Vec<u8> {
    let lines: Vec<String> = code.expressions.iter().zip(&code.names).map(|(of, name)| format!("{of}\t{name}")).collect();
    let lines = lines.join("\n");
    let mut body = (lines.len() as u64).to_le_bytes().to_vec();
    body.extend_from_slice(lines.as_bytes());
    body.extend_from_slice(&code.bytes);
    [MAGIC.as_slice(), &sum(&body), &body].concat()
}

fn decoded(bytes: &[u8]) -> Option<Code> {
    let (found, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    if *found != sum(body) {
        return None;
    }
    let (length, body) = body.split_first_chunk::<8>()?;
    let (lines, bytes) = body.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let lines = std::str::from_utf8(lines).ok()?.lines();
    let instances: Option<Vec<(&str, &str)>> = lines.map(|line| line.split_once('\t')).collect();
    let (expressions, names) = instances?.into_iter().map(|(of, name)| (of.to_owned(), name.to_owned())).unzip();
    Some(Code { bytes: bytes.to_vec(), expressions, names })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_read_as_it_was_written_and_no_broken_byte_passes() {
        let code = Code {
            bytes: vec![127, 69, 76, 70, 0, 1],
            expressions: vec!["add<float, i64>".to_owned(), "sub<u8>".to_owned()],
            names: vec!["_Z3add".to_owned(), "_Z3sub".to_owned()],
        };
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
