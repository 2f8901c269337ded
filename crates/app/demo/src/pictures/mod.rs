//! Draws the photos and videos of the demo. A number identifies a picture: one for each combination
//! of thing, colour and view.

mod canvas;
mod scenes;

use std::io;

use image::codecs::gif::{GifEncoder, Repeat};
use image::codecs::jpeg::JpegEncoder;
use image::{Delay, DynamicImage, Frame, ImageResult, RgbImage};

use self::canvas::{Canvas, Shape, View, WIDTH};

/// JPEG quality, from 1 to 100.
const QUALITY: u8 = 85;
/// Video format: the width in pixels, the number of frames, and the duration of each.
const VIDEO_WIDTH: u32 = 320;
const VIDEO_FRAMES: u16 = 16;
const VIDEO_FRAME_MS: u32 = 120;
/// Speed of the video's colour quantization: 1 is best and slow, 30 is quick.
const VIDEO_SPEED: i32 = 30;

/// The subject of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scene {
    Car,
    Crossover,
    Van,
    House,
    Bicycle,
    Phone,
    Laptop,
    Television,
    Console,
    Washer,
    Fridge,
    Microwave,
    Coffee,
    Dishwasher,
    Speaker,
    Sofa,
    Wardrobe,
    Drawers,
    Bed,
    Mattress,
    Table,
    Chair,
    Armchair,
    GamingChair,
    Coat,
    Jeans,
    Dress,
    Shirt,
    Jumper,
    Trainers,
    Boots,
    Heels,
    Book,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Color {
    Black,
    White,
    Gray,
    Blue,
    Red,
    Green,
    Beige,
    Brown,
}

impl Color {
    pub(super) const ALL: [Color; 8] = {
        use Color::{Beige, Black, Blue, Brown, Gray, Green, Red, White};
        [Black, White, Gray, Blue, Red, Green, Beige, Brown]
    };

    const fn rgb(self) -> [u8; 3] {
        match self {
            Color::Black => [52, 54, 60],
            Color::White => [240, 240, 236],
            Color::Gray => [142, 148, 156],
            Color::Blue => [52, 96, 168],
            Color::Red => [192, 52, 48],
            Color::Green => [70, 132, 78],
            Color::Beige => [216, 194, 156],
            Color::Brown => [122, 82, 54],
        }
    }
}

/// The role of a shape's colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tint {
    /// The colour of the thing, then its shaded and its lit variant.
    Main,
    Dark,
    Light,
    Ink,
    Glass,
    Glow,
    Metal,
    Wood,
    Leaf,
    Shadow,
}

impl Tint {
    fn of(self, color: Color) -> [u8; 3] {
        let main = color.rgb();
        match self {
            Tint::Main => main,
            Tint::Dark => main.map(|part| (u16::from(part) * 7 / 10) as u8),
            Tint::Light => main.map(|part| part + (255 - part) / 3),
            Tint::Ink => [34, 36, 42],
            Tint::Glass => [150, 190, 214],
            Tint::Glow => [244, 200, 96],
            Tint::Metal => [184, 188, 194],
            Tint::Wood => [160, 116, 76],
            Tint::Leaf => [96, 150, 92],
            Tint::Shadow => [104, 98, 92],
        }
    }
}

/// The views of a thing in its photos: whole, mirrored, close, and from afar.
const VIEWS: [View; 4] = [
    View { mirrored: false, scale: 1.0, middle: (320.0, 240.0) },
    View { mirrored: true, scale: 1.12, middle: (300.0, 250.0) },
    View { mirrored: false, scale: 2.1, middle: (250.0, 250.0) },
    View { mirrored: true, scale: 0.68, middle: (380.0, 220.0) },
];
/// Maximum photos of one thing.
pub(super) const VIEWS_MAX: u32 = VIEWS.len() as u32;
/// Colours of wall and floor.
type Room = ([u8; 3], [u8; 3]);
const ROOMS: [Room; 4] = [
    ([203, 216, 222], [176, 150, 122]),
    ([226, 208, 182], [148, 128, 112]),
    ([206, 218, 194], [184, 166, 140]),
    ([216, 206, 220], [134, 122, 116]),
];
const OUTSIDE: Room = ([176, 212, 236], [148, 168, 130]);
/// The vertical position at which the floor begins.
const FLOOR: i16 = 350;
/// A coordinate outside the picture in every view.
const FAR: i16 = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) scene: Scene,
    pub(super) color: Color,
}

impl Picture {
    /// The number of the picture in this view. Every view below [`VIEWS_MAX`] has one.
    pub(super) fn number(self, view: u32) -> u32 {
        let thing = self.scene as u32 * Color::ALL.len() as u32 + self.color as u32;
        thing * VIEWS_MAX + view % VIEWS_MAX
    }

    /// The picture and the view of a number; `None` if there is none.
    pub(super) fn numbered(number: u32) -> Option<(Picture, u32)> {
        let (thing, colors) = (number / VIEWS_MAX, Color::ALL.len() as u32);
        let scene = scenes::numbered((thing / colors) as usize)?;
        Some((Picture { scene, color: Color::ALL[(thing % colors) as usize] }, number % VIEWS_MAX))
    }

    /// A photo as a JPEG file.
    pub(super) fn jpeg(self, view: u32) -> ImageResult<Vec<u8>> {
        let mut file = Vec::new();
        let drawn = self.drawn(WIDTH, VIEWS[(view % VIEWS_MAX) as usize]);
        JpegEncoder::new_with_quality(&mut file, QUALITY).encode_image(&drawn)?;
        Ok(file)
    }

    /// A video as a GIF file, which zooms in and out.
    pub(super) fn gif(self) -> ImageResult<Vec<u8>> {
        let mut file = io::Cursor::new(Vec::new());
        let mut encoder = GifEncoder::new_with_speed(&mut file, VIDEO_SPEED);
        encoder.set_repeat(Repeat::Infinite)?;
        for number in 0..VIDEO_FRAMES {
            let turn = f32::from(number) / f32::from(VIDEO_FRAMES) * std::f32::consts::TAU;
            let view = View { scale: 0.35f32.mul_add(-turn.cos(), 1.2), ..VIEWS[0] };
            let drawn = DynamicImage::from(self.drawn(VIDEO_WIDTH, view)).into_rgba8();
            let delay = Delay::from_numer_denom_ms(VIDEO_FRAME_MS, 1);
            encoder.encode_frame(Frame::from_parts(drawn, 0, 0, delay))?;
        }
        drop(encoder);
        Ok(file.into_inner())
    }

    fn drawn(self, width: u32, view: View) -> RgbImage {
        let (wall, floor) = self.room();
        let mut canvas = Canvas::new(width, wall, view);
        canvas.fill(Shape::Box(-FAR, FLOOR, 2 * FAR, FAR), floor);
        for (shape, tint) in scenes::drawing(self.scene) {
            canvas.fill(*shape, tint.of(self.color));
        }
        canvas.done()
    }

    /// All views of a picture share one room.
    fn room(self) -> Room {
        match self.scene {
            Scene::Car | Scene::Crossover | Scene::Van | Scene::House | Scene::Bicycle => OUTSIDE,
            scene => ROOMS[(scene as usize + self.color as usize) % ROOMS.len()],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_number_below_the_last_is_a_picture_of_its_own_and_the_same_every_time() {
        let last = Picture { scene: Scene::Book, color: Color::Brown }.number(VIEWS_MAX - 1);
        for number in 0..=last {
            let (picture, view) = Picture::numbered(number).unwrap();
            assert_eq!(picture.number(view), number);
        }
        assert_eq!(Picture::numbered(last + 1), None);
        assert_eq!(Picture::numbered(u32::MAX), None);
        let mut seen = BTreeSet::new();
        for scene in (0..).map_while(scenes::numbered) {
            for (color, view) in [(Color::Red, 0), (Color::Red, 3), (Color::White, 0)] {
                let file = Picture { scene, color }.jpeg(view).unwrap();
                assert!(file.len() < 60_000, "{scene:?} has {} bytes", file.len());
                assert!(seen.insert(file), "{scene:?} looks like another picture");
            }
        }
        let sofa = Picture { scene: Scene::Sofa, color: Color::Green };
        assert_eq!(sofa.jpeg(2).unwrap(), sofa.jpeg(2).unwrap());
    }

    #[test]
    fn a_film_is_a_gif_of_modest_size() {
        let file = Picture { scene: Scene::Sofa, color: Color::Green }.gif().unwrap();
        assert!(file.starts_with(b"GIF89a") && file.len() < 600_000, "{} bytes", file.len());
    }
}
