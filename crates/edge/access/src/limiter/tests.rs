use super::*;
use crate::role::Roles;

fn at(ms: i64) -> Time {
    Time::from_ms(1_700_000_000_000 + ms)
}

fn address(last: u8) -> IpAddr {
    IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, last))
}

fn user(subject: &str) -> Caller {
    let proof = Proof::Token { issuer: "test".to_owned() };
    Caller {
        subject: subject.to_owned(),
        seller: None,
        anonymous: None,
        roles: Roles::NONE.with(Role::Seller),
        proof,
    }
}

fn config(rate_per_s: u32, burst: u32, concurrent_max: u32) -> Config {
    let allowance = Allowance { rate_per_s, burst, concurrent_max, request_bytes_max: 1000 };
    let free = Allowance { rate_per_s: 0, burst: 0, concurrent_max: 0, request_bytes_max: 0 };
    Config { unknown: allowance, user: allowance, service: free, concurrent_max: 100, ..Config::default() }
}

/// Begins calls that end at once, until one has to wait.
fn begin_all(limiter: &Limiter, caller: &Caller, now: Time) -> (usize, Busy) {
    let mut begun = 0;
    loop {
        match limiter.begin(caller, address(1), now) {
            Ok(_) => begun += 1,
            Err(busy) => return (begun, busy),
        }
    }
}

#[test]
fn a_burst_passes_and_then_the_rate_is_kept() {
    let limiter = Limiter::new(&config(10, 5, 0));
    assert_eq!(begin_all(&limiter, &user("a"), at(0)), (5, Busy::TooOften(Duration::from_millis(100))));
    assert_eq!(begin_all(&limiter, &user("a"), at(99)), (0, Busy::TooOften(Duration::from_millis(1))));
    assert_eq!(begin_all(&limiter, &user("a"), at(100)).0, 1);
    assert_eq!(begin_all(&limiter, &user("a"), at(350)).0, 2);
    assert_eq!(begin_all(&limiter, &user("a"), at(3_600_000)).0, 5, "no more than a burst gathers");
}

#[test]
fn a_caller_who_waits_as_told_passes() {
    for rate in [1, 3, 7, 1000, 30_000] {
        let limiter = Limiter::new(&config(rate, 2, 0));
        let (_, busy) = begin_all(&limiter, &user("a"), at(0));
        let wait_ms = busy.wait().as_nanos().div_ceil(1_000_000) as i64;
        assert!(limiter.begin(&user("a"), address(1), at(wait_ms)).is_ok(), "{rate} a second");
    }
}

#[test]
fn over_a_long_time_no_more_than_the_rate_passes() {
    let limiter = Limiter::new(&config(7, 3, 0));
    let begun = (0..100_000).filter(|ms| limiter.begin(&user("a"), address(1), at(*ms)).is_ok()).count();
    assert!((700..=703).contains(&begun), "{begun}");
}

#[test]
fn callers_do_not_take_from_each_other() {
    let limiter = Limiter::new(&config(10, 5, 0));
    let (key, token) =
        (Caller { proof: Proof::ApiKey { id: "a".to_owned(), name: String::new() }, ..user("a") }, user("a"));
    for caller in [user("b"), key, token, Caller::anonymous(None)] {
        assert_eq!(begin_all(&limiter, &caller, at(0)).0, 5, "{caller:?}");
    }
    assert!(limiter.begin(&Caller::anonymous(None), address(2), at(0)).is_ok(), "another address");
}

#[test]
fn one_network_of_ipv6_is_one_caller() {
    let limiter = Limiter::new(&config(10, 1, 0));
    let begin = |text: &str| limiter.begin(&Caller::anonymous(None), text.parse().unwrap(), at(0)).is_ok();
    assert!(begin("2001:db8:1:2::1"));
    assert!(!begin("2001:db8:1:2:ffff::2"));
    assert!(begin("2001:db8:1:3::1"));
    assert!(begin("203.0.113.9"));
    assert!(!begin("::ffff:203.0.113.9"));
}

#[test]
fn running_calls_are_counted_until_their_permit_is_dropped() {
    let limiter = Limiter::new(&config(0, 0, 2));
    let first = limiter.begin(&user("a"), address(1), at(0)).unwrap();
    let second = limiter.begin(&user("a"), address(1), at(0)).unwrap();
    let busy = limiter.begin(&user("a"), address(1), at(0)).unwrap_err();
    assert_eq!(busy, Busy::TooManyRunning(RUNNING_WAIT));
    assert!(limiter.begin(&user("b"), address(1), at(0)).is_ok());
    drop(first);
    let third = limiter.begin(&user("a"), address(1), at(0)).unwrap();
    assert_eq!(limiter.running(), 2);
    drop((second, third));
    assert_eq!(limiter.running(), 0);
}

#[test]
fn a_call_that_was_refused_for_its_rate_does_not_count_as_running() {
    let limiter = Limiter::new(&config(1, 1, 1));
    assert_eq!(begin_all(&limiter, &user("a"), at(0)).0, 1);
    assert_eq!(limiter.running(), 0);
    assert!(limiter.begin(&user("a"), address(1), at(1000)).is_ok());
}

#[test]
fn the_whole_process_has_a_limit_that_holds_for_everybody() {
    let limiter = Limiter::new(&Config { concurrent_max: 2, ..config(0, 0, 0) });
    let _held = [
        limiter.begin(&user("a"), address(1), at(0)).unwrap(),
        limiter.begin(&Caller::local(), address(1), at(0)).unwrap(),
    ];
    for caller in [user("b"), Caller::local(), Caller::anonymous(None)] {
        assert_eq!(limiter.begin(&caller, address(1), at(0)).unwrap_err(), Busy::Full(RUNNING_WAIT));
    }
}

#[test]
fn with_access_off_and_for_services_there_is_no_rate() {
    let limiter = Limiter::new(&config(1, 1, 1));
    let service = Caller { roles: Roles::NONE.with(Role::Service), ..user("feeds") };
    for caller in [Caller::local(), service] {
        let held: Vec<_> = (0..50).map(|_| limiter.begin(&caller, address(1), at(0)).unwrap()).collect();
        assert_eq!(held.len(), 50);
        assert_eq!(limiter.request_bytes_max(&caller), None);
    }
    assert_eq!(limiter.request_bytes_max(&user("a")), Some(1000));
}

#[test]
fn wrong_proofs_count_against_their_address() {
    let limiter = Limiter::new(&config(10, 3, 0));
    let counted = (0..10).filter(|_| limiter.note_refused(address(1), at(0)).is_ok()).count();
    assert_eq!(counted, 3);
    assert!(limiter.note_refused(address(2), at(0)).is_ok());
    assert!(limiter.begin(&user("a"), address(1), at(0)).is_ok(), "known callers behind it still pass");
}

#[test]
fn memory_is_bounded_and_running_calls_are_never_forgotten() {
    let limiter = Limiter::remembering(&config(1, 1, 1), 64);
    let held = limiter.begin(&user("steady"), address(1), at(0)).unwrap();
    for number in 0..10_000 {
        let _ = limiter.begin(&user(&format!("passing-{number}")), address(1), at(0));
    }
    let remembered: usize = limiter.inner.parts.iter().map(|part| part.lock().len()).sum();
    assert!(remembered <= 64, "{remembered}");
    let busy = limiter.begin(&user("steady"), address(1), at(5000)).unwrap_err();
    assert!(matches!(busy, Busy::TooManyRunning(_)), "{busy:?}");
    drop(held);
    assert!(limiter.begin(&user("steady"), address(1), at(5000)).is_ok());
}

#[test]
fn a_clock_that_goes_back_costs_at_most_one_bucket() {
    let limiter = Limiter::new(&config(10, 5, 0));
    begin_all(&limiter, &user("a"), at(3_600_000));
    let (begun, busy) = begin_all(&limiter, &user("a"), at(0));
    assert_eq!((begun, busy), (0, Busy::TooOften(Duration::from_millis(100))));
    assert_eq!(begin_all(&limiter, &user("a"), at(100)).0, 1);
}
