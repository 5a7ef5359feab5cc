#include "tests/database/support.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "database/record_codec.h"

namespace lehr::test {
namespace {

std::string random_text(Rng& rng) {
  static const std::string kAlphabet("az09 _'\"\\;%,=|\n\t\0\xc3\xa4\xff", 20);
  std::string text;
  const std::uint64_t length = rng.below(30);
  for (std::uint64_t i = 0; i < length; ++i) text += kAlphabet[rng.below(kAlphabet.size())];
  return text;
}

double random_real(Rng& rng) {
  switch (rng.below(6)) {
    case 0:
      return 0;
    case 1:
      return -0.0;
    case 2:
      return std::numeric_limits<double>::denorm_min();
    case 3:
      return std::numeric_limits<double>::max();
    case 4:
      return static_cast<double>(rng.below(1000));
    default:
      return rng.uniform() * 1e6 - 1e3;
  }
}

std::int64_t random_integer(Rng& rng) {
  switch (rng.below(3)) {
    case 0:
      return std::numeric_limits<std::int64_t>::min();
    case 1:
      return std::numeric_limits<std::int64_t>::max();
    default:
      return static_cast<std::int64_t>(rng.below(4096)) - 100;
  }
}

std::optional<int> random_count(Rng& rng) {
  if (rng.below(3) == 0) return std::nullopt;
  return static_cast<int>(rng.below(1u << 31));
}

Resources random_resources(Rng& rng) {
  Resources resources;
  resources.registers = random_count(rng);
  resources.spill_bytes = random_count(rng);
  resources.shared_bytes = random_count(rng);
  resources.stack_bytes = random_count(rng);
  resources.compile_s = random_real(rng);
  if (rng.below(3) == 0) resources.advisories = random_text(rng);
  return resources;
}

std::string describe(const Resources& r) {
  const auto show = [](const std::optional<int>& x) { return x ? std::to_string(*x) : "none"; };
  return fmt::format("registers {} spill {} shared {} stack {} compile {:a} advisories {}", show(r.registers),
                     show(r.spill_bytes), show(r.shared_bytes), show(r.stack_bytes), r.compile_s + 0.0,
                     r.advisories);
}

}  // namespace

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "lehr-database-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw_environment("no temporary directory");
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(path_, ignored);
}

Record random_record(Rng& rng) {
  Record record;
  record.workload = random_text(rng);
  record.device = random_text(rng);
  record.target = rng.below(2) == 0 ? "cpu" : "cuda";
  record.arch = random_text(rng);
  record.config.family = "family" + std::to_string(rng.below(3));
  const std::uint64_t knobs = rng.below(6);
  for (std::uint64_t i = 0; i < knobs; ++i) {
    record.config.knobs.push_back({"k" + std::to_string(knobs - i), random_integer(rng)});
  }
  record.template_version = static_cast<int>(rng.below(100));
  if (rng.below(2) == 0) {
    Timing timing;
    timing.time_us = rng.uniform() * 1e4 + 1e-3;
    const std::uint64_t samples = rng.below(8);
    for (std::uint64_t i = 0; i < samples; ++i) timing.samples_us.push_back(random_real(rng));
    timing.spread = random_real(rng);
    timing.reference_us = random_real(rng);
    timing.max_error = rng.below(4) == 0 ? std::numeric_limits<double>::infinity() : random_real(rng);
    timing.run_s = random_real(rng);
    timing.resources = random_resources(rng);
    record.outcome = timing;
  } else {
    record.outcome =
        Failure{static_cast<FailureKind>(rng.below(static_cast<int>(FailureKind::kImplausible) + 1)),
                random_text(rng), random_resources(rng)};
  }
  if (rng.below(2) == 0) record.predicted = random_real(rng);
  record.picked_by = random_text(rng);
  record.session = random_text(rng);
  record.session_began_unix_ms = random_integer(rng);
  record.seed = rng.next();
  record.tool_version = random_text(rng);
  if (rng.below(2) == 0) record.source_hash = rng.next();
  if (rng.below(2) == 0) record.device_hash = rng.next();
  return record;
}

Record timed(const std::string& workload, const std::string& device, double time_us) {
  Record record;
  record.workload = workload;
  record.device = device;
  record.target = "cpu";
  record.config = Config{"gemm_cpu", {{"mr", 8}, {"nr", 2}}};
  Timing timing;
  timing.time_us = time_us;
  timing.samples_us = {time_us};
  record.outcome = timing;
  record.picked_by = "anneal";
  record.session = "s1";
  return record;
}

Record failed(const std::string& workload, const std::string& device, FailureKind kind) {
  Record record = timed(workload, device, 1);
  record.outcome = Failure{kind, "because", {}};
  return record;
}

sqlite::Row changed(const LogTable& table, sqlite::Row row, std::string_view name,
                    const sqlite::Value& value) {
  for (std::size_t i = 0; i < row.size(); ++i)
    if (table.columns[i].name == name) row[i] = value;
  row.back() = static_cast<std::int64_t>(row_checksum(table.columns.first(table.columns.size() - 1), row));
  return row;
}

std::int64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string name;
  std::int64_t bytes = 0;
  io >> name >> bytes;
  EXPECT_EQ(name, "rchar:");
  return bytes;
}

void add_trials(Database& log, int count, const std::function<Record(int)>& trial) {
  int i = 0;
  log.add_rows([&](const LogTable*& table, sqlite::Row& row) {
    if (i == count) return false;
    Record record = trial(i);
    record.id = std::to_string(i++);
    record.created_unix_ms = i;
    table = &trial_table();
    row = encode(record);
    return true;
  });
}

StoredVerdict verdict(const std::string& workload, const std::string& device, const std::string& winner) {
  StoredVerdict result;
  result.workload = workload;
  result.device = device;
  result.session = "s1";
  result.record_id = winner;
  result.best.us = 5;
  result.json = "{\"a\": [1, 2]}\n";
  return result;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string dump_of(const Database& database) {
  std::string text;
  const sqlite::Connection connection(database.path(), sqlite::Mode::kReadOnly);
  for (const LogTable* table : log_tables()) {
    sqlite::Statement rows = connection.prepare(select_from(*table) + " ORDER BY seq");
    while (rows.step()) {
      const sqlite::Row row = rows.row();
      if (checksum_holds(*table, row))
        text += fmt::format("{} {}\n", table->name, std::get<std::int64_t>(row.back()));
    }
  }
  return text;
}

StoredDevice stored_gpu(const std::string& name, int cores) {
  StoredDevice device;
  device.limits.target = *target_named("cuda");
  device.limits.arch = "sm_90a";
  device.limits.cores = cores;
  device.limits.shared_bytes_per_block = 227 * 1024;
  device.name = name;
  device.driver = "13.0";
  device.compiler = "NVRTC 13.0";
  device.os = "Linux";
  device.uuid = "GPU-1";
  device.identity = identity_of(device);
  return device;
}

StoredAlgorithm stored_algorithm(const std::string& session, std::int64_t list) {
  StoredAlgorithm algorithm;
  static_cast<FoundAlgorithm&>(algorithm) = {
      .algorithm = 5, .mark = 0xfedc'ba98'7654'3210, .tried = 9, .offered = 44};
  algorithm.workload = "w";
  algorithm.device = "d";
  algorithm.session = session;
  algorithm.baseline = "cudnn-unfused";
  algorithm.library = "cuDNN 9.19.0";
  algorithm.list = list;
  return algorithm;
}

std::string describe(const Record& r) {
  std::string text = fmt::format(
      "id {}\nworkload {}\ndevice {}\ntarget {}\narch {}\nconfig {}\nversion {}\npredicted {}\npicked "
      "{}\nsession {} of {}\n"
      "seed {}\ncreated {}\ntool {}\nsource {}\ndevice {}\n",
      r.id, r.workload, r.device, r.target, r.arch, to_text(r.config), r.template_version,
      r.predicted ? fmt::format("{:a}", *r.predicted + 0.0) : "none", r.picked_by, r.session,
      r.session_began_unix_ms, r.seed, r.created_unix_ms, r.tool_version, r.source_hash, r.device_hash);
  if (const auto* t = std::get_if<Timing>(&r.outcome)) {
    text += fmt::format("timing {:a} spread {:a} reference {:a} error {:a} run {:a}\nsamples", t->time_us,
                        t->spread + 0.0, t->reference_us + 0.0, t->max_error + 0.0, t->run_s + 0.0);
    for (const double sample : t->samples_us) text += fmt::format(" {:a}", sample);
    return text + "\n" + describe(t->resources);
  }
  const auto& failure = std::get<Failure>(r.outcome);
  return text + fmt::format("failure {} {}\n", name_of(failure.kind), failure.text) +
         describe(failure.resources);
}

Caught error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return {static_cast<int>(error.kind()), error.what()};
  }
  ADD_FAILURE() << "no Error was thrown";
  return {};
}

int in_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      ::_exit(99);
    }
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace lehr::test
