// Turns flags into workloads.
#include "cli/operator_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "base/args.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/help.h"

namespace lehr {
namespace {

std::string flag_of(const Field& field) {
  return "--" + std::string(field.key);
}

void read_flag(const Field& field, std::string_view text, Workload& workload) {
  if (!field.choices.empty())
    parse_choice(flag_of(field), text, {field.choices.begin(), field.choices.end()});
  if (!field.in_text()) return;
  try {
    field.read(field, flag_of(field), text, workload);
  } catch (const Error& error) {
    if (!field.names_flag) throw;
    throw_user("{} {}: {}", flag_of(field), text, error.what());
  }
}

/// Returns the flags of the fields for which `wanted` is true.
template <typename Wanted>
std::vector<std::string> flags_of(const OperatorTable& op, const Wanted& wanted) {
  std::vector<std::string> flags;
  for (const Field& field : op.fields)
    if (wanted(field)) flags.push_back(flag_of(field));
  return flags;
}

bool takes_sizes(const Field& field) {
  return field.sweep == Sweep::kSizes;
}

/// Returns the sizes of a list. A range of rows ("..64", "1..64") is kept as one text.
std::vector<std::string> sizes_in(const std::string& flag, std::string_view text) {
  std::vector<std::string> sizes;
  for (const std::string_view part : split(text, ',')) {
    if (part.find("..") != std::string_view::npos) {
      sizes.emplace_back(part);
      continue;
    }
    for (const std::int64_t size : parse_sizes(flag, part)) sizes.push_back(fmt::to_string(size));
  }
  return sizes;
}

/// Returns all combinations of a workload and a value of the field.
std::vector<Workload> with_each(const std::vector<Workload>& workloads, const Field& field,
                                const std::vector<std::string>& values) {
  std::vector<Workload> result;
  for (const Workload& workload : workloads) {
    for (const std::string& value : values) {
      result.push_back(workload);
      field.read(field, flag_of(field), value, result.back());
    }
  }
  return result;
}

/// Returns a short name of a workload: "--m 16 --n 32", or its text.
std::string name_of(const OperatorTable& op, const Workload& workload) {
  if (!op.named_by_sizes) return fmt::format("'{}'", to_text(workload));
  std::string name;
  for (const Field& field : op.fields) {
    if (!takes_sizes(field)) continue;
    name += fmt::format("{}{} ", name.empty() ? "" : " ", flag_of(field));
    field.append(workload, name);
  }
  return name;
}

}  // namespace

OperatorFlags::OperatorFlags(const OperatorTable& op) : op_(op) {
  for (const Field& field : op.fields) texts_.emplace_back(field.usual);
}

void OperatorFlags::add_to(CLI::App& app) {
  // If --h is the height, CLI11 from 2.4 on does not accept the flag -h, too.
  if (std::ranges::find(op_.fields, "h", &Field::key) != op_.fields.end())
    app.set_help_flag("--help", "Print this help message and exit");
  const std::string group = fmt::format("Problem: {}", op_.formula);
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const Field& field = op_.fields[i];
    const std::string names =
        field.is_last_word ? std::string(field.key) + ',' + flag_of(field) : flag_of(field);
    if (field.is_flag())
      value_flag(app, group.c_str(), names.c_str(), texts_[i], std::string(field.help).c_str());
  }
}

bool OperatorFlags::left_out(std::size_t field) const {
  return !op_.fields[field].is_flag() || (texts_[field].empty() && op_.fields[field].usual.empty());
}

std::string_view OperatorFlags::given(std::string_view key) const {
  const auto found = std::ranges::find(op_.fields, key, &Field::key);
  CHECK(found != op_.fields.end(), "{} has no field {}", op_.name, key);
  return texts_[static_cast<std::size_t>(found - op_.fields.begin())];
}

Workload OperatorFlags::without_lists() const {
  Workload workload = op_.usual;
  for (std::size_t i = 0; i < texts_.size(); ++i)
    if (op_.fields[i].sweep == Sweep::kNone && !left_out(i)) read_flag(op_.fields[i], texts_[i], workload);
  for (std::size_t i = 0; i < texts_.size(); ++i)
    if (op_.fields[i].required && texts_[i].empty())
      throw_user("{} is missing: {} needs {}", flag_of(op_.fields[i]), op_.article,
                 listed(flags_of(op_, [](const Field& field) { return field.required; })));
  return workload;
}

std::vector<Workload> OperatorFlags::with_sizes(const Workload& base) const {
  std::vector<std::vector<std::string>> lists(texts_.size());
  double count = 1;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (!takes_sizes(op_.fields[i]) || left_out(i)) continue;
    lists[i] = sizes_in(flag_of(op_.fields[i]), texts_[i]);
    count *= static_cast<double>(lists[i].size());
  }
  if (count > kMostProblems && op_.named_by_sizes)
    throw_user("{} make {:.0f} problems together, more than {:.0f}", listed(flags_of(op_, takes_sizes)),
               count, kMostProblems);
  if (count > kMostProblems) throw_user("the lists make more than {:.0f} problems together", kMostProblems);
  std::vector<Workload> workloads = {base};
  for (std::size_t i = 0; i < lists.size(); ++i)
    if (!lists[i].empty()) workloads = with_each(workloads, op_.fields[i], lists[i]);
  return workloads;
}

void OperatorFlags::finish(Workload& workload) const {
  op_.complete(workload, [this](std::string_view key) { return given(key); });
  try {
    validate(workload);
  } catch (const Error& error) {
    throw_user("{}: {}", name_of(op_, workload), error.what());
  }
}

std::vector<Workload> OperatorFlags::workloads() const {
  std::vector<Workload> workloads = with_sizes(without_lists());
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (op_.fields[i].sweep != Sweep::kValues) continue;
    const std::vector<std::string_view> values = split(texts_[i], ',');
    workloads = with_each(workloads, op_.fields[i], {values.begin(), values.end()});
  }
  for (Workload& workload : workloads) finish(workload);
  return workloads;
}

}  // namespace lehr
