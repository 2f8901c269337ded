//! The text printed when the demo is ready: addresses and commands to try. Every command works as
//! printed, and the text fits on one screen.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Context as _;

use super::child::PID_FILE;
use super::folder::Folder;
use super::links::{OWN_NAMESPACE, OWN_SELLER};
use super::stage::ID;
use super::tasks::{RUNS_LOG, TASK, VALUE};
use super::{feeds, sellers};
use text::shell::quoted;

/// A sample file to upload.
const SAMPLE: &str = "sample.xml";
const SAMPLE_TEXT: &str = include_str!("sample.xml");

/// Writes the sample file, unless it exists.
pub(super) fn write_sample(folder: &Folder) -> anyhow::Result<()> {
    if folder.place(SAMPLE).exists() { Ok(()) } else { folder.write_text(SAMPLE, SAMPLE_TEXT) }
}

/// The local address of the server: on `localhost`, unless that may resolve to another address.
fn site(own: SocketAddr) -> String {
    if own.ip() == IpAddr::from(Ipv4Addr::LOCALHOST) {
        format!("http://localhost:{}", own.port())
    } else {
        format!("http://{own}")
    }
}

/// The address of the console.
pub(super) fn console(own: SocketAddr) -> String {
    format!("{}/console/", site(own))
}

/// Renders the text. `asked_here` is the default address of commands, `pid` the process id of the
/// outside stage.
pub(super) fn text(
    folder: &Folder,
    own: SocketAddr,
    asked_here: Option<&str>,
    pid: u32,
) -> anyhow::Result<String> {
    let program = std::env::current_exe().context("this program has no path")?;
    Ok(text_of(&program, folder.path(), own, asked_here, pid))
}

fn text_of(program: &Path, folder: &Path, own: SocketAddr, asked_here: Option<&str>, pid: u32) -> String {
    let torg = quoted(&program.to_string_lossy());
    let (console, server) = (console(own), format!("http://{own}"));
    let server =
        if asked_here == Some(&*server) { String::new() } else { format!(" --server {}", quoted(&server)) };
    let [sample, pid_file] = [SAMPLE, PID_FILE].map(|name| quoted(&folder.join(name).to_string_lossy()));
    let (furniture, good, filmed) = (sellers::GOOD, feeds::GOOD, feeds::filmed());
    let (shop, mistakes) = (sellers::MISTAKES, feeds::MISTAKES);
    let sign_in = |role: &str| format!("{console}sign-in?as={role}");
    format!(
        "
The demo of Torg is ready.

  Console     {console}
  As admin    {}
  moderator   {}
  support     {}
  seller      {}&seller={shop}

Five things to try:

1. Watch the overview: people publish, sell, ban and renew. Open an offer:
     {console}offers?q={furniture}/{good}/{filmed}
2. Kill the outside stage; what comes meanwhile waits. It is back in 20 s,
   as another process: kill $(cat {pid_file})
     {console}stages/{ID}
     kill {pid}
     {torg} stages show {ID}{server}
3. See what was wrong in a feed with mistakes.
     {console}feeds/{shop}/{mistakes}/loads/last
     {torg} feed errors --seller {shop} --namespace {mistakes}{server}
4. Drop a file of your own on this page, or check and upload this one.
     {console}feeds/{OWN_SELLER}/{OWN_NAMESPACE}
     {torg} feed check {sample}
     {torg} feed upload {sample} --seller {OWN_SELLER} --namespace {OWN_NAMESPACE} --wait{server}
5. Ask a task why it does not run, and move its value. Runs write {RUNS_LOG}.
     {console}tasks/{TASK}
     {torg} tasks explain {TASK}{server}
     {torg} ctl set {VALUE}=now{server}

Everything is in {}.
Ctrl-C ends it; started again it goes on, with --demo-reset it starts over.
",
        sign_in("admin"),
        sign_in("moderator"),
        sign_in("support"),
        sign_in("seller"),
        folder.display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(address: &str) -> SocketAddr {
        address.parse().unwrap()
    }

    #[test]
    fn commands_name_the_server_unless_they_ask_it_anyway() {
        let servers = |address: &str, asked_here: Option<&str>| {
            let text = text_of(Path::new("torg"), Path::new("/demo"), own(address), asked_here, 1);
            text.matches(" --server ").count()
        };
        let usual = Some("http://127.0.0.1:8080");
        assert_eq!(servers("127.0.0.1:8080", usual), 0);
        for (address, asked_here) in [
            ("127.0.0.1:8080", None),
            ("127.0.0.1:8080", Some("https://127.0.0.1:8080")),
            ("127.0.0.1:8080", Some("http://127.0.0.1:9090")),
            ("127.0.0.2:8080", usual),
            ("127.0.0.1:8081", usual),
        ] {
            assert_eq!(servers(address, asked_here), 5, "{address} {asked_here:?}");
        }
        let text = text_of(Path::new("torg"), Path::new("/demo"), own("[::1]:8080"), usual, 1);
        assert!(text.contains(" --server 'http://[::1]:8080'"), "{text}");
    }

    #[test]
    fn the_console_is_where_the_demo_listens() {
        let of = |address: &str| console(own(address));
        assert_eq!(of("127.0.0.1:8080"), "http://localhost:8080/console/");
        assert_eq!(of("127.0.0.2:81"), "http://127.0.0.2:81/console/");
        assert_eq!(of("[::1]:81"), "http://[::1]:81/console/");
    }

    #[test]
    fn the_guide_fits_on_a_screen_of_80_by_40() {
        let (program, folder) = (Path::new("/usr/local/bin/torg"), Path::new("/home/anna/torg-demo"));
        let text = text_of(program, folder, own("127.0.0.1:8080"), Some("http://127.0.0.1:8080"), 12_345);
        // A long line wraps. The prefix of the log line needs a row, too.
        let rows: usize = text.lines().map(|line| line.chars().count().div_ceil(80).max(1)).sum();
        assert!(rows < 40, "{rows} rows:{text}");
        let is_command = |line: &&str| line.starts_with("     ");
        for line in text.lines().filter(|line| !is_command(line)) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
