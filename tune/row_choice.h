// Chooses the few kernels that cover a range of rows, and the kernel that serves each number of rows. Pure
// functions of times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"

namespace lehr {

/// Time of a kernel that was not timed, or cannot serve.
inline constexpr double kNeverUs = std::numeric_limits<double>::infinity();

/// Times of kernels at the same sizes.
struct RowTimes {
  /// Numbers of rows, ascending, from the least to the greatest of a range.
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<double>> us;  ///< by kernel, then by size: above 0, or kNeverUs
  /// Returns the fastest kernel's time at a size; kNeverUs if no kernel serves it.
  double best_us(std::size_t size) const;
};

/// Kernels of a RowTimes, and their loss compared with all kernels. The loss at a size is the time of the
/// fastest chosen kernel divided by the time of the fastest kernel of all, less 1.
struct ChosenRows {
  std::vector<std::size_t> kernels;  ///< positions in RowTimes::us, ascending
  /// Number of sizes that another kernel serves, but none of the chosen kernels.
  std::size_t unserved = 0;
  double worst = 0, mean = 0;  ///< losses over the sizes that are served
};
/// Whether `a` serves more sizes than `b`, or serves as many with less loss. The worst losses are compared
/// first, then the means.
bool loses_less(const ChosenRows& a, const ChosenRows& b);

/// Returns at most `most` kernels with the least loss. They are chosen one after the other. Then each is
/// exchanged for any other kernel as long as that reduces the loss. A kernel stays only if leaving it out
/// would raise the worst loss, or would raise the mean loss by kLeastEarned.
/// `layouts` names the layout in which each kernel reads a prepacked input; "": it reads the input as it
/// lies. All chosen kernels have one common layout or "". An input that is also read as it lies has to be
/// kept twice. So a kernel with "" is used only at sizes where it is faster by kSecondLayout or more than any
/// kernel of the layout. `most` >= 1; CHECKs that there is a kernel.
ChosenRows choose_rows(const RowTimes& times, const std::vector<std::string>& layouts, std::size_t most);
inline constexpr double kSecondLayout = 0.05;
/// Returns `times` with kNeverUs for each time that a choice of kernels of `layout` ignores.
RowTimes times_in(const RowTimes& times, const std::vector<std::string>& layouts, const std::string& layout);
/// Minimum mean loss that a kernel must save. It is a tenth of the smallest difference that one trial can
/// show.
inline constexpr double kLeastEarned = 0.001;

/// A kernel, and the greatest number of rows that it serves.
struct RowStretch {
  std::size_t kernel = 0;
  std::int64_t to = 0;
  friend bool operator==(const RowStretch&, const RowStretch&) = default;
};
/// Returns which chosen kernel serves which rows. The fastest kernel at a size also serves all rows between
/// the size before (exclusive) and this size. A kernel's time does not fall with the rows, so no more is lost
/// there than at the size itself, while the kernel of the size before may need a whole tile more from its
/// next row on. If two kernels are equally fast, the kernel of the size before is taken. CHECKs that each
/// size is served.
std::vector<RowStretch> stretches_of(const RowTimes& times, const std::vector<std::size_t>& chosen);

/// Returns `least`, `most`, and between them the powers of two and 1.5 times each power of two.
std::vector<std::int64_t> measured_sizes(std::int64_t least, std::int64_t most);
/// Returns the sizes halfway between neighbours of `sizes`.
std::vector<std::int64_t> sizes_between(const std::vector<std::int64_t>& sizes);
/// Draws `count` sizes from `least` to `most` that are not in `measured`, or all such sizes if there are
/// fewer. Each octave is equally likely. Ascending.
std::vector<std::int64_t> held_out_sizes(std::int64_t least, std::int64_t most,
                                         const std::vector<std::int64_t>& measured, std::size_t count,
                                         Rng& rng);

}  // namespace lehr
