mod adverse;
mod simulated;
mod support;
