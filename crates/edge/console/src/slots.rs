//! Limits how many sign-in forms are read at the same time, in total and by address.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use access::network;

/// Cheap to clone; all clones share the counts.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    most: usize,
    most_of_one: usize,
    taken: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
}

/// Released on drop.
#[derive(Debug)]
pub(crate) struct Slot {
    turns: Slots,
    network: IpAddr,
}

impl Slots {
    /// Limits for all, and for one address or one IPv6 network.
    pub(crate) fn new(most: usize, most_of_one: usize) -> Self {
        Self { most, most_of_one, taken: Arc::default() }
    }

    /// `None` if a limit is reached.
    pub(crate) fn take(&self, address: IpAddr) -> Option<Slot> {
        let network = network(address);
        let mut taken = self.taken.lock();
        let own = taken.get(&network).copied().unwrap_or_default();
        if own >= self.most_of_one || taken.values().sum::<usize>() >= self.most {
            return None;
        }
        taken.insert(network, own + 1);
        Some(Slot { turns: self.clone(), network })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.turns.taken.lock();
        match taken.get_mut(&self.network) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(taken.remove(&self.network)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(address: &str) -> IpAddr {
        address.parse().unwrap()
    }

    #[test]
    fn an_address_has_a_few_turns_and_leaves_the_others_theirs() {
        let turns = Slots::new(3, 2);
        let first = turns.take(of("10.0.0.1"));
        let second = turns.take(of("10.0.0.1"));
        assert!(first.is_some() && second.is_some());
        assert!(turns.take(of("10.0.0.1")).is_none());
        let other = turns.take(of("10.0.0.2"));
        assert!(other.is_some());
        assert!(turns.take(of("10.0.0.3")).is_none(), "there are no more at all");
        drop(first);
        assert!(turns.take(of("10.0.0.3")).is_some());
        drop((second, other));
        assert!(turns.taken.lock().is_empty(), "nobody is remembered");
    }

    #[test]
    fn one_network_of_ipv6_is_one_address() {
        let turns = Slots::new(3, 1);
        let _turn = turns.take(of("2001:db8::1"));
        assert!(turns.take(of("2001:db8::2")).is_none());
        assert!(turns.take(of("2001:db8:0:1::2")).is_some());
    }
}
