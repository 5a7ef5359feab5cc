#include "database/record_codec.h"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "database/columns.h"

namespace lehr {
namespace {

using sqlite::Row;
using sqlite::Value;

constexpr std::string_view kTiming = "timing";  // the outcome column; otherwise a failure kind's name

// SQLite turns NaN into NULL and -0.0 into 0: the first must not happen, the second must not spoil the
// checksum.
Value real(double value) {
  CHECK(!std::isnan(value), "a NaN cannot be stored");
  return value == 0 ? 0.0 : value;
}
Value real(const std::optional<double>& value) {
  return value ? real(*value) : Value();
}
Value integer(std::int64_t value) {
  return value;
}
Value integer(const std::optional<int>& value) {
  return value ? Value(std::int64_t{*value}) : Value();
}

std::string samples_text(const std::vector<double>& samples) {
  CHECK(std::all_of(samples.begin(), samples.end(), [](double x) { return std::isfinite(x); }),
        "samples must be finite");
  return fmt::format("[{}]",
                     fmt::join(samples, ","));  // fmt writes the shortest text that reads back the same
}

std::optional<std::vector<double>> parse_samples(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<double> samples;
  while (!text.empty()) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
    samples.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (text.front() != ',' || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  return samples;
}

// Takes a row's values one after the other; a value of the wrong type makes the whole row bad.
class Reader {
 public:
  explicit Reader(const Row& row) : row_(row) {}

  std::string text() { return take<std::string>(); }
  double real() { return take<double>(); }
  std::int64_t integer() { return take<std::int64_t>(); }
  std::optional<double> optional_real() { return skip_null() ? std::nullopt : std::optional(real()); }
  std::optional<int> optional_int() { return skip_null() ? std::nullopt : std::optional(small_integer()); }
  int small_integer() {
    const std::int64_t value = integer();
    expect(std::in_range<int>(value));
    return static_cast<int>(value);
  }
  std::string optional_text() { return skip_null() ? std::string() : text(); }
  bool skip_null() {
    const bool null = std::holds_alternative<std::monostate>(row_[at_]);
    if (null) ++at_;
    return null;
  }
  void expect(bool condition) { good_ = good_ && condition; }
  bool good() const { return good_; }

 private:
  template <typename T>
  T take() {
    const T* value = std::get_if<T>(&row_[at_++]);
    expect(value != nullptr);
    return value == nullptr ? T() : *value;
  }

  const Row& row_;
  std::size_t at_ = 0;
  bool good_ = true;
};

void add_checksum(const LogTable& table, Row& row) {
  row.push_back(std::bit_cast<std::int64_t>(row_checksum(table.columns.first(row.size()), row)));
  CHECK(has_types_of(table, row));
}

}  // namespace

Row encode(const Record& record) {
  CHECK(!record.id.empty() && !record.config.family.empty());
  Row row = {record.id,   record.workload,      record.device,          record.target,
             record.arch, record.config.family, to_text(record.config), integer(record.template_version)};
  row.reserve(trial_table().columns.size());
  const auto add = [&row](auto value) { row.emplace_back(std::move(value)); };
  const Resources* resources = nullptr;
  if (const auto* timing = std::get_if<Timing>(&record.outcome)) {
    CHECK(std::isfinite(timing->time_us) && timing->time_us > 0, "time_us={}", timing->time_us);
    add(std::string(kTiming));
    add(timing->time_us);
    add(samples_text(timing->samples_us));
    for (const double x : {timing->spread, timing->reference_us, timing->max_error, timing->run_s})
      add(real(x));
    add(std::monostate());
    resources = &timing->resources;
  } else {
    const auto& failure = std::get<Failure>(record.outcome);
    add(std::string(name_of(failure.kind)));
    for (int i = 0; i < 6; ++i) add(std::monostate());  // time_us ... run_s
    add(failure.text);
    resources = &failure.resources;
  }
  for (const auto& x :
       {resources->registers, resources->spill_bytes, resources->shared_bytes, resources->stack_bytes})
    add(integer(x));
  add(real(resources->compile_s));
  add(real(record.predicted));
  add(record.picked_by);
  add(record.session);
  add(std::bit_cast<std::int64_t>(record.seed));
  add(record.created_unix_ms);
  add(record.tool_version);
  add(resources->advisories.empty() ? Value() : Value(resources->advisories));
  add_checksum(trial_table(), row);
  return row;
}

std::optional<Record> decode_record(const Row& row) {
  if (!checksum_holds(trial_table(), row)) return std::nullopt;
  Reader reader(row);
  Record record;
  record.id = reader.text();
  reader.expect(!record.id.empty());
  record.workload = reader.text();
  record.device = reader.text();
  record.target = reader.text();
  record.arch = reader.text();
  const std::string family = reader.text();
  const std::string config = reader.text();
  record.template_version = reader.small_integer();
  const std::string outcome = reader.text();
  Resources* resources = nullptr;
  if (outcome == kTiming) {
    Timing& timing = record.outcome.emplace<Timing>();
    timing.time_us = reader.real();
    reader.expect(std::isfinite(timing.time_us) && timing.time_us > 0);
    std::optional<std::vector<double>> samples = parse_samples(reader.text());
    reader.expect(samples.has_value());
    timing.samples_us = std::move(samples).value_or(std::vector<double>());
    timing.spread = reader.real();
    timing.reference_us = reader.real();
    timing.max_error = reader.real();
    timing.run_s = reader.real();
    reader.expect(reader.skip_null());
    resources = &timing.resources;
  } else {
    Failure& failure = record.outcome.emplace<Failure>();
    const std::optional<FailureKind> kind = parse_failure_kind(outcome);
    reader.expect(kind.has_value());
    failure.kind = kind.value_or(FailureKind::kCompile);
    for (int i = 0; i < 6; ++i) reader.expect(reader.skip_null());
    failure.text = reader.text();
    resources = &failure.resources;
  }
  resources->registers = reader.optional_int();
  resources->spill_bytes = reader.optional_int();
  resources->shared_bytes = reader.optional_int();
  resources->stack_bytes = reader.optional_int();
  resources->compile_s = reader.real();
  record.predicted = reader.optional_real();
  record.picked_by = reader.text();
  record.session = reader.text();
  record.seed = std::bit_cast<std::uint64_t>(reader.integer());
  record.created_unix_ms = reader.integer();
  record.tool_version = reader.text();
  resources->advisories = reader.optional_text();
  if (!reader.good()) return std::nullopt;
  try {
    record.config = parse_config(config);
  } catch (const Error&) {
    return std::nullopt;
  }
  if (record.config.family != family) return std::nullopt;
  return record;
}

Row encode(const Verdict& v) {
  Row row = {v.workload,
             v.device,
             v.session,
             v.record_id,
             real(v.default_us),
             real(v.best_us),
             v.baseline,
             real(v.baseline_us),
             real(v.speedup_vs_default),
             real(v.speedup_vs_baseline),
             v.json,
             v.created_unix_ms};
  add_checksum(verdict_table(), row);
  return row;
}

std::optional<Verdict> decode_verdict(const Row& row) {
  if (!checksum_holds(verdict_table(), row)) return std::nullopt;
  Reader reader(row);
  Verdict v;
  v.workload = reader.text();
  v.device = reader.text();
  v.session = reader.text();
  v.record_id = reader.text();
  v.default_us = reader.real();
  v.best_us = reader.real();
  v.baseline = reader.text();
  v.baseline_us = reader.real();
  v.speedup_vs_default = reader.real();
  v.speedup_vs_baseline = reader.real();
  v.json = reader.text();
  v.created_unix_ms = reader.integer();
  return reader.good() ? std::optional(std::move(v)) : std::nullopt;
}

}  // namespace lehr
