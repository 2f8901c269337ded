//! The packages that a build of Torg needs: the README agrees with the build of the image.

use std::collections::BTreeSet;

use crate::docs::blocks::root;

/// The packages of Debian's `build-essential`.
const BUILD_ESSENTIAL: [&str; 5] = ["dpkg-dev", "g++", "gcc", "libc6-dev", "make"];

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The packages that an apt command installs, up to the end of its line.
fn packages(line: &str) -> BTreeSet<&str> {
    let words = line.split_whitespace().map(|word| word.trim_end_matches('\\'));
    words.filter(|word| !word.is_empty() && !word.starts_with("--")).collect()
}

#[test]
fn whoever_installs_what_the_readme_names_has_what_the_image_is_built_with() {
    let (readme, image) = (read("README.md"), read("Dockerfile"));
    let named = readme.split("`sudo apt install ").nth(1).unwrap().split('`').next().unwrap();
    let mut installed = packages(named);
    assert!(installed.contains("build-essential"), "{installed:?}");
    installed.extend(BUILD_ESSENTIAL);
    // The first stage builds; the second one runs the result.
    let build = image.split("\nFROM ").nth(1).unwrap();
    let line = build.lines().find_map(|line| line.split_once("apt-get install ")).unwrap().1;
    let needed = packages(line);
    assert!(needed.len() >= 3, "{needed:?}");
    let missing: Vec<_> = needed.difference(&installed).collect();
    assert!(missing.is_empty(), "the README does not name {missing:?}");
    // The list is in one place: contributors get a link.
    assert!(!read("CONTRIBUTING.md").contains("apt install"));
}
