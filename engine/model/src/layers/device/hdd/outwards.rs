//! From the arm's place outwards: requests in order of their distance.

/// The indices of a list that is sorted by cylinder, the nearest to `here` first, with their distances in cylinders.
pub(super) fn outwards<'a, T>(sorted: &'a [T], here: u32, cylinder: impl Fn(&T) -> u32 + 'a) -> impl Iterator<Item = (usize, u32)> + 'a {
    let mut up = sorted.partition_point(|item| cylinder(item) < here);
    let mut down = up;
    std::iter::from_fn(move || {
        let above = sorted.get(up).map(|item| cylinder(item) - here);
        let below = down.checked_sub(1).map(|index| here - cylinder(&sorted[index]));
        if let Some(distance) = above.filter(|above| below.is_none_or(|below| *above <= below)) {
            up += 1;
            return Some((up - 1, distance));
        }
        down = down.saturating_sub(1);
        below.map(|distance| (down, distance))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_upwards_before_downwards() {
        let sorted = [1, 4, 4, 6, 9];
        let order = |here: u32| outwards(&sorted, here, |cylinder| *cylinder).collect::<Vec<_>>();
        assert_eq!(order(5), [(3, 1), (2, 1), (1, 1), (4, 4), (0, 4)]);
        assert_eq!(order(4), [(1, 0), (2, 0), (3, 2), (0, 3), (4, 5)]);
        assert_eq!(order(20).first(), Some(&(4, 11)));
        assert_eq!(outwards(&[], 5, |cylinder: &u32| *cylinder).next(), None);
    }
}
