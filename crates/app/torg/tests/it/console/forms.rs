//! Fills in and submits forms of the console, as a person does.

use serde_json::json;

use crate::common::Server;
use crate::console::browser::{Browser, Driver, Width};
use crate::console::rig;

/// The reason of every action; the histories have it.
pub(crate) const REASON: &str = "tried in a browser";

/// The settings of a user: both languages, a desktop and a phone.
pub(crate) const SETTINGS: [(Width, &str); 2] = [(Width::Desktop, "en"), (Width::Phone, "ru")];

/// Windows of a role, one for each setting, with the number of the setting.
pub(crate) fn windows<'a>(
    driver: &'a Driver,
    server: &Server,
    role: &str,
) -> impl Iterator<Item = (usize, Browser<'a>)> {
    let server = server.url();
    let role = role.to_owned();
    SETTINGS.into_iter().enumerate().map(move |(number, (width, language))| {
        (number, rig::window_at(driver, &server, &role, width, language))
    })
}

impl Browser<'_> {
    /// Unfolds a part of the page, if it is folded.
    pub(crate) fn unfold(&self, id: &str) {
        self.wait_until(&format!("{id} is not there"), |browser| browser.has(&format!("#{id}")));
        self.script(&format!("document.getElementById({}).setAttribute('open', '')", json!(id)));
    }

    /// Sets a field of any kind.
    pub(crate) fn put(&self, selector: &str, text: &str) {
        let kind = self.script(&format!("return document.querySelector({}).type", json!(selector)));
        match kind.as_str().unwrap_or_default() {
            // The key presses of a date depend on the locale.
            "date" | "select-one" => {
                let chosen = self.script(&format!(
                    "const field = document.querySelector({}); field.value = {}; return field.value",
                    json!(selector),
                    json!(text)
                ));
                assert_eq!(chosen, text, "{selector} does not take {text}");
            }
            "checkbox" => self.click(selector),
            _ => self.fill(selector, text),
        }
    }

    /// Presses the button of an action, confirms it if asked, and returns the outcome: whether it
    /// succeeded, and the text.
    pub(crate) fn press(&self, button: &str) -> (bool, String) {
        self.wait_until(&format!("{button} is not there"), |browser| browser.has(button));
        self.script("window.before = true");
        let asks = self.script(&format!(
            "const button = document.querySelector({}); return 'confirm' in button.dataset || 'confirm' in button.form.dataset",
            json!(button)
        ));
        self.click(button);
        if asks == true {
            self.accept();
        }
        self.wait_until("no next page", |browser| {
            browser.script("return window.before === undefined") == true
        });
        self.wait_until("it does not say what came of it", |browser| browser.has(".notice[role=status]"));
        let good = self.has(".notice.good[role=status]");
        let text = self.script("return document.querySelector('.notice[role=status]').innerText");
        (good, text.as_str().unwrap_or_default().to_owned())
    }

    /// The same for an action that has to succeed.
    pub(crate) fn does(&self, button: &str) -> String {
        let (good, text) = self.press(button);
        assert!(good, "{button} on {}: {text}", self.place());
        text
    }

    /// Unfolds a form, fills it in, and submits it.
    pub(crate) fn does_with(&self, id: &str, fields: &[(&str, &str)]) -> String {
        self.unfold(id);
        for (field, text) in fields {
            self.put(field, text);
        }
        self.does(&format!("#{id} form button"))
    }
}
