// Tests of the way from the verdict of a range of rows to the kernels that cover it, or to a sentence why
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/describe_json.h"
#include "codegen/emit.h"
#include "codegen/source_hash.h"
#include "deploy/rebuild.h"
#include "measure/host/cpu_device.h"
#include "templates/catalog.h"
#include "tests/deploy/exported.h"
#include "tune/stored_kernel.h"

namespace lehr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kRest = " n=50 k=33 batch=1 a=f32:row b=f32:row:constant c=f32:row accum=f32 epilogue=none";

/// A log of one range, as `lehr tune gemm --m 1..48` leaves it.
class Log {
 public:
  Database database = Database::open(":memory:");
  RowSet set;
  void (*change)(RowSet& set) = [](RowSet&) {};  ///< before the verdict is stored

  Log() {
    device_.name = "this";
    device_.limits = cpu_device(2, false).limits;
    device_.compiler = "a compiler";
    device_hash_ = database.append(stored_device(device_));
    set.workload = "gemm m=1..48" + kRest;
    set.least = 1;
    set.most = 48;
    set.times = {{1, 3, 3}, {16, 9, 9}, {48, 20, 20}};
  }

  Config config(const std::string& text, const char* family) const {
    for (const Config& config : families_for(catalog(), parse_workload(text), device_.limits).defaults)
      if (config.family == family) return config;
    throw std::runtime_error("no such family");
  }

  /// Returns a trial, which the set's next member names.
  Record trial(const std::string& text, const Config& config, double us, std::int64_t to) {
    Record record;
    const Workload workload = parse_workload(text);
    record.id = std::to_string(++trials_);
    record.workload = to_text(workload);
    record.device = identity_of(device_);
    record.device_hash = device_hash_;
    record.target = "cpu";
    record.arch = device_.limits.arch;
    record.config = config;
    record.template_version = template_named(config.family).version;
    Timing timing;
    timing.time_us = us;
    timing.samples_us = {us};
    record.outcome = timing;
    record.picked_by = "anneal";
    record.session = "a session";
    record.source_hash = hash_of(emit(lower(workload, config, device_.limits)));
    set.members.push_back(
        {to_text(of_any_call(workload)), to_text(config), record.source_hash, record.id, to});
    return record;
  }

  /// Returns the winners rebuilt with the set's verdict, whose record is the one for the most rows.
  RebuiltWinners rebuilt(const std::vector<Record>& records) {
    change(set);
    for (const Record& record : records) database.append(record);
    Record most = records.back();
    most.id = "most";
    most.workload = set.workload;
    database.append(most);
    StoredVerdict verdict;
    verdict.workload = set.workload;
    verdict.device = most.device;
    verdict.session = most.session;
    verdict.record_id = most.id;
    verdict.best = {20, {19, 21}};
    verdict.json = nlohmann::json{{"set", set}}.dump();
    database.append(verdict);
    return rebuild(winners(database, {}), database);
  }

 private:
  Device device_;
  std::uint64_t device_hash_ = 0;
  int trials_ = 0;
};

/// Returns a kernel for one row, and one for all others, which serves two stretches.
RebuiltWinners usual(Log& log) {
  const std::string any = "gemm m=..48" + kRest, one = "gemm m=1" + kRest;
  const auto [config, other] = lehr::testing::two_tiles(any);
  std::vector<Record> records = {log.trial(one, log.config(one, "gemv_cpu"), 3, 1),
                                 log.trial(any + " rows=8", config, 9, 8),
                                 log.trial(any + " rows=16", other, 9, 16), log.trial(any, config, 20, 48)};
  return log.rebuilt(records);
}

TEST(SetsOfALog, AreTheKernelsThatWereMeasuredEachOnce) {
  Log log;
  const RebuiltWinners made = usual(log);
  ASSERT_THAT(made.skipped, IsEmpty()) << made.skipped[0].reason;
  const auto set =
      std::ranges::find_if(made.sets, [](const RebuiltSet& each) { return each.members.size() > 1; });
  ASSERT_NE(set, made.sets.end());
  EXPECT_EQ(to_text(set->workload), log.set.workload);
  ASSERT_THAT(set->members, SizeIs(4));
  EXPECT_EQ(set->members[1].kernel, set->members[3].kernel);
  EXPECT_NE(set->members[1].kernel, set->members[2].kernel);
  for (std::size_t i = 0; i < 4; ++i) {
    const RebuiltKernel& kernel = made.kernels.at(set->members[i].kernel);
    EXPECT_EQ(set->members[i].to, log.set.members[i].to);
    EXPECT_EQ(to_text(kernel.workload), log.set.members[i].workload);
    EXPECT_EQ(hash_of(kernel.source), log.set.members[i].source_hash);
  }
  ASSERT_THAT(set->times, SizeIs(3));
  EXPECT_EQ(set->times[1].us, 9);
  // The trial of 1 row is a winner of its own, too; its kernel is there once. The trial of all 48 rows is the
  // set's.
  EXPECT_THAT(made.kernels, SizeIs(3));
  EXPECT_THAT(made.sets, SizeIs(1));
}

TEST(SetsOfALog, AreLeftOutWithAnyOfTheirKernels) {
  struct Case {
    void (*change)(RowSet& set);
    const char* says;
  };
  for (const auto& [change, says] :
       {Case{[](RowSet& set) { set.members[1].record = "none"; },
             "up to 8 rows: its trial is not in the log"},
        Case{[](RowSet& set) { set.members[1].source_hash ^= 1; },
             "up to 8 rows: its trial is not in the log"},
        Case{[](RowSet& set) { set.members[0].to = 2; }, "its kernel for up to 2 rows is for others"}}) {
    SCOPED_TRACE(says);
    Log log;
    log.change = change;
    const RebuiltWinners made = usual(log);
    ASSERT_THAT(made.skipped, SizeIs(1));
    EXPECT_THAT(made.skipped[0].reason, AllOf(HasSubstr("'" + log.set.workload + "' is left out: "),
                                              HasSubstr(says), HasSubstr("tune it again")));
    EXPECT_FALSE(made.skipped[0].remeasuring_helps);
    EXPECT_THAT(made.sets, IsEmpty());
  }
}

TEST(SetsOfALog, GoWithTheKernelsThatAreLeftOut) {
  Log log;
  RebuiltWinners made = usual(log);
  const std::size_t before = made.kernels.size();
  std::vector<bool> none(before, false), each(before, false);
  leave_out(made, none);
  EXPECT_THAT(made.kernels, SizeIs(before));
  EXPECT_THAT(made.sets, SizeIs(1));
  for (std::size_t i = 0; i < before; ++i)
    if (made.kernels[i].source.most_rows == 0) each[i] = true;
  leave_out(made, each);
  EXPECT_THAT(made.sets, IsEmpty()) << "the range has lost its kernel for one row";
  EXPECT_THAT(made.kernels, IsEmpty()) << "and its others with it";
}

}  // namespace
}  // namespace lehr
