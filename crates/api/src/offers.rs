//! Offers: made, read, changed, moved.
