//! The folder that the project tools may look into, and what is inside it.
//!
//! Purely about where a path leads and which names are off limits; reading is done elsewhere. The check and the use
//! of a path are two steps, so a program that changes links in the folder at that very moment is not kept out.

use crate::error::Error;
use crate::tool::ToolError;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Longest path that is looked at, in bytes.
const MAX_PATH: usize = 4096;
/// Names with a leading dot that hold no secrets.
const OPEN_DOT_NAMES: [&str; 7] =
    [".editorconfig", ".gitattributes", ".github", ".gitignore", ".prettierrc", ".python-version", ".rustfmt.toml"];
/// Extensions of keys and of stores of keys.
const SECRET_EXTENSIONS: [&str; 8] = ["jks", "kdbx", "key", "keystore", "p12", "pem", "pfx", "tfstate"];
/// Beginnings of file names that hold secrets.
const SECRET_PREFIXES: [&str; 7] =
    ["credentials", "id_dsa", "id_ecdsa", "id_ed25519", "id_rsa", "secrets.", "service-account"];

/// A folder that reading is confined to. Cloning shares it.
#[derive(Clone, Debug)]
pub struct ProjectRoot {
    /// Without links.
    path: Arc<Path>,
}

/// A file or folder that is known to be inside the root.
pub(super) struct Place {
    /// Without links.
    pub(super) path: PathBuf,
    /// From the root, as it is shown.
    pub(super) shown: String,
}

impl ProjectRoot {
    /// Takes a folder.
    ///
    /// # Errors
    /// [`Error::Configuration`] when it does not exist, is no folder, or is the whole file system.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let given = path.as_ref();
        let refuse = |why: &str| {
            Error::configuration(format!("cannot use {given:?} as the project folder: {why}; name another with --root"))
        };
        let path = given.canonicalize().map_err(|error| refuse(&error.to_string()))?;
        if !path.is_dir() {
            return Err(refuse("it is no folder"));
        }
        if path.parent().is_none() {
            return Err(refuse("it is the root of the file system"));
        }
        Ok(Self { path: path.into() })
    }

    /// The folder, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the folder.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or(OsStr::new("project")).to_string_lossy().into_owned()
    }

    /// Finds a path that a model wrote.
    ///
    /// # Errors
    /// In words for the model: why the path is refused, or that nothing is there.
    pub(super) fn find(&self, raw: &str) -> Result<Place, ToolError> {
        let raw = raw.trim();
        if raw.is_empty() || raw.len() > MAX_PATH || raw.contains('\0') {
            return Err(ToolError::failed("path must name a file of the project, for example README.md"));
        }
        let asked = Path::new(raw);
        let mut relative = PathBuf::new();
        for component in asked.components() {
            match component {
                Component::Normal(name) => relative.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(ToolError::denied(format!(
                        "{raw}: only paths inside the project are allowed, relative to its folder and without '..'"
                    )));
                }
            }
        }
        refuse_secrets(&relative, raw)?;
        let path = self.path.join(&relative).canonicalize().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => ToolError::failed(format!(
                "{raw}: there is no such file in the project; project_info shows what there is"
            )),
            _ => ToolError::internal(format!("cannot look at {raw}"), error),
        })?;
        // A link may lead anywhere: what counts is where it ends.
        let Ok(inside) = path.strip_prefix(&self.path) else {
            return Err(ToolError::denied(format!("{raw}: this link leads out of the project")));
        };
        refuse_secrets(inside, raw)?;
        let shown = relative.to_string_lossy().into_owned();
        Ok(Place { path, shown })
    }
}

/// Refuses a path that has a secret name in it.
fn refuse_secrets(path: &Path, raw: &str) -> Result<(), ToolError> {
    match path.components().any(|component| is_secret(component.as_os_str())) {
        false => Ok(()),
        true => Err(ToolError::denied(format!("{raw}: files that may hold secrets are not shown"))),
    }
}

/// Whether a name is one that usually holds secrets: hidden files and folders, keys, stored credentials.
pub(super) fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_lowercase();
    let hidden = name.starts_with('.') && !OPEN_DOT_NAMES.contains(&name.as_str());
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    hidden
        || extension.is_some_and(|extension| SECRET_EXTENSIONS.contains(&extension))
        || SECRET_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
