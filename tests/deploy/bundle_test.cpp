// Tests that export writes what was measured, or nothing, from logs of cards that are not here.
#include "deploy/kernel_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "codegen/emit.h"
#include "codegen/source_hash.h"
#include "deploy/rebuild.h"
#include "deploy/winners.h"
#include "target/archs.h"
#include "templates/catalog.h"
#include "tests/support/forged_cards.h"
#include "tests/support/isa_limits.h"
#include "tune/stored_kernel.h"

namespace lehr::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kLarge =
    "gemm m=4096 n=4096 k=4096 batch=1 a=f16:row b=f16:column c=f16:row accum=f32 epilogue=none";

/// Returns a persistent default where there is one, else the last default.
Config config_for(const Workload& workload, const Limits& limits) {
  const std::vector<Config> defaults = families_for(catalog(), workload, limits).defaults;
  for (const Config& config : defaults)
    for (const KnobValue& knob : config.knobs)
      if (knob.name == "persistent" && knob.value == 1) return config;
  return defaults.back();
}

/// Returns a timed trial of `config` as `tune` on `device` would have stored it.
Record trial_on(const Device& device, const Workload& workload, const Config& config) {
  Record record;
  record.workload = to_text(workload);
  record.device = identity_of(device);
  record.target = name_of(device.limits.target);
  record.arch = device.limits.arch;
  record.config = config;
  record.template_version = template_named(config.family).version;
  Timing timing;
  timing.time_us = 200;
  timing.samples_us = {200};
  record.outcome = timing;
  record.picked_by = "anneal";
  record.source_hash = hash_of(emit(lower(workload, config, device.limits)));
  return record;
}

RebuiltWinners exported(const Database& log) {
  return rebuild(winners(log, {}), log);
}

TEST(Export, MakesTheKernelThatTheCardMeasured) {
  const Workload workload = parse_workload(kLarge);
  for (const Card& card : kCards) {
    SCOPED_TRACE(card.name);
    const Device device = forged(card);
    Database log = Database::open(":memory:");
    Record record = trial_on(device, workload, config_for(workload, device.limits));
    record.device_hash = log.append(stored_device(device));
    log.append(record);
    const RebuiltWinners bundle = exported(log);
    ASSERT_THAT(bundle.skipped, IsEmpty()) << bundle.skipped[0].reason;
    const RebuiltKernel& kernel = bundle.kernels.at(0);
    EXPECT_EQ(to_json(kernel.source), to_json(emit(lower(workload, record.config, device.limits))));
    EXPECT_EQ(to_json(kernel.winner)["arch"], card.arch);
  }
}

// The text and the grid of a persistent kernel are made for so many multiprocessors.
TEST(Export, GivesAPersistentKernelTheGridOfItsCard) {
  const Workload workload = parse_workload(kLarge);
  const Device h100 = forged(kCards[0]);
  ASSERT_EQ(h100.limits.cores, 114);
  const Limits usual = archs_of(h100.limits.target).limits("sm_90a", 0);
  const Config config = config_for(workload, h100.limits);
  ASSERT_EQ(config.at("persistent"), 1);
  Database log = Database::open(":memory:");
  Record record = trial_on(h100, workload, config);
  record.device_hash = log.append(stored_device(h100));
  log.append(record);
  const json source = to_json(exported(log).kernels.at(0).source);
  const auto blocks = [](const json& grid) {
    return grid[0].get<int>() * grid[1].get<int>() * grid[2].get<int>();
  };
  EXPECT_LE(blocks(source["grid"]), 114);
  EXPECT_GT(blocks(source["grid"]), 78);
  const json another = to_json(emit(lower(workload, config, usual)));
  EXPECT_NE(source["grid"], another["grid"]);
  EXPECT_GT(blocks(another["grid"]), 114);
}

TEST(Export, RefusesAKernelWithAnotherHashThanWasMeasured) {
  const Workload workload = parse_workload(kLarge);
  const Device h100 = forged(kCards[0]);
  Device other = h100;
  other.limits.cores = 132;
  Database log = Database::open(":memory:");
  // Measured with the facts of one card, stored with those of another: as an emitter that has changed since.
  Record record = trial_on(other, workload, config_for(workload, other.limits));
  record.device = identity_of(h100);
  record.device_hash = log.append(stored_device(h100));
  log.append(record);
  const RebuiltWinners bundle = exported(log);
  EXPECT_THAT(bundle.kernels, IsEmpty());
  ASSERT_THAT(bundle.skipped, SizeIs(1));
  EXPECT_TRUE(bundle.skipped[0].remeasuring_helps);
  EXPECT_THAT(bundle.skipped[0].reason, AllOf(HasSubstr("another kernel of its config"), HasSubstr(kLarge),
                                              HasSubstr("lehr export --remeasure")));
  EXPECT_EQ(bundle.skipped[0].reason.find('\n'), std::string::npos);
}

TEST(Export, RefusesATrialWhoseDeviceIsNotInTheLog) {
  const Workload workload = parse_workload(kLarge);
  const Device h100 = forged(kCards[0]);
  for (const std::uint64_t device : {0, 1}) {
    Database log = Database::open(":memory:");
    Record record = trial_on(h100, workload, config_for(workload, h100.limits));
    record.device_hash = device;
    log.append(record);
    const RebuiltWinners bundle = exported(log);
    ASSERT_THAT(bundle.skipped, SizeIs(1)) << device;
    EXPECT_THAT(bundle.skipped[0].reason,
                AllOf(HasSubstr("is not in the log"), HasSubstr("lehr export --remeasure")));
    EXPECT_TRUE(bundle.skipped[0].remeasuring_helps);
  }
}

TEST(Export, RefusesWhatWasNotProven) {
  const Workload workload = parse_workload(kLarge);
  const Device h100 = forged(kCards[0]);
  for (const bool provisional : {false, true}) {
    Database log = Database::open(":memory:");
    Record record = trial_on(h100, workload, config_for(workload, h100.limits));
    record.device_hash = log.append(stored_device(h100));
    StoredVerdict verdict;
    verdict.workload = record.workload;
    verdict.device = record.device;
    verdict.record_id = log.append(record).id;
    verdict.best.us = *record.time_us();
    verdict.json = "{}";
    verdict.provisional = provisional;
    log.append(verdict);
    const RebuiltWinners bundle = exported(log);
    ASSERT_THAT(bundle.skipped, SizeIs(provisional ? 1 : 0));
    EXPECT_THAT(bundle.kernels, SizeIs(provisional ? 0 : 1));
    if (!provisional) continue;
    EXPECT_TRUE(bundle.skipped[0].provisional);
    EXPECT_THAT(bundle.skipped[0].reason,
                AllOf(HasSubstr("no time to prove its kernel"), HasSubstr("lehr export proves it")));
  }
}

TEST(Export, SaysWhereMeasuringAgainIsNoHelp) {
  const Workload workload = parse_workload(kLarge);
  const Device h100 = forged(kCards[0]);
  Database log = Database::open(":memory:");
  Record record = trial_on(h100, workload, config_for(workload, h100.limits));
  record.device_hash = log.append(stored_device(h100));
  record.config.knobs[0].value = 12345;
  log.append(record);
  const RebuiltWinners bundle = exported(log);
  ASSERT_THAT(bundle.skipped, SizeIs(1));
  EXPECT_FALSE(bundle.skipped[0].remeasuring_helps);
  EXPECT_THAT(bundle.skipped[0].reason, AllOf(HasSubstr("no longer valid"), HasSubstr("tune it again")));
}

// A fact that a row lacks is taken to be the arch's usual one, and the hash says whether that was right.
TEST(Export, GoesByTheHashWhereARowLacksAFact) {
  const Workload workload = parse_workload(kLarge);
  const Device h100 = forged(kCards[0]);
  for (const bool kernel_depends_on_it : {false, true}) {
    Device lacking = h100;
    (kernel_depends_on_it ? lacking.limits.shared_bytes_per_block : lacking.limits.l2_bytes) = 0;
    Device measured = h100;
    if (kernel_depends_on_it)
      measured.limits.shared_bytes_per_block = 100 << 10;  // not what is usual for the arch
    Database log = Database::open(":memory:");
    Record record = trial_on(measured, workload, config_for(workload, measured.limits));
    if (kernel_depends_on_it)
      record.source_hash ^= 1;  // as of a kernel that the usual fact makes another one
    record.device_hash = log.append(stored_device(lacking));
    log.append(record);
    const RebuiltWinners bundle = exported(log);
    EXPECT_THAT(bundle.kernels, SizeIs(kernel_depends_on_it ? 0 : 1));
    if (!kernel_depends_on_it) continue;
    ASSERT_THAT(bundle.skipped, SizeIs(1));
    EXPECT_THAT(bundle.skipped[0].reason, HasSubstr("another kernel of its config"));
  }
}

TEST(StoredDevice, LeavesOutRatesThatEachSessionMeasures) {
  for (const Target target : kTargets) {
    Device device = forged(kCards[0]);
    device.limits.target = target;
    device.limits.peak_gflops_f32 = 5;
    device.limits.dram_gbytes_per_s = 6;
    const StoredDevice stored = stored_device(device);
    EXPECT_EQ(stored.limits.peak_gflops_f32, target.has(Feature::kHostFunction) ? 0 : 5) << name_of(target);
    EXPECT_EQ(stored.limits.dram_gbytes_per_s, target.has(Feature::kHostFunction) ? 0 : 6) << name_of(target);
    EXPECT_EQ(limits_of(stored).dram_gbytes_per_s, stored.limits.dram_gbytes_per_s);
    EXPECT_EQ(stored.identity, identity_of(device));
  }
}

// A stored device keeps the features with which a kernel of a narrow type was lowered.
TEST(StoredDevice, KeepsWhatAProcessorHasBeyondItsLevel) {
  Device device;
  device.limits = limits_of(isa_named("x86-64-v4+avx512vnni"), 2);
  const Limits back = limits_of(stored_device(device));
  EXPECT_TRUE(back.has(Ability::kInt8Dot));
  EXPECT_FALSE(back.has(Ability::kBf16Dot));
  StoredDevice before = stored_device(device);
  before.limits.abilities = 0;
  EXPECT_EQ(limits_of(before).abilities, 0);
  EXPECT_EQ(before.identity, stored_device(device).identity);
}

}  // namespace
}  // namespace lehr::test
