// How sure a mean over time is: the moving-block bootstrap (Künsch, "The jackknife and the bootstrap for
// general stationary observations", 1989), for series whose neighbours are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace streamsim::fit {

/// `count` means of series of the same length that are drawn from blocks of `block` neighbours. REQUIRES: the
/// series is not empty.
std::vector<double> resampled_means(std::span<const double> series,
                                    std::size_t block,
                                    std::size_t count,
                                    std::uint64_t seed);

/// The standard deviation of the logarithm of a series' mean; nullopt: fewer than two blocks, or four values,
/// do not tell it.
std::optional<double> spread_of_mean(std::span<const double> series, std::size_t block, std::uint64_t seed);

/// Value at a share of the sorted values, between neighbours in proportion. REQUIRES: not empty.
double quantile(std::vector<double> values, double share);

}  // namespace streamsim::fit
