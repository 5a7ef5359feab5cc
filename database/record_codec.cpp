// One visitor writes a described struct as a row, and another one reads it back.
#include "database/record_codec.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/limits_json.h"
#include "database/columns.h"

namespace lehr {
namespace {

using sqlite::Row;
using sqlite::Value;

// Text in the outcome column; for a failure it is the name of its kind.
constexpr std::string_view kTiming = "timing";

// Returns the value of a member in a row. SQLite turns NaN into NULL, which must not happen, and -0.0 into 0,
// which must not change the checksum.
Value stored(double value) {
  CHECK(!std::isnan(value), "a NaN cannot be stored");
  return value == 0 ? 0.0 : value;
}
template <std::integral T>
Value stored(T value) {
  return static_cast<std::int64_t>(value);  // the seed's bits
}
Value stored(const std::string& value) {
  return value;
}
Value stored(const Config& config) {
  return to_text(config);
}
Value stored(Target target) {
  return std::string(name_of(target));
}
Value stored(const Limits& limits) {
  return facts_of(limits).dump();
}
Value stored(const std::vector<double>& samples) {
  CHECK(std::ranges::all_of(samples, [](double x) { return std::isfinite(x); }), "samples must be finite");
  return fmt::format("[{}]",
                     // fmt writes the shortest text that is read back as the same number.
                     fmt::join(samples, ","));
}
template <typename T>
Value stored(const std::optional<T>& value) {
  return value ? stored(*value) : Value();
}

// Restores a member from its value. Returns false if stored() cannot have made the value.
template <typename T>
bool restore(const Value& value, T& member) {
  using Form = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  const auto* found = std::get_if<Form>(&value);
  if (found) member = static_cast<T>(*found);
  return found && static_cast<Form>(member) == *found;
}
// Restores a config. The family also has a column of its own, before this one. The family in the text must be
// the same.
bool restore(const Value& value, Config& config) {
  const auto* text = std::get_if<std::string>(&value);
  if (!text) return false;
  try {
    Config parsed = parse_config(*text);
    std::swap(config, parsed);
    return config.family == parsed.family;
  } catch (const Error&) {
    return false;
  }
}
bool restore(const Value& value, Target& target) {
  const auto* text = std::get_if<std::string>(&value);
  const std::optional<Target> found = text ? target_named(*text) : std::nullopt;
  if (found) target = *found;
  return found.has_value();
}
bool restore(const Value& value, Limits& limits) {
  const auto* text = std::get_if<std::string>(&value);
  return text && read_facts(nlohmann::json::parse(*text, nullptr, false), limits);
}
bool restore(const Value& value, std::vector<double>& samples) {
  const auto* found = std::get_if<std::string>(&value);
  if (!found || found->size() < 2 || found->front() != '[' || found->back() != ']') return false;
  std::string_view text(found->data() + 1, found->size() - 2);
  while (!text.empty()) {
    double sample = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sample);
    if (error != std::errc() || !std::isfinite(sample)) return false;
    samples.push_back(sample);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (text.front() != ',' || text.size() == 1) return false;
    text.remove_prefix(1);
  }
  return true;
}
template <typename T>
bool restore(const Value& value, std::optional<T>& member) {
  return std::holds_alternative<std::monostate>(value) || restore(value, member.emplace());
}

/// Lists the columns of a struct, and the values in these columns.
class Writer {
 public:
  std::vector<Column> columns;
  Row row;

  template <typename T>
  void operator()(std::string_view name, const T& member, bool is_column = true) {
    if constexpr (std::is_same_v<T, Outcome>) {
      write_outcome(member);
    } else if constexpr (!Described<T>) {
      if (!is_column) return;
      columns.push_back(column_of(name, member));
      row.push_back(absent_ ? Value() : stored(member));
    }
  }

 private:
  template <typename T>
  Column column_of(std::string_view name, const T&) const {
    const ColumnType type = std::is_floating_point_v<T> ? ColumnType::kReal
                            : std::is_integral_v<T>     ? ColumnType::kInteger
                                                        : ColumnType::kText;
    return {name, type, of_alternative_};
  }
  template <typename T>
  Column column_of(std::string_view name, const std::optional<T>&) const {
    Column column = column_of(name, T());
    column.nullable = true;
    return column;
  }

  // The columns of a timing are NULL in the row of a failure, and the columns of a failure are NULL in the
  // row of a timing.
  void write_outcome(const Outcome& outcome) {
    const auto* timing = std::get_if<Timing>(&outcome);
    const auto* failure = std::get_if<Failure>(&outcome);
    (*this)("outcome", std::string(timing ? kTiming : name_of(failure->kind)));
    of_alternative_ = true;
    absent_ = !timing;
    const Timing none;
    describe(*this, timing ? *timing : none);
    absent_ = !failure;
    (*this)("failure", failure ? failure->text : std::string());
    of_alternative_ = absent_ = false;
    std::visit([this](const auto& either) { describe(*this, either.resources); }, outcome);
  }

  bool of_alternative_ = false, absent_ = false;
};

/// Fills a struct from a row of its table. If one value is not valid for the struct, the whole row is bad.
class Reader {
 public:
  explicit Reader(const Row& row) : row_(row) {}

  template <typename T>
  void operator()(std::string_view, T& member, bool is_column = true) {
    if constexpr (std::is_same_v<T, Outcome>) {
      read_outcome(member);
    } else if constexpr (!Described<T>) {
      if (!is_column) return;
      const Value& value = row_[next_++];
      good_ = (absent_ ? std::holds_alternative<std::monostate>(value) : restore(value, member)) && good_;
    }
  }
  bool good() const { return good_; }

 private:
  void read_outcome(Outcome& outcome) {
    std::string name;
    (*this)("outcome", name);
    Timing timing;
    absent_ = name != kTiming;
    describe(*this, timing);
    const std::optional<FailureKind> kind = parse_failure_kind(name);
    Failure failure = {kind.value_or(FailureKind::kCompile), "", {}};
    absent_ = !absent_;
    (*this)("failure", failure.text);
    absent_ = false;
    good_ = good_ && (kind || name == kTiming);
    if (name == kTiming)
      outcome = std::move(timing);
    else
      outcome = std::move(failure);
    std::visit([this](auto& either) { describe(*this, either.resources); }, outcome);
  }

  const Row& row_;
  std::size_t next_ = 0;  // column
  bool good_ = true, absent_ = false;
};

template <typename T>
std::vector<Column> columns_of() {
  Writer writer;
  const T empty;
  describe(writer, empty);
  writer.columns.push_back({"checksum", ColumnType::kInteger});
  return std::move(writer.columns);
}

/// Returns false for a row with values that no record may have, even if their columns allow them.
bool is_sound(const Record& record) {
  const auto* timing = std::get_if<Timing>(&record.outcome);
  return !record.id.empty() && !record.config.family.empty() &&
         (!timing || (std::isfinite(timing->time_us) && timing->time_us > 0));
}
bool is_sound(const StoredVerdict& verdict) {
  if (!(verdict.algorithms_tried >= 0 && verdict.algorithms_tried <= verdict.algorithms)) return false;
  for (const Interval& interval : {verdict.best.interval, verdict.default_time.interval,
                                   verdict.speedup_vs_default.interval, verdict.speedup_vs_baseline.interval})
    if (!(interval.low >= 0 && interval.low <= interval.high && std::isfinite(interval.high))) return false;
  return true;
}
bool is_sound(const StoredDevice&) {
  return true;
}
bool is_sound(const StoredOrigin& origin) {
  return !origin.merged_from.empty();
}
bool is_sound(const StoredAlgorithm& algorithm) {
  constexpr std::int64_t kMostLists = 16, kMostAlgorithms = 100'000;
  return algorithm.list >= 0 && algorithm.list < kMostLists && algorithm.algorithm >= 0 &&
         algorithm.algorithm < algorithm.offered && algorithm.tried >= 1 &&
         algorithm.tried <= algorithm.offered && algorithm.offered <= kMostAlgorithms;
}

template <typename T>
Row encoded(const LogTable& table, const T& object) {
  CHECK(is_sound(object));
  Writer writer;
  describe(writer, object);
  writer.row.push_back(std::bit_cast<std::int64_t>(row_checksum(writer.columns, writer.row)));
  CHECK(has_types_of(table, writer.row));
  return std::move(writer.row);
}

template <typename T>
std::optional<T> decoded(const LogTable& table, const Row& row) {
  if (!checksum_holds(table, row)) return std::nullopt;
  Reader reader(row);
  std::optional<T> result(std::in_place);
  describe(reader, *result);
  return reader.good() && is_sound(*result) ? std::move(result) : std::nullopt;
}

}  // namespace

const LogTable& trial_table() {
  static const std::vector<Column> columns = columns_of<Record>();
  static const LogTable table = {.name = "trial", .columns = columns, .unique = "id"};
  return table;
}
const LogTable& verdict_table() {
  static const std::vector<Column> columns = columns_of<StoredVerdict>();
  static const LogTable table = {.name = "verdict", .columns = columns};
  return table;
}
const LogTable& device_table() {
  static const std::vector<Column> columns = columns_of<StoredDevice>();
  static const LogTable table = {.name = "device", .columns = columns, .unique = "checksum"};
  return table;
}
const LogTable& origin_table() {
  static const std::vector<Column> columns = columns_of<StoredOrigin>();
  static const LogTable table = {.name = "origin", .columns = columns, .unique = "session"};
  return table;
}
const LogTable& algorithm_table() {
  static const std::vector<Column> columns = columns_of<StoredAlgorithm>();
  static const LogTable table = {.name = "algorithm", .columns = columns, .unique = "checksum"};
  return table;
}
std::span<const LogTable* const> log_tables() {
  static const std::array tables = {&trial_table(), &verdict_table(), &device_table(), &origin_table(),
                                    &algorithm_table()};
  return tables;
}

Row encode(const Record& record) {
  return encoded(trial_table(), record);
}
Row encode(const StoredVerdict& verdict) {
  return encoded(verdict_table(), verdict);
}
Row encode(const StoredDevice& device) {
  return encoded(device_table(), device);
}
Row encode(const StoredOrigin& origin) {
  return encoded(origin_table(), origin);
}
Row encode(const StoredAlgorithm& algorithm) {
  return encoded(algorithm_table(), algorithm);
}

std::optional<Record> decode_record(const Row& row) {
  return decoded<Record>(trial_table(), row);
}
std::optional<StoredVerdict> decode_verdict(const Row& row) {
  return decoded<StoredVerdict>(verdict_table(), row);
}
std::optional<StoredDevice> decode_device(const Row& row) {
  return decoded<StoredDevice>(device_table(), row);
}
std::optional<StoredOrigin> decode_origin(const Row& row) {
  return decoded<StoredOrigin>(origin_table(), row);
}
std::optional<StoredAlgorithm> decode_algorithm(const Row& row) {
  return decoded<StoredAlgorithm>(algorithm_table(), row);
}

}  // namespace lehr
