// The kernels that cover a range of rows together, as a verdict of the log stores them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "database/record.h"

namespace lehr {

/// A sequence of rows and the kernel that serves it. The same kernel may serve several sequences.
struct RowMember {
  /// The kernel's workload: "gemm m=..2048 ..."; "m=1" for a kernel for exactly one row.
  std::string workload;
  std::string config;  ///< text of the config
  /// Hash of the kernel's source, which does not depend on the rows of a call.
  std::uint64_t source_hash = 0;
  /// Id of one of the kernel's trials when this set was chosen; it names the device's facts.
  std::string record;
  /// Last row that it serves; its rows begin after the last row of the member before it.
  std::int64_t to = 0;
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
  double us = 0;       ///< time of the member that serves this size
  double best_us = 0;  ///< time of the fastest kernel of all; 0: only the set was timed
  friend bool operator==(const RowTime&, const RowTime&) = default;
};
void describe(auto& field, Is<RowTime> auto& time) {
  field("rows", time.rows);
  field("us", time.us);
  field("best_us", time.best_us);
}

/// A size that was not measured when the set was chosen. The set's member for it is timed in turn with the
/// best kernel of a short tuning of this size, and with the size's default.
struct HeldOutRows {
  std::int64_t rows = 0;
  double us = 0;  ///< time of the set's member
  /// Time of the best kernel of the short tuning; 0: the tuning found no other kernel than the set's.
  double own_us = 0;
  double default_us = 0;  ///< time of the default schedule, which is chosen without timing; 0: it did not run
  /// `us` divided by the lower of the two other times, less 1; computed per round; may be below 0.
  double loss = 0;
  double loss_low = 0, loss_high = 0;  ///< 95 % interval of `loss`
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
  std::string workload;              ///< the range's text
  std::int64_t least = 0, most = 0;  ///< first and last number of rows of the range
  std::vector<RowMember> members;    ///< ordered by `to`, ascending; the last `to` is `most`
  std::vector<RowTime> times;        ///< ordered by `rows`, ascending; the last one is `most`
  /// Ordered by `rows`, ascending; empty: there was no time for held-out sizes.
  std::vector<HeldOutRows> held_out;
  std::uint64_t held_out_seed = 0;  ///< the seed with which the held-out sizes were drawn
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

/// Returns a clause that says why `set` does not cover a range; nullopt if it does.
std::optional<std::string> why_no_set(const RowSet& set);

/// Returns the set of a range's verdict, which is "set" in the verdict's document. Returns nullopt if the
/// verdict is about one kernel, or if its set does not cover the range (why_no_set()). The records of the
/// members are found by their ids (Database::find()).
std::optional<RowSet> row_set_of(const StoredVerdict& verdict);

/// Returns the member that serves `rows` rows. CHECKs that `rows` is in the range.
const RowMember& member_for(const RowSet& set, std::int64_t rows);

/// The mean and the largest of several losses. A loss below 0 counts as 0; unknown losses do not count. 0 if
/// there are no losses.
struct Losses {
  double mean = 0, worst = 0;
  /// 95 % interval of the mean over all sizes that could have been drawn. Not known for fewer than four
  /// sizes.
  Interval mean_interval = {};
};
Losses losses_of(const std::vector<RowTime>& times);
Losses losses_of(const std::vector<HeldOutRows>& held_out);

}  // namespace lehr
