//! Generates furniture.

use wire::torg::offers::v1::Condition;

use super::words::{Gender, Noun, color_id, noun};
use super::{
    Color, Dice, Language, Picture, Scene, Seller, States, Thing, Weight, Words, handing_over, state, wear,
};
use Color::{Beige, Black, Blue, Brown, Gray, Green, Red, White};

struct Piece {
    category: &'static str,
    noun: Noun,
    /// The price of a new one, in euros.
    euros: i64,
    /// Width and depth, in centimetres.
    sizes: &'static [(u32, u32)],
    colors: &'static [Color],
    makers: &'static Makers,
    extras: &'static [Words],
    scene: Scene,
}

/// Makers in Russia and elsewhere.
type Makers = (&'static [&'static str], &'static [&'static str]);

const SOFT: &Makers =
    &(&["IKEA", "Hoff", "Много Мебели", "Askona"], &["IKEA", "JYSK", "Habitat", "Heal's", "Ercol"]);
const HARD: &Makers =
    &(&["IKEA", "Hoff", "Lazurit", "Шатура"], &["IKEA", "JYSK", "Habitat", "Hülsta", "Ercol"]);
const SLEEP: &Makers = &(&["IKEA", "Askona", "Ormatek"], &["IKEA", "JYSK", "Emma", "Simba"]);
const GAMES: &Makers = &(&["AeroCool", "DXRacer", "Zone 51"], &["DXRacer", "noblechairs", "Secretlab"]);
const FABRIC: &[Color] = &[Gray, Beige, Blue, Green, Brown, Black, Red];
const WOOD: &[Color] = &[White, Brown, Black, Gray, Beige];
const BEDDING: &[Color] = &[White, Gray, Beige];
const PIECES: &[Piece] = &[
    Piece {
        category: "fr-22",
        noun: noun(Gender::He, "Диван-кровать", "sofa bed"),
        euros: 520,
        sizes: &[(200, 95), (215, 100), (230, 105)],
        colors: FABRIC,
        makers: SOFT,
        extras: &[
            ("с ящиком для белья", "with a box for bedding"),
            ("раскладывается вперёд", "folds out to the front"),
            ("ткань легко чистить", "the fabric is easy to clean"),
        ],
        scene: Scene::Sofa,
    },
    Piece {
        category: "fr-22-3",
        noun: noun(Gender::He, "Угловой диван", "corner sofa"),
        euros: 740,
        sizes: &[(250, 160), (270, 175), (300, 190)],
        colors: FABRIC,
        makers: SOFT,
        extras: &[
            ("угол слева или справа", "the corner goes left or right"),
            ("с ящиком для белья", "with a box for bedding"),
            ("подушки в комплекте", "cushions included"),
        ],
        scene: Scene::Sofa,
    },
    Piece {
        category: "fr-4-1",
        noun: noun(Gender::He, "Шкаф-купе", "wardrobe with sliding doors"),
        euros: 460,
        sizes: &[(150, 60), (180, 60), (240, 65)],
        colors: WOOD,
        makers: HARD,
        extras: &[
            ("с зеркалом", "with a mirror"),
            ("полки и штанга", "shelves and a rail"),
            ("уже разобран", "taken apart already"),
        ],
        scene: Scene::Wardrobe,
    },
    Piece {
        category: "fr-4-5",
        noun: noun(Gender::He, "Комод", "chest of drawers"),
        euros: 190,
        sizes: &[(80, 45), (100, 48), (120, 50)],
        colors: WOOD,
        makers: HARD,
        extras: &[
            ("пять ящиков", "five drawers"),
            ("массив дерева", "solid wood"),
            ("ящики с доводчиками", "drawers close softly"),
        ],
        scene: Scene::Drawers,
    },
    Piece {
        category: "fr-2-2",
        noun: noun(Gender::She, "Кровать двуспальная", "double bed"),
        euros: 380,
        sizes: &[(150, 210), (170, 210), (190, 210)],
        colors: WOOD,
        makers: HARD,
        extras: &[
            ("с подъёмным механизмом", "with storage below"),
            ("массив дерева", "solid wood"),
            ("с реечным дном", "with slats"),
        ],
        scene: Scene::Bed,
    },
    Piece {
        category: "fr-2-6",
        noun: noun(Gender::He, "Матрас ортопедический", "firm mattress"),
        euros: 240,
        sizes: &[(90, 200), (140, 200), (160, 200), (180, 200)],
        colors: BEDDING,
        makers: SLEEP,
        extras: &[
            ("двусторонний", "two-sided"),
            ("чехол снимается", "the cover comes off"),
            ("независимые пружины", "pocket springs"),
        ],
        scene: Scene::Mattress,
    },
    Piece {
        category: "fr-24-4",
        noun: noun(Gender::He, "Обеденный стол", "dining table"),
        euros: 280,
        sizes: &[(120, 75), (140, 80), (160, 90), (180, 90)],
        colors: WOOD,
        makers: HARD,
        extras: &[
            ("раздвижной", "extendable"),
            ("массив дерева", "solid wood"),
            ("на шесть человек", "seats six"),
        ],
        scene: Scene::Table,
    },
    Piece {
        category: "fr-7-9",
        noun: noun(Gender::He, "Стул для кухни", "kitchen chair"),
        euros: 60,
        sizes: &[(42, 48), (45, 52), (48, 55)],
        colors: WOOD,
        makers: HARD,
        extras: &[
            ("массив дерева", "solid wood"),
            ("мягкое сиденье", "with a soft seat"),
            ("есть ещё три таких", "there are three more"),
        ],
        scene: Scene::Chair,
    },
    Piece {
        category: "fr-7-1",
        noun: noun(Gender::It, "Кресло", "armchair"),
        euros: 210,
        sizes: &[(75, 80), (82, 85), (90, 90)],
        colors: FABRIC,
        makers: SOFT,
        extras: &[
            ("с подставкой для ног", "with a footstool"),
            ("качественная ткань", "good fabric"),
            ("высокая спинка", "with a high back"),
        ],
        scene: Scene::Armchair,
    },
    Piece {
        category: "fr-7-7",
        noun: noun(Gender::It, "Игровое кресло", "gaming chair"),
        euros: 180,
        sizes: &[(65, 65), (68, 70), (70, 72)],
        colors: &[Black, Red, Blue, Green, White],
        makers: GAMES,
        extras: &[
            ("с подголовником", "with a headrest"),
            ("подлокотники регулируются", "the arms can be moved"),
            ("выдерживает 150 кг", "carries 150 kg"),
        ],
        scene: Scene::GamingChair,
    },
];
const STATES: States = States {
    new: &[
        ("В заводской упаковке.", "Still packed as it left the factory."),
        ("Не пользовались, чек есть.", "Never used, the receipt is there."),
    ],
    like_new: &[
        ("Состояние отличное, как из магазина.", "In excellent condition, as if from the shop."),
        ("Из гостевой комнаты, почти не пользовались.", "From a spare room, hardly used."),
    ],
    used: &[
        ("Состояние хорошее, смотрите сами.", "In good condition, come and see."),
        ("В доме без животных и курения.", "From a home without pets and smoke."),
        ("Есть пара потёртостей, в глаза не бросаются.", "Worn in a place or two, not where it shows."),
    ],
    parts: &[
        ("Под реставрацию или на дачу.", "To be restored, or for a garden house."),
        ("Нужен небольшой ремонт, подробности в чате.", "Needs a small repair, ask me what."),
    ],
};

pub(super) fn any(dice: &mut Dice, seller: &Seller) -> Thing {
    let language = seller.language;
    let piece = dice.one_of(PIECES);
    let makers = if language == Language::Russian { piece.makers.0 } else { piece.makers.1 };
    let (maker, color) = (*dice.one_of(makers), *dice.one_of(piece.colors));
    let (extra, (width, depth)) = (dice.words(language, piece.extras), *dice.one_of(piece.sizes));
    let (noun, shade) = (piece.noun.of(language), piece.noun.color(language, color));
    let (condition, percent) = match wear(dice, seller) {
        // Well-used mattresses are not sold.
        (Condition::CONDITION_USED | Condition::CONDITION_FOR_PARTS, _) if piece.scene == Scene::Mattress => {
            (Condition::CONDITION_LIKE_NEW, 60)
        }
        worn => worn,
    };
    let (title, size) = match language {
        Language::Russian => {
            (format!("{noun} {maker}, {shade}, {extra}"), format!("Размеры: {width} на {depth} см."))
        }
        Language::English => (format!("{maker} {noun}, {shade}, {extra}"), format!("{width} by {depth} cm.")),
    };
    let state = state(dice, seller, condition, &STATES);
    let text = format!("{size}\n{state}\n{}", handing_over(dice, seller, Weight::Heavy));
    let attributes = vec![("brand", maker.to_owned()), ("color", color_id(color).to_owned())];
    Thing {
        category: piece.category,
        title,
        text,
        attributes,
        euros: dice.near(piece.euros * percent / 100, 20),
        condition: Some(condition),
        picture: Some(Picture { scene: piece.scene, color }),
    }
}
