//! Completions and manual pages.

use std::process::{Command, Stdio};

use crate::common::{run, torg};

/// Runs a program over a file; `None` if this machine does not have the program.
fn over(program: &str, arguments: &[&str], file: &std::path::Path) -> Option<(bool, String)> {
    let output = Command::new(program).args(arguments).arg(file).stdin(Stdio::null()).output().ok()?;
    Some((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn completions_are_scripts_that_shells_can_read() {
    let folder = tempfile::tempdir().unwrap();
    for (shell, begins) in [
        ("bash", "_torg"),
        ("zsh", "#compdef torg"),
        ("fish", "#"),
        ("elvish", "\nuse"),
        ("powershell", "\nusing"),
    ] {
        let ended = run(torg(&folder, &["completions", shell]));
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{shell}");
        assert!(ended.stdout.contains(begins.trim()) && ended.stdout.contains("doctor"), "{shell}");
        let file = folder.path().join(shell);
        std::fs::write(&file, ended.stdout).unwrap();
        if let Some((read, errors)) = over(shell, &["-n"], &file).filter(|_| shell != "powershell") {
            assert!(read, "{shell}: {errors}");
        }
    }
    assert_eq!(run(torg(&folder, &["completions", "cobol"])).code, Some(2));
}

#[test]
fn every_command_has_a_manual_page_that_can_be_shown() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(torg(&folder, &["man", "--out", "pages"]));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for page in ["torg.1", "torg-doctor.1", "torg-stages-recrawl-start.1", "torg-ctl-set.1"] {
        let page = folder.path().join("pages").join(page);
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.contains(".SH NAME"), "{text}");
        if let Some((shown, errors)) = over("groff", &["-man", "-Tutf8", "-ww"], &page) {
            assert!(shown && errors.is_empty(), "{}: {errors}", page.display());
        }
    }
    // Other files of that folder do not count.
    let made = std::fs::read_dir(folder.path().join("pages")).unwrap().count();
    assert!(made > 50 && ended.stdout.starts_with(&format!("{made} pages in pages")), "{}", ended.stdout);
    std::fs::write(folder.path().join("pages/git.1"), "").unwrap();
    assert_eq!(run(torg(&folder, &["man", "--out", "pages"])).stdout, ended.stdout);
    assert_eq!(
        run(torg(&folder, &["man"])).stdout,
        std::fs::read_to_string(folder.path().join("pages/torg.1")).unwrap()
    );
    std::fs::write(folder.path().join("file"), "").unwrap();
    let refused = run(torg(&folder, &["man", "--out", "file"]));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("hint: ") && refused.stderr.contains("--out"), "{}", refused.stderr);
}
