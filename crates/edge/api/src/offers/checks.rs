//! Validation of requests about offers.

use buffa_types::google::protobuf::FieldMask;
use connectrpc::ErrorCode;
use offers::masks::{ReadMask, UpdateMask};
use offers::{Move, OfferId};
use wire::torg::offers::v1::{Money, MoveOfferRequest, Status};

use crate::errors::{FieldFault, Refusal};
use crate::limits::MONEY_MICROS_MAX;

const CURRENCY_BYTES: usize = 3;

pub(crate) fn id(field: &str, text: &str) -> Result<OfferId, Refusal> {
    if text.is_empty() {
        return Err(Refusal::required(field));
    }
    text.parse().map_err(|wrong| Refusal::wrong_id(field, &wrong))
}

/// All ids, or all invalid ones.
pub(super) fn ids(field: &str, texts: &[String]) -> Result<Vec<OfferId>, Refusal> {
    let (mut ids, mut wrong) = (Vec::with_capacity(texts.len()), Vec::<FieldFault>::new());
    for (number, text) in texts.iter().enumerate() {
        match id(&format!("{field}[{number}]"), text) {
            Ok(id) => ids.push(id),
            Err(refusal) => wrong.extend_from_slice(refusal.fields()),
        }
    }
    if wrong.is_empty() { Ok(ids) } else { Err(Refusal::wrong("WRONG_ID", wrong)) }
}

pub(crate) fn read_mask(mask: Option<&FieldMask>) -> Result<ReadMask, Refusal> {
    let Some(mask) = mask else { return Ok(ReadMask::all()) };
    ReadMask::parse(mask).map_err(|wrong| Refusal::wrong_mask("read_mask", &wrong))
}

pub(crate) fn update_mask(mask: Option<&FieldMask>) -> Result<UpdateMask, Refusal> {
    let Some(mask) = mask else { return Ok(UpdateMask::all()) };
    UpdateMask::parse(mask).map_err(|wrong| Refusal::wrong_mask("update_mask", &wrong))
}

/// Parses a status change.
pub(super) fn wanted_move(request: &MoveOfferRequest) -> Result<Move, Refusal> {
    let to = match request.to.as_known() {
        Some(Status::STATUS_UNSPECIFIED) => return Err(Refusal::required("to")),
        Some(to) => to,
        None => return Err(Refusal::wrong_field("to", "UNKNOWN_VALUE", "there is no such status")),
    };
    let paid = request.paid.as_option().cloned();
    if let Some(money) = &paid {
        if to != Status::Sold {
            return Err(Refusal::wrong_field("paid", "NOT_ALLOWED", "only allowed for the status sold"));
        }
        self::money("paid", money)?;
    }
    let (reason_code, reason_text) = (request.reason_code.clone(), request.reason_text.clone());
    Ok(Move { to, reason_code, reason_text, paid })
}

/// Validates an amount.
pub(crate) fn money(field: &str, money: &Money) -> Result<(), Refusal> {
    if money.micros < 0 {
        return Err(Refusal::wrong_field(&format!("{field}.micros"), "NEGATIVE", "must not be negative"));
    }
    if money.micros > MONEY_MICROS_MAX {
        let text = "must be at most 10^12 of the currency";
        return Err(Refusal::wrong_field(&format!("{field}.micros"), "TOO_LARGE", text));
    }
    let letters = money.currency.bytes().all(|byte| byte.is_ascii_uppercase());
    if money.currency.len() != CURRENCY_BYTES || !letters {
        let text = "three capital letters of ISO 4217, such as EUR";
        return Err(Refusal::wrong_field(&format!("{field}.currency"), "UNKNOWN_CURRENCY", text));
    }
    Ok(())
}

/// Refuses an answer that is too large.
pub(super) fn answer_size(bytes: usize, most: usize) -> Result<(), Refusal> {
    if bytes <= most {
        return Ok(());
    }
    let text = format!(
        "the answer would have more than {most} bytes: ask for fewer offers, or for fewer fields by a read mask"
    );
    Err(Refusal::new(ErrorCode::ResourceExhausted, "ANSWER_TOO_LARGE", text))
}
