//! Requesting data before it is read: the arithmetic that methods with a window share.

use operation::{Failure, Setting};

/// A window that moves over the file: all bytes up to `ahead` beyond the current record have been requested, in pieces of
/// `quantity` bytes (the paper `mpe`, postscript: the distance is the latency times the rate of consumption).
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    ahead: u64,
    quantity: u64,
    length: u64,
    requested: u64,
}

impl Ahead {
    /// As the axes `ahead` and `quantity` say. Without a quantity, the whole window is one piece. With `ahead` 0 nothing is
    /// requested.
    pub fn of(setting: &Setting, length: u64) -> Result<Ahead, Failure> {
        let quantity = setting.point().number("quantity").unwrap_or(0);
        Ok(Ahead::new(setting.number("ahead")?, quantity, length))
    }

    /// A window of these bytes over a file or a part of `length` bytes. A quantity of 0 means that the whole window is one
    /// piece.
    pub fn new(ahead: u64, quantity: u64, length: u64) -> Ahead {
        let quantity = match quantity {
            0 => ahead,
            quantity => quantity,
        };
        // The pieces are whole pages, because a mapping accepts no others.
        let page = rustix::param::page_size() as u64;
        Ahead { ahead, quantity: quantity.next_multiple_of(page).max(page), length, requested: 0 }
    }

    pub fn restart(&mut self) {
        self.requested = 0;
    }

    /// Requests the part of the window that has been reached when the record at `offset` is read.
    #[inline(always)]
    pub fn reach(
        &mut self,
        offset: u64,
        mut request: impl FnMut(u64, usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        while self.ahead > 0 && self.requested < self.length.min(offset + self.ahead) {
            request(self.requested, self.quantity.min(self.length - self.requested) as usize)?;
            self.requested += self.quantity;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(ahead: u64, quantity: u64, offsets: &[u64]) -> Vec<(u64, usize)> {
        let mut window = Ahead { ahead, quantity, length: 1000, requested: 0 };
        let mut requested = Vec::new();
        for &offset in offsets {
            window
                .reach(offset, |start, length| {
                    requested.push((start, length));
                    Ok(())
                })
                .expect("asked");
        }
        requested
    }

    #[test]
    fn the_window_keeps_its_distance_and_ends_with_the_file() {
        assert_eq!(requested(200, 100, &[0, 50, 100]), [(0, 100), (100, 100), (200, 100)]);
        assert_eq!(requested(100, 400, &[0, 200, 350, 750]), [(0, 400), (400, 400), (800, 200)]);
        assert_eq!(requested(5000, 600, &[0, 900]), [(0, 600), (600, 400)]);
        assert_eq!(requested(0, 100, &[0, 500]), []);
    }
}
