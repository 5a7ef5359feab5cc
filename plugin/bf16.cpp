#include "plugin/bf16.h"

#include <algorithm>
#include <cstring>

namespace lehr::onnxruntime {
namespace {

// Vectors of 16 bytes, which every supported processor has.
using Numbers = std::int16_t __attribute__((vector_size(16)));
using FourWords = std::uint32_t __attribute__((vector_size(16)));
using FourIntegers = std::int32_t __attribute__((vector_size(16)));
using EightIntegers = std::int32_t __attribute__((vector_size(32)));
using FourFloats = float __attribute__((vector_size(16)));
constexpr std::int64_t kBlock = 8;

/// Calls block(begin, count) for each block of [0, size). `count` is the constant kBlock, so that the
/// compiler can optimize for it, except for the last block.
template <typename Function>
inline void for_blocks(std::int64_t size, const Function& block) {
  std::int64_t begin = 0;
  for (; begin + kBlock <= size; begin += kBlock) block(begin, kBlock);
  if (begin < size) block(begin, size - begin);
}

// Copies fewer than kBlock numbers without calling memcpy().
inline void copy_some(const std::uint16_t* from, std::uint16_t* to, std::int64_t count) {
  if ((count & 4) != 0) {
    std::memcpy(to, from, 8);
    from += 4;
    to += 4;
  }
  if ((count & 2) != 0) {
    std::memcpy(to, from, 4);
    from += 2;
    to += 2;
  }
  if ((count & 1) != 0) *to = *from;
}

template <typename Vector>
inline __attribute__((always_inline)) Vector load(const std::uint16_t* from, std::int64_t count = kBlock) {
  Vector block;
  std::uint16_t some[kBlock] = {};
  if (count != kBlock) copy_some(from, some, count);
  std::memcpy(&block, count == kBlock ? from : some, sizeof block);
  return block;
}

template <typename Vector>
inline __attribute__((always_inline)) void store(Vector block, std::uint16_t* to,
                                                 std::int64_t count = kBlock) {
  std::uint16_t some[kBlock];
  std::memcpy(count == kBlock ? to : some, &block, sizeof block);
  if (count != kBlock) copy_some(some, to, count);
}

/// Eight numbers as f32: the numbers at even positions, and the numbers at odd positions.
struct Floats {
  FourFloats even, odd;
};

// The bits of a number in bf16 are the upper bits of the same number in f32.
inline Floats widened(FourWords pairs) {
  return {reinterpret_cast<FourFloats>(pairs << 16), reinterpret_cast<FourFloats>(pairs & 0xffff0000)};
}

// Rounds to bf16, half to even. The result is in the upper 16 bits. A NaN stays as it is, since the upper
// bits of a computed NaN are set.
inline FourWords rounded(FourFloats numbers) {
  const auto bits = reinterpret_cast<FourWords>(numbers);
  const auto is_number = reinterpret_cast<FourWords>(numbers == numbers);
  return bits + ((0x7fff + ((bits >> 16) & 1)) & is_number);
}
inline FourWords rounded(const Floats& numbers) {
  return (rounded(numbers.even) >> 16) | (rounded(numbers.odd) & 0xffff0000);
}

inline std::uint16_t rounded(float number) {
  return static_cast<std::uint16_t>(rounded(FourFloats{number})[0] >> 16);
}

// Maps the bits of numbers to integers that are ordered like the numbers. Applied twice, it gives the bits
// again.
inline Numbers turned(Numbers bits) {
  return bits ^ ((bits >> 15) & 0x7fff);
}
constexpr std::int16_t kLeast = -0x7f81;  // the integer of -inf

// Maps the bits of numbers to ordered integers. Negative NaNs would be below -inf, and become positive NaNs.
inline Numbers ordered(Numbers bits) {
  const Numbers order = turned(bits);
  return order ^ (order < kLeast);
}

// Returns every second of sixteen numbers: the first, the third, ...
inline Numbers every_other(Numbers a, Numbers b) {
  const FourIntegers lower[2] = {reinterpret_cast<FourIntegers>(a) << 16 >> 16,
                                 reinterpret_cast<FourIntegers>(b) << 16 >> 16};
  EightIntegers both;
  std::memcpy(&both, lower, sizeof both);
  return __builtin_convertvector(both, Numbers);
}

inline Numbers larger(Numbers a, Numbers b) {
  return a > b ? a : b;
}

/// The positions of a window, which begins at `begin`, that lie within [0, end): the first position, and
/// their number.
struct Within {
  Within(const Window& window, std::int64_t begin, std::int64_t end) : first(0), count(window.kernel) {
    if (begin >= 0 && begin + window.reach() <= end) return;
    first = begin < 0 ? (-begin + window.dilation - 1) / window.dilation : 0;
    const std::int64_t behind = end > begin ? (end - begin + window.dilation - 1) / window.dilation : 0;
    count = std::max<std::int64_t>(0, std::min(window.kernel, behind) - first);
  }
  std::int64_t first, count;
};

/// Computes the maxima of a plane, one row of the output at a time. It first takes the maxima of the numbers
/// in each column of the windows, then the maxima along the row.
class Maxima {
 public:
  Maxima(const PlaneWindows& windows, const std::uint16_t* from, void* scratch)
      : windows_(windows), from_(from), row_(static_cast<std::uint16_t*>(scratch)) {
    std::fill(row_, row_ + row_size(windows), static_cast<std::uint16_t>(kLeast));
  }

  /// Returns the size of the scratch row in numbers, including the numbers after the row that the blocks of
  /// the last windows read.
  static std::int64_t row_size(const PlaneWindows& windows) {
    const Window& along = windows.along;
    return std::max((windows.out_width - 1) * along.stride + along.reach(), along.before + windows.width) +
           2 * kBlock;
  }

  void make_row(std::int64_t y, std::uint16_t* to) {
    join_rows(y * windows_.down.stride - windows_.down.before);
    const Window& along = windows_.along;
    for_blocks(windows_.out_width, [&](std::int64_t begin, std::int64_t count) {
      Numbers most;
      if (along.stride == 1) {
        most = most_of(row_ + begin);
      } else if (along.stride == 2 && count == kBlock) {
        const std::uint16_t* const from = row_ + 2 * begin;
        most = every_other(most_of(from), most_of(from + kBlock));
      } else {
        for (std::int64_t j = 0; j < count; ++j) most[j] = most_of(row_ + (begin + j) * along.stride)[0];
      }
      store(turned(most), to + begin, count);
    });
  }

 private:
  Numbers most_of(const std::uint16_t* from) const {
    Numbers most = load<Numbers>(from);
    for (std::int64_t i = 1; i < windows_.along.kernel; ++i)
      most = larger(most, load<Numbers>(from + i * windows_.along.dilation));
    return most;
  }

  void join_rows(std::int64_t top) {
    const Within rows(windows_.down, top, windows_.height);
    const std::int64_t step = windows_.down.dilation * windows_.width;
    const std::uint16_t* const from = from_ + top * windows_.width + rows.first * step;
    for_blocks(windows_.width, [&](std::int64_t begin, std::int64_t count) {
      Numbers most = Numbers{} + kLeast;
      for (std::int64_t i = 0; i < rows.count; ++i)
        most = larger(most, ordered(load<Numbers>(from + i * step + begin, count)));
      store(most, row_ + windows_.along.before + begin, count);
    });
  }

  const PlaneWindows& windows_;
  const std::uint16_t* const from_;
  std::uint16_t* const row_;
};

/// Computes the means of a plane, one row of the output at a time.
class Means {
 public:
  Means(const PlaneWindows& windows, const std::uint16_t* from) : windows_(windows), from_(from) {}

  void make_row(std::int64_t y, std::uint16_t* to) const {
    const Window &down = windows_.down, &along = windows_.along;
    const std::int64_t top = y * down.stride - down.before;
    const Within rows(down, top, windows_.height);
    const std::int64_t height = counted(down, top, windows_.height);
    const std::uint16_t* const from = from_ + (top + rows.first * down.dilation) * windows_.width;
    for (std::int64_t x = 0; x < windows_.out_width;) {
      const std::int64_t left = x * along.stride - along.before;
      const bool four = x + 4 <= windows_.out_width && left >= 0 &&
                        left + 3 * along.stride + along.reach() <= windows_.width;
      const Within columns(along, left, windows_.width);
      const auto count = static_cast<float>(height * counted(along, left, windows_.width));
      const FourFloats sums =
          four ? sum<4>(from + left, rows.count, columns) : sum<1>(from + left, rows.count, columns);
      const FourWords means = rounded(sums / count) >> 16;
      std::uint32_t each[4];
      std::memcpy(each, &means, sizeof each);
      for (int i = 0; i < (four ? 4 : 1); ++i) to[x++] = static_cast<std::uint16_t>(each[i]);
    }
  }

 private:
  // Returns the number of elements that count in a window's mean along one dimension.
  std::int64_t counted(const Window& window, std::int64_t begin, std::int64_t size) const {
    return windows_.counts_pads
               ? Within(window, begin + window.before, size + window.before + window.after).count
               : Within(window, begin, size).count;
  }

  // Returns the sums of neighbouring windows, of kWindows at a time.
  template <int kWindows>
  FourFloats sum(const std::uint16_t* from, std::int64_t rows, const Within& columns) const {
    FourFloats sums = {};
    for (std::int64_t i = 0; i < rows; ++i, from += windows_.down.dilation * windows_.width)
      for (std::int64_t j = columns.first; j < columns.first + columns.count; ++j) {
        const std::uint16_t* const at = from + j * windows_.along.dilation;
        const std::int64_t step = windows_.along.stride;
        const FourWords bits =
            kWindows == 1 ? FourWords{*at} : FourWords{*at, at[step], at[2 * step], at[3 * step]};
        const Floats numbers = widened(bits);
        sums += numbers.even;
      }
    return sums;
  }

  const PlaneWindows& windows_;
  const std::uint16_t* const from_;
};

}  // namespace

std::int64_t PlaneWindows::scratch_bytes() const {
  const std::int64_t size = Maxima::row_size(*this);
  return size < (std::int64_t{1} << 40) ? size * static_cast<std::int64_t>(sizeof(std::uint16_t)) : -1;
}

void maxima_of_plane(const PlaneWindows& windows, const std::uint16_t* from, std::uint16_t* to,
                     void* scratch) {
  Maxima maxima(windows, from, scratch);
  for (std::int64_t y = 0; y < windows.out_height; ++y) maxima.make_row(y, to + y * windows.out_width);
}

void means_of_plane(const PlaneWindows& windows, const std::uint16_t* from, std::uint16_t* to) {
  const Means means(windows, from);
  for (std::int64_t y = 0; y < windows.out_height; ++y) means.make_row(y, to + y * windows.out_width);
}

std::uint16_t mean_of(const std::uint16_t* from, std::int64_t count) {
  Floats sums = {};
  for_blocks(count, [&](std::int64_t begin, std::int64_t size) {
    const Floats numbers = widened(load<FourWords>(from + begin, size));
    sums.even += numbers.even;
    sums.odd += numbers.odd;
  });
  const FourFloats four = sums.even + sums.odd;
  return rounded((four[0] + four[1] + (four[2] + four[3])) / static_cast<float>(count));
}

void add_rows(const std::uint16_t* a, std::int64_t a_step, const std::uint16_t* b, std::int64_t b_step,
              std::uint16_t* to, std::int64_t count) {
  const auto row = [](const std::uint16_t* from, std::int64_t step, std::int64_t begin, std::int64_t size) {
    return widened(step == 0 ? FourWords{} + *from * 0x10001U : load<FourWords>(from + begin, size));
  };
  for_blocks(count, [&](std::int64_t begin, std::int64_t size) {
    const Floats left = row(a, a_step, begin, size), right = row(b, b_step, begin, size);
    store(rounded(Floats{left.even + right.even, left.odd + right.odd}), to + begin, size);
  });
}

// As 16-bit integers, the bits of negative numbers are at most -0x80 (-inf). The bits of negative NaNs are
// larger.
void relu_row(const std::uint16_t* from, std::uint16_t* to, std::int64_t count) {
  for_blocks(count, [&](std::int64_t begin, std::int64_t size) {
    const auto bits = load<Numbers>(from + begin, size);
    store(bits & (bits > -0x80), to + begin, size);
  });
}

}  // namespace lehr::onnxruntime
