//! Generates unusual values, and requests with them, from the descriptors.

use std::sync::Arc;

use buffa_descriptor::{
    DescriptorPool, FieldDescriptor, FieldKind, MessageDescriptor, MessageIndex, ScalarType, SingularKind,
};
use rand::rngs::StdRng;
use rand::{Rng as _, RngExt as _};
use serde_json::{Map, Value, json};

use crate::raw::{SURROGATE, json_text, merge, put_block, put_number, put_varint};

/// The nesting depth of messages.
const DEPTH_MAX: u32 = 5;

/// A generator of unusual values; the same seed gives the same values.
pub(crate) struct Odd {
    pub(crate) random: StdRng,
    pool: Arc<DescriptorPool>,
    /// Texts that the process knows: ids, tokens, names.
    pub(crate) known: Vec<String>,
    /// Whether texts may be invalid UTF-8 in binary requests.
    broken_texts: bool,
    /// Whether messages have only one field.
    sparse: bool,
}

impl Odd {
    pub(crate) fn new(random: StdRng, pool: Arc<DescriptorPool>) -> Odd {
        let known =
            ["ann", "bob", "transport/cars", "EUR", "title", "visitor-0123456789abcdef", "fuzz", "gold"];
        Odd { random, pool, known: known.map(str::to_owned).into(), broken_texts: false, sparse: false }
    }

    pub(crate) fn chance(&mut self, one_in: u32) -> bool {
        self.random.random_range(0..one_in) == 0
    }

    fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.random.random_range(0..among.len())]
    }

    pub(crate) fn bytes(&mut self, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; self.random.random_range(0..=most)];
        self.random.fill_bytes(&mut bytes);
        bytes
    }

    fn length(&mut self) -> usize {
        let limits = [0, 1, 64, 100, 128, 200, 256, 512, 1000, 10_000];
        let limit: usize = *self.pick(&limits);
        (limit + self.random.random_range(0..3)).saturating_sub(1)
    }

    pub(crate) fn text(&mut self) -> String {
        let odd = [
            "",
            " ",
            "\u{0}",
            "a\u{0}b",
            "\u{1b}[31m",
            "\n",
            "\u{202e}abc",
            "\u{feff}",
            "💥",
            "é",
            "ⅷ",
            "*",
            "`",
            "%00",
            "%D0",
            "..",
            "../../etc/passwd",
            "'; --",
            "null",
            "NaN",
            "-1",
            "1e999",
            "9223372036854775808",
            "4829-1750-3316-8090",
            "4829175033168090",
            "4829175033168091",
            "0000000000000000",
            "9999999999999999",
            "４８２９１７５０３３１６８０９０",
            "feed:",
            "manual",
            "attributes.",
            "attributes.``",
            "keeping",
            "status",
            "seller",
            "version",
            "source.feed.namespace",
            "keeping.author",
            SURROGATE,
            "offers",
            "\u{7f}",
            "\u{85}",
        ];
        match self.random.random_range(0..10) {
            0..=3 => {
                let at = self.random.random_range(0..self.known.len());
                self.known[at].clone()
            }
            4..=6 => (*self.pick(&odd)).to_owned(),
            7 => {
                let at = self.random.random_range(0..self.known.len());
                let known = self.known[at].clone();
                self.slip(&known)
            }
            8 => {
                let unit = *self.pick(&["x", "é", "💥", ".", "1", "-"]);
                unit.repeat(self.length())
            }
            _ => String::from_utf8_lossy(&self.bytes(40)).into_owned(),
        }
    }

    /// A text with one character changed, removed or doubled.
    fn slip(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        if characters.is_empty() {
            return "x".to_owned();
        }
        let at = self.random.random_range(0..characters.len());
        match self.random.random_range(0..3) {
            0 => characters[at] = *self.pick(&['A', '0', '_', '-', 'z']),
            1 => _ = characters.remove(at),
            _ => characters.insert(at, characters[at]),
        }
        characters.into_iter().collect()
    }

    fn whole(&mut self) -> i64 {
        let odd = [
            0,
            1,
            2,
            -1,
            7,
            200,
            201,
            1000,
            1001,
            i64::MIN,
            i64::MAX,
            i64::MIN + 1,
            i64::from(i32::MAX),
            1 << 53,
        ];
        if self.chance(4) { self.random.random() } else { *self.pick(&odd) }
    }

    fn real(&mut self) -> f64 {
        let odd = [
            0.0,
            -0.0,
            52.5,
            90.0,
            90.000_001,
            -180.1,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1e308,
            5e-324,
        ];
        *self.pick(&odd)
    }

    /// A request in binary form, sometimes with invalid UTF-8.
    pub(crate) fn binary(&mut self, message: MessageIndex, broken_texts: bool) -> Vec<u8> {
        self.broken_texts = broken_texts;
        let mut bytes = Vec::new();
        self.put_message(message, &mut bytes, DEPTH_MAX);
        bytes
    }

    fn put_message(&mut self, message: MessageIndex, out: &mut Vec<u8>, depth: u32) {
        let pool = Arc::clone(&self.pool);
        for field in self.chosen(pool.message(message)) {
            let number = field.number();
            match field.kind() {
                FieldKind::Singular(kind) if self.sparse || self.chance(2) => {
                    self.put(number, kind, out, depth);
                }
                FieldKind::List(kind) => {
                    for _ in 0..self.count() {
                        self.put(number, kind, out, depth);
                    }
                }
                FieldKind::Map { key, value } => {
                    for _ in 0..self.count() {
                        let mut entry = Vec::new();
                        self.put(1, SingularKind::Scalar(key), &mut entry, depth);
                        self.put(2, value, &mut entry, depth);
                        put_block(number, &entry, out);
                    }
                }
                FieldKind::Singular(_) => {}
            }
        }
        if self.chance(8) {
            // An unknown field.
            put_block(self.random.random_range(1..20_000), &self.bytes(20), out);
        }
    }

    /// The fields that may get a value.
    fn chosen<'a>(&mut self, message: &'a MessageDescriptor) -> &'a [FieldDescriptor] {
        let fields = message.fields();
        if !self.sparse || fields.is_empty() {
            return fields;
        }
        let at = self.random.random_range(0..fields.len());
        &fields[at..=at]
    }

    /// A valid request with one invalid field, in binary form: protobuf merges later fields of a
    /// message into earlier ones.
    pub(crate) fn bent_binary(&mut self, valid: &[u8], message: MessageIndex) -> Vec<u8> {
        self.sparse = true;
        let odd = self.binary(message, false);
        self.sparse = false;
        [valid, &odd].concat()
    }

    /// The same as JSON.
    pub(crate) fn bent_json(&mut self, valid: &Value, message: MessageIndex) -> String {
        self.sparse = true;
        let odd = self.object(message, DEPTH_MAX);
        self.sparse = false;
        let mut bent = valid.clone();
        merge(&mut bent, odd);
        json_text(&bent)
    }

    fn count(&mut self) -> usize {
        *self.pick(&[0, 0, 1, 1, 2, 3, 21, 130])
    }

    fn put(&mut self, number: u32, kind: SingularKind, out: &mut Vec<u8>, depth: u32) {
        use ScalarType as S;
        match kind {
            SingularKind::Message(_) if depth == 0 => {}
            SingularKind::Message(index) => {
                let mut inner = Vec::new();
                self.put_message(index, &mut inner, depth - 1);
                put_block(number, &inner, out);
            }
            SingularKind::Enum(_) => {
                let value = *self.pick(&[0, 1, 2, 3, 4, 5, 6, 99, -1, i64::from(i32::MIN)]);
                put_number(number, value.cast_unsigned(), out);
            }
            SingularKind::Scalar(S::String) => {
                let mut text = self.text().into_bytes();
                if self.broken_texts && self.chance(2) {
                    let wrong: [&[u8]; 4] = [&[0xff], &[0xc3], &[0xed, 0xa0, 0x80], &[0xf5, 0x80]];
                    let wrong: &&[u8] = self.pick(&wrong);
                    text.extend_from_slice(wrong);
                }
                put_block(number, &text, out);
            }
            SingularKind::Scalar(S::Bytes) => {
                let bytes = self.bytes(40);
                put_block(number, &bytes, out);
            }
            SingularKind::Scalar(S::Double) => {
                put_varint(u64::from(number) << 3 | 1, out);
                out.extend(self.real().to_le_bytes());
            }
            // The contract has no other kinds of fixed size.
            SingularKind::Scalar(_) => {
                let value = self.whole().cast_unsigned();
                put_number(number, value, out);
            }
        }
    }

    /// A request as JSON, in which a text may contain a lone surrogate.
    pub(crate) fn json(&mut self, message: MessageIndex) -> String {
        let value = self.object(message, DEPTH_MAX);
        json_text(&value)
    }

    fn object(&mut self, message: MessageIndex, depth: u32) -> Value {
        let pool = Arc::clone(&self.pool);
        let described = pool.message(message);
        match described.full_name() {
            "google.protobuf.Timestamp" => {
                let odd = [
                    "2026-01-01T00:00:00Z",
                    "0000-00-00T00:00:00Z",
                    "9999-12-31T23:59:59.999999999Z",
                    "-1",
                    "",
                    "now",
                    "2026-02-30T00:00:00Z",
                    "2026-01-01T00:00:00+99:99",
                    "10000-01-01T00:00:00Z",
                    "2026-01-01T24:00:60Z",
                ];
                return json!(*self.pick(&odd));
            }
            "google.protobuf.FieldMask" => {
                let paths: Vec<String> = (0..self.count()).map(|_| self.text()).collect();
                return json!(paths.join(","));
            }
            _ => {}
        }
        let mut object = Map::new();
        for field in self.chosen(described) {
            let name = if !self.sparse && self.chance(2) { field.name() } else { field.json_name() };
            let value = match field.kind() {
                FieldKind::Singular(kind) if self.sparse || self.chance(2) => self.value(kind, depth),
                FieldKind::List(kind) => (0..self.count()).map(|_| self.value(kind, depth)).collect(),
                FieldKind::Map { value, .. } => {
                    (0..self.count()).map(|_| (self.text(), self.value(value, depth))).collect()
                }
                FieldKind::Singular(_) => continue,
            };
            object.insert(name.to_owned(), value);
        }
        if self.chance(20) {
            let (name, value) = (self.text(), self.text());
            object.insert(name, value.into());
        }
        if self.chance(30) { Value::Null } else { Value::Object(object) }
    }

    fn value(&mut self, kind: SingularKind, depth: u32) -> Value {
        if self.chance(12) {
            return self
                .pick(&[
                    json!(null),
                    json!([]),
                    json!({}),
                    json!("x"),
                    json!(1e300),
                    json!(true),
                    json!([[[]]]),
                ])
                .clone();
        }
        match kind {
            SingularKind::Message(_) if depth == 0 => json!({}),
            SingularKind::Message(index) => self.object(index, depth - 1),
            SingularKind::Enum(index) => {
                let pool = Arc::clone(&self.pool);
                let names: Vec<Value> =
                    pool.enumeration(index).values().iter().map(|one| json!(one.name())).collect();
                if self.chance(3) {
                    self.pick(&[json!(99), json!(-1), json!("NO_SUCH"), json!(1), json!(2.5)]).clone()
                } else {
                    self.pick(&names).clone()
                }
            }
            SingularKind::Scalar(ScalarType::String) => self.text().into(),
            SingularKind::Scalar(ScalarType::Bytes) => {
                self.pick(&[json!("AAAA"), json!("!"), json!("A"), json!("-_-_")]).clone()
            }
            SingularKind::Scalar(ScalarType::Bool) => json!(true),
            SingularKind::Scalar(ScalarType::Double) => self
                .pick(&[
                    json!("NaN"),
                    json!("Infinity"),
                    json!(1e308),
                    json!("-Infinity"),
                    json!(52.5),
                    json!("x"),
                ])
                .clone(),
            SingularKind::Scalar(_) => {
                let whole = self.whole();
                self.pick(&[json!(whole), json!(whole.to_string()), json!(u64::MAX), json!("1.5"), json!(3)])
                    .clone()
            }
        }
    }

    /// A valid request with some bytes changed.
    pub(crate) fn mutated(&mut self, valid: &[u8]) -> Vec<u8> {
        let mut bytes = valid.to_vec();
        for _ in 0..self.random.random_range(1..4) {
            let at = self.random.random_range(0..=bytes.len());
            match self.random.random_range(0..5) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, self.random.random()),
                2 if at < bytes.len() => bytes[at] ^= 1 << self.random.random_range(0..8),
                3 if at < bytes.len() => bytes[at] = *self.pick(&[0, 0xff, 0x80, b'"', b'{', b'\\', b',']),
                _ => {
                    let tail = bytes[at..].to_vec();
                    bytes.extend(tail);
                }
            }
        }
        bytes
    }
}
