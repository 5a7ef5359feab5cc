// Measures the trial log at a million trials: making, best, stats, merge, verify, dump, and the memory they
// take.
//   log_bench FOLDER [ROWS]       (1000000; needs about 8 KB of disk a row; the files stay there and are used
//   again)
//   log_bench FOLDER ROWS LOGS    (so many logs of so many rows, as of a cluster's nodes, merged into one)
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "base/text.h"
#include "database/database.h"
#include "database/record_codec.h"

namespace lehr {
namespace {

constexpr int kWorkloads = 200, kDevices = 2, kSamples = 20;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the highest resident memory so far.
double peak_mib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

/// Returns the processor time since the last call: the cost of a step on a machine that others use, too.
double cpu_s() {
  static double before = 0;
  const double now = static_cast<double>(std::clock()) / CLOCKS_PER_SEC, spent = now - before;
  before = now;
  return spent;
}

void report(const std::string& what, double seconds) {
  fmt::print("{:<34} {:>9.3f} s ({:>8.3f} s of CPU)   peak memory {:>5.0f} MiB\n", what, seconds, cpu_s(),
             peak_mib());
  std::fflush(stdout);
}

std::string workload(std::uint64_t i) {
  return fmt::format("gemm m={} n=1024 k=1024 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none",
                     i + 1);
}

/// Returns trial number `number` of a made-up history: the same in every file that holds it.
Record trial(std::uint64_t number) {
  Rng rng(number);
  Record record;
  record.id = fmt::format("{:016x}{:016x}", rng.next(), number);
  record.workload = workload(number / 1000 % kWorkloads);
  record.device = fmt::format(
      "cpu | A Processor of the usual kind (family 6 model 207) | avx512 | cores={} | driver= | "
      "g++ (Debian 12.2.0-14) 12.2.0 -O2 -march=native -ffp-contract=fast -fno-math-errno "
      "-shared -fPIC -w -fno-exceptions -fno-rtti",
      number / 7000 % kDevices + 1);
  record.target = "cpu";
  record.arch = "avx512";
  record.config.family = "gemm_cpu";
  for (const char* knob :
       {"threads", "split", "lanes", "mr", "nv", "kc", "mc", "nc", "pack_a", "pack_b", "order", "ku"})
    record.config.knobs.push_back({knob, static_cast<std::int64_t>(rng.below(64))});
  if (rng.below(8) == 0) {
    record.outcome = Failure{FailureKind::kCompile, "error: out of registers", {}};
  } else {
    Timing timing;
    timing.time_us = 100 + 900 * rng.uniform();
    for (int i = 0; i < kSamples; ++i)
      timing.samples_us.push_back(static_cast<double>(rng.below(1000000)) / 1000);
    record.outcome = timing;
  }
  record.predicted = rng.uniform();
  record.picked_by = "anneal";
  record.session = fmt::format("{:032x}", number / 500);
  record.created_unix_ms = static_cast<std::int64_t>(1'700'000'000'000 + number);
  record.tool_version = "0.1.0";
  record.source_hash = rng.next();
  record.device_hash = 0x9e37'79b9'7f4a'7c15 * (1 + number / 7000 % kDevices);
  return record;
}

/// Makes a log of the trials `first` to `end`, unless its file is there.
void make(const std::filesystem::path& path, std::uint64_t first, std::uint64_t end) {
  if (std::filesystem::exists(path)) return;
  Database log = Database::open(path);
  std::uint64_t number = first;
  log.add_rows([&](const LogTable*& table, sqlite::Row& row) {
    if (number == end) return false;
    table = &trial_table();
    row = encode(trial(number++));
    return true;
  });
}

/// Returns the path of this file, and removes it if it was there.
std::filesystem::path fresh(const std::filesystem::path& path) {
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + suffix);
  return path;
}

/// Merges `logs` logs of `rows` rows into an empty one, then once more.
void merge_many(const std::filesystem::path& folder, std::uint64_t rows, std::uint64_t logs) {
  std::vector<std::filesystem::path> files;
  double begin = now_s();
  for (std::uint64_t i = 0; i < logs; ++i) {
    files.push_back(folder / fmt::format("{}_of_{}_rows.db", i, rows));
    make(files.back(), i * rows, (i + 1) * rows);
  }
  report(fmt::format("make {} logs of {} rows", logs, rows), now_s() - begin);
  Database into = Database::open(fresh(folder / "merged.db"));
  for (const std::int64_t expected : {rows, std::uint64_t{0}}) {
    std::ptrdiff_t descriptors = 0;
    begin = now_s();
    into.merge(files, Trust::kEvidence, [&](std::size_t done, const AddedRows& added) {
      if (added.trials.added != expected) throw_user("the merge lost or doubled rows");
      descriptors = std::max(descriptors, std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                                        std::filesystem::directory_iterator()));
      if (done * 10 % logs < 10 && expected > 0) report(fmt::format("  {} logs", done), now_s() - begin);
    });
    report(fmt::format("merge, {}, {} descriptors", expected > 0 ? "all new" : "all there", descriptors),
           now_s() - begin);
  }
}

void run(const std::filesystem::path& folder, std::uint64_t rows) {
  const auto a = folder / "a.db", b = folder / "b.db", all = folder / "all.db";
  double begin = now_s();
  make(a, 0, rows);
  make(b, rows - rows / 10, 2 * rows - rows / 10);  // a tenth is in both
  report("make a.db and b.db", now_s() - begin);
  begin = now_s();
  const Database log = Database::open_read_only(a);
  report("open", now_s() - begin);

  std::vector<double> us;
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const std::string wanted = workload(rng.below(kWorkloads));
    begin = now_s();
    const bool found = log.best({wanted, "", "", ""}).has_value();
    us.push_back((now_s() - begin) * 1e6);
    if (!found && rows >= 1000 * kWorkloads) throw_user("no best of '{}'", wanted);
  }
  std::ranges::sort(us);
  fmt::print("best of a workload: median {:.0f} us, 99 of 100 within {:.0f} us, worst {:.0f} us\n",
             us[us.size() / 2], us[us.size() * 99 / 100], us.back());
  begin = now_s();
  const DatabaseStats stats = log.stats();
  report(fmt::format("stats ({} tasks)", stats.tasks.size()), now_s() - begin);
  begin = now_s();
  if (!log.verify().sound()) throw_user("{} is damaged", a.string());
  report("verify", now_s() - begin);

  std::filesystem::copy_file(a, fresh(all));
  begin = now_s();
  {
    const AddedRows added = Database::open(all).merge({b})[0];
    if (added.trials.added != static_cast<std::int64_t>(rows - rows / 10)) throw_user("the merge lost rows");
  }
  report("merge of one into the other", now_s() - begin);
}

}  // namespace
}  // namespace lehr

int main(int argc, char** argv) {
  try {
    const std::optional<std::int64_t> rows = argc > 2 ? lehr::parse_int(argv[2]) : 1'000'000,
                                      logs = argc > 3 ? lehr::parse_int(argv[3]) : 0;
    if (argc < 2 || argc > 4 || !rows || !logs || *logs < 0 || *rows < (*logs > 0 ? 1 : 1000))
      lehr::throw_user("usage: log_bench FOLDER [ROWS [LOGS]]");
    std::filesystem::create_directories(argv[1]);
    if (*logs > 0)
      lehr::merge_many(argv[1], static_cast<std::uint64_t>(*rows), static_cast<std::uint64_t>(*logs));
    else
      lehr::run(argv[1], static_cast<std::uint64_t>(*rows));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "log_bench: {}\n", error.what());
    return 1;
  }
}
