//! A real browser: Debian's Chromium, driven through `WebDriver`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::common::{Answer, PATIENCE};

/// The width of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Desktop,
    Phone,
}

impl Width {
    pub(crate) const BOTH: [Width; 2] = [Width::Desktop, Width::Phone];

    fn size(self) -> (u32, u32) {
        match self {
            Width::Desktop => (1280, 900),
            Width::Phone => (390, 844),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Width::Desktop => "desktop",
            Width::Phone => "phone",
        }
    }
}

/// The driver process; ends with the test.
pub(crate) struct Driver {
    address: SocketAddr,
    child: Child,
    /// Kept open: the driver must be able to write to it.
    _output: BufReader<ChildStdout>,
}

impl Driver {
    pub(crate) fn start() -> Driver {
        let mut child = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let port = output.by_ref().lines().map_while(Result::ok).find_map(|line| {
            line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
        });
        let address = SocketAddr::from(([127, 0, 0, 1], port.expect("chromedriver reports its port")));
        Driver { address, child, _output: output }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a browser is installed; prints that the test is skipped if not.
pub(crate) fn is_there() -> bool {
    let there = Command::new("chromedriver").arg("--version").output().is_ok();
    if !there {
        testkit::skip("the console in a browser", "chromium-driver is not installed");
    }
    there
}

/// The driver's errors when the page changes in the middle of a command.
const PASSING: [&str; 3] = ["aborted by navigation", "Execution context was destroyed", "frame was detached"];
/// The errors of a click on an element that has moved or is gone.
const MOVED: [&str; 2] = ["stale element reference", "element click intercepted"];

/// One window. Every failure here is a panic, because these are tests.
pub(crate) struct Browser<'a> {
    driver: &'a Driver,
    session: String,
    origin: String,
}

impl<'a> Browser<'a> {
    /// A window for the pages of a server, without cookies.
    pub(crate) fn open(driver: &'a Driver, origin: &str, width: Width, language: &str) -> Browser<'a> {
        let (columns, rows) = width.size();
        let arguments = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            // A scroll bar would make a picture narrower than the page.
            "--hide-scrollbars".to_owned(),
            "--force-color-profile=srgb".to_owned(),
            format!("--window-size={columns},{rows}"),
            format!("--lang={language}"),
        ];
        let mut options = json!({
            "args": arguments,
            "prefs": {"intl.accept_languages": language},
        });
        if width == Width::Phone {
            options["mobileEmulation"] = json!({"deviceMetrics": {"width": columns, "height": rows, "pixelRatio": 2.0, "touch": true}});
        }
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "acceptInsecureCerts": true,
            "timeouts": {"script": PATIENCE.as_millis() as u64, "pageLoad": PATIENCE.as_millis() as u64},
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let made = send(driver, "POST", "/session", &wanted);
        let session = made["sessionId"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        Browser { driver, session, origin: origin.to_owned() }
    }

    fn command(&self, verb: &str, path: &str, body: &Value) -> Value {
        send(self.driver, verb, &format!("/session/{}{path}", self.session), body)
    }

    /// Repeats a command that fails because the page is changing.
    fn steadily(&self, path: &str, body: &Value) -> Value {
        let path = format!("/session/{}{path}", self.session);
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = send_raw(self.driver, "POST", &path, body);
            let value = answer.json()["value"].clone();
            if answer.status == 200 {
                return value;
            }
            let is_passing = PASSING.iter().any(|part| value.to_string().contains(part));
            assert!(is_passing && Instant::now() < until, "{path} {body}: {value}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Opens a page by its path.
    pub(crate) fn go(&self, path: &str) {
        let url = if path.starts_with("http") { path.to_owned() } else { format!("{}{path}", self.origin) };
        self.command("POST", "/url", &json!({"url": url}));
    }

    /// Opens a page, and repeats that while a service times out: this machine may be busy with
    /// other tests.
    pub(crate) fn see(&self, path: &str) {
        let until = Instant::now() + PATIENCE;
        self.go(path);
        while self.status() == 503 && Instant::now() < until {
            self.go(path);
        }
    }

    /// The HTTP status of the open page.
    pub(crate) fn status(&self) -> u64 {
        let code = "return performance.getEntriesByType('navigation')[0].responseStatus";
        self.script(code).as_u64().unwrap_or_default()
    }

    /// The path and the query of the page.
    pub(crate) fn place(&self) -> String {
        let url = self.command("GET", "/url", &Value::Null);
        url.as_str().unwrap_or_default().replacen(&self.origin, "", 1)
    }

    /// The return value of a script.
    pub(crate) fn script(&self, code: &str) -> Value {
        self.steadily("/execute/sync", &json!({"script": code, "args": []}))
    }

    /// The value that a script passes to its last argument.
    pub(crate) fn script_later(&self, code: &str) -> Value {
        self.command("POST", "/execute/async", &json!({"script": code, "args": []}))
    }

    /// The visible text of the page.
    pub(crate) fn text(&self) -> String {
        self.script("return document.body?.innerText ?? ''").as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the page shows this text, without a reload by the test.
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(&format!("{text:?} is not on the page"), |browser| browser.text().contains(text));
    }

    /// Waits until the page does not show this text any more.
    pub(crate) fn wait_until_gone(&self, text: &str) {
        self.wait_until(&format!("{text:?} stays on the page"), |browser| !browser.text().contains(text));
    }

    /// Waits until a condition holds.
    pub(crate) fn wait_until(&self, otherwise: &str, holds: impl Fn(&Browser<'_>) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < until, "{otherwise}: {}\n{}", self.place(), self.text());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Whether the page has an element.
    pub(crate) fn has(&self, selector: &str) -> bool {
        self.script(&format!("return document.querySelector({}) !== null", json!(selector)))
            == Value::Bool(true)
    }

    fn element(&self, selector: &str) -> String {
        let found = self.command("POST", "/element", &json!({"using": "css selector", "value": selector}));
        let id = found.as_object().and_then(|object| object.values().next()).and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("{selector} is not on {}:\n{}", self.place(), self.text())).to_owned()
    }

    /// Clicks an element, as a person does.
    pub(crate) fn click(&self, selector: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let id = self.element(selector);
            self.script(&format!(
                "document.querySelector({})?.scrollIntoView({{block: 'center'}})",
                json!(selector)
            ));
            let path = format!("/session/{}/element/{id}/click", self.session);
            let answer = send_raw(self.driver, "POST", &path, &json!({}));
            if answer.status == 200 {
                return;
            }
            // The page was just updated under the pointer.
            let is_passing = MOVED.iter().any(|kind| answer.json()["value"]["error"] == *kind);
            assert!(is_passing && Instant::now() < until, "{selector}: {}", answer.body);
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Replaces the contents of a field, by key presses.
    pub(crate) fn fill(&self, selector: &str, text: &str) {
        let id = self.element(selector);
        self.command("POST", &format!("/element/{id}/clear"), &json!({}));
        self.command("POST", &format!("/element/{id}/value"), &json!({"text": text}));
    }

    /// Chooses a file for a field, or presses keys without clearing it.
    pub(crate) fn send_keys(&self, selector: &str, text: &str) {
        let id = self.element(selector);
        self.command("POST", &format!("/element/{id}/value"), &json!({"text": text}));
    }

    /// Submits the form of an element by its first button, and waits for the next page.
    pub(crate) fn submit(&self, selector: &str) {
        self.script("window.before = true");
        self.click(selector);
        self.wait_until("no next page", |browser| {
            browser.script("return window.before === undefined") == true
        });
    }

    /// Signs in with a key, and repeats that while the check of the key times out: this machine may
    /// be busy with other tests.
    pub(crate) fn sign_in(&self, key: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            self.fill("#token", key);
            self.submit("button.main");
            if self.status() != 503 || Instant::now() > until {
                return;
            }
        }
    }

    /// Accepts a confirmation dialog.
    pub(crate) fn accept(&self) {
        self.command("POST", "/alert/accept", &json!({}));
    }

    /// Errors in the console of the browser since the last look, except timeouts: pages retry.
    pub(crate) fn errors(&self) -> Vec<String> {
        let log = self.command("POST", "/se/log", &json!({"type": "browser"}));
        let entries = log.as_array().cloned().unwrap_or_default();
        let severe = entries.iter().filter(|entry| entry["level"] == "SEVERE");
        let messages = severe.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned());
        messages.filter(|message| !message.contains("status of 503")).collect()
    }

    /// Saves a picture of the whole page among the artefacts.
    pub(crate) fn picture(&self, name: &str) -> PathBuf {
        let full = self.command(
            "POST",
            "/goog/cdp/execute",
            &json!({"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": true}}),
        );
        let bytes = STANDARD.decode(full["data"].as_str().unwrap()).unwrap();
        let folder = pictures();
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{name}.png"));
        std::fs::File::create(&path).unwrap().write_all(&bytes).unwrap();
        path
    }
}

impl Drop for Browser<'_> {
    fn drop(&mut self) {
        // Not during another panic: a second one would abort all tests.
        if !std::thread::panicking() {
            let _ = send_raw(self.driver, "DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
    }
}

/// The folder of pictures: beside the results of the build, for a look after a run.
pub(crate) fn pictures() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("console-pictures")
}

fn send(driver: &Driver, verb: &str, path: &str, body: &Value) -> Value {
    let answer = send_raw(driver, verb, path, body);
    let value = answer.json()["value"].clone();
    assert_eq!(answer.status, 200, "{verb} {path} {body}: {value}");
    value
}

fn send_raw(driver: &Driver, verb: &str, path: &str, body: &Value) -> Answer {
    let mut stream = TcpStream::connect(driver.address).unwrap();
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = format!(
        "{verb} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    read(stream)
}

/// Reads one response: the driver keeps the connection open, even if asked to close it.
fn read(mut stream: TcpStream) -> Answer {
    stream.set_read_timeout(Some(3 * PATIENCE)).unwrap();
    let (mut whole, mut piece) = (Vec::new(), vec![0; 65536]);
    loop {
        let count = stream.read(&mut piece).unwrap();
        whole.extend_from_slice(&piece[..count]);
        let answer = Answer::of(&whole);
        let length = answer.head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: Option<usize> = length.and_then(|length| length.trim().parse().ok());
        if count == 0 || length.is_some_and(|length| answer.bytes.len() >= length) {
            return answer;
        }
    }
}
