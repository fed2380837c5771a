//! The difference of two totals of one thing, split into what its count and what its price are responsible for.

/// What a side of a comparison takes of one thing: this many times this price.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PricedTimes {
    pub times: f64,
    /// One of it, in ns.
    pub price: f64,
}

impl PricedTimes {
    /// All of it.
    pub(super) fn total(self) -> f64 {
        // Nothing times anything is nothing, also where the price is not known.
        if self.times == 0.0 { 0.0 } else { self.times * self.price }
    }
}

/// A difference of two totals, split.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effects {
    /// What doing it more or less often adds, in ns.
    pub counts: f64,
    /// What its other price adds.
    pub prices: f64,
}

/// The mean of two positive numbers that lies between the geometric and the arithmetic one: (a - b) / ln(a / b).
pub fn logarithmic_mean(a: f64, b: f64) -> f64 {
    let log = (a / b).ln();
    // Close to each other the quotient loses its digits; there the mean is the arithmetic one, to 1e-17 of it.
    if log.abs() < 1e-8 { (a + b) / 2.0 } else { (a - b) / log }
}

/// Splits the difference of one thing's totals; `None` where its price is not positive on a side and its count differs, because
/// such a difference has no logarithm. Where nothing has to be split, no logarithm is needed; where a count or a price comes from or goes to
/// nothing it is responsible for the whole difference, which is the limit (Ang and Liu, Energy Policy 35:238, 2007).
pub fn effects(before: PricedTimes, after: PricedTimes) -> Option<Effects> {
    let (from, to) = (before.total(), after.total());
    let counts_alone = Effects { counts: to - from, prices: 0.0 };
    let prices_alone = Effects { counts: 0.0, prices: to - from };
    if before.times == after.times {
        return Some(prices_alone);
    }
    if before.times == 0.0 || after.times == 0.0 || before.price == after.price {
        return Some(counts_alone);
    }
    if before.price < 0.0 || after.price < 0.0 {
        return None;
    }
    if before.price == 0.0 || after.price == 0.0 {
        return Some(prices_alone);
    }
    let mean = logarithmic_mean(to, from);
    Some(Effects { counts: mean * (after.times / before.times).ln(), prices: mean * (after.price / before.price).ln() })
}
