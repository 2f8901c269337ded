//! Rows of offers: the public message, and the state that only Torg sees beside it.
//!
//! A row is an [`OfferRow`]. Earlier versions wrote a bare [`Offer`] that carried [`Internal`] in
//! its field 100, and sent the same bytes to the topic. Both forms are read; the next change of an
//! offer rewrites its row. They cannot be confused: a row begins with field 101, which is always
//! written and which no [`Offer`] has (`reserved` in offer.proto).

use buffa::encoding::{Tag, WireType, decode_varint};
use buffa::{DecodeError, Message, UnknownFieldData};
use bytes::Bytes;
use wire::torg::offers::v1::{Internal, Offer, OfferRow};

/// The field of the internal state in bare offers of earlier versions.
const BARE_INTERNAL: u32 = 100;
/// The fields of [`OfferRow`].
const OFFER: u32 = 101;
const INTERNAL: u32 = 102;
/// The bytes of the tag of [`OFFER`], length-delimited.
const OFFER_TAG: [u8; 2] = [0xAA, 0x06];

/// Encodes an [`OfferRow`] without a copy of the offer.
pub(crate) fn encode(offer: &Offer, internal: &Internal) -> Bytes {
    let mut row = Vec::new();
    Tag::new(OFFER, WireType::LengthDelimited).encode(&mut row);
    offer.encode_length_delimited(&mut row);
    Tag::new(INTERNAL, WireType::LengthDelimited).encode(&mut row);
    internal.encode_length_delimited(&mut row);
    row.into()
}

/// Decodes a row of either form.
pub(crate) fn decode(row: &[u8]) -> Result<(Offer, Internal), DecodeError> {
    if !row.starts_with(&OFFER_TAG) {
        return decode_bare(row);
    }
    let OfferRow { offer, internal, .. } = OfferRow::decode_from_slice(row)?;
    Ok((offer.into_option().unwrap_or_default(), internal.into_option().unwrap_or_default()))
}

/// Decodes a bare offer: a message of the topic, or a row of an earlier version. The internal state
/// of earlier versions is taken out of it.
pub(crate) fn decode_bare(bytes: &[u8]) -> Result<(Offer, Internal), DecodeError> {
    let mut offer = Offer::decode_from_slice(bytes)?;
    let mut internal = Internal::default();
    for field in offer.__buffa_unknown_fields.iter().filter(|field| field.number == BARE_INTERNAL) {
        if let UnknownFieldData::LengthDelimited(bytes) = &field.data {
            internal.merge_from_slice(bytes)?;
        }
    }
    offer.__buffa_unknown_fields.retain(|field| field.number != BARE_INTERNAL);
    Ok((offer, internal))
}

/// The part of a row that consumers see: the encoded offer, without a copy unless the row is of an
/// earlier version.
pub(crate) fn public(row: &Bytes) -> Result<Bytes, DecodeError> {
    let Some(mut rest) = row.strip_prefix(&OFFER_TAG) else {
        return Ok(decode_bare(row)?.0.encode_to_vec().into());
    };
    let length = usize::try_from(decode_varint(&mut rest)?).unwrap_or(usize::MAX);
    let offer = rest.get(..length).ok_or(DecodeError::UnexpectedEof)?;
    Ok(row.slice_ref(offer))
}

#[cfg(test)]
mod tests {
    use wire::torg::offers::v1::{Author, Money, Status, author};

    use super::*;

    /// A row of the version before [`OfferRow`]: a banned offer that had been sold.
    const OLD_ROW: &str = "0a1034383239313735303333313638303930120361\
        6e6e220462696b657003a206190a070804120365766510041801220a08a0f8fa051203455552";

    fn old_row() -> Bytes {
        let digits = |at: usize| u8::from_str_radix(&OLD_ROW[at..at + 2], 16).unwrap();
        (0..OLD_ROW.len()).step_by(2).map(digits).collect()
    }

    fn offer() -> Offer {
        Offer {
            id: "4829175033168090".to_owned(),
            seller: "ann".to_owned(),
            title: "bike".to_owned(),
            status: Status::Banned.into(),
            ..Offer::default()
        }
    }

    fn internal() -> Internal {
        let kind = author::Kind::KIND_MODERATION.into();
        let author = Author { kind, name: "eve".to_owned(), ..Author::default() };
        let paid = Money { micros: 12_500_000, currency: "EUR".to_owned(), ..Money::default() };
        Internal {
            author: Some(author).into(),
            status_before_ban: Status::Sold.into(),
            sold_counted: true,
            paid: Some(paid).into(),
            ..Internal::default()
        }
    }

    #[test]
    fn a_row_of_the_version_before_is_read_with_its_internal_state() {
        assert_eq!(decode(&old_row()).unwrap(), (offer(), internal()));
    }

    #[test]
    fn a_row_round_trips_also_with_an_empty_offer() {
        for (offer, internal) in [(offer(), internal()), (Offer::default(), Internal::default())] {
            let row = encode(&offer, &internal);
            assert_eq!(decode(&row).unwrap(), (offer.clone(), internal.clone()));
            let generated = OfferRow {
                offer: Some(offer).into(),
                internal: Some(internal).into(),
                ..OfferRow::default()
            };
            assert_eq!(row, generated.encode_to_vec());
        }
    }

    #[test]
    fn the_public_part_of_either_row_has_no_internal_state() {
        for row in [old_row(), encode(&offer(), &internal())] {
            assert_eq!(public(&row).unwrap(), offer().encode_to_vec());
        }
        assert_eq!(decode(&public(&old_row()).unwrap()).unwrap(), (offer(), Internal::default()));
    }

    #[test]
    fn a_row_that_was_cut_short_is_an_error() {
        let cut = encode(&offer(), &internal()).slice(..10);
        assert!(decode(&cut).is_err() && public(&cut).is_err());
    }
}
