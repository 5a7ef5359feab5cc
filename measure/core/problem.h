// The problem that candidates run on: its arguments, the expected outputs and their tolerances, and the
// functions that make them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "codegen/source.h"

namespace lehr {

/// How a kernel uses an argument.
enum class Role {
  kIn,     ///< reads the argument
  kOut,    ///< writes all elements; the argument is poisoned before each checked call
  kInOut,  ///< reads and writes the argument, which is restored before each checked call
  kScalar  ///< reads one number, which a CPU kernel gets by address, a GPU kernel by value
};

/// An argument of the kernel, in the order of its parameters.
struct Argument {
  std::string name;  ///< unique in the problem
  DType type = DType::kF32;
  std::int64_t elements = 0;
  Role role = Role::kIn;
  /// Whether the previous layer of a network has just written the argument. If so, it stays in caches when
  /// other arguments are swept from them.
  bool fresh = false;
  /// Values before a call, stored element by element as `type`; empty for an output.
  std::vector<unsigned char> values = {};

  // Only for outputs:
  /// Tolerance of an element: `absolute` + `relative` |expected|, plus the error of rounding to 16 or 8 bits.
  double absolute = 0, relative = 0;
  /// Absolute tolerance of each expected element; infinite if any result is right. If empty, `absolute` and
  /// `relative` hold for all elements.
  std::vector<float> bounds = {};
  DType expected_as = DType::kF32;  ///< f32, f64 or s64: a type that holds the expected values
  /// Flat indices of the elements in `expected`; empty: all elements.
  std::vector<std::int64_t> indices = {};
  std::vector<unsigned char> expected = {};  ///< stored element by element as `expected_as`; empty: not made

  bool is_output() const { return role == Role::kOut || role == Role::kInOut; }
  std::int64_t bytes() const { return elements * size_of(type); }
  /// Returns the number of elements with an expected value.
  std::int64_t expected_count() const { return std::ssize(expected) / size_of(expected_as); }
};

struct ProblemKind;

/// A problem, with or without its values. Without values its arguments have neither values nor expected
/// values. The process that runs candidates makes them, or lets its device make them.
struct Problem {
  std::string text;                   ///< the problem as the log has it
  const ProblemKind* kind = nullptr;  ///< makes the values; nullptr: they were set by hand
  std::uint64_t seed = 0;             ///< seed of the values
  std::vector<Argument> arguments;
  /// Number of rows of the call, if kernels take this number as an argument. The outputs are then laid out by
  /// rows. 0: kernels have no such argument.
  std::int64_t rows = 0;
  /// `flops`: number of operations of a call. `bytes`: minimum number of bytes that a call moves to and from
  /// memory. 0: not known.
  double flops = 0, bytes = 0;
  double full_flops = 8e9;  ///< if a call has more operations, only some elements have expected values
  /// Wall seconds that making the values took, and that making the expected values took. 0: they were not
  /// made.
  double inputs_s = 0, expected_s = 0;

  /// Whether each output has expected values.
  bool made() const;
};

/// A kind of problem, with functions that make problems whose text begins with its prefix. They are pure:
/// equal problems get equal values everywhere.
struct ProblemKind {
  std::string prefix;  ///< "gemm "
  /// Returns the problem with this text and seed, without values. Throws Error(kUser) if the text is not
  /// valid.
  Problem (*ask)(const ProblemKind& kind, const std::string& text, std::uint64_t seed);
  /// Sets the values of the arguments, on `threads` threads.
  void (*make_values)(Problem& problem, int threads);
  /// Sets the values and the expected values, and the seconds of both.
  void (*make)(Problem& problem, int threads);

  // For devices that check results, with a PlainSource that computes the expected values; nullptr: results
  // are checked on the host. Any part of an argument's values can be made anywhere: element i is element
  // input_step(key, i) (base/input_step.h) of `table`, which has kInputSteps elements in the argument's type.
  std::uint64_t (*key)(const Problem& problem, std::size_t argument) = nullptr;
  std::vector<unsigned char> (*table)(const Problem& problem, std::size_t argument) = nullptr;
  /// Sets the tolerances of outputs whose elements are all compared.
  void (*set_tolerances)(Problem& problem) = nullptr;
  /// Returns, in ascending order, indices of output elements by whose values different computations can be
  /// told apart. Computing these elements on the host takes about `products` multiplications.
  std::vector<std::int64_t> (*telling)(const Problem& problem, std::size_t output,
                                       std::int64_t products) = nullptr;
  /// Computes the expected values of `elements`, in the type Argument::expected_as.
  std::vector<unsigned char> (*expected_at)(const Problem& problem, std::size_t output,
                                            std::span<const std::int64_t> elements, int threads) = nullptr;
};

/// Returns the problem with this text and seed, without values. Throws Error(kUser) if no kind knows the
/// text.
Problem asked_problem(std::span<const ProblemKind> kinds, const std::string& text, std::uint64_t seed);
/// Returns the problem without its values.
Problem only_asked(Problem problem);
/// Problem::full_flops of the problems that other_problem() returns.
inline constexpr double kOtherFlops = 2e8;
/// Returns the same problem with another seed and without values. The host computes expected values for a few
/// elements only. A kernel that returns results from memory cannot know these values.
Problem other_problem(Problem problem);
/// Makes the values with the functions of the problem's kind. The result depends only on text, seed and
/// `full_flops`. A problem that has values is not changed.
void make(Problem& problem, int threads);

/// Returns a smaller number of rows, for testing whether a kernel that takes the number of rows as an
/// argument handles fewer rows. The result is odd, so that tiles have a remainder. If only some elements have
/// expected values, the result is chosen so that the last row has an expected value. Returns 0 if there is
/// only one row.
std::int64_t fewer_rows(const Problem& problem);

/// A kernel that computes the expected values on the candidates' device, element by element in f64.
struct PlainSource {
  /// The parameters are, in this order: the addresses of all arguments that are read (including in-place
  /// arguments), an array of type Argument::expected_as for each output, and an array `bands` of s32. Blocks
  /// with blockIdx.y == y compute the elements of the band with the number bands[y].
  Source source;
  std::int64_t bands = 0;  ///< number of bands, which together contain all elements
};

}  // namespace lehr
