//! The projects that `torg stages new` creates: complete, in Python with the SDK included, or in
//! Rust.
//!
//! The templates under `sdk/` are working projects with the name [`NAME`], which is replaced.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the template's stage.
const NAME: &str = "phone-numbers";
const NAME_LENGTH_MAX: usize = 64;
/// The path to the SDK in the Rust template.
const SDK_PATH: &str = "../../../crates/edge/stagekit";
/// The default path to the SDK in a new project: a checkout of Torg next to it.
const SDK_PATH_DEFAULT: &str = "../torg/crates/edge/stagekit";

/// Paths below the folder in `sdk/`, with contents.
type Files = &'static [(&'static str, &'static str)];

macro_rules! files {
    ($folder:literal, [$($path:literal),* $(,)?]) => {
        &[$(($path, include_str!(concat!("../../../../sdk/", $folder, "/", $path)))),*]
    };
}

const PYTHON: Files = files!("python/template", [".gitignore", "README.md", "stage.py", "test_stage.py"]);
const PYTHON_SDK: Files = files!(
    "python",
    [
        "torg_stages/__init__.py",
        "torg_stages/answer.py",
        "torg_stages/errors.py",
        "torg_stages/health.py",
        "torg_stages/patch.py",
        "torg_stages/proto/__init__.py",
        "torg_stages/proto/offer_pb2.py",
        "torg_stages/proto/offer_pb2.pyi",
        "torg_stages/proto/stage_pb2.py",
        "torg_stages/proto/stage_pb2.pyi",
        "torg_stages/proto/state_pb2.py",
        "torg_stages/proto/state_pb2.pyi",
        "torg_stages/py.typed",
        "torg_stages/server.py",
        "torg_stages/service.py",
        "torg_stages/stage.py",
        "torg_stages/state_client.py",
        "torg_stages/testing.py",
        "torg_stages/values.py",
    ]
);
const RUST: Files =
    files!("rust/template", [".gitignore", "Cargo.toml", "README.md", "src/main.rs", "src/stage.rs"]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Includes the SDK; needs only `grpcio`.
    Python,
    /// Uses the SDK from Torg's sources.
    Rust,
}

/// Why no project was created.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The name is not valid for a stage and a package.
    #[error(
        "{0:?} is no name of a stage: letters, digits, - and _, a letter first, {NAME_LENGTH_MAX} at most"
    )]
    Name(String),
    /// The folder is not empty.
    #[error("{} is there already and not empty", .0.display())]
    Occupied(PathBuf),
    /// An I/O error; some files may have been written.
    #[error("{}: {why}", .path.display())]
    Io { path: PathBuf, why: io::Error },
}

/// Creates a project for the stage `name` in `folder`, which must be empty or missing, and returns
/// its files in order. `sdk` is the path from the folder to the crate `stagekit`, for Rust only.
pub fn write_out(
    language: Language,
    name: &str,
    folder: &Path,
    sdk: Option<&str>,
) -> Result<Vec<PathBuf>, TemplateError> {
    check_name(name)?;
    check_free(folder)?;
    let parts: &[Files] = match language {
        Language::Python => &[PYTHON, PYTHON_SDK],
        Language::Rust => &[RUST],
    };
    let mut written = Vec::new();
    for (path, text) in parts.iter().copied().flatten() {
        let target = folder.join(path);
        let text = text.replace(NAME, name).replace(SDK_PATH, sdk.unwrap_or(SDK_PATH_DEFAULT));
        write(&target, &text).map_err(|why| TemplateError::Io { path: target, why })?;
        written.push(PathBuf::from(path));
    }
    Ok(written)
}

fn check_name(name: &str) -> Result<(), TemplateError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let right = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.len() <= NAME_LENGTH_MAX
        && name.bytes().all(allowed);
    if right { Ok(()) } else { Err(TemplateError::Name(name.to_owned())) }
}

fn check_free(folder: &Path) -> Result<(), TemplateError> {
    match fs::read_dir(folder).map(Iterator::count) {
        Ok(1..) => Err(TemplateError::Occupied(folder.to_owned())),
        Ok(0) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(why) => Err(TemplateError::Io { path: folder.to_owned(), why }),
    }
}

fn write(target: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(target, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files under a folder, as paths from there, in order.
    fn files_in(folder: &Path, below: &str) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder.join(below)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
            if entry.file_type().unwrap().is_dir() {
                // Left behind by runs and builds in place.
                if name != "__pycache__" && name != "target" {
                    found.extend(files_in(folder, &path));
                }
            } else if name != "Cargo.lock" {
                found.push(path);
            }
        }
        found.sort();
        found
    }

    #[test]
    fn every_file_of_the_templates_and_the_sdk_is_in_the_binary() {
        let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../sdk");
        let paths = |files: Files| files.iter().map(|(path, _)| (*path).to_owned()).collect::<Vec<_>>();
        assert_eq!(paths(PYTHON), files_in(&sdk.join("python/template"), ""));
        assert_eq!(paths(PYTHON_SDK), files_in(&sdk.join("python"), "torg_stages"));
        assert_eq!(paths(RUST), files_in(&sdk.join("rust/template"), ""));
    }

    #[test]
    fn a_project_has_its_own_name_everywhere() {
        for language in [Language::Python, Language::Rust] {
            let folder = tempfile::tempdir().unwrap();
            let project = folder.path().join("deep/inside");
            let written = write_out(language, "my_Stage-2", &project, None).unwrap();
            let mut named = 0;
            for file in &written {
                let text = fs::read_to_string(project.join(file)).unwrap();
                assert!(!text.contains(NAME) && !text.contains(SDK_PATH), "{}", file.display());
                named += usize::from(text.contains("my_Stage-2"));
            }
            assert!(named >= 2, "{language:?}");
            assert_eq!(written.len(), files_in(&project, "").len());
        }
    }

    #[test]
    fn a_project_in_rust_finds_the_sdk_where_it_is_told() {
        let folder = tempfile::tempdir().unwrap();
        write_out(Language::Rust, "mine", folder.path(), Some("/src/torg/crates/edge/stagekit")).unwrap();
        let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("stagekit = { path = \"/src/torg/crates/edge/stagekit\" }"), "{manifest}");
    }

    #[test]
    fn names_that_no_stage_can_have_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let long = "a".repeat(NAME_LENGTH_MAX + 1);
        for name in ["", "-a", "_a", "1a", "a b", "a/b", "..", "a.b", "straße", &long] {
            let refused = write_out(Language::Python, name, folder.path(), None).unwrap_err();
            assert!(matches!(refused, TemplateError::Name(_)), "{name}");
        }
        assert_eq!(files_in(folder.path(), ""), Vec::<String>::new());
    }

    #[test]
    fn a_folder_with_something_in_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.txt");
        fs::write(&file, "precious").unwrap();
        let refused = write_out(Language::Rust, "mine", folder.path(), None).unwrap_err();
        assert!(matches!(refused, TemplateError::Occupied(_)), "{refused}");
        assert!(matches!(
            write_out(Language::Rust, "mine", &file, None).unwrap_err(),
            TemplateError::Io { .. }
        ));
        assert_eq!(files_in(folder.path(), ""), ["mine.txt"]);
    }
}
