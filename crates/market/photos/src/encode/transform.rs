//! The fast cosine transform of Arai, Agui and Nakajima; its scale factors are part of the
//! quantisation.

use super::tables::ZIGZAG;

type Lanes = [f32; 8];

/// Divides frequencies by a quantisation table.
pub(super) struct Quantizer {
    /// Factors in the order of the block.
    factors: [Lanes; 8],
}

impl Quantizer {
    pub(super) fn new(table: &[u8; 64]) -> Self {
        let scale = |at: usize| {
            if at == 0 {
                1.0
            } else {
                (at as f32 * std::f32::consts::PI / 16.0).cos() * std::f32::consts::SQRT_2
            }
        };
        let factor = |row: usize, column: usize| {
            1.0 / (f32::from(table[row * 8 + column]) * scale(row) * scale(column) * 8.0)
        };
        Self { factors: std::array::from_fn(|row| std::array::from_fn(|column| factor(row, column))) }
    }

    /// The quantised values of a block in file order.
    pub(super) fn apply(&self, block: &[Lanes; 8]) -> [i32; 64] {
        let columns_done = transform(*block);
        // Transposed twice, so that both passes work on whole rows.
        let frequencies = transpose(&transform(transpose(&columns_done)));
        let mut steps = [0; 64];
        for (row, (frequencies, factors)) in frequencies.iter().zip(&self.factors).enumerate() {
            for column in 0..8 {
                steps[row * 8 + column] = rounded(frequencies[column] * factors[column]);
            }
        }
        ZIGZAG.map(|at| steps[usize::from(at)])
    }
}

/// Rounds values below four million: the added constant shifts the fraction out of the mantissa.
#[inline]
fn rounded(value: f32) -> i32 {
    const SHIFT: f32 = 12_582_912.0;
    (value + SHIFT).to_bits().cast_signed() - SHIFT.to_bits().cast_signed()
}

#[inline]
fn transpose(block: &[Lanes; 8]) -> [Lanes; 8] {
    std::array::from_fn(|row| std::array::from_fn(|column| block[column][row]))
}

#[inline]
fn add(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|at| a[at] + b[at])
}

#[inline]
fn sub(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|at| a[at] - b[at])
}

#[inline]
fn times(a: Lanes, factor: f32) -> Lanes {
    a.map(|value| value * factor)
}

/// One pass over eight columns at once.
#[inline]
fn transform(rows: [Lanes; 8]) -> [Lanes; 8] {
    const HALF_ROOT: f32 = std::f32::consts::FRAC_1_SQRT_2;
    const SINE: f32 = 0.382_683_43;
    const DIFFERENCE: f32 = 0.541_196_1;
    const SUM: f32 = 1.306_563;
    let sums: [Lanes; 4] = std::array::from_fn(|at| add(rows[at], rows[7 - at]));
    let differences: [Lanes; 4] = std::array::from_fn(|at| sub(rows[at], rows[7 - at]));

    let (outer, inner) = (add(sums[0], sums[3]), add(sums[1], sums[2]));
    let (outer_rest, inner_rest) = (sub(sums[0], sums[3]), sub(sums[1], sums[2]));
    let even = times(add(inner_rest, outer_rest), HALF_ROOT);

    let low = add(differences[3], differences[2]);
    let middle = times(add(differences[2], differences[1]), HALF_ROOT);
    let high = add(differences[1], differences[0]);
    let turn = times(sub(low, high), SINE);
    let (low, high) = (add(times(low, DIFFERENCE), turn), add(times(high, SUM), turn));
    let (above, below) = (add(differences[0], middle), sub(differences[0], middle));
    [
        add(outer, inner),
        add(above, high),
        add(outer_rest, even),
        sub(below, low),
        sub(outer, inner),
        add(below, low),
        sub(outer_rest, even),
        sub(above, high),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_transform_gives_what_the_definition_gives() {
        let block: [Lanes; 8] = std::array::from_fn(|y| {
            std::array::from_fn(|x| ((x * 37 + y * 91 + x * y * 13) % 256) as f32 - 128.0)
        });
        let values = Quantizer::new(&[1; 64]).apply(&block);
        for (place, at) in ZIGZAG.iter().enumerate() {
            let (v, u) = (usize::from(*at) / 8, usize::from(*at) % 8);
            let wave = |position: usize, frequency: usize| {
                ((2 * position + 1) as f64 * frequency as f64 * std::f64::consts::PI / 16.0).cos()
            };
            let norm = |frequency: usize| if frequency == 0 { std::f64::consts::FRAC_1_SQRT_2 } else { 1.0 };
            let sum: f64 =
                (0..64).map(|p| f64::from(block[p / 8][p % 8]) * wave(p % 8, u) * wave(p / 8, v)).sum();
            let expected = sum * norm(u) * norm(v) / 4.0;
            assert!(
                (f64::from(values[place]) - expected).abs() < 0.51,
                "{u} {v}: {} {expected}",
                values[place]
            );
        }
    }
}
