//! JSON values with offsets.

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'t> {
    raw: &'t str,
    offset: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Object<'t>(pub(crate) Vec<(String, Value<'t>)>);

/// Reads the pairs of an object in order, with repeated keys.
struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
}

impl<'t> Value<'t> {
    /// A text of one value.
    pub(crate) fn whole(raw: &'t str) -> Self {
        Self { raw, offset: 0 }
    }

    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    pub(crate) fn is_null(&self) -> bool {
        self.raw.trim() == "null"
    }

    fn inner(&self, raw: &'t RawValue) -> Self {
        let distance = (raw.get().as_ptr() as usize).saturating_sub(self.raw.as_ptr() as usize);
        Self { raw: raw.get(), offset: self.offset + distance }
    }

    pub(crate) fn object(&self) -> Result<Object<'t>, serde_json::Error> {
        let mut json = serde_json::Deserializer::from_str(self.raw);
        let pairs = json.deserialize_map(Pairs)?;
        json.end()?;
        Ok(Object(pairs.into_iter().map(|(key, raw)| (key, self.inner(raw))).collect()))
    }

    pub(crate) fn items(&self) -> Option<Vec<Value<'t>>> {
        if !self.raw.trim_start().starts_with('[') {
            return None;
        }
        let items: Vec<&'t RawValue> = serde_json::from_str(self.raw).ok()?;
        Some(items.into_iter().map(|raw| self.inner(raw)).collect())
    }

    /// The string, number or boolean as text; `None` for null, objects and arrays.
    pub(crate) fn text(&self) -> Option<Cow<'t, str>> {
        let raw = self.raw.trim();
        match raw.as_bytes().first()? {
            b'"' if !raw.contains('\\') => Some(Cow::Borrowed(&raw[1..raw.len() - 1])),
            b'"' => serde_json::from_str::<String>(raw).ok().map(Cow::Owned),
            b'{' | b'[' | b'n' => None,
            _ => Some(Cow::Borrowed(raw)),
        }
    }
}

impl<'t> Object<'t> {
    /// The value of the first of these keys that has one.
    pub(crate) fn get(&self, keys: &[&str]) -> Option<&Value<'t>> {
        let of = |key: &&str| self.0.iter().find(|(known, value)| known == key && !value.is_null());
        keys.iter().find_map(of).map(|(_, value)| value)
    }

    pub(crate) fn text(&self, keys: &[&str]) -> Option<Cow<'t, str>> {
        self.get(keys).and_then(Value::text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_places() {
        let text = "{ \"a\": {\"b\": [1, \"x\\u0041\"]},\n\"c\": null }";
        let object = Value::whole(text).object().unwrap();
        let inner = object.get(&["a"]).unwrap().object().unwrap();
        let items = inner.get(&["b"]).unwrap().items().unwrap();
        assert_eq!(items[1].text().unwrap(), "xA");
        assert_eq!(items[1].offset(), text.find("\"x").unwrap());
        assert!(object.get(&["c"]).is_none());
    }
}
