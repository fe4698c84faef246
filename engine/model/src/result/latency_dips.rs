//! Dips of latency: times in which the mean latency of an interval lies below half of the median of all intervals.

use super::SeriesRow;
use super::metrics::Metrics;
use seeklab_spec::to_f64;

/// When dips begin, in intervals.
fn begins(series: &[SeriesRow]) -> Vec<usize> {
    let mean_ns = |row: &SeriesRow| {
        let ios: u64 = row.ios.iter().sum();
        (ios > 0).then(|| to_f64(row.total_ns.iter().sum()) / to_f64(ios))
    };
    let means: Vec<(usize, f64)> = series.iter().enumerate().filter_map(|(index, row)| Some((index, mean_ns(row)?))).collect();
    let mut sorted: Vec<f64> = means.iter().map(|(_, mean)| *mean).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(median) = sorted.get(sorted.len() / 2).copied() else { return Vec::new() };
    let is_low = |mean: f64| mean < median / 2.0;
    let first = means.first().filter(|(_, mean)| is_low(*mean)).map(|(index, _)| *index);
    first.into_iter().chain(means.windows(2).filter(|pair| !is_low(pair[0].1) && is_low(pair[1].1)).map(|pair| pair[1].0)).collect()
}

/// Reports how many dips there are, and how far they are apart.
pub fn metrics(series: &[SeriesRow], interval_ns: u64, metrics: &mut Metrics) {
    let begins = begins(series);
    metrics.count(
        "latency_dips",
        "Number of times that the mean latency of an interval fell below half of the median interval's.",
        begins.len() as u64,
    );
    if let [first, .., last] = begins[..] {
        let apart_ns = (last - first) as u64 * interval_ns / (begins.len() as u64 - 1);
        metrics.seconds("latency_dips_apart_s", "Mean time from the start of one such dip to the start of the next.", apart_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dip_begins_where_the_latency_falls_below_half_of_the_median() {
        let row = |ns: u64| SeriesRow { ios: [u64::from(ns > 0), 0, 0], total_ns: [ns, 0, 0], ..SeriesRow::default() };
        let series: Vec<SeriesRow> = [100, 100, 10, 10, 0, 10, 100, 60, 100, 49, 100, 100, 100].map(row).into();
        assert_eq!(begins(&series), [2, 9], "an interval without operations ends none, and one at more than half is none");
        assert_eq!(begins(&[row(7), row(7)]), [0usize; 0]);
        assert_eq!(begins(&[]), [0usize; 0]);
    }
}
