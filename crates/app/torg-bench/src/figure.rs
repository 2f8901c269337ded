//! A number in a report that may be missing.

use serde::Serialize;

use super::measure::round;

/// A figure that may not have been measured.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Figure(Option<f64>);

impl Figure {
    pub(super) fn of(figure: f64) -> Self {
        Self(Some(round(figure)))
    }

    pub(super) fn or_zero(self) -> f64 {
        self.0.unwrap_or_default()
    }

    /// The ratio of two figures; missing if one of them is missing.
    pub(super) fn over(self, reference: Self) -> Self {
        let (Some(figure), Some(reference)) = (self.0, reference.0) else { return Self(None) };
        if reference == 0.0 { Self(None) } else { Self::of(figure / reference) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_needs_both_figures() {
        let (one, two, none) = (Figure::of(1.0), Figure::of(2.0), Figure::default());
        assert!((one.over(two).or_zero() - 0.5).abs() < 0.001);
        assert!(
            one.over(none).0.is_none() && none.over(one).0.is_none() && one.over(Figure::of(0.0)).0.is_none()
        );
    }
}
