//! The encoding of rows. Every value starts with the number of its format; numbers are varints,
//! seven bits a byte, lowest first.
//!
//! A message: format, time, the distance of the newest time in the partition above it, key,
//! headers, payload (each with its length, except the payload, which is last), and four bytes of a
//! checksum over all of it.

use bytes::{Buf, Bytes};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::limits::HEADERS_MAX;
use crate::message::Message;
use crate::spec::{Retention, TopicSpec};

const FORMAT: u8 = 1;
const CHECKSUM_BYTES: usize = 4;
const VARINT_BYTES_MAX: usize = 10;

/// Why bytes are malformed.
pub(crate) type Damage = &'static str;

/// The end of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) end: i64,
    /// Bytes of all messages ever appended.
    pub(crate) bytes: u64,
    /// The newest time of any message.
    pub(crate) newest: i64,
}

/// The beginning of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) first: i64,
    /// Bytes of all messages ever trimmed.
    pub(crate) bytes: u64,
}

pub(crate) fn encoded_bytes_max(message: &Message) -> usize {
    let lengths = VARINT_BYTES_MAX * (4 + 2 * message.headers.len());
    1 + lengths + message.bytes() + CHECKSUM_BYTES
}

/// Appends the encoding of a message to `out`. `newest` is the newest time in the partition, this
/// message included.
pub(crate) fn encode_message(message: &Message, newest: i64, seed: u64, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(FORMAT);
    put_number(out, message.time.cast_unsigned());
    put_number(out, newest.saturating_sub(message.time).max(0).cast_unsigned());
    put_bytes(out, &message.key);
    put_number(out, message.headers.len() as u64);
    for (name, value) in &message.headers {
        put_bytes(out, name.as_bytes());
        put_bytes(out, value);
    }
    out.extend_from_slice(&message.payload);
    let checksum = checksum(&out[start..], seed);
    out.extend_from_slice(&checksum);
}

/// The message, and the newest time in the partition at that time. Key, header values and payload
/// share the memory of `bytes`.
pub(crate) fn decode_message(bytes: &Bytes, seed: u64) -> Result<(Message, i64), Damage> {
    let content = bytes.len().checked_sub(CHECKSUM_BYTES).ok_or("it is too short")?;
    if bytes[content..] != checksum(&bytes[..content], seed) {
        return Err("its checksum does not match");
    }
    let mut rest = bytes.slice(..content);
    take_format(&mut rest)?;
    let time = take_number(&mut rest)?.cast_signed();
    let newest = time.saturating_add(take_number(&mut rest)?.cast_signed());
    let key = take_bytes(&mut rest)?;
    let count = take_number(&mut rest)?;
    if count > HEADERS_MAX as u64 {
        return Err("it has too many headers");
    }
    let mut headers = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let name = take_bytes(&mut rest)?;
        let name = std::str::from_utf8(&name).map_err(|_| "the name of a header is not UTF-8")?.to_owned();
        headers.push((name, take_bytes(&mut rest)?));
    }
    Ok((Message { key, headers, payload: rest, time }, newest))
}

pub(crate) fn encode_head(head: &Head) -> Bytes {
    encode_numbers(&[head.end.cast_unsigned(), head.bytes, head.newest.cast_unsigned()])
}

pub(crate) fn decode_head(bytes: &Bytes) -> Result<Head, Damage> {
    let [end, bytes, newest] = decode_numbers(bytes)?;
    Ok(Head { end: offset(end)?, bytes, newest: newest.cast_signed() })
}

pub(crate) fn encode_start(start: &Start) -> Bytes {
    encode_numbers(&[start.first.cast_unsigned(), start.bytes])
}

pub(crate) fn decode_start(bytes: &Bytes) -> Result<Start, Damage> {
    let [first, bytes] = decode_numbers(bytes)?;
    Ok(Start { first: offset(first)?, bytes })
}

pub(crate) fn encode_offset(offset: i64) -> Bytes {
    encode_numbers(&[offset.cast_unsigned()])
}

pub(crate) fn decode_offset(bytes: &Bytes) -> Result<i64, Damage> {
    let [value] = decode_numbers(bytes)?;
    offset(value)
}

/// The name is in the key of the row. Limits are stored plus one, so that zero means "none".
pub(crate) fn encode_spec(spec: &TopicSpec) -> Bytes {
    let time = spec.retention.time_ms().map_or(0, |ms| ms.cast_unsigned() + 1);
    let bytes = spec.retention.bytes.map_or(0, |bytes| bytes.saturating_add(1));
    encode_numbers(&[u64::from(spec.partitions), time, bytes])
}

pub(crate) fn decode_spec(name: &str, bytes: &Bytes) -> Result<TopicSpec, Damage> {
    let [partitions, time, bytes] = decode_numbers(bytes)?;
    let partitions = u32::try_from(partitions).map_err(|_| "the number of partitions is out of range")?;
    let spec = TopicSpec {
        name: name.to_owned(),
        partitions,
        retention: Retention::from_ms(time.checked_sub(1).map(u64::cast_signed), bytes.checked_sub(1)),
    };
    spec.validate().map(|()| spec).map_err(|_| "no topic can be like that")
}

fn offset(number: u64) -> Result<i64, Damage> {
    i64::try_from(number).map_err(|_| "the offset is out of range")
}

fn encode_numbers(numbers: &[u64]) -> Bytes {
    let mut out = vec![FORMAT];
    for number in numbers {
        put_number(&mut out, *number);
    }
    out.into()
}

fn decode_numbers<const N: usize>(bytes: &Bytes) -> Result<[u64; N], Damage> {
    let mut rest = bytes.clone();
    take_format(&mut rest)?;
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = take_number(&mut rest)?;
    }
    if rest.is_empty() { Ok(numbers) } else { Err("it is too long") }
}

fn checksum(content: &[u8], seed: u64) -> [u8; CHECKSUM_BYTES] {
    (xxh3_64_with_seed(content, seed) as u32).to_le_bytes()
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn take_format(rest: &mut Bytes) -> Result<(), Damage> {
    if rest.is_empty() {
        return Err("it is empty");
    }
    if rest.get_u8() == FORMAT {
        Ok(())
    } else {
        Err("its format is unknown: a newer program may have written it")
    }
}

fn take_number(rest: &mut Bytes) -> Result<u64, Damage> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        if rest.is_empty() {
            return Err("it ends within a number");
        }
        let byte = rest.get_u8();
        let bits = u64::from(byte & 0x7F);
        if shift == 63 && bits > 1 {
            break;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err("a number is too long")
}

fn take_bytes(rest: &mut Bytes) -> Result<Bytes, Damage> {
    let length = usize::try_from(take_number(rest)?).map_err(|_| "a length is out of range")?;
    if length > rest.len() {
        return Err("it ends within a field");
    }
    Ok(rest.split_to(length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Encoded behind other bytes, as in a commit.
    fn encoded(message: &Message, newest: i64, seed: u64) -> Bytes {
        let mut out = b"before".to_vec();
        encode_message(message, newest, seed, &mut out);
        let encoded = Bytes::from(out).slice(b"before".len()..);
        assert!(encoded.len() <= encoded_bytes_max(message));
        encoded
    }

    fn bytes() -> impl Strategy<Value = Bytes> {
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Bytes::from)
    }

    fn message() -> impl Strategy<Value = Message> {
        let headers = proptest::collection::vec(("\\PC{0,12}", bytes()), 0..5);
        (bytes(), headers, bytes(), 0..i64::MAX).prop_map(|(key, headers, payload, time)| Message {
            key,
            headers,
            payload,
            time,
        })
    }

    proptest! {
        #[test]
        fn a_message_comes_back_as_it_was(message in message(), ahead in 0..i64::MAX, seed in any::<u64>()) {
            let newest = message.time.saturating_add(ahead);
            let encoded = encoded(&message, newest, seed);
            prop_assert_eq!(decode_message(&encoded, seed), Ok((message, newest)));
        }

        #[test]
        fn a_damaged_message_is_noticed(message in message(), at in any::<prop::sample::Index>(), bit in 0..8) {
            let mut encoded = encoded(&message, message.time, 7).to_vec();
            let at = at.index(encoded.len());
            encoded[at] ^= 1u8 << bit;
            prop_assert!(decode_message(&encoded.into(), 7).is_err());
        }

        #[test]
        fn a_message_at_another_place_is_noticed(message in message(), seed in any::<u64>()) {
            let encoded = encoded(&message, message.time, seed);
            prop_assert!(decode_message(&encoded, seed.wrapping_add(1)).is_err());
        }

        #[test]
        fn garbage_with_a_right_checksum_never_panics(mut garbage in proptest::collection::vec(any::<u8>(), 0..60), known in any::<bool>()) {
            if let (true, Some(first)) = (known, garbage.first_mut()) {
                *first = FORMAT;
            }
            let sum = checksum(&garbage, 3);
            garbage.extend_from_slice(&sum);
            let _ = decode_message(&garbage.into(), 3);
        }

        #[test]
        fn garbage_never_panics(garbage in proptest::collection::vec(any::<u8>(), 0..60)) {
            let garbage = Bytes::from(garbage);
            let _ = (decode_head(&garbage), decode_start(&garbage), decode_offset(&garbage), decode_spec("t", &garbage));
        }

        #[test]
        fn heads_starts_and_offsets_come_back(end in 0..i64::MAX, bytes in any::<u64>(), newest in 0..i64::MAX) {
            let head = Head { end, bytes, newest };
            prop_assert_eq!(decode_head(&encode_head(&head)), Ok(head));
            let start = Start { first: end, bytes };
            prop_assert_eq!(decode_start(&encode_start(&start)), Ok(start));
            prop_assert_eq!(decode_offset(&encode_offset(end)), Ok(end));
        }

        #[test]
        fn specs_come_back(partitions in 1..=1024u32, time in proptest::option::of(0..i64::MAX), bytes in proptest::option::of(0..u64::MAX)) {
            let spec = TopicSpec { name: "t".to_owned(), partitions, retention: Retention::from_ms(time, bytes) };
            prop_assert_eq!(decode_spec("t", &encode_spec(&spec)), Ok(spec));
        }
    }

    #[test]
    fn a_small_message_costs_few_bytes() {
        let message = Message::new("offer-1", "x".repeat(100), 1_700_000_000_000);
        assert_eq!(encoded(&message, message.time, 0).len(), message.bytes() + 14);
    }
}
