//! A polygon rasterizer. Shapes use the coordinates of a [`WIDTH`] by [`HEIGHT`] picture; a view
//! transforms them.

use image::{Rgb, RgbImage};

/// The size of scene coordinates, in pixels.
pub(super) const WIDTH: u32 = 640;
pub(super) const HEIGHT: u32 = 480;
/// Corners of the polygon that approximates a circle.
const CIRCLE_CORNERS: u16 = 48;

pub(super) type Point = (f32, f32);

/// A shape to fill. Lengths are in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// Left, top, width, height.
    Box(i16, i16, i16, i16),
    /// Centre, half the width, half the height.
    Disc(i16, i16, i16, i16),
    /// Centre, outer radius, thickness.
    Ring(i16, i16, i16, i16),
    /// Start, end, thickness.
    Bar(i16, i16, i16, i16, i16),
    /// The corners.
    Area(&'static [(i16, i16)]),
}

/// The transformation of a scene.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// Swaps left and right.
    pub(super) mirrored: bool,
    pub(super) scale: f32,
    /// The scene point at the centre of the picture.
    pub(super) middle: Point,
}

pub(super) struct Canvas {
    picture: RgbImage,
    view: View,
    /// Picture pixels per scene pixel.
    step: f32,
}

impl Canvas {
    /// A picture of this width in one colour. The height follows from the width.
    pub(super) fn new(width: u32, ground: [u8; 3], view: View) -> Canvas {
        let picture = RgbImage::from_pixel(width, width * HEIGHT / WIDTH, Rgb(ground));
        Canvas { picture, view, step: width as f32 / WIDTH as f32 }
    }

    pub(super) fn fill(&mut self, shape: Shape, colour: [u8; 3]) {
        let outlines: Vec<Vec<Point>> =
            outlines(shape).iter().map(|line| line.iter().map(|point| self.seen(*point)).collect()).collect();
        let mut crossings = Vec::new();
        for row in 0..self.picture.height() {
            crossings.clear();
            for line in &outlines {
                cross(line, row as f32 + 0.5, &mut crossings);
            }
            crossings.sort_unstable_by(f32::total_cmp);
            // Odd-even rule: the area between an odd crossing and the next one is inside.
            for span in crossings.chunks_exact(2) {
                self.fill_row(row, (span[0], span[1]), colour);
            }
        }
    }

    pub(super) fn done(self) -> RgbImage {
        self.picture
    }

    fn seen(&self, (x, y): Point) -> Point {
        let View { mirrored, scale, middle } = self.view;
        let side = if mirrored { -scale } else { scale };
        let (width, height) = (WIDTH as f32, HEIGHT as f32);
        (
            (width / 2.0 + (x - middle.0) * side) * self.step,
            (height / 2.0 + (y - middle.1) * scale) * self.step,
        )
    }

    /// Fills a part of a row. Pixels that are only partly covered are blended.
    fn fill_row(&mut self, row: u32, (from, to): Point, colour: [u8; 3]) {
        let width = self.picture.width();
        let (from, to) = (from.clamp(0.0, width as f32), to.clamp(0.0, width as f32));
        let (first, last) = (from.ceil() as u32, to.floor() as u32);
        if first > last {
            // Both ends are in one pixel.
            return self.mix(last, row, to - from, colour);
        }
        let start = (row * width) as usize;
        let pixels = self.picture.as_mut().as_chunks_mut::<3>().0;
        pixels[start + first as usize..start + last as usize].fill(colour);
        if first > 0 {
            self.mix(first - 1, row, first as f32 - from, colour);
        }
        if last < width {
            self.mix(last, row, to - last as f32, colour);
        }
    }

    fn mix(&mut self, x: u32, y: u32, share: f32, colour: [u8; 3]) {
        let pixel = self.picture.get_pixel_mut(x, y);
        for (old, new) in pixel.0.iter_mut().zip(colour) {
            *old = (f32::from(*old) * (1.0 - share) + f32::from(new) * share) as u8;
        }
    }
}

/// Adds the points at which a closed line crosses the middle of a row.
fn cross(line: &[Point], middle: f32, crossings: &mut Vec<f32>) {
    let ends = line.iter().skip(1).chain(line.first());
    for ((x, y), (to_x, to_y)) in line.iter().zip(ends) {
        if (*y <= middle) != (*to_y <= middle) {
            crossings.push(x + (middle - y) * (to_x - x) / (to_y - y));
        }
    }
}

/// The outlines of a shape; a ring has two.
fn outlines(shape: Shape) -> Vec<Vec<Point>> {
    let point = |x: i16, y: i16| (f32::from(x), f32::from(y));
    match shape {
        Shape::Box(x, y, width, height) => {
            vec![vec![point(x, y), point(x + width, y), point(x + width, y + height), point(x, y + height)]]
        }
        Shape::Disc(x, y, wide, high) => vec![circle(point(x, y), point(wide, high))],
        Shape::Ring(x, y, radius, thick) => [radius, radius - thick]
            .into_iter()
            .map(|radius| circle(point(x, y), point(radius, radius)))
            .collect(),
        Shape::Bar(x, y, to_x, to_y, thick) => vec![bar(point(x, y), point(to_x, to_y), thick.into())],
        Shape::Area(corners) => vec![corners.iter().map(|(x, y)| point(*x, *y)).collect()],
    }
}

fn circle((x, y): Point, (wide, high): Point) -> Vec<Point> {
    let turn = std::f32::consts::TAU / f32::from(CIRCLE_CORNERS);
    let corner = |number| f32::from(number) * turn;
    (0..CIRCLE_CORNERS)
        .map(corner)
        .map(|angle| (wide.mul_add(angle.cos(), x), high.mul_add(angle.sin(), y)))
        .collect()
}

fn bar((x, y): Point, (to_x, to_y): Point, thick: f32) -> Vec<Point> {
    let (along, down) = (to_x - x, to_y - y);
    let half = thick / 2.0 / along.hypot(down).max(1.0);
    let (side, rise) = (down * half, along * half);
    vec![(x + side, y - rise), (to_x + side, to_y - rise), (to_x - side, to_y + rise), (x - side, y + rise)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: [u8; 3] = [10, 20, 30];
    const PAPER: [u8; 3] = [200, 210, 220];

    fn drawn(shape: Shape, view: View) -> RgbImage {
        let mut canvas = Canvas::new(WIDTH, PAPER, view);
        canvas.fill(shape, INK);
        canvas.done()
    }

    const STRAIGHT: View = View { mirrored: false, scale: 1.0, middle: (320.0, 240.0) };

    #[test]
    fn a_shape_is_filled_inside_and_nowhere_else() {
        let boxed = drawn(Shape::Box(100, 50, 20, 10), STRAIGHT);
        let count = boxed.pixels().filter(|pixel| pixel.0 == INK).count();
        assert_eq!(count, 200);
        assert_eq!((boxed.get_pixel(100, 50).0, boxed.get_pixel(99, 50).0), (INK, PAPER));
        let ring = drawn(Shape::Ring(320, 240, 100, 20), STRAIGHT);
        assert_eq!((ring.get_pixel(320, 240).0, ring.get_pixel(320, 150).0), (PAPER, INK));
        let bar = drawn(Shape::Bar(100, 100, 300, 100, 10), STRAIGHT);
        assert_eq!((bar.get_pixel(200, 96).0, bar.get_pixel(200, 90).0), (INK, PAPER));
    }

    #[test]
    fn what_leaves_the_picture_is_cut_and_a_mirror_changes_sides() {
        let view = View { mirrored: true, scale: 3.0, ..STRAIGHT };
        let seen = drawn(Shape::Box(-500, -500, 820, 2000), view);
        assert_eq!((seen.get_pixel(10, 10).0, seen.get_pixel(600, 470).0), (PAPER, INK));
    }
}
