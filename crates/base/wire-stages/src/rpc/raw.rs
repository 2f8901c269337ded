//! A message that is its bytes, for calls that do not know their messages.

use buffa::encoding::Tag;
use buffa::view::{HasMessageView, MessageView, OwnedView, ViewReborrow};
use buffa::{DecodeContext, DecodeError, EncodeSink, Message, SizeCache};
use bytes::{Buf, Bytes};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const NO_JSON: &str = "a message of unknown type has no JSON form";

/// An encoded message of any type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Raw(pub(super) Bytes);

buffa::impl_default_instance!(Raw);

impl Message for Raw {
    fn compute_size(&self, _cache: &mut SizeCache) -> u32 {
        buffa::saturate_size(self.0.len() as u64)
    }

    fn write_to(&self, _cache: &mut SizeCache, buf: &mut impl EncodeSink) {
        buf.put_slice(&self.0);
    }

    fn merge_field(&mut self, _: Tag, _: &mut impl Buf, _: DecodeContext<'_>) -> Result<(), DecodeError> {
        unreachable!("answers are read as `RawView`, which does not look at fields")
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(NO_JSON))
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom(NO_JSON))
    }
}

#[derive(Clone, Copy)]
pub(super) struct RawView<'a>(&'a [u8]);

impl<'a> MessageView<'a> for RawView<'a> {
    type Owned = Raw;

    fn decode_view(buf: &'a [u8]) -> Result<Self, DecodeError> {
        Ok(Self(buf))
    }

    fn merge_view_field(
        &mut self,
        _: Tag,
        cur: &'a [u8],
        _: &'a [u8],
        _: DecodeContext<'_>,
    ) -> Result<&'a [u8], DecodeError> {
        Ok(cur)
    }

    fn to_owned_message(&self) -> Result<Raw, DecodeError> {
        self.to_owned_from_source(None)
    }

    fn to_owned_from_source(&self, source: Option<&Bytes>) -> Result<Raw, DecodeError> {
        Ok(Raw(buffa::view::bytes_from_source(source, self.0)))
    }
}

impl ViewReborrow for RawView<'static> {
    type Reborrowed<'b> = RawView<'b>;

    fn reborrow(this: &Self) -> &RawView<'_> {
        this
    }
}

pub(super) struct RawHandle(OwnedView<RawView<'static>>);

impl From<OwnedView<RawView<'static>>> for RawHandle {
    fn from(view: OwnedView<RawView<'static>>) -> Self {
        Self(view)
    }
}

impl AsRef<OwnedView<RawView<'static>>> for RawHandle {
    fn as_ref(&self) -> &OwnedView<RawView<'static>> {
        &self.0
    }
}

impl HasMessageView for Raw {
    type View<'a> = RawView<'a>;
    type ViewHandle = RawHandle;
}
