//! Runs made up to the point.
