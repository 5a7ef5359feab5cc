// The kernels that cover a range of rows together, as a verdict of the log has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "database/record.h"

namespace lehr {

/// A stretch of rows and the kernel that serves it. The same kernel may serve several.
struct RowMember {
  std::string workload;           ///< its kernel's: "gemm m=..2048 ...", or, of one that is for 1 row, "m=1"
  std::string config;             ///< text
  std::uint64_t source_hash = 0;  ///< of its source, the same whatever the rows of a call
  std::string record;             ///< id of a trial of it in this set's choice, with the facts of its device
  std::int64_t to = 0;            ///< it serves the rows from behind the member before it up to these
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
  double us = 0;       ///< of the member that serves it
  double best_us = 0;  ///< of the fastest of all kernels; 0: only the set was timed
  friend bool operator==(const RowTime&, const RowTime&) = default;
};
void describe(auto& field, Is<RowTime> auto& time) {
  field("rows", time.rows);
  field("us", time.us);
  field("best_us", time.best_us);
}

/// A size that was not measured when the set was chosen: the member that serves it, in turn with the best
/// that a short tuning of this size found, and with the size's default.
struct HeldOutRows {
  std::int64_t rows = 0;
  double us = 0;          ///< of the set's member
  double own_us = 0;      ///< of the kernel of its own; 0: the tuning found none but the set's
  double default_us = 0;  ///< of the schedule that is taken there without any timing; 0: it did not run
  double loss = 0;        ///< us over that of the faster one of these, less 1, round by round; may be below 0
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

/// Of a range "gemm m=1..2048 ...".
struct RowSet {
  std::string workload;               ///< the range's text
  std::int64_t least = 0, most = 0;   ///< the range
  std::vector<RowMember> members;     ///< by `to`, ascending; the last one's is `most`
  std::vector<RowTime> times;         ///< by rows, ascending; the last one is `most`
  std::vector<HeldOutRows> held_out;  ///< by rows, ascending; empty: there was no time for any
  std::uint64_t held_out_seed = 0;    ///< that drew them
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

/// A clause why `set` covers no range; nullopt where it does.
std::optional<std::string> why_no_set(const RowSet& set);

/// The set of a range's verdict: the member "set" of its document. nullopt: it is a verdict of one kernel, or
/// its set is none (why_no_set()). The records of the members are Database::find() of their ids.
std::optional<RowSet> row_set_of(const StoredVerdict& verdict);

/// The member that serves so many rows. CHECKs that they are in the range.
const RowMember& member_for(const RowSet& set, std::int64_t rows);

/// The mean and the largest of losses; below 0 counts as 0, what is not known does not count. 0 where there
/// are none.
struct Losses {
  double mean = 0, worst = 0;
  /// The mean's 95 % interval, over other sizes that are drawn like these. Not known for fewer than four.
  Interval mean_interval = {};
};
Losses losses_of(const std::vector<RowTime>& times);
Losses losses_of(const std::vector<HeldOutRows>& held_out);

}  // namespace lehr
