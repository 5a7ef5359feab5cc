// Runs inside a worker: answers requests with one Runner.
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

/// Slots of trials. The slots of LoadRequest begin at kFirstLoadSlot.
inline constexpr int kReferenceSlot = 0;
inline constexpr int kTrialSlot = 1;
inline constexpr int kFirstLoadSlot = 2;

/// Maximum number of times that a window is measured. A disturbed window is repeated if the candidate might
/// be a contender without the disturbance. The least disturbed window counts.
inline constexpr int kAttempts = 3;
/// If this many candidates in a row had no calm window, the machine counts as never calm. From then on each
/// candidate gets one window, until a window is calm.
inline constexpr int kRestless = 8;

/// Answers requests. The replies are sent to the parent. A Fault with `worker_lost` ends the process
/// afterwards.
class Server {
 public:
  /// Borrows `runner` and `kinds`.
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
    double time_us = 0;       ///< corrected if the reference kernel was timed next to it
    double reference_us = 0;  ///< time of the reference kernel; 0: not timed
    double disturbance = 0;   ///< 1: the largest disturbance that is allowed
    double calm_us = 0;       ///< minimum time that the candidate would have taken without the disturbance
  };

  Problem problem_at(const std::string& path);
  /// Puts the inputs of the problem file `path` in place, if they are not. After a proof that had no time for
  /// its second half, the other problem's inputs are still in place.
  void put_inputs(const std::string& path);
  Reply repeated();
  /// Times a window. `before` is the reference kernel's time just before the window. On return it is the time
  /// just after it.
  std::variant<Window, Fault> window(const TrialRequest& request, std::optional<double>& before,
                                     Deadline wanted);
  /// Times windows until one is calm, at most kAttempts windows. Returns the least disturbed one.
  std::variant<Window, Fault> calmest_window(const TrialRequest& request, std::optional<double>& before,
                                             Deadline wanted, Timing& timing);
  /// Times a candidate. After `wanted`, one window with the fewest samples and without correction is enough.
  Reply timed(const TrialRequest& request, const Resources& resources, std::optional<double> before,
              Deadline wanted);
  /// Checks the kernel after a window: the outputs of the timed calls and, unless `wanted` has passed, one
  /// more call on a poisoned output.
  std::optional<Fault> wrong_behind(int slot, Deadline wanted);
  /// Returns the reference kernel's time now. nullopt: there is no reference kernel, or it is too slow to be
  /// of use.
  std::optional<double> reference_time(const std::optional<ReferenceKernel>& wanted);

  Runner& runner_;
  std::span<const ProblemKind> kinds_;
  std::string problem_path_;  ///< path of the prepared problem's file
  std::string inputs_path_;   ///< path of the file of the problem whose inputs are in place
  double stored_s_ = 0;       ///< seconds for storing the last problem that was made
  bool device_checks_ = false;
  std::optional<Candidate> reference_;
  std::optional<Clock::time_point> fresh_at_;
  double fresh_us_ = 0;
  int restless_ = 0;  ///< number of candidates in a row that had kAttempts windows, none of them calm
};

/// Receives requests on `in_fd` and sends replies on `out_fd`, beginning with `first`, which is a
/// PrepareRequest. Goes on until the parent hangs up or asks for another runner. Returns the request for
/// another runner, or a message without text if the parent hung up. A candidate that lowers a limit of the
/// process (getrlimit(2)) has failed, whatever the result of its request.
Message serve(Runner& runner, std::span<const ProblemKind> kinds, int in_fd, int out_fd,
              const Message& first);

}  // namespace lehr
