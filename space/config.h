// A kernel family and the value of each of its knobs, in the form that people read and write. It has names
// instead of positions, so that a row of a database or log can be read without the space that it came from.
// The search uses points instead (space/point.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

struct KnobValue {
  std::string name;
  std::int64_t value = 0;
  friend bool operator==(const KnobValue&, const KnobValue&) = default;
};

struct Config {
  std::string family;            ///< the template's name
  std::vector<KnobValue> knobs;  ///< in the order of the family's space

  /// Returns the value of a knob. CHECKs that it exists.
  std::int64_t at(std::string_view knob) const;
  std::optional<std::int64_t> find(std::string_view knob) const;
  friend bool operator==(const Config&, const Config&) = default;
};

/// Returns whether `text` may name a family or a knob: letters, digits and "_.:-", at least one, so that
/// texts parse back.
bool is_name(std::string_view text);

/// Returns the canonical text, which is stored and shown: "gemm_cpu(mr=8, nr=2)".
std::string to_text(const Config& config);
/// Parses what to_text writes (blanks are free). Throws Error(kUser) that says what is malformed, also for
/// more than 256 knobs.
Config parse_config(std::string_view text);
/// Hash for containers in memory, over the family and the values: configs of one space differ in nothing
/// else. It differs between platforms and is never stored.
struct ConfigHash {
  std::size_t operator()(const Config& config) const;
};

}  // namespace lehr
