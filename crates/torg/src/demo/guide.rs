//! What is printed when the demo is ready: where to look, and what to try. Every command works as it is printed.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Context as _;

use super::child::PID_FILE;
use super::folder::Folder;
use super::links::{OWN_NAMESPACE, OWN_SELLER};
use super::stage::ID;
use super::tasks::{RUNS_LOG, TASK, VALUE};
use super::{feeds, sellers};

/// A file to upload, for whoever has none at hand.
const SAMPLE: &str = "sample.xml";
const SAMPLE_TEXT: &str = include_str!("sample.xml");
/// The port that commands ask without being told.
const USUAL_PORT: u16 = 8080;

/// Writes the file to upload, unless it is there.
pub(super) fn write_sample(folder: &Folder) -> anyhow::Result<()> {
    let file = folder.place(SAMPLE);
    if file.exists() {
        return Ok(());
    }
    std::fs::write(&file, SAMPLE_TEXT).with_context(|| format!("cannot write {}", file.display()))
}

/// Where this machine finds the server: on `localhost`, unless that may be another address.
fn site(own: SocketAddr) -> String {
    if own.ip() == IpAddr::from(Ipv4Addr::LOCALHOST) {
        format!("http://localhost:{}", own.port())
    } else {
        format!("http://{own}")
    }
}

/// Where the console is.
pub(super) fn console(own: SocketAddr) -> String {
    format!("{}/console/", site(own))
}

/// The text. `pid` is the process of the outside stage.
pub(super) fn text(folder: &Folder, own: SocketAddr, pid: u32) -> anyhow::Result<String> {
    let program = std::env::current_exe().context("this program has no path")?;
    let torg = quoted(&program);
    let (site, console) = (site(own), console(own));
    let server = if own.port() == USUAL_PORT && own.ip().is_ipv4() {
        String::new()
    } else {
        format!(" --server http://{own}")
    };
    let [sample, pid_file, log] = [SAMPLE, PID_FILE, RUNS_LOG].map(|name| quoted(&folder.place(name)));
    let (shop, mistakes) = (sellers::MISTAKES, feeds::MISTAKES);
    let sign_in = |role: &str| format!("{console}sign-in?as={role}");
    Ok(format!(
        "
The demo of Torg is ready.

  Console     {console}
  As admin    {}
  moderator   {}
  support     {}
  seller      {}&seller={shop}

Five things to try:

1. Watch the overview: offers are published, sold, banned and renewed all the time.
2. Kill the outside stage {ID} and see it recover; what comes meanwhile waits for it. It is back after 20 seconds.
     kill {pid}
     {torg} stages show {ID}{server}
   When it is back it is another process: kill $(cat {pid_file})
3. Open a feed with mistakes, and its report.
     {site}{}{mistakes}.xml
     {torg} feed errors --seller {shop} --namespace {mistakes}{server}
4. Check and upload a file of your own, or this one.
     {torg} feed check {sample}
     {torg} feed upload {sample} --seller {OWN_SELLER} --namespace {OWN_NAMESPACE} --wait{server}
5. Ask a task why it does not run, and move the value that it waits for. Runs write into {log}.
     {torg} tasks explain {TASK}{server}
     {torg} ctl set {VALUE}=now{server}

Everything is in {}. Ctrl-C ends the demo; started again it goes on, with --demo-reset it starts over.
",
        sign_in("admin"),
        sign_in("moderator"),
        sign_in("support"),
        sign_in("seller"),
        feeds::PATH,
        folder.path().display(),
    ))
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '.' | '-' | '_' | '+');
    if text.chars().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Writes to stdout; a reader that went away is no error.
pub(crate) fn say(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to stdout")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_console_is_where_the_demo_listens() {
        let of = |own: &str| console(own.parse().unwrap());
        assert_eq!(of("127.0.0.1:8080"), "http://localhost:8080/console/");
        assert_eq!(of("127.0.0.2:81"), "http://127.0.0.2:81/console/");
        assert_eq!(of("[::1]:81"), "http://[::1]:81/console/");
    }

    #[test]
    fn paths_are_quoted_where_a_shell_would_take_them_apart() {
        assert_eq!(quoted(Path::new("/usr/bin/torg-1.2")), "/usr/bin/torg-1.2");
        assert_eq!(quoted(Path::new("/home/a b/it's")), r"'/home/a b/it'\''s'");
    }
}
