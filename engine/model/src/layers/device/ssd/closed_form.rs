//! Write amplification of uniform random writes in closed form.
//!
//! A drive of `alpha` physical pages for each logical page collects the oldest block when it needs room. Between two visits to a
//! block all `alpha` x U pages of the drive are written once more; of these writes a share `1 - p` is the host's, the rest are
//! the valid pages that collection moves. A page survives them all with probability `exp(-alpha (1 - p))`, and that is the share
//! `p` of valid pages in the block: `p = exp(-alpha (1 - p))`, so `p = -W(-alpha exp(-alpha)) / alpha` with the principal branch
//! of Lambert's W, and each collected page gives room for `1 - p` of a host page: the amplification is `1 / (1 - p)`.
//!
//! Source: L. Xiang and B. M. Kurkoski, "An improved analytic expression for write amplification in NAND flash" (ICNC 2012,
//! arXiv 1110.4245), which gives 2.36 for 30 % of over-provisioning; P. Desnoyers, "Analytic models of SSD write performance" (ACM
//! TOS 10(2), 2014) has the same limit for greedy collection of large blocks.
//!
//! Assumed: writes of single pages, uniform over all pages; every logical page holds data; no trim; many blocks. The victim is
//! the oldest block, which is what greedy choice tends to as blocks grow. With few pages in a block their valid counts scatter,
//! and greedy takes the lucky ones: [`write_amplification_of_blocks`] is Desnoyers' form for blocks of `n` pages.

use libm::{exp, log1p, sqrt};

/// The principal branch of Lambert's W: `w exp(w) = x`, for `x >= -1/e`; a smaller `x` counts as `-1/e`.
///
/// Halley's iteration, from the series about the branch point at `-1/e` or, above it, from the logarithm.
#[must_use]
pub fn lambert_w(x: f64) -> f64 {
    let from_branch = core::f64::consts::E * x + 1.0;
    if from_branch <= 0.0 {
        return -1.0;
    }
    let near = sqrt(2.0 * from_branch);
    let mut w = if x < 0.5 { -1.0 + near * (1.0 - near * (1.0 / 3.0 - near * (11.0 / 72.0))) } else { log1p(x) };
    for _ in 0..20 {
        let error = w * exp(w) - x;
        let slope = exp(w) * (w + 1.0);
        let step = error / (slope - (w + 2.0) * error / (2.0 * w + 2.0));
        if !step.is_finite() {
            break;
        }
        w -= step;
        if step.abs() <= 1e-15 * w.abs() {
            break;
        }
    }
    w
}

/// Share of valid pages in the block that is collected, with `overprovision` = (physical - logical) / logical above 0.
#[must_use]
pub fn victim_share(overprovision: f64) -> f64 {
    let alpha = 1.0 + overprovision;
    -lambert_w(-alpha * exp(-alpha)) / alpha
}

/// Pages programmed for each page that the host writes, with `overprovision` = (physical - logical) / logical above 0.
#[must_use]
pub fn write_amplification(overprovision: f64) -> f64 {
    1.0 / (1.0 - victim_share(overprovision))
}

/// The same for greedy collection of blocks of `pages` pages: with `g = (1 + 1 / 2n) alpha` and `x = 1/2 - n / alpha W(-g exp(-g))`
/// the amplification is `n / (n - (x - 1))`; it tends to [`write_amplification`] as blocks grow.
#[must_use]
pub fn write_amplification_of_blocks(overprovision: f64, pages: u32) -> f64 {
    let (alpha, n) = (1.0 + overprovision, f64::from(pages));
    let grown = (1.0 + 0.5 / n) * alpha;
    let valid = 0.5 - n / alpha * lambert_w(-grown * exp(-grown));
    n / (n - (valid - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w_is_the_inverse_of_w_exp_w() {
        for w in [-0.999, -0.9, -0.5, -0.1, 1e-9, 0.3, 1.0, 3.0, 20.0] {
            let found = lambert_w(w * exp(w));
            assert!((found - w).abs() < 1e-9 * w.abs().max(1e-3), "{w}: {found}");
        }
        assert!((lambert_w(1.0) - 0.567_143_290_409_783_8).abs() < 1e-15, "the omega constant");
        assert_eq!(lambert_w(-0.4).to_bits(), (-1.0_f64).to_bits());
    }

    #[test]
    fn thirty_percent_give_the_published_amplification() {
        assert!((write_amplification(0.3) - 2.36).abs() < 0.005, "{}", write_amplification(0.3));
    }

    #[test]
    fn the_victim_share_solves_its_equation() {
        for percent in [1.0, 7.0, 14.0, 28.0, 100.0, 400.0] {
            let (alpha, p) = (1.0 + percent / 100.0, victim_share(percent / 100.0));
            assert!((p - exp(-alpha * (1.0 - p))).abs() < 1e-12, "{percent} %: {p}");
        }
    }
}
