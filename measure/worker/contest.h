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

/// A participant. Several may share a worker, and then its buffers.
struct Participant {
  std::string name;
  Worker* worker = nullptr;
  LoadRequest load;        ///< participants of one worker have different slots
  bool contender = false;  ///< whether it is one of many of which only the fastest matter
  std::string missing;     ///< why it does not take part; "": it does
  std::optional<Failure> failure = std::nullopt;         ///< its failure when it was loaded or timed
  std::string note;                                      ///< copied to ContestEntry::note
  std::optional<LibraryFinding> finding = std::nullopt;  ///< copied to ContestEntry::finding
  double overhead_us = 0;                                ///< copied to ContestEntry::overhead_us
  int loaded = 0;      ///< Worker::generation() of the process that has its slot; 0: no process has
  double turns_s = 0;  ///< ContestEntry::turns_s
};

/// ContestEntry::missing of a participant for which there was no time.
inline constexpr const char* kNoTimeLeft = "no time was left for it";

/// Loads participants that are not loaded, until `most_s`; the rest is missing. Their workers are left
/// stopped.
void load(std::vector<Participant>& participants, const ContestOptions& options);

/// Loads all participants, then runs rounds. In each round, each participant's process is continued
/// (SIGCONT), warmed up by one call, timed for a block, and stopped (SIGSTOP); the first participant moves on
/// by one each round. Stopped processes cannot disturb the others with spinning thread pools.
/// Contenders meet in stages. They are many, because the one that looked fastest in the trials was also the
/// luckiest; but rounds spent on slow ones are lost for the fast ones. All workers are running again at the
/// end.
/// Returns entries in the participants' order. After `most_s` no participant is loaded. If `last_s` left less
/// than kLeastRounds rounds, none has finished.
std::vector<ContestEntry> run_contest(std::vector<Participant>& participants, const ContestOptions& options);

/// Returns a participant's estimate() over three blocks, and more for 60 ms. If it fails, sets its `missing`.
/// Its worker is left stopped.
double trial_block_us(Participant& participant, const ContestOptions& options);

}  // namespace lehr
