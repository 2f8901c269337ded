//! Drawings of the scenes: shapes from back to front, on a picture of 640 by 480 pixels whose floor
//! begins at 350.

use super::canvas::Shape::{self, Area, Bar, Box, Disc, Ring};
use super::{Scene, Tint};
use Tint::{Dark, Glass, Glow, Ink, Leaf, Light, Main, Metal, Shadow, Wood};

type Drawing = &'static [(Shape, Tint)];

pub(super) fn drawing(scene: Scene) -> Drawing {
    DRAWINGS[scene as usize].1
}

/// The scene at this index.
pub(super) fn numbered(place: usize) -> Option<Scene> {
    DRAWINGS.get(place).map(|(scene, _)| *scene)
}

/// In the order of the variants of [`Scene`].
const DRAWINGS: &[(Scene, Drawing)] = &[
    (Scene::Car, CAR),
    (Scene::Crossover, CROSSOVER),
    (Scene::Van, VAN),
    (Scene::House, HOUSE),
    (Scene::Bicycle, BICYCLE),
    (Scene::Phone, PHONE),
    (Scene::Laptop, LAPTOP),
    (Scene::Television, TELEVISION),
    (Scene::Console, CONSOLE),
    (Scene::Washer, WASHER),
    (Scene::Fridge, FRIDGE),
    (Scene::Microwave, MICROWAVE),
    (Scene::Coffee, COFFEE),
    (Scene::Dishwasher, DISHWASHER),
    (Scene::Speaker, SPEAKER),
    (Scene::Sofa, SOFA),
    (Scene::Wardrobe, WARDROBE),
    (Scene::Drawers, DRAWERS),
    (Scene::Bed, BED),
    (Scene::Mattress, MATTRESS),
    (Scene::Table, TABLE),
    (Scene::Chair, CHAIR),
    (Scene::Armchair, ARMCHAIR),
    (Scene::GamingChair, GAMING_CHAIR),
    (Scene::Coat, COAT),
    (Scene::Jeans, JEANS),
    (Scene::Dress, DRESS),
    (Scene::Shirt, SHIRT),
    (Scene::Jumper, JUMPER),
    (Scene::Trainers, TRAINERS),
    (Scene::Boots, BOOTS),
    (Scene::Heels, HEELS),
    (Scene::Book, BOOK),
];
const CAR: Drawing = &[
    (Disc(325, 405, 250, 14), Shadow),
    (Area(&[(190, 270), (255, 205), (400, 205), (470, 270)]), Main),
    (Area(&[(212, 268), (262, 218), (318, 218), (318, 268)]), Glass),
    (Area(&[(330, 268), (330, 218), (394, 218), (445, 268)]), Glass),
    (
        Area(&[(80, 290), (120, 268), (480, 266), (560, 290), (570, 360), (560, 372), (90, 372), (76, 350)]),
        Main,
    ),
    (Box(80, 340, 488, 18), Dark),
    (Box(350, 290, 36, 8), Metal),
    (Disc(550, 305, 14, 10), Glow),
    (Disc(92, 308, 8, 12), Glow),
    (Disc(180, 370, 48, 48), Ink),
    (Disc(180, 370, 26, 26), Metal),
    (Disc(460, 370, 48, 48), Ink),
    (Disc(460, 370, 26, 26), Metal),
];
const CROSSOVER: Drawing = &[
    (Disc(325, 412, 250, 14), Shadow),
    (Area(&[(110, 250), (150, 165), (410, 165), (480, 250)]), Main),
    (Box(170, 154, 230, 8), Metal),
    (Area(&[(136, 246), (166, 180), (250, 180), (250, 246)]), Glass),
    (Area(&[(264, 246), (264, 180), (350, 180), (350, 246)]), Glass),
    (Area(&[(364, 246), (364, 180), (404, 180), (455, 246)]), Glass),
    (Area(&[(96, 250), (490, 246), (556, 272), (566, 370), (84, 370)]), Main),
    (Box(84, 340, 482, 32), Dark),
    (Disc(544, 290, 14, 12), Glow),
    (Box(92, 270, 12, 34), Glow),
    (Box(300, 272, 34, 8), Metal),
    (Disc(180, 370, 54, 54), Ink),
    (Disc(180, 370, 30, 30), Metal),
    (Disc(468, 370, 54, 54), Ink),
    (Disc(468, 370, 30, 30), Metal),
];
const VAN: Drawing = &[
    (Disc(320, 412, 260, 12), Shadow),
    (Area(&[(70, 130), (430, 130), (520, 240), (568, 262), (572, 372), (70, 372)]), Main),
    (Area(&[(408, 236), (408, 156), (430, 156), (496, 236)]), Glass),
    (Box(384, 140, 5, 230), Dark),
    (Box(70, 345, 500, 27), Dark),
    (Disc(556, 292, 12, 14), Glow),
    (Box(404, 262, 34, 8), Metal),
    (Disc(170, 372, 48, 48), Ink),
    (Disc(170, 372, 26, 26), Metal),
    (Disc(474, 372, 48, 48), Ink),
    (Disc(474, 372, 26, 26), Metal),
];
const HOUSE: Drawing = &[
    (Disc(90, 300, 66, 80), Leaf),
    (Box(82, 330, 16, 60), Wood),
    (Box(170, 90, 300, 310), Main),
    (Box(170, 70, 300, 24), Dark),
    (Box(200, 116, 50, 56), Glass),
    (Box(295, 116, 50, 56), Glass),
    (Box(390, 116, 50, 56), Glass),
    (Box(200, 204, 50, 56), Glass),
    (Box(295, 204, 50, 56), Glow),
    (Box(390, 204, 50, 56), Glass),
    (Box(200, 292, 50, 56), Glow),
    (Box(390, 292, 50, 56), Glass),
    (Box(290, 300, 60, 100), Wood),
    (Disc(342, 352, 4, 4), Glow),
    (Disc(560, 330, 52, 58), Leaf),
    (Box(553, 350, 14, 50), Wood),
];
const BICYCLE: Drawing = &[
    (Disc(320, 410, 230, 8), Shadow),
    (Ring(180, 320, 88, 12), Ink),
    (Ring(460, 320, 88, 12), Ink),
    (Bar(180, 320, 240, 200, 11), Main),
    (Bar(240, 200, 310, 325, 12), Main),
    (Bar(180, 320, 310, 325, 10), Main),
    (Bar(248, 214, 415, 210, 12), Main),
    (Bar(310, 325, 415, 210, 12), Main),
    (Bar(405, 170, 460, 320, 11), Main),
    (Bar(405, 170, 450, 158, 10), Ink),
    (Bar(450, 158, 462, 180, 9), Ink),
    (Bar(240, 200, 232, 176, 9), Metal),
    (Area(&[(200, 166), (268, 166), (262, 180), (206, 180)]), Ink),
    (Disc(310, 325, 22, 22), Metal),
    (Bar(310, 325, 330, 365, 7), Ink),
    (Bar(318, 366, 344, 366, 8), Ink),
    (Disc(180, 320, 9, 9), Metal),
    (Disc(460, 320, 9, 9), Metal),
];
const PHONE: Drawing = &[
    (Box(60, 385, 520, 50), Wood),
    (Box(150, 90, 150, 300), Main),
    (Box(164, 104, 56, 66), Dark),
    (Disc(180, 122, 13, 13), Ink),
    (Disc(180, 152, 13, 13), Ink),
    (Disc(206, 137, 6, 6), Glow),
    (Box(340, 90, 150, 300), Main),
    (Box(349, 100, 132, 280), Ink),
    (Box(355, 110, 120, 260), Glass),
    (Disc(415, 118, 5, 5), Ink),
    (Box(370, 150, 90, 22), Glow),
    (Box(370, 300, 36, 36), Light),
    (Box(424, 300, 36, 36), Light),
];
const LAPTOP: Drawing = &[
    (Box(40, 380, 560, 60), Wood),
    (Area(&[(170, 120), (470, 120), (480, 330), (160, 330)]), Ink),
    (Area(&[(184, 134), (456, 134), (465, 318), (175, 318)]), Glass),
    (Box(210, 170, 120, 90), Light),
    (Box(350, 170, 80, 40), Glow),
    (Area(&[(160, 330), (480, 330), (540, 392), (100, 392)]), Main),
    (Area(&[(182, 338), (458, 338), (486, 364), (154, 364)]), Dark),
    (Area(&[(272, 368), (368, 368), (376, 386), (264, 386)]), Light),
    (Box(100, 392, 440, 8), Dark),
];
const TELEVISION: Drawing = &[
    (Box(90, 370, 460, 70), Wood),
    (Box(90, 400, 460, 4), Ink),
    (Bar(230, 340, 210, 372, 8), Ink),
    (Bar(410, 340, 430, 372, 8), Ink),
    (Box(100, 90, 440, 252), Ink),
    (Box(110, 100, 420, 230), Glass),
    (Disc(420, 160, 34, 34), Glow),
    (Area(&[(110, 330), (220, 200), (310, 290), (380, 230), (530, 330)]), Main),
];
const CONSOLE: Drawing = &[
    (Box(40, 372, 560, 70), Wood),
    (Box(130, 120, 120, 260), Main),
    (Box(182, 120, 16, 260), Ink),
    (Box(150, 372, 80, 12), Dark),
    (
        Area(&[
            (320, 280),
            (520, 280),
            (556, 372),
            (520, 384),
            (480, 340),
            (360, 340),
            (320, 384),
            (284, 372),
        ]),
        Main,
    ),
    (Disc(360, 306, 20, 20), Ink),
    (Disc(480, 306, 20, 20), Ink),
    (Disc(396, 326, 13, 13), Dark),
    (Disc(444, 326, 13, 13), Dark),
    (Disc(480, 296, 5, 5), Glow),
];
const WASHER: Drawing = &[
    (Box(190, 80, 260, 330), Main),
    (Box(190, 80, 260, 56), Light),
    (Disc(408, 108, 17, 17), Metal),
    (Box(206, 94, 80, 28), Dark),
    (Disc(320, 268, 98, 98), Metal),
    (Disc(320, 268, 78, 78), Glass),
    (Disc(344, 244, 22, 14), Light),
    (Box(190, 392, 260, 18), Dark),
];
const FRIDGE: Drawing = &[
    (Box(220, 40, 200, 370), Main),
    (Box(220, 160, 200, 5), Dark),
    (Box(238, 90, 9, 56), Metal),
    (Box(238, 182, 9, 100), Metal),
    (Box(330, 70, 60, 40), Glass),
    (Box(220, 400, 200, 12), Dark),
    (Disc(380, 230, 15, 15), Glow),
];
const MICROWAVE: Drawing = &[
    (Box(40, 360, 560, 70), Wood),
    (Box(140, 170, 370, 192), Main),
    (Box(158, 190, 240, 152), Ink),
    (Box(174, 204, 208, 124), Glass),
    (Box(414, 194, 78, 30), Dark),
    (Disc(453, 262, 22, 22), Metal),
    (Disc(453, 318, 22, 22), Metal),
];
const COFFEE: Drawing = &[
    (Box(40, 370, 560, 70), Wood),
    (Box(200, 100, 230, 70), Main),
    (Box(200, 100, 90, 272), Main),
    (Box(190, 346, 250, 28), Dark),
    (Box(300, 170, 90, 30), Metal),
    (Box(330, 200, 8, 18), Ink),
    (Box(352, 200, 8, 18), Ink),
    (Area(&[(312, 280), (382, 280), (372, 344), (322, 344)]), Light),
    (Ring(386, 306, 20, 7), Light),
    (Disc(400, 134, 15, 15), Glow),
    (Disc(354, 134, 15, 15), Metal),
];
const DISHWASHER: Drawing = &[
    (Box(190, 90, 260, 320), Main),
    (Box(190, 90, 260, 50), Dark),
    (Disc(418, 115, 9, 9), Glow),
    (Box(220, 110, 100, 10), Light),
    (Box(240, 160, 160, 12), Metal),
    (Box(190, 385, 260, 25), Dark),
];
const SPEAKER: Drawing = &[
    (Box(40, 370, 560, 70), Wood),
    (Box(220, 90, 200, 284), Main),
    (Disc(320, 270, 78, 78), Ink),
    (Disc(320, 270, 30, 30), Metal),
    (Disc(320, 146, 38, 38), Ink),
    (Disc(320, 146, 13, 13), Metal),
    (Disc(396, 108, 6, 6), Glow),
];
const SOFA: Drawing = &[
    (Disc(320, 410, 270, 12), Shadow),
    (Box(110, 200, 420, 130), Dark),
    (Box(122, 210, 194, 110), Main),
    (Box(324, 210, 194, 110), Main),
    (Box(100, 305, 440, 50), Light),
    (Box(318, 305, 4, 50), Dark),
    (Box(100, 352, 440, 40), Main),
    (Area(&[(60, 250), (92, 240), (120, 250), (120, 392), (60, 392)]), Main),
    (Area(&[(520, 250), (548, 240), (580, 250), (580, 392), (520, 392)]), Main),
    (Box(80, 392, 16, 18), Wood),
    (Box(544, 392, 16, 18), Wood),
    (Area(&[(150, 240), (220, 232), (226, 300), (158, 306)]), Glow),
];
const WARDROBE: Drawing = &[
    (Box(150, 50, 340, 350), Main),
    (Box(150, 50, 340, 14), Dark),
    (Box(262, 64, 4, 324), Dark),
    (Box(374, 64, 4, 324), Dark),
    (Box(276, 78, 88, 296), Glass),
    (Box(246, 200, 7, 60), Metal),
    (Box(386, 200, 7, 60), Metal),
    (Box(150, 386, 340, 18), Dark),
];
const DRAWERS: Drawing = &[
    (Box(170, 150, 300, 240), Main),
    (Box(160, 140, 320, 16), Dark),
    (Box(180, 198, 280, 4), Dark),
    (Box(180, 246, 280, 4), Dark),
    (Box(180, 294, 280, 4), Dark),
    (Box(180, 342, 280, 4), Dark),
    (Box(295, 174, 50, 8), Metal),
    (Box(295, 220, 50, 8), Metal),
    (Box(295, 268, 50, 8), Metal),
    (Box(295, 316, 50, 8), Metal),
    (Box(295, 364, 50, 8), Metal),
    (Box(184, 390, 14, 18), Wood),
    (Box(442, 390, 14, 18), Wood),
    (Area(&[(220, 140), (214, 96), (250, 96), (244, 140)]), Glow),
];
const BED: Drawing = &[
    (Box(100, 130, 440, 200), Main),
    (Box(112, 142, 416, 120), Dark),
    (Box(150, 220, 150, 60), Light),
    (Box(340, 220, 150, 60), Light),
    (Area(&[(110, 270), (530, 270), (570, 360), (70, 360)]), Light),
    (Area(&[(100, 300), (540, 300), (570, 360), (70, 360)]), Glow),
    (Box(70, 360, 500, 40), Main),
    (Box(84, 400, 18, 20), Wood),
    (Box(538, 400, 18, 20), Wood),
];
const MATTRESS: Drawing = &[
    (Area(&[(180, 230), (560, 230), (480, 340), (80, 340)]), Main),
    (Area(&[(80, 340), (480, 340), (480, 400), (80, 400)]), Dark),
    (Area(&[(480, 340), (560, 230), (560, 290), (480, 400)]), Light),
    (Bar(80, 370, 480, 370, 4), Light),
    (Bar(220, 250, 160, 324, 4), Dark),
    (Bar(310, 250, 250, 324, 4), Dark),
    (Bar(400, 250, 340, 324, 4), Dark),
    (Bar(490, 250, 430, 324, 4), Dark),
];
const TABLE: Drawing = &[
    (Disc(320, 412, 220, 10), Shadow),
    (Box(130, 260, 18, 150), Dark),
    (Box(492, 260, 18, 150), Dark),
    (Area(&[(150, 210), (490, 210), (550, 246), (90, 246)]), Main),
    (Box(90, 246, 460, 18), Dark),
    (Disc(320, 224, 46, 10), Light),
    (Area(&[(296, 180), (344, 180), (334, 226), (306, 226)]), Glow),
];
const CHAIR: Drawing = &[
    (Disc(320, 412, 110, 8), Shadow),
    (Bar(250, 100, 258, 270, 14), Main),
    (Bar(390, 100, 382, 270, 14), Main),
    (Box(250, 100, 140, 34), Main),
    (Box(256, 160, 128, 16), Main),
    (Box(256, 205, 128, 16), Main),
    (Area(&[(244, 262), (396, 262), (420, 298), (220, 298)]), Light),
    (Box(220, 298, 200, 12), Dark),
    (Bar(230, 308, 222, 412, 14), Main),
    (Bar(410, 308, 418, 412, 14), Main),
    (Bar(262, 308, 260, 396, 10), Dark),
    (Bar(378, 308, 380, 396, 10), Dark),
];
const ARMCHAIR: Drawing = &[
    (Disc(320, 412, 170, 10), Shadow),
    (Area(&[(210, 130), (250, 96), (390, 96), (430, 130), (430, 320), (210, 320)]), Main),
    (Box(232, 130, 176, 160), Light),
    (Box(200, 290, 240, 50), Light),
    (Box(200, 338, 240, 52), Main),
    (Area(&[(150, 250), (180, 234), (212, 250), (212, 392), (150, 392)]), Dark),
    (Area(&[(428, 250), (458, 234), (490, 250), (490, 392), (428, 392)]), Dark),
    (Box(170, 392, 14, 20), Wood),
    (Box(456, 392, 14, 20), Wood),
];
const GAMING_CHAIR: Drawing = &[
    (Area(&[(256, 60), (384, 60), (404, 130), (384, 280), (256, 280), (236, 130)]), Ink),
    (Area(&[(284, 76), (356, 76), (362, 270), (278, 270)]), Main),
    (Box(292, 84, 56, 30), Ink),
    (Area(&[(226, 276), (414, 276), (430, 322), (210, 322)]), Ink),
    (Area(&[(262, 280), (378, 280), (386, 316), (254, 316)]), Main),
    (Box(196, 226, 22, 14), Ink),
    (Box(422, 226, 22, 14), Ink),
    (Bar(206, 236, 222, 296, 9), Metal),
    (Bar(434, 236, 418, 296, 9), Metal),
    (Box(311, 320, 18, 56), Metal),
    (Bar(320, 374, 220, 400, 12), Ink),
    (Bar(320, 374, 420, 400, 12), Ink),
    (Disc(218, 406, 11, 11), Ink),
    (Disc(320, 408, 11, 11), Ink),
    (Disc(422, 406, 11, 11), Ink),
];
const COAT: Drawing = &[
    (Bar(320, 40, 320, 70, 7), Metal),
    (
        Area(&[
            (262, 80),
            (378, 80),
            (440, 110),
            (486, 290),
            (444, 300),
            (412, 190),
            (426, 430),
            (214, 430),
            (228, 190),
            (196, 300),
            (154, 290),
            (200, 110),
        ]),
        Main,
    ),
    (Area(&[(262, 80), (320, 170), (300, 200), (236, 100)]), Dark),
    (Area(&[(378, 80), (320, 170), (340, 200), (404, 100)]), Dark),
    (Box(317, 170, 6, 260), Dark),
    (Disc(336, 230, 7, 7), Ink),
    (Disc(336, 290, 7, 7), Ink),
    (Disc(336, 350, 7, 7), Ink),
    (Bar(246, 320, 290, 312, 6), Dark),
    (Bar(394, 320, 350, 312, 6), Dark),
];
const JEANS: Drawing = &[
    (Area(&[(232, 60), (408, 60), (440, 430), (350, 430), (320, 180), (290, 430), (200, 430)]), Main),
    (Box(230, 60, 180, 22), Dark),
    (Bar(320, 84, 320, 180, 4), Dark),
    (Bar(244, 86, 276, 124, 5), Light),
    (Bar(396, 86, 364, 124, 5), Light),
    (Disc(320, 71, 6, 6), Glow),
    (Bar(206, 420, 288, 420, 6), Light),
    (Bar(352, 420, 434, 420, 6), Light),
];
const DRESS: Drawing = &[
    (Bar(320, 36, 320, 66, 6), Metal),
    (Bar(278, 66, 268, 120, 10), Main),
    (Bar(362, 66, 372, 120, 10), Main),
    (Area(&[(262, 112), (320, 132), (378, 112), (374, 220), (454, 430), (186, 430), (266, 220)]), Main),
    (Box(264, 214, 112, 16), Dark),
    (Bar(300, 234, 270, 426, 4), Dark),
    (Bar(340, 234, 370, 426, 4), Dark),
];
const SHIRT: Drawing = &[
    (
        Area(&[
            (262, 80),
            (378, 80),
            (470, 130),
            (440, 220),
            (404, 200),
            (404, 410),
            (236, 410),
            (236, 200),
            (200, 220),
            (170, 130),
        ]),
        Main,
    ),
    (Area(&[(276, 74), (320, 120), (300, 140), (260, 90)]), Light),
    (Area(&[(364, 74), (320, 120), (340, 140), (380, 90)]), Light),
    (Box(318, 120, 4, 290), Dark),
    (Disc(328, 170, 5, 5), Ink),
    (Disc(328, 230, 5, 5), Ink),
    (Disc(328, 290, 5, 5), Ink),
    (Disc(328, 350, 5, 5), Ink),
    (Box(346, 180, 44, 46), Dark),
];
const JUMPER: Drawing = &[
    (
        Area(&[
            (260, 80),
            (380, 80),
            (446, 116),
            (494, 330),
            (440, 342),
            (410, 220),
            (410, 420),
            (230, 420),
            (230, 220),
            (200, 342),
            (146, 330),
            (194, 116),
        ]),
        Main,
    ),
    (Disc(320, 84, 48, 24), Dark),
    (Box(230, 398, 180, 22), Dark),
    (Area(&[(142, 316), (204, 330), (200, 346), (146, 334)]), Dark),
    (Area(&[(498, 316), (436, 330), (440, 346), (494, 334)]), Dark),
    (Bar(236, 210, 404, 210, 12), Light),
    (Bar(236, 250, 404, 250, 12), Light),
];
const TRAINERS: Drawing = &[
    (Disc(320, 408, 230, 10), Shadow),
    (Area(&[(130, 230), (230, 220), (270, 270), (400, 300), (500, 330), (520, 376), (120, 376)]), Main),
    (Area(&[(400, 300), (500, 330), (520, 376), (430, 376)]), Light),
    (Box(112, 374, 416, 28), Light),
    (Bar(240, 290, 290, 262, 7), Light),
    (Bar(268, 306, 318, 276, 7), Light),
    (Bar(296, 318, 346, 288, 7), Light),
    (Area(&[(150, 340), (260, 350), (330, 320), (250, 330)]), Dark),
    (Box(136, 240, 40, 60), Dark),
];
const BOOTS: Drawing = &[
    (Disc(320, 410, 200, 10), Shadow),
    (Area(&[(190, 80), (330, 80), (330, 280), (430, 310), (480, 350), (480, 380), (190, 380)]), Main),
    (Box(186, 80, 148, 24), Dark),
    (Box(186, 378, 298, 24), Ink),
    (Bar(300, 150, 340, 142, 6), Light),
    (Bar(300, 190, 340, 182, 6), Light),
    (Bar(300, 230, 340, 222, 6), Light),
    (Bar(190, 300, 326, 280, 5), Dark),
];
const HEELS: Drawing = &[
    (Disc(320, 408, 200, 8), Shadow),
    (
        Area(&[
            (150, 200),
            (196, 186),
            (230, 270),
            (330, 330),
            (470, 352),
            (510, 388),
            (500, 400),
            (380, 400),
            (250, 340),
            (190, 290),
        ]),
        Main,
    ),
    (Area(&[(152, 210), (190, 280), (182, 404), (168, 404)]), Dark),
    (Area(&[(196, 186), (230, 270), (330, 330), (300, 318), (220, 280)]), Light),
    (Box(378, 398, 130, 8), Ink),
];
const BOOK: Drawing = &[
    (Box(40, 380, 560, 60), Wood),
    (Area(&[(210, 90), (430, 70), (448, 370), (228, 390)]), Main),
    (Area(&[(430, 70), (452, 84), (468, 368), (448, 370)]), Light),
    (Area(&[(210, 90), (232, 88), (250, 388), (228, 390)]), Dark),
    (Area(&[(262, 130), (406, 117), (410, 176), (266, 189)]), Light),
    (Bar(276, 152, 396, 141, 6), Ink),
    (Bar(296, 170, 378, 163, 5), Ink),
    (Disc(344, 274, 40, 40), Glow),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_stands_at_its_place() {
        assert_eq!(DRAWINGS.len(), Scene::Book as usize + 1);
        for (place, (scene, _)) in DRAWINGS.iter().enumerate() {
            assert_eq!(*scene as usize, place, "{scene:?}");
        }
    }
}
