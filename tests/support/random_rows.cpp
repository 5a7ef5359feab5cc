#include "tests/support/random_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "tests/support/draw.h"
#include "workload/workload.h"

namespace lehr::testing {
namespace {

constexpr std::int64_t kColumns[] = {
    1,   2,   3,   4,   5,   7,   8,   9,   15,  16,  17,  24,  31,  32,  33,   47,   48,   63,   64,   77,
    100, 127, 128, 129, 160, 197, 256, 300, 384, 500, 511, 512, 513, 768, 1000, 1023, 1024, 2048, 3072, 5000};
constexpr std::int64_t kRows[] = {1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 31, 32, 33, 40, 61, 100};

class Maker {
 public:
  explicit Maker(Rng& rng) : rng_(rng) {}

  std::string text(std::int64_t m, std::int64_t n) {
    std::string in, out, statements;
    const std::size_t inputs = 1 + below(4), outputs = 1 + below(4) / 2 + below(8) / 7;
    for (std::size_t i = 0; i < inputs; ++i) {
      const std::string name = fmt::format("x{}", i);
      const std::string kind = i == 0 && below(10) > 0 ? "" : kind_of(m);
      in += fmt::format("{}{}:{}{}", i == 0 ? "" : ",", name, below(4) == 0 ? "bf16" : "f32", kind);
      terms_.push_back(name);
      fresh_.push_back(name);
      is_row_.push_back(!kind.empty() && !kind.starts_with(":column"));
    }
    const std::size_t locals = below(3);
    for (std::size_t i = 0; i < locals; ++i) {
      const std::string name = fmt::format("t{}", i);
      statements += fmt::format("{}={};", name, expression(2, false));
      terms_.push_back(name);
      is_row_.push_back(false);
    }
    for (std::size_t i = 0; i < outputs; ++i) {
      const bool row = below(5) == 0;
      std::string value = expression(2 + static_cast<int>(below(2)), row);
      // The last output reads the values that no other output has read.
      for (; i + 1 == outputs && !fresh_.empty(); fresh_.pop_back())
        value = fmt::format("{}+{}", value, row ? fmt::format("max({})", fresh_.back()) : fresh_.back());
      const std::string name = fmt::format("y{}", i);
      out += fmt::format("{}{}:{}{}", i == 0 ? "" : ",", name, below(4) == 0 ? "bf16" : "f32",
                         row ? ":row" : "");
      statements += fmt::format("{}{}={}", i == 0 ? "" : ";", name, value);
    }
    return fmt::format("rowwise m={} n={} in={} out={} expr={}", m, n, in, out, statements);
  }

 private:
  std::size_t below(std::uint64_t n) { return static_cast<std::size_t>(rng_.below(n)); }

  std::string kind_of(std::int64_t m) {
    const std::int64_t period = 1 + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(m)));
    switch (below(12)) {
      case 0:
      case 1:
        return ":row";
      case 2:
      case 3:
      case 4:
        return ":column";
      case 5:
        return ":number";
      case 6:
        return fmt::format(":column/{}", period);
      case 7:
        return fmt::format(":column%{}", period);
      case 8:
        return fmt::format(":row/{}", period);
      case 9:
        return fmt::format(":row%{}", period);
      default:
        return "";
    }
  }

  /// Returns the name of a value, or a number.
  std::string leaf(bool row) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < terms_.size(); ++i)
      if (!row || is_row_[i]) names.push_back(terms_[i]);
    if (names.empty() && row) return fmt::format("{}({})", reduction(), leaf(false));
    if (below(8) == 0) return fmt::format("{}", static_cast<float>(below(1000)) / 128);
    const std::string name = names[below(names.size())];
    std::erase(fresh_, name);
    return name;
  }

  std::string reduction() {
    constexpr std::array kNames = {"sum", "mean", "max", "min", "var"};
    return kNames[below(kNames.size())];
  }

  /// Returns an expression. `row`: with one value per row; if false, it may also have one value per element.
  std::string expression(int levels, bool row) {
    if (levels == 0) return leaf(row);
    const auto part = [&] { return expression(levels - 1, row); };
    switch (below(16)) {
      case 0:
        return fmt::format("({}+{})", part(), part());
      case 1:
        return fmt::format("({}-{})", part(), part());
      case 2:
        return fmt::format("{}*{}", part(), part());
      case 3:
        return fmt::format("{}/(abs({})+0.5)", part(), part());
      case 4:
        return fmt::format("{}/{}", part(), leaf(row));
      case 5:
        return fmt::format("select({}{}{},{},{})", leaf(row), std::array{"<", "<=", "==", ">"}[below(4)],
                           leaf(row), part(), part());
      case 6:
        return fmt::format("{}({},{})", below(2) == 0 ? "min" : "max", part(), part());
      case 7:
        return fmt::format("{}({})",
                           std::array{"gelu_erf", "silu", "tanh", "relu", "sigmoid", "hard_swish"}[below(6)],
                           part());
      case 8:
        return fmt::format("clamp({},-1,2.5)", part());
      case 9:
        return fmt::format("exp({})", part());
      case 10:
        return fmt::format("{}(abs({})+1e-3)", std::array{"log", "sqrt", "rsqrt"}[below(3)], part());
      case 11:
        return fmt::format("(-{})", part());
      case 12:
        return fmt::format("bf16({})", part());
      default:
        break;
    }
    // Reductions are drawn as often as all other operators together.
    const std::string of = row && below(2) == 0 ? expression(levels - 1, false) : part();
    if (row) return fmt::format("{}({})", reduction(), of);
    const std::string name = leaf(false);
    switch (below(4)) {
      case 0:
        return fmt::format("({}-mean({}))*rsqrt(var({})+1e-5)", name, name, name);
      case 1:
        return fmt::format("exp({}-max({}))/sum(exp({}-max({})))", name, name, name, name);
      case 2:
        return fmt::format("{}*rsqrt(mean({}*{})+1e-6)", name, name, name);
      default:
        return fmt::format("({}-{}({}))", of, reduction(), of);
    }
  }

  Rng& rng_;
  std::vector<std::string> terms_, fresh_;
  std::vector<bool> is_row_;
};

}  // namespace

std::string random_rows(Rng& rng, double most_elements) {
  while (true) {
    const std::int64_t n = one_of(rng, kColumns), m = one_of(rng, kRows);
    if (static_cast<double>(m * n) > most_elements) continue;
    const std::string text = Maker(rng).text(m, n);
    // The draw may have too many terms, reductions that depend on each other, or an input that nothing reads.
    try {
      return to_text(parse_workload(text));
    } catch (const Error& error) {
      const std::string_view sentence = error.what();
      CHECK(sentence.find("at most") != std::string_view::npos ||
                sentence.find("is not read") != std::string_view::npos,
            "{}", sentence);
    }
  }
}

}  // namespace lehr::testing
