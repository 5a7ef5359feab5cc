// Times participants in turn: our kernels and the vendor libraries, round by round.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/core/contest_options.h"
#include "measure/core/measurer.h"
#include "measure/worker/worker.h"

namespace lehr {

/// A participant. Several participants may share a worker and then share its buffers.
struct Participant {
  std::string name;
  Worker* worker = nullptr;
  LoadRequest load;        ///< participants of one worker have different slots
  bool contender = false;  ///< whether it is one of many participants of which only the fastest matters
  std::string missing;     ///< why it does not take part; "": it does
  std::optional<Failure> failure = std::nullopt;         ///< its failure while it was loaded or timed
  std::string note;                                      ///< copied to ContestEntry::note
  std::optional<LibraryFinding> finding = std::nullopt;  ///< copied to ContestEntry::finding
  double overhead_us = 0;                                ///< copied to ContestEntry::overhead_us
  int loaded = 0;      ///< Worker::generation() of the process in which it is loaded; 0: it is not loaded
  double turns_s = 0;  ///< ContestEntry::turns_s
};

/// ContestEntry::missing of a participant for which there was no time.
inline constexpr const char* kNoTimeLeft = "no time was left for it";

/// Loads the participants that are not loaded, until `most_s`. The remaining ones become `missing`. Workers
/// are left stopped.
void load(std::vector<Participant>& participants, const ContestOptions& options);

/// Loads all participants, then runs rounds. In its turn of a round a participant's process is continued
/// (SIGCONT), warmed up by one call, timed for a block, and stopped (SIGSTOP). Each round begins with another
/// participant. Stopped processes cannot disturb the others with spinning thread pools.
/// There are many contenders, because the kernel that looked fastest in the trials was also the luckiest.
/// They drop out in stages, because rounds spent on slow contenders are lost for the fast ones. All workers
/// are running again at the end.
/// Returns entries in the participants' order. After `most_s` no participant is loaded. If `last_s` left time
/// for fewer than kLeastRounds rounds, no entry is `finished`.
std::vector<ContestEntry> run_contest(std::vector<Participant>& participants, const ContestOptions& options);

/// Returns a participant's estimate() over three blocks, and over more blocks until 60 ms have passed. If it
/// fails, sets its `missing`. Its worker is left stopped.
double trial_block_us(Participant& participant, const ContestOptions& options);

}  // namespace lehr
