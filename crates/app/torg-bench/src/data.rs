//! The offers that benchmarks write: the same for every side, and repeatable.

use bytes::Bytes;

/// A small pseudo-random generator that is good enough for choosing rows.
#[derive(Clone)]
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Scatters a number over 64 bits.
pub(super) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// The id of offer number `n`: 16 bytes that look random.
pub(super) fn offer_id(n: u64) -> [u8; 16] {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&mix(n.wrapping_mul(2).wrapping_add(1)).to_be_bytes());
    id[8..].copy_from_slice(&mix(mix(n) ^ 0x4d).to_be_bytes());
    id
}

/// Offer bodies of about two kilobytes each, with the compression ratio of such texts.
pub(super) struct Bodies(Vec<Bytes>);

const BODIES: usize = 4096;
const BODY_BYTES_MIN: u64 = 1600;
const BODY_BYTES_SPREAD: u64 = 900;
const WORDS: usize = 3000;
const FIELDS: [&str; 14] = [
    "title",
    "description",
    "category",
    "price",
    "currency",
    "city",
    "region",
    "phone",
    "attributes",
    "photos",
    "created_at",
    "seller",
    "status",
    "delivery",
];

impl Bodies {
    pub(super) fn new() -> Self {
        let mut numbers = Numbers::new(42);
        let words: Vec<String> = (0..WORDS).map(|_| word(&mut numbers)).collect();
        Self((0..BODIES).map(|_| body(&mut numbers, &words).into()).collect())
    }

    /// The same texts, each repeated and cut to this length.
    pub(super) fn of_bytes(bytes: usize) -> Self {
        let cut = |body: Bytes| body.iter().copied().cycle().take(bytes).collect();
        Self(Self::new().0.into_iter().map(cut).collect())
    }

    pub(super) fn pick(&self, seed: u64) -> Bytes {
        self.0[(mix(seed) % BODIES as u64) as usize].clone()
    }
}

/// Reads every byte of a body, as a consumer would, and checks its length.
pub(super) fn looked_at(body: &[u8]) -> bool {
    sum(body) != 0 && body.len() as u64 >= BODY_BYTES_MIN
}

/// The same for a text of [`Bodies::of_bytes`].
pub(super) fn looked_at_all(body: &[u8], bytes: usize) -> bool {
    (sum(body) != 0 || bytes == 0) && body.len() == bytes
}

fn sum(body: &[u8]) -> u64 {
    body.iter().fold(0u64, |sum, byte| sum.wrapping_add(u64::from(*byte)))
}

fn word(numbers: &mut Numbers) -> String {
    let length = 3 + numbers.below(8);
    (0..length).map(|_| char::from(b'a' + numbers.below(26) as u8)).collect()
}

fn body(numbers: &mut Numbers, words: &[String]) -> String {
    let target = (BODY_BYTES_MIN + numbers.below(BODY_BYTES_SPREAD)) as usize;
    let mut body = String::from("{");
    while body.len() < target {
        let field = FIELDS[numbers.below(FIELDS.len() as u64) as usize];
        let value = match numbers.below(4) {
            0 => format!("{}", numbers.next() % 100_000_000),
            1 => format!("\"https://img.example.com/{:016x}.jpg\"", numbers.next()),
            _ => {
                let count = 3 + numbers.below(15);
                let text: Vec<_> =
                    (0..count).map(|_| &*words[numbers.below(words.len() as u64) as usize]).collect();
                format!("\"{}\"", text.join(" "))
            }
        };
        body.extend(["\"", field, "\":", &value, ","]);
    }
    body.push('}');
    body
}
