// Runs inside a worker: answers requests with one runner.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "measure/core/runner.h"
#include "measure/system/process.h"
#include "measure/worker/messages.h"
#include "measure/worker/wire.h"

namespace lehr {

/// Slots of trials. LoadRequest's slots begin at kFirstLoadSlot.
inline constexpr int kReferenceSlot = 0;
inline constexpr int kTrialSlot = 1;
inline constexpr int kFirstLoadSlot = 2;

/// Most times that a window is measured. A disturbed one is repeated if the candidate might be a contender
/// without the disturbance. The least disturbed window counts.
inline constexpr int kAttempts = 3;
/// Number of candidates in a row without a calm window after which the machine counts as never calm: then
/// each gets one window, until one is calm.
inline constexpr int kRestless = 8;

/// Answers requests. The parent gets the replies; a Fault with `worker_lost` ends the process afterwards.
class Server {
 public:
  /// Borrows both.
  Server(Runner& runner, std::span<const ProblemKind> kinds) : runner_(runner), kinds_(kinds) {}

  Reply answer(const PrepareRequest& request);
  Reply answer(const LoadRequest& request);
  Reply answer(const TimeRequest& request);
  Reply answer(const RepeatRequest& request);
  Reply answer(const TrialRequest& request);
  Reply answer(const InputsRequest& request);
  Reply answer(const ProveRequest& request);

 private:
  using Clock = std::chrono::steady_clock;

  /// The result of one window of a trial.
  struct Window {
    Samples samples;
    double time_us = 0;       ///< corrected if the reference was timed beside it
    double reference_us = 0;  ///< 0: not timed
    double disturbance = 0;   ///< 1: the largest that is allowed
    double calm_us = 0;       ///< least time that it would have taken without the disturbance
  };

  Problem problem_at(const std::string& path);
  /// Puts the inputs at this path in place. A proof without time for its second half leaves the other
  /// problem's.
  void put_inputs(const std::string& path);
  Reply repeated();
  /// Times a window. `before` is the reference's time just before; on return, the one just after.
  std::variant<Window, Fault> window(const TrialRequest& request, std::optional<double>& before,
                                     Deadline wanted);
  /// Times windows until one is calm, at most kAttempts; returns the least disturbed one.
  std::variant<Window, Fault> calmest_window(const TrialRequest& request, std::optional<double>& before,
                                             Deadline wanted, Timing& timing);
  /// Times a candidate. After `wanted` one window with the fewest samples is enough, without correction.
  Reply timed(const TrialRequest& request, const Resources& resources, std::optional<double> before,
              Deadline wanted);
  /// Checks after a window: the outputs of its calls, and until `wanted` one more call on a poisoned output.
  std::optional<Fault> wrong_behind(int slot, Deadline wanted);
  /// Returns the reference kernel's time now; nullopt if there is no such kernel, or it is too slow to be of
  /// use.
  std::optional<double> reference_time(const std::optional<ReferenceKernel>& wanted);

  Runner& runner_;
  std::span<const ProblemKind> kinds_;
  std::string problem_path_;  ///< of the prepared problem
  std::string inputs_path_;   ///< of the problem whose inputs are in place
  double stored_s_ = 0;       ///< seconds for storing the last problem that was made
  bool device_checks_ = false;
  std::optional<Candidate> reference_;
  std::optional<Clock::time_point> fresh_at_;
  double fresh_us_ = 0;
  int restless_ = 0;  ///< number of candidates since the last calm window that had kAttempts disturbed ones
};

/// Receives requests on `in_fd` and answers on `out_fd`, beginning with `first`, a PrepareRequest, until the
/// parent hangs up or asks for another runner. Then it returns that request, or one without text at the end.
/// A candidate that lowers a limit of the process (getrlimit(2)) has failed, whatever its request's result.
Message serve(Runner& runner, std::span<const ProblemKind> kinds, int in_fd, int out_fd,
              const Message& first);

}  // namespace lehr
