//! Messages of which a mask keeps or copies parts.

use buffa::{MessageField, ProtoBox};
use wire::torg::offers::v1::__buffa::oneof;
use wire::torg::offers::v1::price::{Negotiable, PriceRange};
use wire::torg::offers::v1::source::Feed;
use wire::torg::offers::v1::video::Availability;
use wire::torg::offers::v1::{
    Author, Contacts, Coordinates, Money, Offer, Place, PredictedPrice, Price, Problem, Source, StatusReason,
    Video,
};

use super::tree::{Branches, Tree};

/// A field of a message: its name, and the fields inside it unless masks take it as a whole.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) fields: &'static [Field],
}

pub(super) trait Parts: Default + Clone + PartialEq {
    const FIELDS: &'static [Field];

    /// Empties the fields that are not named.
    fn retain(&mut self, parts: &Branches);

    /// Copies the fields that are named.
    fn copy(&mut self, parts: &Branches, from: &Self);
}

/// `parts!(Message { values, taken, as, a, whole; messages: Type })`. The attributes of an offer
/// are handled in `attributes.rs`.
macro_rules! parts {
    ($message:ty { $($whole:ident),*; $($nested:ident: $type:ty),* } $($extra:literal)?) => {
        impl Parts for $message {
            const FIELDS: &'static [Field] = &[
                $(Field { name: stringify!($whole), fields: &[] },)*
                $(Field { name: stringify!($nested), fields: <$type>::FIELDS },)*
                $(Field { name: $extra, fields: &[] },)?
            ];

            fn retain(&mut self, parts: &Branches) {
                $(if !parts.contains_key(stringify!($whole)) {
                    self.$whole = Default::default();
                })*
                $(retain_message(&mut self.$nested, parts.get(stringify!($nested)));)*
            }

            fn copy(&mut self, parts: &Branches, from: &Self) {
                $(if parts.contains_key(stringify!($whole)) {
                    self.$whole = from.$whole.clone();
                })*
                $(copy_message(&mut self.$nested, parts.get(stringify!($nested)), &from.$nested);)*
            }
        }
    };
}

parts!(Offer {
    id, seller, category, title, description, photos, condition, status, status_time, create_time, update_time, expire_time, version,
    photo_order, expire_warning_time, catalogue_version, obstacles;
    price: Price, video: Video, place: Place, contacts: Contacts, source: Source, status_reason: StatusReason,
    predicted_price: PredictedPrice
} "attributes");
parts!(Video { url; availability: Availability });
parts!(Availability { state, title, check_time; problem: Problem });
parts!(Problem { code, text, time, passing; });
parts!(PredictedPrice { count, confidence, basis; median: Money, low: Money, high: Money });
parts!(Place { address, place_id; coordinates: Coordinates });
parts!(Coordinates { latitude, longitude; });
parts!(Contacts { name, phones, email, chat; });
parts!(StatusReason { code, text; author: Author });
parts!(Author { kind, name; });
parts!(Money { micros, currency; });
parts!(Negotiable { ; from: Money });
parts!(PriceRange { ; from: Money, to: Money });
parts!(Feed { namespace, external_id; });

fn retain_message<T: Parts, P: ProtoBox<T>>(field: &mut MessageField<T, P>, tree: Option<&Tree>) {
    match tree {
        None => *field = MessageField::default(),
        Some(Tree::Whole) => {}
        Some(Tree::Parts(parts)) => {
            if let Some(message) = field.as_option_mut() {
                message.retain(parts);
            }
        }
    }
}

fn copy_message<T: Parts, P: ProtoBox<T>>(
    to: &mut MessageField<T, P>,
    tree: Option<&Tree>,
    from: &MessageField<T, P>,
) {
    if let Some(tree) = tree {
        *to = copied(to.as_option(), tree, from.as_option()).into();
    }
}

/// A message with parts of another one; `None` if neither has a value.
fn copied<T: Parts>(to: Option<&T>, tree: &Tree, from: Option<&T>) -> Option<T> {
    let Tree::Parts(parts) = tree else { return from.cloned() };
    let mut message = to.cloned().unwrap_or_default();
    message.copy(parts, &from.cloned().unwrap_or_default());
    (from.is_some() || message != T::default()).then_some(message)
}

/// `one_of!(Message, module { kinds with fields; kinds without })`.
macro_rules! one_of {
    ($message:ty, $module:ident { $($name:literal $kind:ident: $type:ty),*; $($bare_name:literal $bare:ident),* }) => {
        impl Parts for $message {
            const FIELDS: &'static [Field] = &[
                $(Field { name: $name, fields: <$type>::FIELDS },)*
                $(Field { name: $bare_name, fields: &[] },)*
            ];

            fn retain(&mut self, parts: &Branches) {
                use oneof::$module::Kind;
                let tree = match &self.kind {
                    $(Some(Kind::$kind(_)) => parts.get($name),)*
                    $(Some(Kind::$bare(_)) => parts.get($bare_name),)*
                    None => None,
                };
                match (tree, &mut self.kind) {
                    (None, kind) => *kind = None,
                    $((Some(Tree::Parts(parts)), Some(Kind::$kind(message))) => message.retain(parts),)*
                    _ => {}
                }
            }

            fn copy(&mut self, parts: &Branches, from: &Self) {
                use oneof::$module::Kind;
                $(if let Some(tree) = parts.get($name) {
                    let old = match &self.kind { Some(Kind::$kind(message)) => Some(&**message), _ => None };
                    let new = match &from.kind { Some(Kind::$kind(message)) => Some(&**message), _ => None };
                    let copied = copied(old, tree, new);
                    // Another kind stays unless there is a value to replace it.
                    if copied.is_some() || old.is_some() {
                        self.kind = copied.map(|message| Kind::$kind(Box::new(message)));
                    }
                })*
                $(if parts.contains_key($bare_name) {
                    match (&self.kind, &from.kind) {
                        (_, Some(Kind::$bare(_))) => self.kind = from.kind.clone(),
                        (Some(Kind::$bare(_)), _) => self.kind = None,
                        _ => {}
                    }
                })*
            }
        }
    };
}

one_of!(Price, price { "fixed" Fixed: Money, "negotiable" Negotiable: Negotiable, "range" Range: PriceRange; "free" Free });
one_of!(Source, source { "feed" Feed: Feed; "manual" Manual });
