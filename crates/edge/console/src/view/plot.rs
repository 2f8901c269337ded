//! Small plots as SVG.

use maud::{Markup, html};

use super::amount;

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 48.0;

/// Empty for fewer than two points.
pub(crate) fn plot(label: &str, past: &[f64]) -> Markup {
    svg(label, past, "plot")
}

pub(crate) fn tall_plot(label: &str, past: &[f64]) -> Markup {
    svg(label, past, "plot tall")
}

fn svg(label: &str, past: &[f64], class: &str) -> Markup {
    let known: Vec<f64> = past.iter().copied().filter(|value| value.is_finite()).collect();
    if known.len() < 2 {
        return html! {};
    }
    let highest = known.iter().copied().fold(0.0, f64::max);
    let lowest = known.iter().copied().fold(f64::INFINITY, f64::min);
    let text = format!("{label}: {} … {}", amount(lowest), amount(highest));
    let curves = curves(past, highest);
    html! {
        svg class=(class) viewBox="0 0 240 48" preserveAspectRatio="none" role="img" aria-label=(text) {
            title { (text) }
            @for curve in &curves {
                path.area d=(area(curve)) {}
                path.curve d=(line(curve)) {}
            }
        }
    }
}

/// Screen points; an unknown value starts a new curve.
fn curves(past: &[f64], highest: f64) -> Vec<Vec<(f64, f64)>> {
    let step = WIDTH / (past.len() - 1) as f64;
    let scale = if highest > 0.0 { (HEIGHT - 4.0) / highest } else { 0.0 };
    let mut curves = vec![Vec::new()];
    for (place, value) in past.iter().enumerate() {
        if value.is_finite() {
            let point = (place as f64 * step, HEIGHT - 2.0 - value.max(0.0) * scale);
            if let Some(curve) = curves.last_mut() {
                curve.push(point);
            }
        } else if curves.last().is_some_and(|curve| !curve.is_empty()) {
            curves.push(Vec::new());
        }
    }
    curves.retain(|curve| curve.len() > 1);
    curves
}

fn line(curve: &[(f64, f64)]) -> String {
    let points: Vec<String> = curve.iter().map(|(x, y)| format!("{x:.0} {y:.1}")).collect();
    format!("M{}", points.join("L"))
}

fn area(curve: &[(f64, f64)]) -> String {
    let (Some((first, _)), Some((last, _))) = (curve.first(), curve.last()) else { return String::new() };
    format!("{}L{last:.0} {HEIGHT}L{first:.0} {HEIGHT}Z", line(curve))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_gaps_where_nothing_is_known() {
        let curves = curves(&[1.0, 2.0, f64::NAN, 2.0, 0.0], 2.0);
        assert_eq!(curves.len(), 2);
        assert_eq!(curves[0], [(0.0, 24.0), (60.0, 2.0)]);
        assert_eq!(curves[1], [(180.0, 2.0), (240.0, 46.0)]);
        assert!(plot("x", &[f64::NAN, 1.0]).into_string().is_empty());
        assert!(plot("<b>", &[0.0, 1.0]).into_string().contains("&lt;b&gt;: 0 … 1"));
    }
}
