//! Accessibility of the console, checked by axe-core.

use crate::console::browser::{Driver, Width, is_there};
use crate::console::pages::all;
use crate::console::rig;

/// The tool, where `scripts/axe` installs it.
fn axe() -> Option<String> {
    let found =
        std::fs::read_dir(testkit::cache_folder()).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let file = found.filter(|path| path.to_string_lossy().contains("axe-core-")).max()?.join("axe.min.js");
    std::fs::read_to_string(file).ok()
}

#[test]
fn no_page_has_a_serious_finding() {
    let Some(axe) = axe() else {
        testkit::skip("the accessibility of the console", "axe-core is not there (scripts/axe)");
        return;
    };
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let mut pages = all(&server);
    pages.push(("sign-in", "/console/sign-in".to_owned()));
    pages.push(("nothing", "/console/nothing".to_owned()));
    for (width, theme, language) in [(Width::Desktop, "light", "en"), (Width::Phone, "dark", "ru")] {
        let browser = rig::window(&driver, &server, "admin", width, language);
        browser.go("/console/cluster");
        browser.click("details.person summary");
        browser.submit(&format!("button[value={theme}]"));
        for (name, path) in &pages {
            browser.see(path);
            // The tool skips folded parts; forms of actions are folded.
            browser.script("for (const part of document.querySelectorAll('main details')) part.open = true");
            browser.script(&axe);
            let found = browser.script_later(
                "const done = arguments[arguments.length - 1];
                 axe.run(document).then((result) => done(result.passes.length < 5 ? ['axe-core has hardly looked'] : result.violations
                   .filter((violation) => ['serious', 'critical'].includes(violation.impact))
                   .map((violation) => `${violation.id}: ${violation.help}: ${violation.nodes.slice(0, 3).map((node) => node.html).join(' | ')}`)));",
            );
            let found = found.as_array().unwrap_or_else(|| panic!("{name}: {found}"));
            assert!(found.is_empty(), "{name} ({path}), {theme}: {found:#?}");
        }
    }
}
