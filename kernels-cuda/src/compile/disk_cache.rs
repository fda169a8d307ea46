//! The disk cache of compiled kernels.
//!
//! A kernel has a folder for each architecture. The folder's name has a fingerprint of all inputs of the compilation, so outdated code is
//! never found. Each file in it holds machine code of some instances and lists them: instances may be compiled one at a time or together. A
//! file's name begins with the compiler's version, as another version generates other code. A file has a checksum, so a damaged one is
//! detected and compiled again. A file is written under another name and then renamed, so it is never seen half-written. If the folder
//! cannot be written, each process compiles its kernels again.
//!
//! The checksum detects accidental damage, not an attack: the folder must be as trusted as the program's executable.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::compile::fingerprint::Fingerprint;
use crate::compile::nvrtc::Code;

const MAGIC: &[u8; 8] = b"opdcuda3";

/// Returns the folder of compiled kernels: the one that `OPDISPATCH_CUDA_CACHE` names, or else `opdispatch/cuda` in the user's cache
/// folder. Returns `None` if neither is known.
///
/// Code from this folder is executed, so only the program's user may have permission to write there.
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

/// Reads the cached codes of a kernel by one version of the compiler, in no particular order.
pub(crate) fn read(kernel: &str, maker: &str) -> impl Iterator<Item = Code> {
    cache_folder().into_iter().flat_map(move |folder| found(&folder.join(kernel), maker))
}

/// Adds code of a kernel to the cache.
pub(crate) fn write(kernel: &str, maker: &str, code: &Code) -> io::Result<()> {
    let folder = cache_folder().ok_or_else(|| io::Error::other("there is no folder for it"))?;
    put(&folder, kernel, maker, code)
}

fn found<'a>(folder: &Path, maker: &'a str) -> impl Iterator<Item = Code> + use<'a> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter(move |file| file.file_name().as_encoded_bytes().starts_with(maker.as_bytes())).filter_map(|file| {
        let code = decoded(&fs::read(file.path()).ok()?);
        if code.is_none() {
            _ = fs::remove_file(file.path());
        }
        code
    })
}

fn put(folder: &Path, kernel: &str, maker: &str, code: &Code) -> io::Result<()> {
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let unfinished = format!("{kernel}.{}.{}", std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
    let (unfinished, kernel) = (folder.join(unfinished), folder.join(kernel));
    fs::create_dir_all(&kernel)?;
    fs::write(&unfinished, encoded(code))?;
    fs::rename(unfinished, kernel.join(name(maker, &code.expressions)))
}

fn name(maker: &str, expressions: &[String]) -> String {
    format!("{maker}{}", Fingerprint::new().part(maker).parts(expressions))
}

fn sum(bytes: &[u8]) -> [u8; 16] {
    Fingerprint::new().bytes(bytes).to_bytes()
}

fn encoded(code: &Code) -> Vec<u8> {
    let lines: Vec<String> =
        code.expressions.iter().zip(&code.names).map(|(of, name)| format!("{of}\t{name}")).collect();
    let lines = lines.join("\n");
    let mut body = (lines.len() as u64).to_le_bytes().to_vec();
    body.extend_from_slice(lines.as_bytes());
    body.extend_from_slice(&code.bytes);
    [MAGIC.as_slice(), &sum(&body), &body].concat()
}

fn decoded(bytes: &[u8]) -> Option<Code> {
    let (found, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<16>()?;
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

    fn code(expressions: &[&str]) -> Code {
        let expressions: Vec<String> = expressions.iter().map(|&expression| expression.to_owned()).collect();
        let names = expressions.iter().map(|expression| format!("_Z{expression}")).collect();
        Code { bytes: vec![127, 69, 76, 70, 0, 10], expressions, names }
    }

    #[test]
    fn code_is_read_as_it_was_written_and_no_broken_byte_passes() {
        let code = code(&["add<float, i64>", "sub<u8>"]);
        let whole = encoded(&code);
        assert_eq!(decoded(&whole), Some(code));
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 1;
            assert_eq!(decoded(&broken), None, "byte {at}");
            assert_eq!(decoded(&whole[..at]), None, "cut at {at}");
        }
    }

    /// A temporary folder, which is removed when the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("opdispatch-{name}-{}", std::process::id()));
            _ = fs::remove_dir_all(&folder);
            Self(folder)
        }

        fn put(&self, kernel: &str, code: &Code) {
            put(&self.0, kernel, "13.0-", code).unwrap();
        }

        /// Returns the instances of a kernel that the folder has.
        fn of(&self, kernel: &str) -> Vec<Vec<String>> {
            self.made(kernel, "13.0-")
        }

        fn made(&self, kernel: &str, maker: &str) -> Vec<Vec<String>> {
            let mut all: Vec<_> = found(&self.0.join(kernel), maker).map(|code| code.expressions).collect();
            all.sort_unstable();
            all
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_broken_file_goes_and_the_others_of_its_kernel_stay() {
        let folder = Folder::new("broken");
        assert!(folder.of("add").is_empty());
        folder.put("add", &code(&["add<float>"]));
        folder.put("add", &code(&["add<u8>", "add<i8>"]));
        folder.put("mul", &code(&["mul<float>"]));
        assert_eq!(folder.of("add"), [vec!["add<float>"], vec!["add<u8>", "add<i8>"]]);

        let broken = folder.0.join("add").join(name("13.0-", &["add<float>".to_owned()]));
        let whole = fs::read(&broken).unwrap();
        fs::write(&broken, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(folder.of("add"), [["add<u8>", "add<i8>"]]);
        assert!(!broken.exists());
        folder.put("add", &code(&["add<float>"]));
        assert_eq!(folder.of("add").len(), 2);
        assert_eq!(folder.of("mul"), [["mul<float>"]]);
    }

    #[test]
    fn many_write_at_once_and_nobody_reads_half_a_file_or_loses_one() {
        let folder = Folder::new("many");
        let large = |writer: usize, round: usize| Code {
            bytes: vec![1; 1 << 16],
            // Each writer has code of its own, and one that all of them write.
            ..code(&[if round == 0 { "add<same>".to_owned() } else { format!("add<{writer}, {round}>") }.as_str()])
        };
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    for round in 0..8 {
                        folder.put("add", &large(writer, round));
                        // A damaged file would be removed.
                        assert!(!folder.of("add").is_empty());
                    }
                });
            }
        });
        assert_eq!(folder.of("add").len(), 4 * 7 + 1);
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "nothing unfinished is left");
    }

    #[test]
    fn another_compiler_makes_its_own_and_where_there_is_none_any_will_do() {
        let folder = Folder::new("makers");
        folder.put("add", &code(&["add<float>"]));
        assert!(folder.made("add", "13.1-").is_empty());
        assert_eq!(folder.made("add", ""), [["add<float>"]]);
        put(&folder.0, "add", "13.1-", &code(&["add<float>"])).unwrap();
        assert_eq!((folder.of("add").len(), folder.made("add", "").len()), (1, 2));
    }

    #[test]
    fn where_nothing_can_be_written_the_writer_is_told() {
        let folder = Folder::new("file");
        fs::write(&folder.0, "not a folder").unwrap();
        assert!(put(&folder.0, "add", "13.0-", &code(&["add<float>"])).is_err());
        assert!(folder.of("add").is_empty());
        fs::remove_file(&folder.0).unwrap();
    }
}
