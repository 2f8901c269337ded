//! Keys: tuples of typed columns, encoded so that the order of the bytes is the order of the
//! tuples.
//!
//! - `u32`: four bytes, big end first.
//! - `i64`: eight bytes, big end first, sign bit flipped.
//! - text and bytes: each `00` becomes `00 FF`, and `00 01` ends the column.
//!
//! No encoded column is a prefix of another of its type, so columns are concatenated, and the
//! encoding of the first columns is a prefix of every key that starts with them.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use crate::limits::KEY_BYTES_MAX;
use crate::table::{ColumnType, TableDef};
use crate::{Error, Result};

const ESCAPED_ZERO: [u8; 2] = [0x00, 0xFF];
const END: [u8; 2] = [0x00, 0x01];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyValue {
    /// Unsigned 32 bits.
    U32(u32),
    /// Signed 64 bits.
    I64(i64),
    /// UTF-8 text.
    Text(String),
    /// Any bytes.
    Bytes(Vec<u8>),
}

/// Encoded keys up to this length are not allocated.
const INLINE_BYTES: usize = 48;

pub(crate) type KeyBytes = SmallVec<[u8; INLINE_BYTES]>;

impl KeyValue {
    #[must_use]
    pub fn ty(&self) -> ColumnType {
        match self {
            Self::U32(_) => ColumnType::U32,
            Self::I64(_) => ColumnType::I64,
            Self::Text(_) => ColumnType::Text,
            Self::Bytes(_) => ColumnType::Bytes,
        }
    }

    fn encode(&self, out: &mut KeyBytes) {
        match self {
            Self::U32(v) => encode_u32(*v, out),
            Self::I64(v) => encode_i64(*v, out),
            Self::Text(v) => encode_bytes(v.as_bytes(), out),
            Self::Bytes(v) => encode_bytes(v, out),
        }
    }

    /// Removes one column from the front of `bytes`; `None` if it is malformed.
    fn decode(ty: ColumnType, bytes: &mut &[u8]) -> Option<Self> {
        match ty {
            ColumnType::U32 => {
                let (head, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(Self::U32(u32::from_be_bytes(*head)))
            }
            ColumnType::I64 => {
                let (head, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(Self::I64((u64::from_be_bytes(*head) ^ (1 << 63)).cast_signed()))
            }
            ColumnType::Text => String::from_utf8(decode_bytes(bytes)?).ok().map(Self::Text),
            ColumnType::Bytes => decode_bytes(bytes).map(Self::Bytes),
        }
    }
}

impl fmt::Display for KeyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::U32(v) => write!(f, "{v}"),
            Self::I64(v) => write!(f, "{v}"),
            Self::Text(v) => write!(f, "{v:?}"),
            Self::Bytes(v) => write!(f, "0x{}", text::hex(v)),
        }
    }
}

fn encode_u32(value: u32, out: &mut KeyBytes) {
    out.extend_from_slice(&value.to_be_bytes());
}

fn encode_i64(value: i64, out: &mut KeyBytes) {
    out.extend_from_slice(&(value.cast_unsigned() ^ (1 << 63)).to_be_bytes());
}

fn encode_bytes(value: &[u8], out: &mut KeyBytes) {
    let mut pieces = value.split(|&b| b == 0);
    out.extend_from_slice(pieces.next().unwrap_or_default());
    for piece in pieces {
        out.extend_from_slice(&ESCAPED_ZERO);
        out.extend_from_slice(piece);
    }
    out.extend_from_slice(&END);
}

fn decode_bytes(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    loop {
        let zero = bytes.iter().position(|&b| b == 0)?;
        let (piece, rest) = bytes.split_at(zero);
        value.extend_from_slice(piece);
        let (mark, rest) = rest.split_first_chunk::<2>()?;
        *bytes = rest;
        match *mark {
            END => return Some(value),
            ESCAPED_ZERO => value.push(0),
            _ => return None,
        }
    }
}

/// The key of one row: its table and its encoded columns. Cheap to clone.
#[derive(Clone)]
pub struct Key {
    table: &'static TableDef,
    bytes: KeyBytes,
}

impl Key {
    /// The key of these values. A key that does not have the columns of its table is refused when
    /// it is used.
    #[must_use]
    pub fn encode(table: &'static TableDef, values: &[KeyValue]) -> Self {
        Self { table, bytes: encode_prefix(values) }
    }

    pub(crate) fn from_parts<K>(table: &'static TableDef, parts: &impl PrefixOf<K>) -> Self {
        let mut bytes = KeyBytes::new();
        parts.encode(&mut bytes);
        Self { table, bytes }
    }

    #[must_use]
    pub fn from_encoded(table: &'static TableDef, bytes: &[u8]) -> Self {
        Self { table, bytes: bytes.into() }
    }

    #[must_use]
    pub fn table(&self) -> &'static TableDef {
        self.table
    }

    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[must_use]
    pub fn shard(&self) -> u32 {
        self.bytes.first_chunk().map_or(0, |b| u32::from_be_bytes(*b))
    }

    pub fn values(&self) -> Result<Vec<KeyValue>> {
        let mut rest = &*self.bytes;
        let values = self.table.types.iter().map(|ty| KeyValue::decode(*ty, &mut rest));
        let values = values.collect::<Option<Vec<_>>>().ok_or_else(|| self.malformed())?;
        if rest.is_empty() { Ok(values) } else { Err(self.malformed()) }
    }

    /// Checks that the key has the columns of its table, is not too long, and has no NUL in text
    /// (PostgreSQL cannot store it).
    pub fn validate(&self) -> Result<()> {
        if self.bytes.len() > KEY_BYTES_MAX {
            let (bytes, max) = (self.bytes.len(), KEY_BYTES_MAX);
            return Err(Error::KeyTooLarge { table: self.table.name, bytes, max });
        }
        let mut rest = &*self.bytes;
        for ty in self.table.types {
            if !skip_column(*ty, &mut rest).ok_or_else(|| self.malformed())? {
                let reason = "text in a key must not contain the NUL character".to_owned();
                return Err(Error::BadKey { table: self.table.name, reason });
            }
        }
        if rest.is_empty() { Ok(()) } else { Err(self.malformed()) }
    }

    pub(crate) fn malformed(&self) -> Error {
        let reason = format!("the key does not have the columns ({})", self.table.columns.join(", "));
        Error::BadKey { table: self.table.name, reason }
    }
}

/// Skips one encoded column; `Some(false)` if it is text with a NUL, `None` if it is malformed.
fn skip_column(ty: ColumnType, rest: &mut &[u8]) -> Option<bool> {
    let fixed = match ty {
        ColumnType::U32 => 4,
        ColumnType::I64 => 8,
        ColumnType::Text | ColumnType::Bytes => {
            let mut escaped = false;
            let mut at = 0;
            loop {
                at += rest[at..].iter().position(|&b| b == 0)?;
                match rest.get(at..at + 2)? {
                    mark if *mark == END => break,
                    mark if *mark == ESCAPED_ZERO => escaped = true,
                    _ => return None,
                }
                at += 2;
            }
            if ty == ColumnType::Text {
                std::str::from_utf8(&rest[..at]).ok().or(escaped.then_some(""))?;
            }
            *rest = &rest[at + 2..];
            return Some(!(escaped && ty == ColumnType::Text));
        }
    };
    *rest = rest.get(fixed..)?;
    Some(true)
}

pub(crate) fn encode_prefix(values: &[KeyValue]) -> KeyBytes {
    let mut bytes = KeyBytes::new();
    for value in values {
        value.encode(&mut bytes);
    }
    bytes
}

/// The least byte string above all that start with `prefix`.
pub(crate) fn prefix_end(mut prefix: KeyBytes) -> Option<KeyBytes> {
    while let Some(last) = prefix.pop() {
        if last < 0xFF {
            prefix.push(last + 1);
            return Some(prefix);
        }
    }
    None
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        let tables = if std::ptr::eq(self.table, other.table) {
            Ordering::Equal
        } else {
            self.table.name.cmp(other.table.name)
        };
        tables.then_with(|| self.bytes.cmp(&other.bytes))
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.table.name.hash(state);
        self.bytes.hash(state);
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.table.name)?;
        if let Ok(values) = self.values() {
            for (i, value) in values.iter().enumerate() {
                write!(f, "{}{value}", if i == 0 { "" } else { ", " })?;
            }
        } else {
            write!(f, "malformed {}", KeyValue::Bytes(self.bytes.to_vec()))?;
        }
        f.write_str(")")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A Rust type that a key column of type `TYPE` decodes to.
pub trait KeyColumn: Sized {
    const TYPE: ColumnType;
    /// `None` if the value has another type.
    fn from_value(value: KeyValue) -> Option<Self>;
}

/// A Rust value that a key column of type `T` can be made from, such as `&str` for `String`.
pub trait IntoColumn<T> {
    fn value(self) -> KeyValue;
    #[doc(hidden)]
    fn encode(&self, out: &mut SmallVec<[u8; 48]>);
}

/// A tuple of key columns: the `K` of [`Table<K>`](crate::Table).
pub trait KeyTuple: Sized {
    const TYPES: &'static [ColumnType];
    /// `None` if the values do not fit.
    fn from_values(values: Vec<KeyValue>) -> Option<Self>;
}

/// A tuple of values for the first columns of the key `K`. `Whole` is `K` when it has them all.
pub trait PrefixOf<K> {
    /// `K` for a whole key, `()` for a shorter one.
    type Whole;
    fn values(self) -> Vec<KeyValue>;
    #[doc(hidden)]
    fn encode(&self, out: &mut SmallVec<[u8; 48]>);
}

macro_rules! column {
    ($type:ty, $variant:ident, $encode:ident, $($from:ty => $convert:expr),+) => {
        impl KeyColumn for $type {
            const TYPE: ColumnType = ColumnType::$variant;
            fn from_value(value: KeyValue) -> Option<Self> {
                if let KeyValue::$variant(v) = value { Some(v) } else { None }
            }
        }
        $(impl IntoColumn<$type> for $from {
            fn value(self) -> KeyValue {
                let convert: fn($from) -> $type = $convert;
                KeyValue::$variant(convert(self))
            }
            fn encode(&self, out: &mut KeyBytes) {
                column!(@encode $encode self out);
            }
        })+
    };
    (@encode encode_bytes $value:ident $out:ident) => { encode_bytes($value.as_ref(), $out) };
    (@encode $encode:ident $value:ident $out:ident) => { $encode(*$value, $out) };
}
column!(u32, U32, encode_u32, u32 => |v| v);
column!(i64, I64, encode_i64, i64 => |v| v);
column!(String, Text, encode_bytes, String => |v| v, &str => str::to_owned, &String => String::clone);
column!(Vec<u8>, Bytes, encode_bytes, Vec<u8> => |v| v, &[u8] => <[u8]>::to_vec, &Vec<u8> => Vec::clone);

macro_rules! key_tuple {
    ($whole:tt; $($part:tt $is:ty,)+) => {
        key_whole!($whole);
        $(key_prefix!($whole $part $is);)+
    };
}
macro_rules! key_whole {
    ([$($whole:ident)+]) => {
        impl<$($whole: KeyColumn),+> KeyTuple for ($($whole,)+) {
            const TYPES: &'static [ColumnType] = &[$($whole::TYPE),+];
            fn from_values(values: Vec<KeyValue>) -> Option<Self> {
                let mut values = values.into_iter();
                let tuple = ($($whole::from_value(values.next()?)?,)+);
                values.next().is_none().then_some(tuple)
            }
        }
    };
}
macro_rules! key_prefix {
    ([$($whole:ident)+] [$($part:ident $value:ident)*] $is:ty) => {
        #[allow(non_snake_case, reason = "one name serves a type and its value")]
        impl<$($whole,)+ $($value: IntoColumn<$part>),*> PrefixOf<($($whole,)+)> for ($($value,)*) {
            type Whole = $is;
            fn values(self) -> Vec<KeyValue> {
                let ($($value,)*) = self;
                vec![$($value.value()),*]
            }
            #[allow(unused_variables, reason = "the empty prefix writes nothing")]
            fn encode(&self, out: &mut KeyBytes) {
                let ($($value,)*) = self;
                $($value.encode(out);)*
            }
        }
    };
}
key_tuple!([A]; [] (), [A V] (A,),);
key_tuple!([A B]; [] (), [A V] (), [A V B W] (A, B),);
key_tuple!([A B C]; [] (), [A V] (), [A V B W] (), [A V B W C X] (A, B, C),);
key_tuple!([A B C D]; [] (), [A V] (), [A V B W] (), [A V B W C X] (), [A V B W C X D Y] (A, B, C, D),);
key_tuple!([A B C D E]; [] (), [A V] (), [A V B W] (), [A V B W C X] (), [A V B W C X D Y] (),
    [A V B W C X D Y E Z] (A, B, C, D, E),);
key_tuple!([A B C D E F]; [] (), [A V] (), [A V B W] (), [A V B W C X] (), [A V B W C X D Y] (),
    [A V B W C X D Y E Z] (), [A V B W C X D Y E Z F U] (A, B, C, D, E, F),);
