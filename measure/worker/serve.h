// Inside a worker: answers requests with one runner.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "measure/core/runner.h"
#include "measure/system/process.h"
#include "measure/worker/messages.h"
#include "measure/worker/wire.h"

namespace lehr {

/// Slots of trials. Those of LoadRequest are counted from kFirstLoadSlot.
inline constexpr int kReferenceSlot = 0;
inline constexpr int kTrialSlot = 1;
inline constexpr int kFirstLoadSlot = 2;

/// Clocks drift by some per cent; a reference that moved further met other work on the machine, which says
/// nothing of what the candidate met: the correction stops there. Measured beside four compilers on two
/// cores, 2026-11-21: without the limit single trials came out twice too fast.
inline constexpr double kLargestCorrection = 1.15;
/// A disturbed window is timed again, so often at most, if the candidate might be a contender without the
/// disturbance; the least disturbed window counts.
inline constexpr int kAttempts = 3;
/// After so many candidates in a row without a calm window the machine is not going to be calm: each gets one
/// window, until one is calm.
inline constexpr int kRestless = 8;
/// A proof (ProveRequest) makes at least so many calls on each problem, and at most so many on the other one,
/// whose few rows are there to find answers from memory.
inline constexpr int kLeastProofs = 2, kMostOtherProofs = 8;
/// The least that a proof takes, in calls: a checked one to load the kernel, and these.
inline constexpr int kCallsOfAProof = 1 + 2 * kLeastProofs;

/// Replies are what the parent gets; a Fault with `worker_lost` ends the process afterwards.
class Server {
 public:
  /// Borrows `runner`.
  explicit Server(Runner& runner) : runner_(runner) {}

  Reply answer(const PrepareRequest& request);
  Reply answer(const LoadRequest& request);
  Reply answer(const TimeRequest& request);
  Reply answer(const RepeatRequest& request);
  Reply answer(const TrialRequest& request);
  Reply answer(const ProveRequest& request);

 private:
  using Clock = std::chrono::steady_clock;

  Problem problem_at(const std::string& path) const;
  Reply repeated();
  /// Up to `calls` checked calls, of which the last ends behind `until`; a fault says which it was.
  std::optional<Fault> proven(int slot, int calls, Clock::time_point until, const char* inputs);
  /// Behind `wanted` one window does, uncorrected and of the fewest samples.
  Reply timed(const TrialRequest& request, const Resources& resources, std::optional<double> before,
              Deadline wanted);
  /// Behind a window: what its calls left, and up to `wanted` one more call on a poisoned output.
  std::optional<Fault> wrong_behind(int slot, Deadline wanted);
  /// The reference kernel's time now; nullopt when there is none or it is too slow to be of use.
  std::optional<double> reference_time(const std::optional<ReferenceKernel>& wanted);

  Runner& runner_;
  std::string problem_path_;  ///< of the prepared problem
  bool device_checks_ = false;
  std::optional<Candidate> reference_;
  std::optional<Clock::time_point> fresh_at_;
  double fresh_us_ = 0;
  int restless_ = 0;  ///< candidates since the last calm window that had kAttempts disturbed ones
};

/// Receives requests on `in_fd` and answers on `out_fd`, beginning with `first`, a PrepareRequest, until the
/// parent hangs up or asks for another runner: then it returns that request; one without text at the end. A
/// candidate that lowers a limit of the process (getrlimit(2)) has failed, whatever became of its request.
Message serve(Runner& runner, int in_fd, int out_fd, const Message& first);

}  // namespace lehr
