//! Fuzz tests of every RPC method: each response has a clear code, and the process goes on as
//! before.
//!
//! `TORG_FUZZ_SEED` repeats a run, `TORG_FUZZ_ROUNDS` makes it longer, and `TORG_FUZZ_ONLY`
//! restricts it to methods whose path contains this text.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../it/common/mod.rs"]
mod common;
mod counted;
mod crafted;
mod odd;
mod raw;
mod rig;
mod valid;

use std::collections::BTreeMap;

use common::described::Method;
use common::wire::Protocol;
use odd::Odd;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rig::{Line, Rig};
use serde_json::Value;
use valid::Things;

/// Rounds of every method before the first measurement of memory, and after it.
const WARM_UP_ROUNDS: u64 = 60;
const ROUNDS: u64 = 240;
/// The memory that the process may have more after the rounds than after the warm-up.
const GROWTH_MAX_BYTES: usize = 64 << 20;
const PROTOCOLS: [Protocol; 4] = [Protocol::Json, Protocol::Proto, Protocol::Grpc, Protocol::GrpcWeb];

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_sent_is_answered_clearly_and_leaves_nothing_behind() {
    let seed = number("TORG_FUZZ_SEED", 1);
    let rounds = number("TORG_FUZZ_ROUNDS", ROUNDS);
    println!("TORG_FUZZ_SEED={seed} TORG_FUZZ_ROUNDS={rounds}");
    let mut rig = Rig::start(&[]);
    let only = std::env::var("TORG_FUZZ_ONLY").unwrap_or_default();
    rig.methods.retain(|method| method.path.contains(&only));
    let mut line = rig.line().await;
    let things = line.things().await;
    let mut odd = Odd::new(StdRng::seed_from_u64(seed), rig.described.0.clone());
    let Things { offer, draft, page_token, history_token, resume_token } = things.clone();
    odd.known.extend([offer, draft, page_token, history_token, resume_token]);

    let mut taken = BTreeMap::new();
    for round in 0..WARM_UP_ROUNDS {
        all_methods(&rig, &mut line, &mut odd, &things, round, &mut taken).await;
    }
    let before = rig.server.allocated();
    for round in 0..rounds {
        all_methods(&rig, &mut line, &mut odd, &things, round, &mut taken).await;
        if round % 60 == 59 {
            println!("round {round}: {} KB", rig.server.allocated() / 1024);
        }
    }
    let after = rig.server.allocated();
    println!("{before} bytes, then {after} bytes; {} offers taken; {:?}", taken.len(), line.ends);
    assert!(after <= before + GROWTH_MAX_BYTES, "{before} bytes became {after} bytes");

    for offer in taken.values() {
        line.read_back(offer).await;
    }
    line.things().await;
    assert!(line.faults.is_empty(), "{:#?}", line.faults);
    drop(line);
    rig.assert_sound();
}

async fn all_methods(
    rig: &Rig,
    line: &mut Line<'_>,
    odd: &mut Odd,
    things: &Things,
    round: u64,
    taken: &mut BTreeMap<String, Value>,
) {
    // Streams that were not read to their end stay with their connection for a while.
    line.reconnect().await;
    for method in &rig.methods {
        let protocol = PROTOCOLS[odd.random.random_range(0..PROTOCOLS.len())];
        let message = message(rig, odd, method, protocol, things);
        let reply = line.message(method, protocol, message, &format!("round {round}")).await;
        if reply.code() != "ok" {
            continue;
        }
        let answer = match protocol {
            Protocol::Json => serde_json::from_slice(reply.message()).map_err(|error| error.to_string()),
            _ => rig.described.decode(method, reply.message()),
        };
        let Ok(answer) = answer else {
            line.faults.insert(format!("{} is answered with {answer:?}", method.path), reply.text());
            continue;
        };
        if let Some(id) = answer["offer"]["id"].as_str().filter(|_| answer["offer"]["seller"].is_string()) {
            taken.insert(id.to_owned(), answer["offer"].clone());
        }
    }
}

/// A message to send.
fn message(rig: &Rig, odd: &mut Odd, method: &Method, protocol: Protocol, things: &Things) -> Vec<u8> {
    let valid = valid::request(&method.path, things);
    let kind = odd.random.random_range(0..12);
    match (kind, protocol) {
        (0, _) => odd.bytes(200),
        (5.., Protocol::Json) => odd.bent_json(&valid, method.input).into_bytes(),
        (5.., _) => odd.bent_binary(&rig.described.encode(method, &valid), method.input),
        (1..=3, Protocol::Json) => odd.mutated(valid.to_string().as_bytes()),
        (1..=3, _) => odd.mutated(&rig.described.encode(method, &valid)),
        (_, Protocol::Json) => odd.json(method.input).into_bytes(),
        _ => odd.binary(method.input, kind == 4),
    }
}
