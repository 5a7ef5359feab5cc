#include "tests/fuzz/targets.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "apply/branches.h"
#include "base/args.h"
#include "base/error.h"
#include "database/record_codec.h"
#include "database/salvage.h"
#include "measure/host/cpu_device.h"
#include "network/matches.h"
#include "problems/list.h"
#include "replay/read_table.h"
#include "space/config.h"
#include "templates/catalog.h"
#include "tune/stored_kernel.h"
#include "workload/workload.h"

namespace lehr::test {
namespace {

namespace fs = std::filesystem;

// Runs `action`. Errors of the user's are answers; any other exception passes through and ends the process.
template <typename Action>
void expect_answer(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) throw;
  }
}

void require(bool promise) {
  if (!promise) std::abort();
}

// Returns a folder in memory for the parsers that take files; one for the whole process.
fs::path folder() {
  static const fs::path made = [] {
    std::string name =
        (fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string()) + "/lehr-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw_environment("no temporary folder");
    return fs::path(name);
  }();
  return made;
}

fs::path file_with(std::string_view bytes) {
  const fs::path path = folder() / "input";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// Takes values off the front of the input.
class Source {
 public:
  explicit Source(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t number(std::size_t count) {
    std::uint64_t value = 0;
    for (const char c : text(count)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view text(std::size_t count) {
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view bytes_;
};

sqlite::Value value_from(Source& source) {
  switch (source.number(1) % 8) {
    case 0:
      return std::monostate();
    case 1:
      return static_cast<std::int64_t>(source.number(1));
    case 2:
      return std::bit_cast<std::int64_t>(source.number(8));
    case 3:
      return static_cast<double>(source.number(1)) / 4;
    case 4: {
      const auto real = std::bit_cast<double>(source.number(8));
      return std::isnan(real) ? sqlite::Value()
                              : sqlite::Value(real == 0 ? 0.0 : real);  // as SQLite gives them
    }
    default:
      return std::string(source.text(source.number(1)));
  }
}

}  // namespace

void fuzz_config(std::string_view bytes) {
  expect_answer([&] {
    const Config config = parse_config(bytes);
    require(parse_config(to_text(config)) == config);
  });
}

void fuzz_workload(std::string_view bytes) {
  expect_answer([&] {
    const Workload workload = parse_workload(bytes);
    require(to_text(parse_workload(to_text(workload))) == to_text(workload));
    require(flops_of(workload) > 0);
  });
}

void fuzz_flags(std::string_view bytes) {
  expect_answer([&] { parse_number("--flag", bytes, -5, 1000); });
  expect_answer([&] {
    for (const std::int64_t size : parse_sizes("--flag", bytes)) require(size > 0);
  });
  expect_answer([&] { require(parse_duration("--flag", bytes) > 0); });
}

void fuzz_row(std::string_view bytes) {
  Source source(bytes);
  const std::uint64_t which = source.number(1) % 8;
  const LogTable& table = which % 4 == 0 ? verdict_table() : which == 7 ? device_table() : trial_table();
  sqlite::Row row;
  // Most values have the column's type: the first byte of the input says which ones have another.
  for (std::size_t i = 0; i < table.columns.size(); ++i) row.push_back(value_from(source));
  row.back() = static_cast<std::int64_t>(row_checksum(table.columns.first(row.size() - 1), row));
  require(checksum_holds(table, row));
  if (&table == &trial_table()) {
    if (const std::optional<Record> record = decode_record(row))
      require(decode_record(encode(*record)).has_value());
  } else if (&table == &verdict_table()) {
    if (const std::optional<StoredVerdict> verdict = decode_verdict(row)) {  // an older one has other columns
      const sqlite::Row again = encode(*verdict);
      require(encode(decode_verdict(again).value()) == again);
    }
  } else if (const std::optional<StoredDevice> device = decode_device(row)) {
    const sqlite::Row again = encode(*device);
    require(encode(decode_device(again).value()) == again);
    limits_of(*device);
  }
}

void fuzz_page_file(std::string_view bytes) {
  const fs::path path = file_with(bytes), saved = folder() / "saved";
  expect_answer([&] { salvage(path, saved); });
  expect_answer([&] {
    const Database database = Database::open_read_only(path);
    database.best({});
    database.stats();
    database.verify();
  });
  for (const fs::path& base : {path, saved})
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(base.string() + suffix);
}

void fuzz_table(std::string_view bytes) {
  expect_answer([&] { require(!parse_table(std::string(bytes), "table.json").rows.empty()); });
}

// Reads a network as both branches of one file, as every network is read. Returns whether it could.
bool reads_both(const OnnxModel& model, const std::string& both) {
  try {
    return parse_onnx(std::make_shared<std::string>(unbranched(both).value()), "it").outputs.size() ==
           model.outputs.size();
  } catch (const Error&) {
    return false;
  }
}

void fuzz_onnx(std::string_view bytes) {
  expect_answer([&] {
    const OnnxModel model = parse_onnx(std::make_shared<std::string>(bytes), "it");
    const GraphShapes shapes = infer_shapes(model, {});
    const Matches matches = matches_of(model, shapes);
    for (const MatchedWorkload& matched : matches.workloads) {
      require(!matched.matches.empty() && parse_workload(to_text(matched.workload)) == matched.workload);
      for (const Match& match : matched.matches)
        require(match.inputs.size() + 1 == tensors_of(matched.workload).size());
    }
    if (model.inputs.empty() || shapes.of(model.inputs[0].name).constant != nullptr) return;
    const SizeCheck check = {std::string(model.inputs[0].name)};
    require(reads_both(model, branched(model, *model.bytes, {&check, 1}, "constants").bytes));
  });
}

void fuzz_problems(std::string_view bytes) {
  expect_answer([&] {
    const ProblemList read = read_problems(bytes, "list");
    require(read.problems.size() + read.unusable.size() <= read.lines);
    for (const Workload& workload : read.problems) require(parse_workload(to_text(workload)) == workload);
  });
}

void fuzz_lowering(std::string_view bytes) {
  static const Limits limits = cpu_device(1, false).limits;
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  expect_answer([&] {
    const Workload workload = parse_workload(bytes.substr(0, end));
    const Config config = parse_config(bytes.substr(std::min(end + 1, bytes.size())));
    // Divisors of zero, loops without end: a config outside of the space is refused before anything is built
    // of it.
    lower(workload, config, limits);
  });
}

std::span<const FuzzTarget> fuzz_targets() {
  static constexpr std::array<FuzzTarget, 10> kTargets = {{
      {"config", fuzz_config},
      {"workload", fuzz_workload},
      {"flags", fuzz_flags},
      {"row", fuzz_row},
      {"page_file", fuzz_page_file},
      {"table", fuzz_table},
      {"onnx", fuzz_onnx},
      {"find", fuzz_find},
      {"problems", fuzz_problems},
      {"lowering", fuzz_lowering},
  }};
  return kTargets;
}

}  // namespace lehr::test
