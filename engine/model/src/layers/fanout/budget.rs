//! A budget of copies: at most so many among the last thousand leaves.
//!
//! At the start the window counts as a thousand leaves without copies, so that the budget is full.

/// Leaves that the budget looks back on.
pub const WINDOW: usize = 1000;

/// Copies sent while each of the last leaves was the newest.
#[derive(Debug)]
pub struct Budget {
    most: u32,
    sent: u32,
    newest: usize,
    window: Box<[u16; WINDOW]>,
}

impl Budget {
    /// A budget of so many per cent.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 1000
    pub fn new(percent: f64) -> Self {
        Self { most: (percent * 10.0 + 1e-6) as u32, sent: 0, newest: 0, window: Box::new([0; WINDOW]) }
    }

    /// Another leaf: what was sent with the oldest is forgotten.
    #[inline]
    pub fn leaf(&mut self) {
        self.newest = (self.newest + 1) % WINDOW;
        self.sent -= u32::from(std::mem::take(&mut self.window[self.newest]));
    }

    /// Sends a copy, if one is left.
    #[inline]
    pub fn copy(&mut self) -> bool {
        let is_left = self.sent < self.most;
        if is_left {
            self.sent += 1;
            self.window[self.newest] += 1;
        }
        is_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_granted_up_to_the_budget_of_the_last_thousand_leaves() {
        let mut budget = Budget::new(2.0);
        let granted = |budget: &mut Budget, leaves: usize| {
            let ask = |_| {
                budget.leaf();
                budget.copy()
            };
            (0..leaves).map(ask).filter(|granted| *granted).count()
        };
        // The first twenty leaves take all of it; then nothing until the first is a thousand leaves old.
        assert_eq!(
            [granted(&mut budget, 20), granted(&mut budget, 980), granted(&mut budget, 20), granted(&mut budget, 980)],
            [20, 0, 20, 0]
        );
        let mut none = Budget::new(0.0);
        assert_eq!(granted(&mut none, 5000), 0);
        let mut all = Budget::new(100.0);
        assert_eq!(granted(&mut all, 5000), 5000);
    }
}
