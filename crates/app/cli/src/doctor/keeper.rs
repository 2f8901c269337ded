//! Finds the local process that has the embedded store open, and its listening addresses. Uses
//! `/proc` (Linux only), limited to processes that this user may inspect.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use crate::owner::LOCK;

/// The state of a listening socket in `/proc/net/tcp`.
const LISTENS: &str = "0A";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keeper {
    pub(super) pid: u32,
    /// Its listening addresses, as far as `/proc` shows them.
    pub(super) addresses: Vec<SocketAddr>,
}

impl Keeper {
    /// Finds the process that has the store in this folder open. Returns `None` if there is none,
    /// or if `/proc` does not show it.
    pub(super) fn of(store: &Path) -> Option<Keeper> {
        let lock = std::fs::metadata(store.join(LOCK)).ok()?;
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        // Inode numbers are unique only within one disk.
        let of_process = |pid| Some((pid, sockets_beside(pid, (lock.dev(), lock.ino()))?));
        let (pid, sockets) = lockers(&locks, lock.ino()).into_iter().find_map(of_process)?;
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
        let addresses = tables.iter().flatten().flat_map(|table| listening(table, &sockets)).collect();
        Some(Keeper { pid, addresses })
    }

    /// Whether this process listens at the address; `None` if that is unknown.
    pub(super) fn serves(&self, url: &str) -> Option<bool> {
        let uri: http::Uri = url.parse().ok()?;
        let host = net::bare_host(uri.host()?);
        let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        let port = uri.port_u16().unwrap_or(default);
        let ip: Option<IpAddr> = host.parse().ok();
        let is_here = host == "localhost" || ip.is_some_and(|ip| ip.to_canonical().is_loopback());
        let is_at = |own: &SocketAddr| {
            let own_ip = own.ip().to_canonical();
            let is_ip = match ip {
                Some(ip) => own_ip == ip.to_canonical() || (is_here && own_ip.is_unspecified()),
                None => is_here && (own_ip.is_loopback() || own_ip.is_unspecified()),
            };
            own.port() == port && is_ip
        };
        match self.addresses.iter().any(is_at) {
            true => Some(true),
            // The address may belong to another machine. A process without visible sockets may
            // listen on sockets that `/proc` hides.
            false if is_here && !self.addresses.is_empty() => Some(false),
            false => None,
        }
    }
}

/// The ids of processes that hold a lock on a file with this inode.
fn lockers(locks: &str, inode: u64) -> Vec<u32> {
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", pid, file, ..] = words[..] else { return None };
        let is_it = file.rsplit(':').next()?.parse() == Ok(inode);
        is_it.then(|| pid.parse().ok()).flatten()
    };
    locks.lines().filter_map(of_line).collect()
}

/// The socket inodes of a process, if it has this file open.
fn sockets_beside(pid: u32, file: (u64, u64)) -> Option<BTreeSet<u64>> {
    let (mut sockets, mut has_it) = (BTreeSet::new(), false);
    for open in std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten() {
        let Ok(about) = std::fs::metadata(open.path()) else { continue };
        has_it |= (about.dev(), about.ino()) == file;
        if about.file_type().is_socket() {
            sockets.insert(about.ino());
        }
    }
    has_it.then_some(sockets)
}

/// The listening addresses of these sockets.
fn listening(table: &str, sockets: &BTreeSet<u64>) -> Vec<SocketAddr> {
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, own, _, LISTENS, _, _, _, _, _, inode, ..] = words[..] else { return None };
        sockets.contains(&inode.parse().ok()?).then(|| address(own)).flatten()
    };
    table.lines().filter_map(of_line).collect()
}

/// Parses `0100007F:1F90` as `127.0.0.1:8080`: four-byte words in the byte order of this machine.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = Vec::new();
    for start in (0..ip.len()).step_by(8) {
        let word = u32::from_str_radix(ip.get(start..start + 8)?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    let ip = match <[u8; 4]>::try_from(&*bytes) {
        Ok(four) => IpAddr::from(Ipv4Addr::from(four)),
        Err(_) => IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(&*bytes).ok()?)),
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn whoever_has_the_store_open_is_found_with_the_place_where_it_listens() {
        let store = tempfile::tempdir().unwrap();
        let lock = File::create(store.path().join(LOCK)).unwrap();
        assert_eq!(Keeper::of(store.path()), None, "nobody has it open");
        lock.lock().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        if !Path::new("/proc/locks").exists() {
            return testkit::skip("who has a store open", "this machine has no /proc/locks");
        }
        let keeper = Keeper::of(store.path()).unwrap();
        assert_eq!(keeper.pid, std::process::id());
        assert!(keeper.addresses.contains(&port.local_addr().unwrap()), "{keeper:?}");
    }

    #[test]
    fn a_process_is_known_by_an_address_of_this_machine_only() {
        let keeper = |address: &str| Keeper { pid: 1, addresses: vec![address.parse().unwrap()] };
        let own = keeper("127.0.0.1:8080");
        for here in ["http://127.0.0.1:8080", "http://localhost:8080", "https://127.0.0.1:8080"] {
            assert_eq!(own.serves(here), Some(true), "{here}");
        }
        assert_eq!(own.serves("http://127.0.0.1:8081"), Some(false));
        assert_eq!(own.serves("http://torg.example:8080"), None);
        assert_eq!(keeper("[::]:80").serves("http://127.0.0.1"), Some(true));
        assert_eq!(keeper("0.0.0.0:80").serves("http://192.0.2.7"), None, "that may be another machine");
        assert_eq!(keeper("192.0.2.7:443").serves("https://192.0.2.7"), Some(true));
        assert_eq!(Keeper { pid: 1, addresses: Vec::new() }.serves("http://[::1]:80"), None);
    }

    #[test]
    fn what_linux_writes_of_locks_and_sockets_is_read() {
        let locks = "1: FLOCK  ADVISORY  WRITE 2088 fe:00:17 0 EOF\n2: FLOCK  ADVISORY  READ 9 fe:00:17 0 EOF\n\
                     3: POSIX  ADVISORY  WRITE 7 fe:00:17 0 EOF\n4: FLOCK  ADVISORY  WRITE 8 fe:00:170 0 EOF\n";
        assert_eq!(lockers(locks, 17), [2088]);
        let word = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
        let zero = word([0; 4]);
        let line = |own: &str, state: &str| {
            format!("  0: {own} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  0  0 99 1 0\n")
        };
        let four = format!("{}:1F90", word([127, 0, 0, 1]));
        let six = format!("{zero}{zero}{zero}{}:0050", word([0, 0, 0, 1]));
        let table = line(&four, "0A") + &line(&six, "0A") + &line(&four, "01");
        let told: Vec<String> =
            listening(&table, &BTreeSet::from([99])).iter().map(ToString::to_string).collect();
        assert_eq!(told, ["127.0.0.1:8080", "[::1]:80"]);
        assert_eq!(listening(&table, &BTreeSet::from([98])), []);
    }
}
