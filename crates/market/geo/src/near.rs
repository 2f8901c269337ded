//! Which place a point belongs to.

use crate::limits::PLACE_DISTANCE_KM_MAX;
use crate::places::{Place, Places};
use crate::tree::Point;

/// A city reaches this far for the square root of its people: 16 km for ten million, 5 km for one.
const REACH_KM: f64 = 0.005;
/// No city reaches farther.
const REACH_KM_MAX: f64 = 25.0;

impl Places {
    /// The nearest place and how far it is, in kilometres. It may be a district of a city: see [`locate`](Self::locate).
    #[must_use]
    pub fn nearest(&self, point: Point) -> Option<(Place<'_>, f64)> {
        self.tree.nearest(point).map(|(number, km)| (self.at(number), km))
    }

    /// The place that a point belongs to, and how far its middle is: the largest city that reaches as far as the point, so that
    /// an address and its coordinates give the same place; otherwise the nearest place. `None` if that is too far away
    /// ([`PLACE_DISTANCE_KM_MAX`]).
    #[must_use]
    pub fn locate(&self, point: Point) -> Option<(Place<'_>, f64)> {
        let mut city: Option<(u32, f64)> = None;
        self.tree.each_within(point, REACH_KM_MAX, |number, km| {
            let population = self.data[number as usize].population;
            let reaches = km <= REACH_KM * f64::from(population).sqrt();
            let is_larger = city.is_none_or(|(other, _)| self.data[other as usize].population < population);
            if reaches && is_larger {
                city = Some((number, km));
            }
        });
        match city {
            Some((number, km)) => Some((self.at(number), km)),
            None => self.nearest(point).filter(|(_, km)| *km <= PLACE_DISTANCE_KM_MAX),
        }
    }
}
