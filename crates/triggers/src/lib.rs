//! When a task should run, in terms of the data it reads. No store, no clock, no text: whoever asks hands in the values and the time.

mod trigger;
mod value;

pub use trigger::{Amount, Check, Group, Leaf, Scale, Trigger};
pub use value::{Kind, Parameter, Value};
