//! The stream of offers and changes.

use access::{Action, Caller};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use buffa::Message;
use connectrpc::ConnectError;
use futures::{Stream, StreamExt as _};
use offers::{OfferId, WatchEvent, WatchFrom};
use wire::torg::offers::v1::{WatchCursor, WatchOffersRequest, WatchOffersResponse, watch_offers_response};
use xxhash_rust::xxh3::xxh3_64;

use super::OfferCalls;
use crate::caller::{self, Intent};
use crate::errors::Refusal;
use crate::limits::WATCH_TOKEN_BYTES_MAX;
use crate::names::Names;
use crate::streams::until_stopped;

const CHECKSUM_BYTES: usize = 4;

impl OfferCalls {
    /// Sends all current offers, then every change, of one seller or of all.
    pub(super) async fn watch(
        &self,
        caller: &Caller,
        request: WatchOffersRequest,
    ) -> Result<impl Stream<Item = Result<WatchOffersResponse, ConnectError>> + Send + 'static, Refusal> {
        let seller = whose(caller, &request.seller)?;
        let begin = match (&*request.resume_token, request.changes_only) {
            ("", false) => WatchFrom::Current,
            ("", true) => WatchFrom::Changes,
            (token, false) => WatchFrom::Cursor(decode(token)?),
            (_, true) => {
                let text = "give a resume token or changes_only, not both";
                return Err(Refusal::wrong_field("changes_only", "NOT_ALLOWED", text));
            }
        };
        let events = self.0.offers.watch(&self.0.topic, seller, begin).await?;
        let names = Names::seen_by(caller);
        let events = events.map(move |events| match events {
            Ok((events, place)) => Ok(event(events, &place, &names)),
            Err(error) => Err(ConnectError::from(Refusal::from(error))),
        });
        let text = "this process is stopping: continue with another one and the last token";
        Ok(until_stopped(events, self.0.closing.clone(), text))
    }
}

/// One seller; `None` for all sellers, which needs read access to all.
fn whose<'a>(caller: &'a Caller, named: &'a str) -> Result<Option<&'a str>, Refusal> {
    if named.is_empty() && caller.may(Action::ReadAny) {
        return Ok(None);
    }
    caller::whose(caller, "seller", named, Intent::Read).map(Some)
}

fn event(events: WatchEvent, place: &WatchCursor, names: &Names) -> WatchOffersResponse {
    use watch_offers_response::{CaughtUp, Position};
    let event = match events {
        WatchEvent::Current(offer) => names.offer(offer).into(),
        WatchEvent::Change(change) => names.change(change).into(),
        WatchEvent::CaughtUp => {
            let position = |(partition, offset): (usize, &i64)| Position {
                partition: partition as u32,
                offset: *offset,
                ..Position::default()
            };
            let positions = place.offsets.iter().enumerate().map(position).collect();
            CaughtUp { positions, ..CaughtUp::default() }.into()
        }
    };
    WatchOffersResponse { event: Some(event), resume_token: encode(place), ..Default::default() }
}

fn encode(place: &WatchCursor) -> String {
    let mut bytes = place.encode_to_vec();
    bytes.extend_from_slice(&checksum(&bytes));
    URL_SAFE_NO_PAD.encode(bytes)
}

fn decode(token: &str) -> Result<WatchCursor, Refusal> {
    let wrong = |text: &str| Refusal::wrong_field("resume_token", "WRONG_TOKEN", text);
    if token.len() > WATCH_TOKEN_BYTES_MAX {
        return Err(wrong("the token is too long: start again without one"));
    }
    let damaged = || wrong("this token is damaged: send it exactly as it came, or start again without one");
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| damaged())?;
    let (place, given) = bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or_else(damaged)?;
    if checksum(place) != *given {
        return Err(damaged());
    }
    let place = WatchCursor::decode_from_slice(place).map_err(|_| damaged())?;
    // A checksum is not a signature: invalid positions must have no effect.
    let is_offer = place.offer.is_empty() || place.offer.parse::<OfferId>().is_ok();
    let is_place = is_offer && place.shard < u32::MAX && place.offsets.iter().all(|offset| *offset >= 0);
    if is_place { Ok(place) } else { Err(damaged()) }
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    (xxh3_64(bytes) as u32).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_written_and_no_other() {
        let place = WatchCursor {
            offsets: vec![1, 2, 300],
            caught_up: true,
            seller: "ann".into(),
            ..WatchCursor::default()
        };
        let token = encode(&place);
        assert_eq!(decode(&token).unwrap(), place);
        for wrong in
            ["", "x", &token[1..], &token[..token.len() - 1], &token.replace('A', "B"), &"A".repeat(100_000)]
        {
            assert!(*wrong == *token || decode(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_forged_token_leads_nowhere() {
        let place =
            WatchCursor { offsets: vec![1], offer: "4829175033168090".into(), ..WatchCursor::default() };
        assert!(decode(&encode(&place)).is_ok());
        for forged in [
            WatchCursor { shard: u32::MAX, ..place.clone() },
            WatchCursor { offer: "x".into(), ..place.clone() },
            WatchCursor { offsets: vec![-1], ..place },
        ] {
            assert!(decode(&encode(&forged)).is_err(), "{forged:?}");
        }
    }
}
