//! Limits the number of concurrent streams of the gRPC health service.
//!
//! These streams need no token and are also served when the process is at its limit, so they have
//! their own limits: each of them runs the readiness checks once a second.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use access::network;

/// Streams per IPv4 address or IPv6 network. A single caller usually controls a whole IPv6 network.
pub(super) const BY_ADDRESS_MAX: usize = 32;
pub(super) const TOTAL_MAX: usize = 512;

/// The running streams. Clones share their counters.
#[derive(Clone, Default)]
pub(super) struct Watches(Arc<Mutex<Counted>>);

#[derive(Default)]
struct Counted {
    total: usize,
    by_address: BTreeMap<Option<IpAddr>, usize>,
}

impl Watches {
    /// Starts a stream for this address, or returns why it is refused. The address is `None` only
    /// in tests.
    pub(super) fn begin(&self, address: Option<IpAddr>) -> Result<Watching, String> {
        let address = address.map(network);
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = counted.by_address.get(&address).copied().unwrap_or(0);
        if own >= BY_ADDRESS_MAX {
            return Err(format!("{own} health watches of this address run already, end one first"));
        }
        if counted.total >= TOTAL_MAX {
            return Err(format!("{} health watches run already, try again later", counted.total));
        }
        counted.total += 1;
        counted.by_address.insert(address, own + 1);
        Ok(Watching { watches: self.clone(), address })
    }
}

/// A running stream, counted until it is dropped.
pub(super) struct Watching {
    watches: Watches,
    address: Option<IpAddr>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut counted = self.watches.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.total -= 1;
        // Addresses without streams are removed.
        let left = counted.by_address.remove(&self.address).unwrap_or(0).saturating_sub(1);
        if left > 0 {
            counted.by_address.insert(self.address, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_address_or_network_has_its_share_and_leaves_the_others_theirs() {
        for (own, same, other) in [
            ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
            ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"),
        ] {
            let watches = Watches::default();
            let mut running: Vec<Watching> =
                (0..BY_ADDRESS_MAX).map(|_| watches.begin(Some(address(own))).unwrap()).collect();
            for full in [own, same] {
                let why = watches.begin(Some(address(full))).err().unwrap();
                assert_eq!(why, "32 health watches of this address run already, end one first");
            }
            assert!(watches.begin(Some(address(other))).is_ok());
            running.pop();
            assert!(watches.begin(Some(address(same))).is_ok());
        }
    }

    #[test]
    fn all_addresses_together_have_a_limit_and_leave_nothing_behind() {
        let watches = Watches::default();
        let begin = |number: usize| {
            let [high, low] = u16::try_from(number).unwrap().to_be_bytes();
            watches.begin(Some(IpAddr::from([10, 0, high, low])))
        };
        let running: Vec<Watching> = (0..TOTAL_MAX).map(|number| begin(number).unwrap()).collect();
        assert_eq!(begin(TOTAL_MAX).err().unwrap(), "512 health watches run already, try again later");
        drop(running);
        assert!(begin(TOTAL_MAX).is_ok());
        let counted = watches.0.lock().unwrap();
        assert_eq!((counted.total, counted.by_address.len()), (0, 0));
    }
}
