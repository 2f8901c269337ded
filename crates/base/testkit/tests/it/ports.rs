//! Reserved ports.

use std::collections::BTreeSet;
use std::process::Command;

/// Tells a copy of this test binary to print the ports that it reserves, and to wait.
const RESERVE: &str = "TORG_TEST_RESERVE";

#[test]
fn no_port_is_given_twice_within_a_process() {
    let ports: BTreeSet<u16> = (0..500).map(|_| testkit::free_port()).collect();
    assert_eq!(ports.len(), 500);
}

#[test]
fn prints_ports_when_it_is_started_by_the_other_test() {
    if std::env::var_os(RESERVE).is_some() {
        let ports: Vec<String> = (0..200).map(|_| testkit::free_port().to_string()).collect();
        println!("\nports {}", ports.join(" "));
        let _ = std::io::stdin().read_line(&mut String::new());
    }
}

#[test]
fn no_port_is_given_to_two_processes_at_once() {
    use std::io::BufRead as _;
    let this = std::env::current_exe().unwrap();
    let mut children: Vec<_> = (0..4)
        .map(|_| {
            Command::new(&this)
                .args(["--exact", "ports::prints_ports_when_it_is_started_by_the_other_test", "--nocapture"])
                .env(RESERVE, "1")
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut ports = Vec::new();
    for child in &mut children {
        let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.map(Result::unwrap).find_map(|line| line.strip_prefix("ports ").map(str::to_owned));
        ports.extend(line.unwrap().split(' ').map(|port| port.parse::<u16>().unwrap()));
    }
    for mut child in children {
        drop(child.stdin.take());
        child.wait().unwrap();
    }
    let different: BTreeSet<u16> = ports.iter().copied().collect();
    assert_eq!((ports.len(), different.len()), (800, 800));
}
