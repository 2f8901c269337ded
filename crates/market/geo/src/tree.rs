//! A balanced k-d tree over points on a sphere, in one array.

/// The mean radius.
const EARTH_KM: f64 = 6371.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Degrees from -90 (south) to 90 (north).
    pub latitude: f64,
    /// Degrees from -180 (west) to 180 (east).
    pub longitude: f64,
}

impl Point {
    /// `None` if a coordinate is out of range.
    #[must_use]
    pub fn new(latitude: f64, longitude: f64) -> Option<Self> {
        let is_on_earth = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
        is_on_earth.then_some(Self { latitude, longitude })
    }

    /// The distance along the surface.
    #[must_use]
    pub fn distance_km(self, other: Self) -> f64 {
        chord_to_km(square(self.on_sphere(), other.on_sphere()))
    }

    fn on_sphere(self) -> [f64; 3] {
        let (lat, lon) = (self.latitude.to_radians(), self.longitude.to_radians());
        [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
    }
}

/// The squared chord between two points of the unit sphere.
fn square(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum()
}

fn chord_to_km(square: f64) -> f64 {
    2.0 * EARTH_KM * (square.sqrt() / 2.0).min(1.0).asin()
}

fn km_to_chord_square(km: f64) -> f64 {
    (2.0 * (km / (2.0 * EARTH_KM)).min(std::f64::consts::FRAC_PI_2).sin()).powi(2)
}

/// The middle of each part of the array divides it along one axis; the axes alternate.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<([f32; 3], u32)>,
}

impl Tree {
    pub(crate) fn new(points: impl Iterator<Item = (f32, f32)>) -> Self {
        let mut nodes: Vec<([f32; 3], u32)> = points
            .enumerate()
            .map(|(number, (latitude, longitude))| {
                let point = Point { latitude: f64::from(latitude), longitude: f64::from(longitude) };
                (point.on_sphere().map(|part| part as f32), number as u32)
            })
            .collect();
        arrange(&mut nodes, 0);
        Self { nodes }
    }

    /// The nearest node and its distance in km.
    pub(crate) fn nearest(&self, point: Point) -> Option<(u32, f64)> {
        let mut best = None;
        let mut within = f64::INFINITY;
        let at = point.on_sphere();
        search(&self.nodes, 0, at, &mut within, &mut |number, square, within| {
            best = Some((number, square));
            *within = square;
        });
        best.map(|(number, square)| (number, chord_to_km(square)))
    }

    /// Calls `visit` for every node within `km`, with its distance.
    pub(crate) fn each_within(&self, point: Point, km: f64, mut visit: impl FnMut(u32, f64)) {
        let mut within = km_to_chord_square(km);
        search(&self.nodes, 0, point.on_sphere(), &mut within, &mut |number, square, _| {
            visit(number, chord_to_km(square));
        });
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.nodes.len() * size_of::<([f32; 3], u32)>()
    }
}

fn arrange(nodes: &mut [([f32; 3], u32)], axis: usize) {
    if nodes.len() < 2 {
        return;
    }
    let middle = nodes.len() / 2;
    nodes.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
    let (left, right) = nodes.split_at_mut(middle);
    arrange(left, (axis + 1) % 3);
    arrange(&mut right[1..], (axis + 1) % 3);
}

/// Calls `found` for every node within the squared chord `within`, which `found` may shrink.
fn search(
    nodes: &[([f32; 3], u32)],
    axis: usize,
    at: [f64; 3],
    within: &mut f64,
    found: &mut impl FnMut(u32, f64, &mut f64),
) {
    let middle = nodes.len() / 2;
    let Some((point, number)) = nodes.get(middle) else { return };
    let point = point.map(f64::from);
    let square = square(point, at);
    if square <= *within {
        found(*number, square, within);
    }
    let apart = at[axis] - point[axis];
    let (left, right) = (&nodes[..middle], &nodes[middle + 1..]);
    let (near, far) = if apart < 0.0 { (left, right) } else { (right, left) };
    search(near, (axis + 1) % 3, at, within, found);
    if apart * apart <= *within {
        search(far, (axis + 1) % 3, at, within, found);
    }
}
