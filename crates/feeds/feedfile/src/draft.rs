//! Builds an offer: every setter checks its value and adds a problem with its position if it is
//! wrong.

mod params;
mod prices;

use crate::header::Header;
use crate::limits::{
    DESCRIPTION_CHARS_MAX, ID_CHARS_MAX, OFFER_PROBLEMS_MAX, PHONES_MAX, PHOTOS_MAX, TEXT_CHARS_MAX,
    TITLE_CHARS_MAX, URL_CHARS_MAX,
};
use crate::model::{CategoryKind, Contacts, Coordinates, FeedOffer};
use crate::position::{At, Locator, Position};
use crate::problem::{Excerpt, shorten};
use crate::reader::Item;
use crate::xml::Repaired;
use crate::{Code, Problem, Severity, words};

/// What parsing an offer needs from its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) header: &'c Header,
    pub(crate) currency: &'c str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot<'v> {
    pub(crate) field: &'v str,
    pub(crate) value: &'v str,
    pub(crate) offset: usize,
}

impl<'v> Spot<'v> {
    pub(crate) fn new(field: &'v str, value: &'v str, offset: usize) -> Self {
        Self { field, value: value.trim(), offset }
    }
}

/// A field that is one line of text or a URL.
pub(crate) type Slot = fn(&mut FeedOffer) -> &mut Option<At<String>>;

pub(crate) struct Draft<'t> {
    text: &'t str,
    repaired: Option<&'t Repaired<'t>>,
    locator: Locator<'t>,
    pub(crate) context: Context<'t>,
    pub(crate) offer: FeedOffer,
    problems: Vec<Problem>,
    rejected: bool,
}

impl<'t> Draft<'t> {
    /// Begins an offer whose text begins at `at`; offsets are those of the repaired text, if there
    /// is one.
    pub(crate) fn new(
        text: &'t str,
        at: Position,
        repaired: Option<&'t Repaired<'t>>,
        context: Context<'t>,
    ) -> Self {
        let offer = FeedOffer { at, ..FeedOffer::default() };
        let locator = Locator::new(text, at);
        let mut draft =
            Self { text, repaired: None, locator, context, offer, problems: Vec::new(), rejected: false };
        draft.note_mended(repaired);
        draft.repaired = repaired;
        draft.note_damage();
        draft
    }

    fn note_mended(&mut self, repaired: Option<&Repaired<'_>>) {
        let Some(repaired) = repaired else { return };
        for wanted in [Code::BareAmpersand, Code::HtmlEntity, Code::BareLess, Code::ControlCharacter] {
            let mut places = repaired.mended.iter().filter(|(code, _)| *code == wanted);
            if let Some((code, offset)) = places.next() {
                let more = places.count();
                let also =
                    if more == 0 { String::new() } else { format!(" (and {more} more in this offer)") };
                let meaning = code.texts(crate::Language::English).meaning.trim_end_matches('.');
                self.problem(*code, "", "", *offset, format!("{meaning}{also}"));
            }
        }
    }

    fn note_damage(&mut self) {
        let mut damaged = memchr::memmem::find_iter(self.text.as_bytes(), "\u{FFFD}");
        if let Some(offset) = damaged.next() {
            let more = damaged.count();
            let repaired = self.repaired.take();
            self.problem(Code::DamagedCharacter, "", "", offset, format!("{} damaged characters", more + 1));
            self.repaired = repaired;
        }
    }

    pub(crate) fn position(&mut self, offset: usize) -> Position {
        let original = self.repaired.map_or(offset, |repaired| repaired.original(offset));
        self.locator.at(original)
    }

    pub(crate) fn problem(
        &mut self,
        code: Code,
        field: &str,
        value: &str,
        offset: usize,
        message: impl Into<String>,
    ) {
        self.problem_as(code.severity(), code, Spot { field, value, offset }, message);
    }

    pub(crate) fn problem_as(
        &mut self,
        severity: Severity,
        code: Code,
        spot: Spot<'_>,
        message: impl Into<String>,
    ) {
        self.rejected |= severity == Severity::Error;
        if self.problems.len() >= OFFER_PROBLEMS_MAX {
            return;
        }
        let original = self.repaired.map_or(spot.offset, |repaired| repaired.original(spot.offset));
        let at = self.locator.at(original);
        self.problems.push(Problem {
            code,
            severity,
            field: shorten(spot.field),
            value: shorten(spot.value),
            at,
            message: message.into(),
            external_id: String::new(),
            excerpt: Excerpt::of(self.text, original),
        });
    }

    fn warn(&mut self, code: Code, spot: Spot<'_>, message: impl Into<String>) {
        self.problem_as(code.severity(), code, spot, message);
    }

    fn at<T>(&mut self, spot: Spot<'_>, value: T) -> At<T> {
        At::new(value, self.position(spot.offset))
    }

    /// The value, truncated with a warning.
    fn fit(&mut self, spot: Spot<'_>, chars_max: usize) -> String {
        if spot.value.len() <= chars_max {
            return spot.value.to_owned();
        }
        match spot.value.char_indices().nth(chars_max) {
            None => spot.value.to_owned(),
            Some((end, _)) => {
                self.warn(Code::TooLong, spot, format!("longer than {chars_max} characters, cut"));
                spot.value[..end].trim_end().to_owned()
            }
        }
    }

    pub(crate) fn id(&mut self, spot: Spot<'_>) {
        if spot.value.is_empty() || !self.offer.external_id.is_empty() {
            return;
        }
        if spot.value.chars().nth(ID_CHARS_MAX).is_some() || spot.value.chars().any(char::is_control) {
            let message = format!("longer than {ID_CHARS_MAX} characters, or with a control character");
            return self.warn(Code::BadId, spot, message);
        }
        spot.value.clone_into(&mut self.offer.external_id);
    }

    pub(crate) fn title(&mut self, spot: Spot<'_>) {
        if spot.value.is_empty() {
            return;
        }
        if !self.offer.title.value.is_empty() {
            return self.warn(Code::RepeatedField, spot, format!("{} is repeated", spot.field));
        }
        let plain = words::plain(spot.value);
        let one_line = words::one_line(&plain);
        if one_line.is_empty() {
            return;
        }
        let value = self.fit(Spot { value: &one_line, ..spot }, TITLE_CHARS_MAX);
        self.offer.title = self.at(spot, value);
    }

    pub(crate) fn description(&mut self, spot: Spot<'_>) {
        let plain = words::plain(spot.value);
        if plain.is_empty() || self.offer.description.is_some() {
            return;
        }
        let value = self.fit(Spot { value: &plain, ..spot }, DESCRIPTION_CHARS_MAX);
        self.offer.description = Some(self.at(spot, value));
    }

    pub(crate) fn text(&mut self, place: Slot, spot: Spot<'_>) {
        if spot.value.is_empty() {
            return;
        }
        if place(&mut self.offer).is_some() {
            return self.warn(Code::RepeatedField, spot, format!("{} is repeated", spot.field));
        }
        let value = self.fit(spot, TEXT_CHARS_MAX);
        *place(&mut self.offer) = Some(self.at(spot, value));
    }

    pub(crate) fn url(&mut self, place: Slot, spot: Spot<'_>) {
        if place(&mut self.offer).is_none()
            && let Some(url) = self.checked_url(spot)
        {
            *place(&mut self.offer) = Some(self.at(spot, url));
        }
    }

    fn checked_url(&mut self, spot: Spot<'_>) -> Option<String> {
        let value = spot.value;
        if value.is_empty() {
            return None;
        }
        let scheme = value.split_once("://").map(|(scheme, rest)| (scheme.to_ascii_lowercase(), rest));
        match scheme {
            Some((scheme, rest)) if matches!(scheme.as_str(), "http" | "https") && words::is_host(rest) => {}
            None if words::is_host(value.trim_start_matches('/')) => {
                self.warn(Code::UrlWithoutScheme, spot, "the link does not begin with https://");
                return Some(format!("http://{}", value.trim_start_matches('/')));
            }
            _ => {
                self.warn(Code::BadUrl, spot, "this is not a link");
                return None;
            }
        }
        if value.len() > URL_CHARS_MAX || value.contains(char::is_whitespace) {
            self.warn(
                Code::BadUrl,
                spot,
                format!("a link has no spaces and at most {URL_CHARS_MAX} characters"),
            );
            return None;
        }
        Some(value.to_owned())
    }

    pub(crate) fn photo(&mut self, spot: Spot<'_>) {
        if self.offer.photos.len() >= PHOTOS_MAX {
            if self.offer.photos.len() == PHOTOS_MAX
                && !self.problems.iter().any(|known| known.code == Code::TooMany)
            {
                self.warn(Code::TooMany, spot, format!("more than {PHOTOS_MAX} photos"));
            }
            return;
        }
        if let Some(url) = self.checked_url(spot) {
            let photo = self.at(spot, url);
            self.offer.photos.push(photo);
        }
    }

    pub(crate) fn category_text(&mut self, kind: CategoryKind, spot: Spot<'_>) {
        if !spot.value.is_empty() && self.offer.category.texts.len() < crate::limits::CATEGORY_DEPTH_MAX {
            let value = self.fit(spot, TEXT_CHARS_MAX);
            let at = self.position(spot.offset);
            self.offer.category.texts.push((kind, At::new(value, at)));
        }
    }

    /// The id of a category of the file.
    pub(crate) fn category_id(&mut self, spot: Spot<'_>) {
        if spot.value.is_empty() || self.offer.category.id.is_some() {
            return;
        }
        self.offer.category.path = self.context.header.category_path(spot.value);
        if self.offer.category.path.is_none() && !self.context.header.categories.is_empty() {
            self.warn(
                Code::UnknownCategoryId,
                spot,
                format!("the file has no category {}", shorten(spot.value)),
            );
        }
        let value = self.fit(spot, TEXT_CHARS_MAX);
        self.offer.category.id = Some(self.at(spot, value));
    }

    fn word<T>(&mut self, spot: Spot<'_>, parse: fn(&str) -> Option<T>, expected: &str) -> Option<At<T>> {
        if spot.value.is_empty() {
            return None;
        }
        let found = parse(spot.value);
        if found.is_none() {
            self.warn(Code::BadValue, spot, expected);
        }
        found.map(|found| self.at(spot, found))
    }

    pub(crate) fn condition(&mut self, spot: Spot<'_>) {
        let expected = "new, like_new, used, refurbished or for_parts is expected";
        if let Some(found) = self.word(spot, words::condition, expected) {
            self.offer.condition = Some(found);
        }
    }

    pub(crate) fn availability(&mut self, spot: Spot<'_>) {
        let expected = "in_stock, out_of_stock, preorder or backorder is expected";
        if let Some(found) = self.word(spot, words::availability, expected) {
            self.offer.availability = Some(found);
        }
    }

    pub(crate) fn phone(&mut self, spot: Spot<'_>) {
        if spot.value.is_empty() || self.offer.contacts.phones.len() >= PHONES_MAX {
            return;
        }
        let digits = spot.value.chars().filter(char::is_ascii_digit).count();
        if !(5..=15).contains(&digits) || spot.value.chars().any(char::is_alphabetic) {
            return self.warn(Code::BadPhone, spot, "a phone number has 5 to 15 digits");
        }
        let at = self.position(spot.offset);
        self.offer.contacts.phones.push(At::new(words::phone(spot.value), at));
    }

    pub(crate) fn email(&mut self, spot: Spot<'_>) {
        if spot.value.is_empty() {
            return;
        }
        if !words::is_email(spot.value) {
            return self.warn(Code::BadEmail, spot, "name@example.com is expected");
        }
        let at = self.position(spot.offset);
        let contacts: &mut Contacts = &mut self.offer.contacts;
        contacts.email.get_or_insert_with(|| At::new(spot.value.to_owned(), at));
    }

    pub(crate) fn coordinates(&mut self, latitude: Option<Spot<'_>>, longitude: Option<Spot<'_>>) {
        let (north, east) = match (latitude, longitude) {
            (None, None) => return,
            (Some(north), Some(east)) => (north, east),
            (Some(one), None) | (None, Some(one)) => {
                return self.warn(Code::BadCoordinates, one, "latitude and longitude are both needed");
            }
        };
        let degrees = |spot: Spot<'_>, most: f64| {
            spot.value.replace(',', ".").parse::<f64>().ok().filter(|degrees| degrees.abs() <= most)
        };
        match (degrees(north, 90.0), degrees(east, 180.0)) {
            (Some(latitude), Some(longitude)) => {
                let at = self.position(north.offset);
                self.offer.coordinates = Some(At::new(Coordinates { latitude, longitude }, at));
            }
            (None, _) => self.warn(Code::BadCoordinates, north, "-90 to 90 is expected"),
            (_, None) => self.warn(Code::BadCoordinates, east, "-180 to 180 is expected"),
        }
    }

    /// Adds the problem that a required field is missing.
    pub(crate) fn missing(&mut self, code: Code, field: &str) {
        self.warn(code, Spot::new(field, "", 0), format!("there is no {field}"));
    }

    /// Checks required fields and ends the offer. `id` and `title` are the format's names of these
    /// fields.
    pub(crate) fn finish(mut self, id: &str, title: &str) -> Item {
        if self.offer.external_id.is_empty() && !self.problems.iter().any(|known| known.code == Code::BadId) {
            self.missing(Code::MissingField, id);
        }
        if self.offer.title.value.is_empty() {
            self.missing(Code::MissingField, title);
        }
        self.end()
    }

    pub(crate) fn end(mut self) -> Item {
        let external_id = self.offer.external_id.clone();
        for problem in &mut self.problems {
            problem.external_id.clone_from(&external_id);
        }
        let at = self.offer.at;
        let (title, offer) =
            if self.rejected { (self.offer.title.value, None) } else { (String::new(), Some(self.offer)) };
        Item { external_id, title, at, offer, problems: self.problems }
    }
}
