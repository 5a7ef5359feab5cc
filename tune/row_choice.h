// Which few of many kernels cover a range of rows, and which of them serves how many: pure functions of
// times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"

namespace lehr {

/// Where a kernel was not timed, or cannot serve.
inline constexpr double kNeverUs = std::numeric_limits<double>::infinity();

/// What kernels take at sizes that are the same for all of them.
struct RowTimes {
  std::vector<std::int64_t> sizes;      ///< rows, ascending, from the least to the most of a range
  std::vector<std::vector<double>> us;  ///< of each kernel at each size, above 0; kNeverUs
  /// The fastest kernel's; kNeverUs: none serves it.
  double best_us(std::size_t size) const;
};

/// Kernels out of a RowTimes, and what is lost by having no others. The loss at a size is the time of the
/// fastest of them over that of the fastest of all, less 1.
struct ChosenRows {
  std::vector<std::size_t> kernels;  ///< numbers in RowTimes::us, ascending
  std::size_t unserved = 0;          ///< sizes that none of them serves, and another one does
  double worst = 0, mean = 0;        ///< losses, of the sizes that are served
};
/// Whether `a` serves more sizes than `b` or, where it serves as many, has less loss: the worst one, then the
/// mean.
bool loses_less(const ChosenRows& a, const ChosenRows& b);

/// At most `most` kernels that lose least: one after the other, then each exchanged for any other while that
/// is better. A kernel stays only if without it the worst loss were greater, or the mean loss by
/// kLeastEarned. Each reads an input in a layout of its own, by name; "": as it lies. All that are chosen
/// read it in one layout, or as it lies; the latter, for which it is kept twice, only at sizes where that is
/// faster by kSecondLayout or more than any of that layout. `most` >= 1; CHECKs that there is a kernel.
ChosenRows choose_rows(const RowTimes& times, const std::vector<std::string>& layouts, std::size_t most);
inline constexpr double kSecondLayout = 0.05;
/// `times` without those that it leaves out where it chooses kernels of `layout`.
RowTimes times_in(const RowTimes& times, const std::vector<std::string>& layouts, const std::string& layout);
/// A tenth of what one trial can tell.
inline constexpr double kLeastEarned = 0.001;

/// A kernel and how many rows it serves up to.
struct RowStretch {
  std::size_t kernel = 0;
  std::int64_t to = 0;
  friend bool operator==(const RowStretch&, const RowStretch&) = default;
};
/// Who of the chosen ones serves what. The fastest one at a size also serves all that are behind the size
/// before: what a kernel takes does not fall with the rows, so that no more is lost than there, while the one
/// that serves the size before may take a whole tile more from its next row on. Of equally fast ones that
/// which serves the size before. CHECKs that each size is served.
std::vector<RowStretch> stretches_of(const RowTimes& times, const std::vector<std::size_t>& chosen);

/// Powers of two and one and a half times these from `least` to `most`, and these two.
std::vector<std::int64_t> measured_sizes(std::int64_t least, std::int64_t most);
/// Halfway between neighbours of `sizes`, where there is a size.
std::vector<std::int64_t> sizes_between(const std::vector<std::int64_t>& sizes);
/// `count` sizes from `least` to `most` that are not in `measured`, or as many as there are: each octave as
/// likely as another. Ascending.
std::vector<std::int64_t> held_out_sizes(std::int64_t least, std::int64_t most,
                                         const std::vector<std::int64_t>& measured, std::size_t count,
                                         Rng& rng);

}  // namespace lehr
