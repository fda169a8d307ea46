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

const FILE_MAGIC: &[u8; 8] = b"opdcuda3";

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
pub(crate) fn read_kernel_codes(kernel: &str, file_prefix: &str) -> impl Iterator<Item = Code> {
    cache_folder().into_iter().flat_map(move |folder| read_codes_in_folder(&folder.join(kernel), file_prefix))
}

/// Adds code of a kernel to the cache.
pub(crate) fn write_code(kernel: &str, file_prefix: &str, code: &Code) -> io::Result<()> {
    let folder = cache_folder().ok_or_else(|| io::Error::other("the cache folder is unknown"))?;
    write_code_file(&folder, kernel, file_prefix, code)
}

fn read_codes_in_folder<'a>(folder: &Path, file_prefix: &'a str) -> impl Iterator<Item = Code> + use<'a> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter(move |file| file.file_name().as_encoded_bytes().starts_with(file_prefix.as_bytes())).filter_map(
        |file| {
            let code = decode_code(&fs::read(file.path()).ok()?);
            if code.is_none() {
                _ = fs::remove_file(file.path());
            }
            code
        },
    )
}

fn write_code_file(folder: &Path, kernel: &str, file_prefix: &str, code: &Code) -> io::Result<()> {
    static FILES_WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let unfinished = format!("{kernel}.{}.{}", std::process::id(), FILES_WRITTEN.fetch_add(1, Ordering::Relaxed));
    let (unfinished, kernel) = (folder.join(unfinished), folder.join(kernel));
    fs::create_dir_all(&kernel)?;
    fs::write(&unfinished, encode_code(code))?;
    fs::rename(unfinished, kernel.join(code_file_name(file_prefix, &code.expressions)))
}

fn code_file_name(file_prefix: &str, expressions: &[String]) -> String {
    format!("{file_prefix}{}", Fingerprint::new().add_text(file_prefix).add_texts(expressions))
}

fn checksum(bytes: &[u8]) -> [u8; 16] {
    Fingerprint::new().add_bytes(bytes).to_bytes()
}

fn encode_code(code: &Code) -> Vec<u8> {
    let lines: Vec<String> =
        code.expressions.iter().zip(&code.names).map(|(of, name)| format!("{of}\t{name}")).collect();
    let lines = lines.join("\n");
    let mut body = (lines.len() as u64).to_le_bytes().to_vec();
    body.extend_from_slice(lines.as_bytes());
    body.extend_from_slice(&code.bytes);
    [FILE_MAGIC.as_slice(), &checksum(&body), &body].concat()
}

fn decode_code(bytes: &[u8]) -> Option<Code> {
    let (found, body) = bytes.strip_prefix(FILE_MAGIC)?.split_first_chunk::<16>()?;
    if *found != checksum(body) {
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

    fn code_with_instances(expressions: &[&str]) -> Code {
        let expressions: Vec<String> = expressions.iter().map(|&expression| expression.to_owned()).collect();
        let names = expressions.iter().map(|expression| format!("_Z{expression}")).collect();
        Code { bytes: vec![127, 69, 76, 70, 0, 10], expressions, names }
    }

    #[test]
    fn code_is_read_as_written_and_any_changed_byte_is_detected() {
        let code = code_with_instances(&["add<float, i64>", "sub<u8>"]);
        let whole = encode_code(&code);
        assert_eq!(decode_code(&whole), Some(code));
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 1;
            assert_eq!(decode_code(&broken), None, "byte {at}");
            assert_eq!(decode_code(&whole[..at]), None, "cut at {at}");
        }
    }

    /// A temporary folder, which is removed when the test ends.
    struct TemporaryFolder(PathBuf);

    impl TemporaryFolder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("opdispatch-{name}-{}", std::process::id()));
            _ = fs::remove_dir_all(&folder);
            Self(folder)
        }

        fn write_file(&self, kernel: &str, code: &Code) {
            write_code_file(&self.0, kernel, "13.0-", code).unwrap();
        }

        /// Returns the instances of a kernel that the folder has.
        fn instances_of(&self, kernel: &str) -> Vec<Vec<String>> {
            self.instances_with_prefix(kernel, "13.0-")
        }

        fn instances_with_prefix(&self, kernel: &str, file_prefix: &str) -> Vec<Vec<String>> {
            let mut all: Vec<_> =
                read_codes_in_folder(&self.0.join(kernel), file_prefix).map(|code| code.expressions).collect();
            all.sort_unstable();
            all
        }
    }

    impl Drop for TemporaryFolder {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_damaged_file_is_removed_and_other_files_are_kept() {
        let folder = TemporaryFolder::new("broken");
        assert!(folder.instances_of("add").is_empty());
        folder.write_file("add", &code_with_instances(&["add<float>"]));
        folder.write_file("add", &code_with_instances(&["add<u8>", "add<i8>"]));
        folder.write_file("mul", &code_with_instances(&["mul<float>"]));
        assert_eq!(folder.instances_of("add"), [vec!["add<float>"], vec!["add<u8>", "add<i8>"]]);

        let broken = folder.0.join("add").join(code_file_name("13.0-", &["add<float>".to_owned()]));
        let whole = fs::read(&broken).unwrap();
        fs::write(&broken, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(folder.instances_of("add"), [["add<u8>", "add<i8>"]]);
        assert!(!broken.exists());
        folder.write_file("add", &code_with_instances(&["add<float>"]));
        assert_eq!(folder.instances_of("add").len(), 2);
        assert_eq!(folder.instances_of("mul"), [["mul<float>"]]);
    }

    #[test]
    fn concurrent_writers_lose_no_file_and_leave_none_half_written() {
        let folder = TemporaryFolder::new("many");
        let large = |writer: usize, round: usize| Code {
            bytes: vec![1; 1 << 16],
            // Each writer writes one code that all writers write, and codes that no other writer writes.
            ..code_with_instances(&[if round == 0 {
                "add<same>".to_owned()
            } else {
                format!("add<{writer}, {round}>")
            }
            .as_str()])
        };
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    for round in 0..8 {
                        folder.write_file("add", &large(writer, round));
                        // Reading the folder removes damaged files, so the count below would be too small.
                        assert!(!folder.instances_of("add").is_empty());
                    }
                });
            }
        });
        assert_eq!(folder.instances_of("add").len(), 4 * 7 + 1);
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn code_of_another_compiler_version_is_used_only_without_a_compiler() {
        let folder = TemporaryFolder::new("makers");
        folder.write_file("add", &code_with_instances(&["add<float>"]));
        assert!(folder.instances_with_prefix("add", "13.1-").is_empty());
        assert_eq!(folder.instances_with_prefix("add", ""), [["add<float>"]]);
        write_code_file(&folder.0, "add", "13.1-", &code_with_instances(&["add<float>"])).unwrap();
        assert_eq!((folder.instances_of("add").len(), folder.instances_with_prefix("add", "").len()), (1, 2));
    }

    #[test]
    fn a_write_to_an_invalid_folder_is_an_error() {
        let folder = TemporaryFolder::new("file");
        fs::write(&folder.0, "not a folder").unwrap();
        assert!(write_code_file(&folder.0, "add", "13.0-", &code_with_instances(&["add<float>"])).is_err());
        assert!(folder.instances_of("add").is_empty());
        fs::remove_file(&folder.0).unwrap();
    }
}
