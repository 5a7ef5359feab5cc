// Tests of schedules that are described once.
#include "space/knobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace lehr {
namespace {

using ::testing::ElementsAre;

struct Schedule {
  std::int64_t unroll = 7;  ///< not in the order of the knobs
  std::int64_t threads = 1, split = 0, mr = 1, pack = 0;
};

/// Describes the knobs for 64 rows; packing is a knob of some workloads only.
void visit(Knobs<Schedule>& k, bool packs) {
  using S = Schedule;
  k.knob(&S::threads, "threads", "CPU threads", {1, 8});
  k.knob(&S::split, "split", "threads share out 0: rows, 1: columns", {0, 1});
  k.only([](const S& s) { return s.split == 0 || s.threads > 1; });
  k.knob(&S::mr, "mr", "rows of C in registers", {1, 4, 16});
  k.forbid("more threads than tiles", [](const S& s) { return s.split == 0 && 64 / s.mr < s.threads; });
  if (packs) k.knob(&S::pack, "pack", "1: panels", {0, 1});
  k.knob(&S::unroll, "unroll", "steps", {1, 2});
  k.forbid("too much code", [](const S& s) { return s.mr * s.unroll > 16; });
}

FamilySpace space(bool packs) {
  return described_space<Schedule>("f", [=](Knobs<Schedule>& k) { visit(k, packs); });
}

TEST(Knobs, AreThoseThatTheFunctionVisitsInItsOrder) {
  const FamilySpace f = space(true);
  std::vector<std::string> names;
  for (const Knob& knob : f.knobs()) names.push_back(knob.name);
  EXPECT_THAT(names, ElementsAre("threads", "split", "mr", "pack", "unroll"));
  EXPECT_THAT(space(false).knobs()[3].values, ElementsAre(1, 2));
}

TEST(Knobs, RulesSayWhatIsWrong) {
  const FamilySpace f = space(false);
  EXPECT_EQ(f.why_invalid(parse_config("f(threads=8, split=0, mr=4, unroll=2)")), std::nullopt);
  EXPECT_EQ(f.why_invalid(parse_config("f(threads=8, split=0, mr=16, unroll=1)")),
            "more threads than tiles (at mr=16)");
  EXPECT_EQ(f.why_invalid(parse_config("f(threads=8, split=1, mr=16, unroll=2)")),
            "too much code (at unroll=2)");
  EXPECT_EQ(f.why_invalid(parse_config("f(threads=1, split=1, mr=1, unroll=1)")),
            "split=1 does not go with the knobs before it, which allow 0");
}

TEST(Knobs, AScheduleAndItsConfigAreOneThing) {
  for (const bool packs : {false, true}) {
    const FamilySpace f = space(packs);
    Rng rng(1);
    for (int i = 0; i < 50; ++i) {
      const Point point = f.sample(rng).value();
      const Config config = f.config_of(point);
      const auto schedule = f.members_of(config).as<Schedule>();
      EXPECT_EQ(schedule.mr, config.at("mr"));
      EXPECT_EQ(schedule.pack, config.find("pack").value_or(0));
      EXPECT_EQ(f.config_of(Members::of(schedule)), config);
      EXPECT_EQ(f.config_of(f.members_of(point)), config);
    }
  }
}

TEST(Knobs, AreReadByNameAndAllOfThem) {
  const FamilySpace f = space(false);
  EXPECT_THROW(f.members_of(parse_config("f(threads=8, split=0, mr=4)")), Error);
  EXPECT_EQ(f.members_of(parse_config("f(unroll=3, mr=4, threads=8, new=1, split=0)")).as<Schedule>().unroll,
            3);
}

TEST(Knobs, TheNearestConfigOfAWantedScheduleIsValid) {
  EXPECT_EQ(to_text(space(true).nearest(
                Members::of(Schedule{.unroll = 2, .threads = 8, .split = 1, .mr = 12, .pack = 1}))),
            "f(threads=8, split=1, mr=16, pack=1, unroll=1)");
  EXPECT_EQ(to_text(space(false).nearest(Members::of(Schedule{.threads = 3, .split = 1, .mr = 3}))),
            "f(threads=1, split=0, mr=4, unroll=2)");
}

TEST(Knobs, ARuleThatIsAskedTooEarlyIsFound) {
  FamilySpace sound = space(true);
  const auto early = described_space<Schedule>("f", [](Knobs<Schedule>& k) {
    k.knob(&Schedule::mr, "mr", "", {1, 2});
    k.forbid("reads a later knob", [](const Schedule& s) { return s.mr * s.unroll > 2; });
    k.knob(&Schedule::unroll, "unroll", "", {1, 2});
  });
  const auto late = described_space<Schedule>("f", [](Knobs<Schedule>& k) {
    k.knob(&Schedule::mr, "mr", "", {1, 2});
    k.only([](const Schedule& s) { return s.mr * s.unroll > 2; });
    k.knob(&Schedule::unroll, "unroll", "", {1, 2});
  });
  EXPECT_EQ(early.read_ahead({}, {}), "reads a later knob");
  EXPECT_EQ(late.read_ahead({}, {}), "mr");
  EXPECT_EQ(sound.read_ahead({0, {1, 0, 2, 1, 1}}, {0, {0, 1, 1, 0, 0}}), std::nullopt);
}

TEST(Knobs, TwoOfOneMemberAreRefused) {
  EXPECT_THROW(described_space<Schedule>("f",
                                         [](Knobs<Schedule>& k) {
                                           k.knob(&Schedule::mr, "mr", "", {1, 2});
                                           k.knob(&Schedule::mr, "nr", "", {1, 2});
                                         }),
               Error);
}

}  // namespace
}  // namespace lehr
