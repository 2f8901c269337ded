//! An offer as its feed describes it.

/// Everything but the title is optional.
#[derive(Debug, Clone, Copy, Default)]
pub struct Input<'i> {
    pub title: &'i str,
    pub description: &'i str,
    /// The feed's category from the root down: `["Электроника", "Телефоны"]`; also `Category` and
    /// `GoodsType` of Avito.
    pub path: &'i [&'i str],
    /// An id or a name of our own catalogue.
    pub category: Option<&'i str>,
    /// A `google_product_category`: number or path.
    pub google: Option<&'i str>,
    pub params: &'i [Param<'i>],
    pub vendor: Option<&'i str>,
    pub model: Option<&'i str>,
    /// As people write it.
    pub address: Option<&'i str>,
    /// Latitude and longitude in degrees. Has precedence over the address.
    pub point: Option<(f64, f64)>,
    /// The location of the seller.
    pub hints: geo::Hints<'i>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Param<'i> {
    /// `Цвет`
    pub name: &'i str,
    /// `красный`
    pub value: &'i str,
    /// Empty if there is none or if it is a part of the value.
    pub unit: &'i str,
}
