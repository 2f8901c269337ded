//! Statistics of prices.

use wire::torg::offers::v1::predicted_price::Confidence;

/// Lower quartile, median, upper quartile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quartiles {
    pub(super) low: i64,
    pub(super) median: i64,
    pub(super) high: i64,
}

/// The quartiles of some amounts; `None` without amounts. Robust against outliers.
pub(super) fn quartiles(mut amounts: Vec<i64>) -> Option<Quartiles> {
    amounts.sort_unstable();
    let last = amounts.len().checked_sub(1)?;
    let at = |quarters: usize| {
        let (place, rest) = (last * quarters / 4, (last * quarters % 4) as i128);
        let (below, above) = (i128::from(amounts[place]), i128::from(amounts[(place + 1).min(last)]));
        (below + (above - below) * rest / 4) as i64
    };
    Some(Quartiles { low: at(1), median: at(2), high: at(3) })
}

/// Confidence is higher with more offers and less spread.
pub(super) fn confidence(count: usize, found: Quartiles) -> Confidence {
    let spread = (found.high - found.low) as f64 / (found.median.max(1)) as f64;
    match count {
        50.. if spread <= 0.3 => Confidence::CONFIDENCE_HIGH,
        20.. if spread <= 0.6 => Confidence::CONFIDENCE_MEDIUM,
        _ => Confidence::CONFIDENCE_LOW,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_those_of_the_sorted_amounts() {
        let of = |amounts: &[i64]| quartiles(amounts.to_vec()).map(|q| (q.low, q.median, q.high));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[7]), Some((7, 7, 7)));
        assert_eq!(of(&[40, 10, 30, 20, 50]), Some((20, 30, 40)));
        assert_eq!(of(&[100, 200]), Some((125, 150, 175)));
        assert_eq!(
            of(&[10, 20, 30, 40, 1_000_000_000]),
            Some((20, 30, 40)),
            "one that is far off moves nothing"
        );
        assert_eq!(of(&[i64::MAX, i64::MIN]).unwrap().1, -1);
    }

    #[test]
    fn many_that_agree_are_trusted_more_than_few_that_do_not() {
        let found = |low, high| Quartiles { low, median: 100, high };
        assert_eq!(confidence(60, found(90, 110)), Confidence::CONFIDENCE_HIGH);
        assert_eq!(confidence(60, found(75, 125)), Confidence::CONFIDENCE_MEDIUM);
        assert_eq!(confidence(25, found(90, 110)), Confidence::CONFIDENCE_MEDIUM);
        assert_eq!(confidence(60, found(50, 200)), Confidence::CONFIDENCE_LOW);
        assert_eq!(confidence(8, found(90, 110)), Confidence::CONFIDENCE_LOW);
    }
}
