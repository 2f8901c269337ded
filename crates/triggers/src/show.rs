//! Triggers and verdicts as sentences that a data engineer understands.

mod trigger;
