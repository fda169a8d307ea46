//! Writing of a file that replaces another as a whole.

use std::fs;
use std::path::Path;

use crate::error::{FileError, FileProblem};

/// Writes a file: `write` fills a new file in the same folder, which then gets the name `path`. If `write` fails, or the program is
/// interrupted, a file that has this name stays as it is. A symbolic link stays, and the file that it leads to is replaced.
pub(crate) fn replace_file(path: &Path, write: impl FnOnce(&Path) -> Result<(), FileError>) -> Result<(), FileError> {
    let io_error = |error: std::io::Error| FileError::new(path, FileProblem::Io(error));
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".saving-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let new = builder.tempfile_in(folder).map_err(io_error)?;
    // The permissions of the file that is replaced, or those that the system gives to new files.
    let permissions = fs::metadata(&target).or_else(|_| new.as_file().metadata()).map_err(io_error)?.permissions();
    // From here on, the file is deleted if this function returns before it is renamed.
    let new = new.into_temp_path();
    write(&new)?;
    fs::OpenOptions::new().write(true).open(&new).and_then(|file| file.sync_all()).map_err(io_error)?;
    fs::set_permissions(&new, permissions).map_err(io_error)?;
    new.persist(&target).map_err(|error| io_error(error.error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_write_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        fs::write(&path, "old").unwrap();
        let result = replace_file(&path, |new| {
            fs::write(new, "half of the new").unwrap();
            Err(FileError::new(&path, FileProblem::NotAnArray))
        });
        assert!(result.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        replace_file(&link, |new| fs::write(new, "new").map_err(|error| FileError::new(new, error))).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
