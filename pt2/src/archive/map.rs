//! Archives and programs in mapped files.

#![allow(unsafe_code)]

use std::fs::File;
use std::path::Path;

use super::Archive;
use super::memory::FileMemory;
use crate::error::{Pt2Error, Pt2Problem};
use crate::program::Program;

impl Archive {
    /// Maps an archive into memory, so that the system reads each part of the file when it is first used. Mapping takes about a millisecond
    /// for a file of any size.
    ///
    /// The file is never written: a tensor that is changed gets memory of its own.
    ///
    /// ```
    /// use dispatch_pt2::Archive;
    ///
    /// // SAFETY: nothing changes the file while this program runs.
    /// let archive = unsafe { Archive::map("tests/programs/mlp.pt2") }?;
    /// assert_eq!(archive.program_names().collect::<Vec<_>>(), ["model"]);
    /// # Ok::<(), dispatch_pt2::Pt2Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
    ///
    /// # Safety
    ///
    /// No process may change or shorten the file while the archive, one of its programs, or one of their tensors is in use. Replacing the
    /// file by another one of its name is fine.
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self, Pt2Error> {
        let path = path.as_ref();
        let refuse = |problem: Pt2Problem| Pt2Error::new(path, problem);
        let file = File::open(path).map_err(|error| refuse(error.into()))?;
        // SAFETY: the caller keeps the file unchanged while the memory is in use.
        let memory = unsafe { FileMemory::map(&file) }.map_err(refuse)?;
        Self::from_memory(path, memory)
    }
}

impl Program {
    /// Loads a program as [`load`](Self::load) does, from a file that is mapped into memory: see [`Archive::map`].
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_pt2::Program;
    ///
    /// // SAFETY: nothing changes the file while this program runs.
    /// let program = unsafe { Program::map("tests/programs/mlp.pt2") }?;
    /// assert_eq!(program.input_names(), ["x"]);
    /// # Ok::<(), dispatch_pt2::Pt2Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`load`](Self::load).
    ///
    /// # Safety
    ///
    /// No process may change or shorten the file while the program or one of its tensors is in use.
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self, Pt2Error> {
        // SAFETY: the caller keeps the file unchanged while the program is in use.
        unsafe { Archive::map(path) }?.only_program()
    }
}
