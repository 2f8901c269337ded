//! Writes bits into bytes.

/// The code of a symbol.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Code {
    pub(super) bits: u32,
    pub(super) length: u32,
}

/// Collects bits, the first one highest. A zero byte follows each 0xFF, so that it is no marker.
pub(super) struct BitWriter {
    file: Vec<u8>,
    /// The last bits, at the low end.
    waiting: u64,
    count: u32,
}

impl BitWriter {
    pub(super) fn new(file: Vec<u8>) -> Self {
        Self { file, waiting: 0, count: 0 }
    }

    #[inline]
    pub(super) fn put(&mut self, code: Code) {
        self.waiting = self.waiting << code.length | u64::from(code.bits);
        self.count += code.length;
        if self.count >= 32 {
            self.flush_word();
        }
    }

    /// Writes a symbol for the number of preceding zeros and the size of a value, then the value.
    #[inline]
    pub(super) fn put_value(&mut self, codes: &[Code; 256], zeros: u32, value: i32) {
        let length = 32 - value.unsigned_abs().leading_zeros();
        self.put(codes[(zeros << 4 | length) as usize & 0xFF]);
        // A negative value is written as one less in the same number of bits.
        let bits = (value + (value >> 31)) as u32 & ((1 << length) - 1);
        self.put(Code { bits, length });
    }

    fn flush_word(&mut self) {
        self.count -= 32;
        let word = (self.waiting >> self.count) as u32;
        let has_ones = (!word).wrapping_sub(0x0101_0101) & word & 0x8080_8080 != 0;
        if has_ones {
            word.to_be_bytes().into_iter().for_each(|byte| self.put_byte(byte));
        } else {
            self.file.extend_from_slice(&word.to_be_bytes());
        }
    }

    fn put_byte(&mut self, byte: u8) {
        self.file.push(byte);
        if byte == 0xFF {
            self.file.push(0);
        }
    }

    /// Fills up the last byte with ones.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let fill = (8 - self.count % 8) % 8;
        self.waiting = self.waiting << fill | ((1 << fill) - 1);
        self.count += fill;
        while self.count > 0 {
            self.count -= 8;
            self.put_byte((self.waiting >> self.count) as u8);
        }
        self.file
    }
}
