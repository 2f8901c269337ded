//! The rules of the board, one by one.
