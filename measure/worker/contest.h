// Participants timed in turn: our kernels and the vendor libraries, round by round.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/core/contest_options.h"
#include "measure/core/measurer.h"
#include "measure/worker/worker.h"

namespace lehr {

/// One side. Several may share a worker: then they share its buffers too.
struct Participant {
  std::string name;
  Worker* worker = nullptr;
  LoadRequest load;                               ///< slots are distinct among participants of one worker
  bool contender = false;                         ///< one of many of which only the fastest matter
  std::string missing;                            ///< set: it does not take part
  std::optional<Failure> failure = std::nullopt;  ///< what it did when it was loaded or timed
  std::string note;                               ///< goes into ContestEntry::note
  std::optional<LibraryFinding> finding = std::nullopt;  ///< and this into ContestEntry::finding
  double overhead_us = 0;                                ///< and ContestEntry::overhead_us
  int loaded = 0;      ///< Worker::generation() of the process that holds its slot; 0: none does
  double turns_s = 0;  ///< ContestEntry::turns_s
};

/// ContestEntry::missing of whom the time did not suffice for.
inline constexpr const char* kNoTimeLeft = "no time was left for it";

/// Loads those who are not loaded, until `most_s`: then they are missing. Their workers are stopped.
void load(std::vector<Participant>& participants, const ContestOptions& options);

/// Loads everyone, then rounds: each participant's process is continued (SIGCONT), warmed up by one call,
/// timed for a block, and stopped (SIGSTOP); the starting one moves on by one each round. Stopped processes
/// cannot disturb the others with spinning thread pools. Contenders meet in stages: many of them, because the
/// one that looked fastest in the trials was also the luckiest, but rounds spent on the slow ones are lost to
/// the fast ones. All workers are running again at the end. Entries in the participants' order. Behind
/// `most_s` nobody is loaded; where `last_s` left less than kLeastRounds rounds, none of them has finished.
std::vector<ContestEntry> run_contest(std::vector<Participant>& participants, const ContestOptions& options);

/// One participant's estimate() over three blocks, and more for 60 ms; missing is set on it when it fails.
/// Its worker is left stopped.
double trial_block_us(Participant& participant, const ContestOptions& options);

}  // namespace lehr
