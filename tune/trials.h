// The trials that a session knows: its own and those of earlier runs, with the best of them and counts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "database/record.h"
#include "space/point.h"

namespace lehr {

/// Where an outcome comes from.
enum class Origin {
  kHere,     ///< measured by this session
  kEarlier,  ///< reused from an earlier run
  kTwin,     ///< its source equals that of a config measured here
};

/// A trial as a session knows it.
struct KnownTrial : Trial {
  Point point;  ///< its config
  Origin origin = Origin::kHere;
};

/// Trials in the order of arrival. A config that arrives again replaces its earlier trial.
class Trials {
 public:
  /// Adds a trial. Returns its position in all().
  std::size_t add(KnownTrial trial);

  /// Corrects times by the usual time of their reference kernel (Measurer::reference_us()). The trials at
  /// `positions` were timed next to that kernel; the first of them is the reference kernel's own trial.
  void correct(const std::vector<std::size_t>& positions, double reference_us);

  const std::vector<KnownTrial>& all() const { return all_; }
  const KnownTrial* find(const Point& point) const;
  /// Returns the fastest trial; nullptr when nothing has a time.
  const KnownTrial* best() const;

  int measured() const { return measured_; }  ///< number of trials of this session, failures included
  int timed() const { return timed_; }        ///< number of this session's trials that have a time
  int reused() const { return reused_; }      ///< number of trials of earlier runs, failures included
  int reused_timed() const { return reused_timed_; }
  int since_gain() const { return since_gain_; }  ///< measurements since the last gain of kPlateauGain
  /// Numbers of failures of this session
  const std::map<FailureKind, int>& failed() const { return failed_; }

 private:
  void find_best();

  std::vector<KnownTrial> all_;
  std::unordered_map<Point, std::size_t, PointHash> position_;
  std::optional<std::size_t> best_;
  double gain_from_us_ = 0;  // the best time when it last fell by more than kPlateauGain
  int measured_ = 0, timed_ = 0, reused_ = 0, reused_timed_ = 0, since_gain_ = 0;
  std::map<FailureKind, int> failed_;
};

}  // namespace lehr
