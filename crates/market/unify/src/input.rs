//! What a feed says about an offer.

/// One offer as its feed has it. Everything but the title may be left out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Input<'i> {
    /// What it is called.
    pub title: &'i str,
    /// More about it.
    pub description: &'i str,
    /// The feed's own category, from the root down: `["Электроника", "Телефоны"]`; an Avito `Category` and `GoodsType` too.
    pub path: &'i [&'i str],
    /// An id of our own catalogue, or a name in it, if the feed gives one.
    pub category: Option<&'i str>,
    /// A `google_product_category`: its number or its path.
    pub google: Option<&'i str>,
    /// Names and values.
    pub params: &'i [Param<'i>],
    /// Who makes it.
    pub vendor: Option<&'i str>,
    /// Which of the vendor's it is.
    pub model: Option<&'i str>,
    /// Where it is, as people write it.
    pub address: Option<&'i str>,
    /// Where it is: latitude and longitude in degrees. It wins over the address.
    pub point: Option<(f64, f64)>,
    /// Where its seller is.
    pub hints: geo::Hints<'i>,
}

/// A name and a value of a feed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Param<'i> {
    /// What it is about: `Цвет`.
    pub name: &'i str,
    /// What it is: `красный`.
    pub value: &'i str,
    /// In which unit; empty if there is none, or if it stands in the value.
    pub unit: &'i str,
}
