//! What is wrong with an offer: everything at once, by the catalogue and by what holds in every category.

mod forms;
mod prices;
mod subject;
mod texts;

use buffa::Message;
use catalog::Catalogue;
use wire::torg::offers::v1::__buffa::oneof::source::Kind as SourceKind;
use wire::torg::offers::v1::{Coordinates, Offer};

use crate::limits::OFFER_BYTES_MAX;
use texts::Lines;

/// Violations that are reported of one offer.
pub const VIOLATIONS_MAX: usize = 200;
/// Bytes of a seller's id.
pub const SELLER_BYTES_MAX: usize = 128;
/// Bytes of a feed's namespace.
pub const NAMESPACE_BYTES_MAX: usize = 64;
/// Bytes of an id in a feed.
pub const EXTERNAL_ID_BYTES_MAX: usize = 256;
/// Bytes of an address of a photo or a video.
pub const URL_BYTES_MAX: usize = 2048;
/// Photos, whatever the category allows.
pub const PHOTOS_MAX: usize = 100;
/// Attributes of one offer.
pub const ATTRIBUTES_MAX: usize = 128;
/// Bytes of the name of an attribute.
pub const ATTRIBUTE_NAME_BYTES_MAX: usize = 100;
/// Values of one attribute.
pub const VALUES_MAX: usize = 100;
/// Characters of one value.
pub const VALUE_CHARS_MAX: usize = 10_000;
/// Characters of an address.
pub const ADDRESS_CHARS_MAX: usize = 500;
/// Bytes of the id of a place.
pub const PLACE_ID_BYTES_MAX: usize = 128;
/// Characters of the name of a contact.
pub const CONTACT_NAME_CHARS_MAX: usize = 100;
/// Phones of one offer.
pub const PHONES_MAX: usize = 10;
/// Characters of a phone, with what parts its digits.
pub const PHONE_CHARS_MAX: usize = 32;
/// The fewest digits of a phone, the country's included.
pub const PHONE_DIGITS_MIN: usize = 7;
/// The most digits of a phone (E.164).
pub const PHONE_DIGITS_MAX: usize = 15;
/// Bytes of an e-mail address (RFC 5321).
pub const EMAIL_BYTES_MAX: usize = 254;
/// Bytes of an e-mail address before the `@`.
pub const EMAIL_LOCAL_BYTES_MAX: usize = 64;
/// Degrees from the equator.
pub const LATITUDE_MAX: f64 = 90.0;
/// Degrees from Greenwich.
pub const LONGITUDE_MAX: f64 = 180.0;

/// The language of texts.
const LANGUAGE: &str = "en";

/// One thing that is wrong with an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where, as the contract names it: `title`, `price.range.to.micros`, `contacts.phones[1]`, `attributes.mileage`.
    pub field: String,
    /// What, for programs: one of [`catalog::Code`]'s texts or of [`codes`].
    pub code: &'static str,
    /// What, for people.
    pub text: String,
}

/// Codes beside those of the catalogue.
pub mod codes {
    /// A value is needed.
    pub const REQUIRED: &str = "required";
    /// Too many bytes, characters or digits.
    pub const TOO_LONG: &str = "too_long";
    /// Too many of them.
    pub const TOO_MANY: &str = "too_many";
    /// A control character.
    pub const CONTROL_CHARACTER: &str = "control_character";
    /// No address of the web.
    pub const WRONG_URL: &str = "wrong_url";
    /// No phone number.
    pub const WRONG_PHONE: &str = "wrong_phone";
    /// No e-mail address.
    pub const WRONG_EMAIL: &str = "wrong_email";
    /// No place on the globe.
    pub const OUT_OF_RANGE: &str = "out_of_range";
    /// An amount below zero.
    pub const NEGATIVE: &str = "negative";
    /// The ends of a range are in two currencies.
    pub const TWO_CURRENCIES: &str = "two_currencies";
    /// Nothing of this name or number.
    pub const UNKNOWN_VALUE: &str = "unknown_value";
    /// The offer has too many bytes.
    pub const TOO_LARGE: &str = "offer_too_large";
}

/// What was found so far: each field and code once, at most [`VIOLATIONS_MAX`].
#[derive(Default)]
struct Found(Vec<Violation>);

impl Found {
    fn add(&mut self, field: impl Into<String>, code: &'static str, text: impl Into<String>) {
        let field = field.into();
        let is_known = self.0.iter().any(|known| known.field == field && known.code == code);
        if !is_known && self.0.len() < VIOLATIONS_MAX {
            self.0.push(Violation { field, code, text: text.into() });
        }
    }

    fn count(&mut self, field: &str, given: usize, most: usize) {
        if given > most {
            self.add(field, codes::TOO_MANY, format!("at most {most}, there are {given}"));
        }
    }
}

/// Everything that is wrong with an offer, at most [`VIOLATIONS_MAX`] things; empty if it may stand. Looks at what a seller sets, the seller and the source.
#[must_use]
pub fn violations(catalogue: &Catalogue, offer: &Offer) -> Vec<Violation> {
    let mut found = Found::default();
    let bytes = offer.encoded_len() as usize;
    if bytes > OFFER_BYTES_MAX {
        // Nothing else is looked at: the rest could be as long as it likes.
        found.add(
            "",
            codes::TOO_LARGE,
            format!("an offer has at most {OFFER_BYTES_MAX} bytes, this one {bytes}"),
        );
        return found.0;
    }
    check_names(offer, &mut found);
    texts::check(&offer.title, "title", Lines::One, &mut found);
    texts::check(&offer.description, "description", Lines::Several, &mut found);
    check_attributes(offer, &mut found);
    check_media(offer, &mut found);
    check_place(offer, &mut found);
    check_contacts(offer, &mut found);
    prices::check(offer, &mut found);
    subject::check(catalogue, offer, &mut found);
    found.0
}

/// The seller and the source.
fn check_names(offer: &Offer, found: &mut Found) {
    texts::name(&offer.seller, "seller", SELLER_BYTES_MAX, found);
    match offer.source.as_option().and_then(|source| source.kind.as_ref()) {
        Some(SourceKind::Feed(feed)) => {
            texts::name(&feed.namespace, "source.feed.namespace", NAMESPACE_BYTES_MAX, found);
            texts::name(&feed.external_id, "source.feed.external_id", EXTERNAL_ID_BYTES_MAX, found);
        }
        Some(SourceKind::Manual(_)) | None => {}
    }
}

fn check_attributes(offer: &Offer, found: &mut Found) {
    found.count("attributes", offer.attributes.len(), ATTRIBUTES_MAX);
    for (name, values) in offer.attributes.iter().take(ATTRIBUTES_MAX) {
        if name.is_empty() || name.len() > ATTRIBUTE_NAME_BYTES_MAX || name.chars().any(char::is_control) {
            let text = format!(
                "the name of an attribute has 1 to {ATTRIBUTE_NAME_BYTES_MAX} bytes, no control characters"
            );
            found.add("attributes", codes::UNKNOWN_VALUE, text);
            continue;
        }
        let field = format!("attributes.{name}");
        if values.values.is_empty() {
            found.add(&field, codes::REQUIRED, "it has no value: give one, or leave the attribute out");
        }
        found.count(&field, values.values.len(), VALUES_MAX);
        for value in values.values.iter().take(VALUES_MAX) {
            texts::check(value, &field, Lines::Several, found);
            texts::chars(value, &field, VALUE_CHARS_MAX, found);
        }
    }
}

fn check_media(offer: &Offer, found: &mut Found) {
    found.count("photos", offer.photos.len(), PHOTOS_MAX);
    for (number, photo) in offer.photos.iter().enumerate().take(PHOTOS_MAX) {
        forms::url(&photo.source_url, &format!("photos[{number}].source_url"), found);
    }
    if let Some(video) = offer.video.as_option() {
        forms::url(&video.url, "video.url", found);
    }
}

fn check_place(offer: &Offer, found: &mut Found) {
    let Some(place) = offer.place.as_option() else { return };
    texts::check(&place.address, "place.address", Lines::Several, found);
    texts::chars(&place.address, "place.address", ADDRESS_CHARS_MAX, found);
    if !place.place_id.is_empty() {
        texts::name(&place.place_id, "place.place_id", PLACE_ID_BYTES_MAX, found);
    }
    let Some(Coordinates { latitude, longitude, .. }) = place.coordinates.as_option() else { return };
    for (name, degrees, most) in
        [("latitude", *latitude, LATITUDE_MAX), ("longitude", *longitude, LONGITUDE_MAX)]
    {
        // Also false for what is not a number.
        if !(-most..=most).contains(&degrees) {
            let text = format!("from -{most} to {most} degrees");
            found.add(format!("place.coordinates.{name}"), codes::OUT_OF_RANGE, text);
        }
    }
}

fn check_contacts(offer: &Offer, found: &mut Found) {
    let Some(contacts) = offer.contacts.as_option() else { return };
    texts::check(&contacts.name, "contacts.name", Lines::One, found);
    texts::chars(&contacts.name, "contacts.name", CONTACT_NAME_CHARS_MAX, found);
    found.count("contacts.phones", contacts.phones.len(), PHONES_MAX);
    for (number, phone) in contacts.phones.iter().enumerate().take(PHONES_MAX) {
        forms::phone(phone, &format!("contacts.phones[{number}]"), found);
    }
    if !contacts.email.is_empty() {
        forms::email(&contacts.email, "contacts.email", found);
    }
}
