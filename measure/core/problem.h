// What a candidate is run on: its arguments, what is expected of them, and how exact that must be; and who
// makes all that.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "codegen/source.h"

namespace lehr {

/// What a kernel does with an argument.
enum class Role {
  kIn,     ///< reads it
  kOut,    ///< writes all of it; it is poisoned before every checked call
  kInOut,  ///< reads and writes it; it is put back before every checked call
  kScalar  ///< reads one number: on a CPU from its address, on a GPU by value
};

/// An argument of the kernel, in the order of its parameters.
struct Argument {
  std::string name;  ///< none other in the problem has it
  DType type = DType::kF32;
  std::int64_t elements = 0;
  Role role = Role::kIn;
  /// In a network the layer before has just written it: it stays in caches where others are swept.
  bool fresh = false;
  /// What lies there before a call, element by element in `type`; an output has none.
  std::vector<unsigned char> values = {};

  // Outputs alone:
  /// A result is right up to `absolute` + `relative` |expected|; its rounding to 16 or 8 bits comes on top.
  double absolute = 0, relative = 0;
  /// What each expected element may be off by in place of these, infinite where any result is right; empty:
  /// they hold for all.
  std::vector<float> bounds = {};
  DType expected_as = DType::kF32;           ///< f32, f64 or s64: one that holds what is expected
  std::vector<std::int64_t> indices = {};    ///< flat elements that `expected` holds; empty: all
  std::vector<unsigned char> expected = {};  ///< element by element in `expected_as`; empty: not made

  bool is_output() const { return role == Role::kOut || role == Role::kInOut; }
  std::int64_t bytes() const { return elements * size_of(type); }
  /// How many elements something is expected of.
  std::int64_t expected_count() const { return std::ssize(expected) / size_of(expected_as); }
};

struct ProblemKind;

/// Made, or only asked for: then arguments have no values yet, and nothing is expected. Whoever runs
/// candidates makes it, or has its device do that.
struct Problem {
  std::string text;                   ///< what is asked for, as the log has it
  const ProblemKind* kind = nullptr;  ///< who makes it; nullptr: it was made by hand
  std::uint64_t seed = 0;             ///< of the values
  std::vector<Argument> arguments;
  /// Rows of the call, where kernels are told how many; outputs lie by rows. 0: their number is fixed.
  std::int64_t rows = 0;
  double flops = 0, bytes = 0;  ///< of a call: operations, and the least that crosses memory; 0: not known
  double full_flops = 8e9;      ///< of more operations only some elements are expected
  double inputs_s = 0, expected_s = 0;  ///< wall time of making the values, and what is expected; 0: not made

  /// Whether something is expected of each output.
  bool made() const;
};

/// A kind of problem: how those are made whose text begins so. Its functions are pure: the same problem gets
/// the same values everywhere.
struct ProblemKind {
  std::string prefix;  ///< "gemm "
  /// The problem of that text and seed, only asked for. Throws Error(kUser) for a text that says nothing.
  Problem (*ask)(const ProblemKind& kind, const std::string& text, std::uint64_t seed);
  /// Sets the values, on so many threads.
  void (*make_values)(Problem& problem, int threads);
  /// Sets the values and what is expected, with both times.
  void (*make)(Problem& problem, int threads);

  // How a device checks, where PlainSource computes what is expected; nullptr: the host does. Any part of an
  // argument's values can be made anywhere: element i is number input_step(key, i) (base/input_step.h) of the
  // table, which has kInputSteps elements in the argument's type.
  std::uint64_t (*key)(const Problem& problem, std::size_t argument) = nullptr;
  std::vector<unsigned char> (*table)(const Problem& problem, std::size_t argument) = nullptr;
  /// Sets the tolerances of outputs that are compared whole.
  void (*set_tolerances)(Problem& problem) = nullptr;
  /// Elements of an output that tell whether something else computes the same, ascending; they take the host
  /// about so many products.
  std::vector<std::int64_t> (*telling)(const Problem& problem, std::size_t output,
                                       std::int64_t products) = nullptr;
  /// Computes what is expected of these, in Argument::expected_as.
  std::vector<unsigned char> (*expected_at)(const Problem& problem, std::size_t output,
                                            std::span<const std::int64_t> elements, int threads) = nullptr;
};

/// The problem of that text and seed, only asked for. Throws Error(kUser) where no kind knows the text.
Problem asked_problem(std::span<const ProblemKind> kinds, const std::string& text, std::uint64_t seed);
/// The same without what was made of it.
Problem only_asked(Problem problem);
/// Problem::full_flops of other_problem().
inline constexpr double kOtherFlops = 2e8;
/// The same on other values, of which the host expects a few elements; only asked for. A kernel that answers
/// from what it saw before cannot know them.
Problem other_problem(Problem problem);
/// Makes it as its kind says; the same for the same text, seed and `full_flops`. Nothing happens to one that
/// is made.
void make(Problem& problem, int threads);

/// How many rows show whether a kernel that is told their number computes fewer rightly: an odd number, so
/// that tiles have a rest, or one whose last row is expected. 0 where there is but one row.
std::int64_t fewer_rows(const Problem& problem);

/// A kernel that computes what is expected on the device that candidates run on, element by element in f64.
struct PlainSource {
  /// Its parameters are the addresses of all that is read, in the order of the arguments (in-place ones
  /// among them), then an array in Argument::expected_as for each output, then numbers of bands (s32):
  /// blocks with blockIdx.y == y compute the elements of band bands[y].
  Source source;
  std::int64_t bands = 0;  ///< that hold all elements
};

}  // namespace lehr
