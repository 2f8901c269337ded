//! Validation of offers: all violations at once, of the catalogue and of the general rules.

mod forms;
mod prices;
mod subject;
mod texts;

use buffa::Message;
use catalog::Catalogue;
use wire::torg::offers::v1::{Coordinates, Offer};

use crate::limits::OFFER_BYTES_MAX;
use crate::lists::feed_of;
use texts::Lines;

/// Violations that are reported for one offer.
pub const VIOLATIONS_MAX: usize = 200;
pub const SELLER_BYTES_MAX: usize = 128;
pub const NAMESPACE_BYTES_MAX: usize = 64;
pub const EXTERNAL_ID_BYTES_MAX: usize = 256;
pub const URL_BYTES_MAX: usize = 2048;
/// Photos in any category.
pub const PHOTOS_MAX: usize = 100;
pub const ATTRIBUTES_MAX: usize = 128;
pub const ATTRIBUTE_NAME_BYTES_MAX: usize = 100;
pub const VALUES_MAX: usize = 100;
pub const VALUE_CHARS_MAX: usize = 10_000;
pub const ADDRESS_CHARS_MAX: usize = 500;
pub const PLACE_ID_BYTES_MAX: usize = 128;
pub const CONTACT_NAME_CHARS_MAX: usize = 100;
pub const PHONES_MAX: usize = 10;
/// Characters of a phone with separators.
pub const PHONE_CHARS_MAX: usize = 32;
/// Digits of a phone, with the country code.
pub const PHONE_DIGITS_MIN: usize = 7;
/// The most digits of a phone (E.164).
pub const PHONE_DIGITS_MAX: usize = 15;
/// Bytes of an e-mail address (RFC 5321).
pub const EMAIL_BYTES_MAX: usize = 254;
/// Bytes of an e-mail address before the `@`.
pub const EMAIL_LOCAL_BYTES_MAX: usize = 64;
pub const LATITUDE_MAX: f64 = 90.0;
pub const LONGITUDE_MAX: f64 = 180.0;

const LANGUAGE: &str = "en";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The path in the contract: `title`, `price.range.to.micros`, `contacts.phones[1]`,
    /// `attributes.mileage`.
    pub field: String,
    /// For programs: a text of [`catalog::Code`] or one of [`codes`].
    pub code: &'static str,
    /// For people.
    pub text: String,
}

/// Codes beside those of the catalogue.
pub mod codes {
    pub const REQUIRED: &str = "required";
    pub const TOO_LONG: &str = "too_long";
    pub const TOO_MANY: &str = "too_many";
    pub const CONTROL_CHARACTER: &str = "control_character";
    pub const WRONG_URL: &str = "wrong_url";
    pub const WRONG_PHONE: &str = "wrong_phone";
    pub const WRONG_EMAIL: &str = "wrong_email";
    /// Coordinates outside the globe.
    pub const OUT_OF_RANGE: &str = "out_of_range";
    pub const NEGATIVE: &str = "negative";
    pub const TWO_CURRENCIES: &str = "two_currencies";
    pub const UNKNOWN_VALUE: &str = "unknown_value";
    pub const TOO_LARGE: &str = "offer_too_large";
}

/// The violations so far: each field and code once, at most [`VIOLATIONS_MAX`].
#[derive(Default)]
struct Violations(Vec<Violation>);

impl Violations {
    fn add(&mut self, field: impl Into<String>, code: &'static str, text: impl Into<String>) {
        let field = field.into();
        if !self.has(&field, code) && self.0.len() < VIOLATIONS_MAX {
            self.0.push(Violation { field, code, text: text.into() });
        }
    }

    fn has(&self, field: &str, code: &str) -> bool {
        self.0.iter().any(|known| known.field == field && known.code == code)
    }

    fn count(&mut self, field: &str, given: usize, most: usize) {
        if given > most {
            self.add(field, codes::TOO_MANY, format!("at most {most}, there are {given}"));
        }
    }
}

/// The violations of an offer, at most [`VIOLATIONS_MAX`]: of the fields that a seller sets, the
/// seller and the source.
#[must_use]
pub fn violations(catalogue: &Catalogue, offer: &Offer) -> Vec<Violation> {
    let mut found = Violations::default();
    let bytes = offer.encoded_len() as usize;
    if bytes > OFFER_BYTES_MAX {
        // The other checks are not made: their cost depends on the size.
        let text = format!("an offer has at most {OFFER_BYTES_MAX} bytes, this one {bytes}");
        found.add("", codes::TOO_LARGE, text);
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

fn check_names(offer: &Offer, found: &mut Violations) {
    texts::name(&offer.seller, "seller", SELLER_BYTES_MAX, found);
    if let Some((namespace, external)) = feed_of(offer) {
        texts::name(namespace, "source.feed.namespace", NAMESPACE_BYTES_MAX, found);
        texts::name(external, "source.feed.external_id", EXTERNAL_ID_BYTES_MAX, found);
    }
}

fn check_attributes(offer: &Offer, found: &mut Violations) {
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
            found.add(&field, codes::REQUIRED, "it has no value: give one or remove the attribute");
        }
        found.count(&field, values.values.len(), VALUES_MAX);
        for value in values.values.iter().take(VALUES_MAX) {
            texts::check(value, &field, Lines::Several, found);
            texts::chars(value, &field, VALUE_CHARS_MAX, found);
        }
    }
}

fn check_media(offer: &Offer, found: &mut Violations) {
    found.count("photos", offer.photos.len(), PHOTOS_MAX);
    for (number, photo) in offer.photos.iter().enumerate().take(PHOTOS_MAX) {
        forms::url(&photo.source_url, &format!("photos[{number}].source_url"), found);
    }
    if let Some(video) = offer.video.as_option() {
        forms::url(&video.url, "video.url", found);
    }
}

fn check_place(offer: &Offer, found: &mut Violations) {
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
        // Also false for NaN.
        if !(-most..=most).contains(&degrees) {
            let text = format!("from -{most} to {most} degrees");
            found.add(format!("place.coordinates.{name}"), codes::OUT_OF_RANGE, text);
        }
    }
}

fn check_contacts(offer: &Offer, found: &mut Violations) {
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
