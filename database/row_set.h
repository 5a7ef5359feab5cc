// The kernels that cover a range of rows together, as a verdict of the log stores them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "database/record.h"

namespace lehr {

/// A stretch of rows and the kernel that serves it. The same kernel may serve several stretches.
struct RowMember {
  std::string workload;           ///< its kernel's: "gemm m=..2048 ..."; "m=1" for a kernel that is for 1 row
  std::string config;             ///< text
  std::uint64_t source_hash = 0;  ///< hash of its source, the same whatever the rows of a call
  std::string record;   ///< id of one of its trials when this set was chosen, with the facts of its device
  std::int64_t to = 0;  ///< last row of its stretch, which begins behind that of the member before it
  friend bool operator==(const RowMember&, const RowMember&) = default;
};
void describe(auto& field, Is<RowMember> auto& member) {
  field("workload", member.workload);
  field("config", member.config);
  field("source_hash", member.source_hash);
  field("record", member.record);
  field("to", member.to);
}

/// A size at which the set was timed.
struct RowTime {
  std::int64_t rows = 0;
  double us = 0;       ///< time of the member that serves it
  double best_us = 0;  ///< time of the fastest of all kernels; 0: only the set was timed
  friend bool operator==(const RowTime&, const RowTime&) = default;
};
void describe(auto& field, Is<RowTime> auto& time) {
  field("rows", time.rows);
  field("us", time.us);
  field("best_us", time.best_us);
}

/// A size that was not measured when the set was chosen. Its member of the set is timed in turn with the best
/// kernel of a short tuning of this size, and with the size's default.
struct HeldOutRows {
  std::int64_t rows = 0;
  double us = 0;      ///< time of the set's member
  double own_us = 0;  ///< time of the size's own kernel; 0: the tuning found no other kernel than the set's
  double default_us = 0;  ///< time of the schedule that is chosen there without any timing; 0: it did not run
  double loss = 0;        ///< `us` over the faster of the two others, less 1, round by round; may be below 0
  double loss_low = 0, loss_high = 0;  ///< its 95 % interval
  friend bool operator==(const HeldOutRows&, const HeldOutRows&) = default;
};
void describe(auto& field, Is<HeldOutRows> auto& held_out) {
  field("rows", held_out.rows);
  field("us", held_out.us);
  field("own_us", held_out.own_us);
  field("default_us", held_out.default_us);
  field("loss", held_out.loss);
  field("loss_low", held_out.loss_low);
  field("loss_high", held_out.loss_high);
}

/// A set for a range "gemm m=1..2048 ...".
struct RowSet {
  std::string workload;               ///< the range's text
  std::int64_t least = 0, most = 0;   ///< the range
  std::vector<RowMember> members;     ///< by `to`, ascending; the last `to` is `most`
  std::vector<RowTime> times;         ///< by rows, ascending; the last one is `most`
  std::vector<HeldOutRows> held_out;  ///< by rows, ascending; empty: there was no time for any
  std::uint64_t held_out_seed = 0;    ///< the seed that drew them
  friend bool operator==(const RowSet&, const RowSet&) = default;
};
void describe(auto& field, Is<RowSet> auto& set) {
  field("workload", set.workload);
  field("least", set.least);
  field("most", set.most);
  field("members", set.members);
  field("times", set.times);
  field("held_out", set.held_out);
  field("held_out_seed", set.held_out_seed);
}

/// Returns a clause why `set` does not cover a range; nullopt if it does.
std::optional<std::string> why_no_set(const RowSet& set);

/// Returns the set of a range's verdict: the member "set" of its document. nullopt: the verdict is of one
/// kernel, or its set covers no range (why_no_set()). Database::find() of the members' ids gives their
/// records.
std::optional<RowSet> row_set_of(const StoredVerdict& verdict);

/// Returns the member that serves `rows` rows. CHECKs that they are in the range.
const RowMember& member_for(const RowSet& set, std::int64_t rows);

/// The mean and the largest of losses. A loss below 0 counts as 0; unknown losses do not count. 0 if there
/// are no losses.
struct Losses {
  double mean = 0, worst = 0;
  /// The mean's 95 % interval, over other sizes that are drawn like these. Not known for fewer than four
  /// sizes.
  Interval mean_interval = {};
};
Losses losses_of(const std::vector<RowTime>& times);
Losses losses_of(const std::vector<HeldOutRows>& held_out);

}  // namespace lehr
