//! Messages of which a mask keeps or takes over parts.

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

/// A message with parts.
pub(super) trait Parts: Default + Clone + PartialEq {
    /// Empties every part that is not named.
    fn keep(&mut self, parts: &Branches);
    /// Takes over the parts that are named.
    fn take(&mut self, parts: &Branches, from: &Self);
}

/// `parts!(Message { values, that, are, whole; messages })`
macro_rules! parts {
    ($message:ty { $($whole:ident),*; $($nested:ident),* }) => {
        impl Parts for $message {
            fn keep(&mut self, parts: &Branches) {
                *self = Self {
                    $($whole: if parts.contains_key(stringify!($whole)) {
                        std::mem::take(&mut self.$whole)
                    } else {
                        Default::default()
                    },)*
                    $($nested: kept(std::mem::take(&mut self.$nested), parts.get(stringify!($nested))),)*
                    ..Self::rest(self)
                };
            }

            fn take(&mut self, parts: &Branches, from: &Self) {
                $(if parts.contains_key(stringify!($whole)) {
                    self.$whole = from.$whole.clone();
                })*
                $(take_message(&mut self.$nested, parts.get(stringify!($nested)), &from.$nested);)*
            }
        }
    };
}

/// What a reduced message has beside the parts that masks name here.
trait Rest: Default {
    fn rest(&mut self) -> Self {
        Self::default()
    }
}

impl Rest for Offer {
    fn rest(&mut self) -> Self {
        // Its names are read by `attributes.rs`.
        Self { attributes: std::mem::take(&mut self.attributes), ..Self::default() }
    }
}

macro_rules! nothing_else {
    ($($message:ty),*) => { $(impl Rest for $message {})* };
}
nothing_else!(
    Video,
    Availability,
    Problem,
    PredictedPrice,
    Place,
    Coordinates,
    Contacts,
    StatusReason,
    Author,
    Money,
    Negotiable,
    PriceRange,
    Feed
);

parts!(Offer {
    id, seller, category, title, description, photos, condition, status, status_time, create_time, update_time, expire_time, version,
    photo_order, expire_warning_time, catalogue_version, obstacles;
    price, video, place, contacts, source, status_reason, predicted_price
});
parts!(Video { url; availability });
parts!(Availability { state, title, check_time; problem });
parts!(Problem { code, text, time, passing; });
parts!(PredictedPrice { count, confidence, basis; median, low, high });
parts!(Place { address, place_id; coordinates });
parts!(Coordinates { latitude, longitude; });
parts!(Contacts { name, phones, email, chat; });
parts!(StatusReason { code, text; author });
parts!(Author { kind, name; });
parts!(Money { micros, currency; });
parts!(Negotiable { ; from });
parts!(PriceRange { ; from, to });
parts!(Feed { namespace, external_id; });

fn kept<T: Parts, P: ProtoBox<T>>(field: MessageField<T, P>, tree: Option<&Tree>) -> MessageField<T, P> {
    match tree {
        None => MessageField::default(),
        Some(Tree::Whole) => field,
        Some(Tree::Parts(parts)) => field
            .into_option()
            .map(|mut message| {
                message.keep(parts);
                message
            })
            .into(),
    }
}

fn take_message<T: Parts, P: ProtoBox<T>>(
    to: &mut MessageField<T, P>,
    tree: Option<&Tree>,
    from: &MessageField<T, P>,
) {
    let taken = match tree {
        None => return,
        Some(Tree::Whole) => from.as_option().cloned(),
        Some(Tree::Parts(parts)) => taken(to.as_option(), parts, from.as_option()),
    };
    *to = taken.into();
}

/// A message with parts of another. Where neither has anything, there is none.
fn taken<T: Parts>(to: Option<&T>, parts: &Branches, from: Option<&T>) -> Option<T> {
    let mut message = to.cloned().unwrap_or_default();
    message.take(parts, &from.cloned().unwrap_or_default());
    (from.is_some() || message != T::default()).then_some(message)
}

/// Masks of a message that is one of several kinds: `one_of!(Message, module { kinds with parts; kinds without })`.
macro_rules! one_of {
    ($message:ty, $module:ident { $($name:literal $kind:ident),*; $($bare_name:literal $bare:ident),* }) => {
        impl Parts for $message {
            fn keep(&mut self, parts: &Branches) {
                use oneof::$module::Kind;
                let kept = match self.kind.take() {
                    $(Some(Kind::$kind(mut message)) => match parts.get($name) {
                        None => None,
                        Some(Tree::Whole) => Some(Kind::$kind(message)),
                        Some(Tree::Parts(parts)) => {
                            message.keep(parts);
                            Some(Kind::$kind(message))
                        }
                    },)*
                    $(Some(Kind::$bare(message)) => parts.contains_key($bare_name).then_some(Kind::$bare(message)),)*
                    None => None,
                };
                *self = Self { kind: kept, ..Self::default() };
            }

            fn take(&mut self, parts: &Branches, from: &Self) {
                use oneof::$module::Kind;
                $(if let Some(tree) = parts.get($name) {
                    let old = match &self.kind { Some(Kind::$kind(message)) => Some(&**message), _ => None };
                    let new = match &from.kind { Some(Kind::$kind(message)) => Some(&**message), _ => None };
                    let taken = match tree {
                        Tree::Whole => new.cloned(),
                        Tree::Parts(parts) => taken(old, parts, new),
                    };
                    // Another kind stays, unless there is something to put in its place.
                    if taken.is_some() || old.is_some() {
                        self.kind = taken.map(|message| Kind::$kind(Box::new(message)));
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

one_of!(Price, price { "fixed" Fixed, "negotiable" Negotiable, "range" Range; "free" Free });
one_of!(Source, source { "feed" Feed; "manual" Manual });
