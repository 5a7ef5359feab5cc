// Inside a worker: answers requests with one runner.
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

/// Slots of trials. Those of LoadRequest are counted from kFirstLoadSlot.
inline constexpr int kReferenceSlot = 0;
inline constexpr int kTrialSlot = 1;
inline constexpr int kFirstLoadSlot = 2;

/// A disturbed window is timed again, so often at most, if the candidate might be a contender without the
/// disturbance; the least disturbed window counts.
inline constexpr int kAttempts = 3;
/// After so many candidates in a row without a calm window the machine is not going to be calm: each gets one
/// window, until one is calm.
inline constexpr int kRestless = 8;

/// Replies are what the parent gets; a Fault with `worker_lost` ends the process afterwards.
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
    double time_us = 0;       ///< corrected, where the reference was timed beside it
    double reference_us = 0;  ///< 0: it was not
    double disturbance = 0;   ///< in units of what is allowed
    double calm_us = 0;       ///< what it would have taken, at the least, without the disturbance
  };

  Problem problem_at(const std::string& path);
  /// A proof that had no time for its second half leaves the other problem's in place.
  void put_inputs(const std::string& path);
  Reply repeated();
  /// `before`: the reference's time just before; afterwards that just behind.
  std::variant<Window, Fault> window(const TrialRequest& request, std::optional<double>& before,
                                     Deadline wanted);
  /// Windows until one is calm, kAttempts at most; the least disturbed one.
  std::variant<Window, Fault> calmest_window(const TrialRequest& request, std::optional<double>& before,
                                             Deadline wanted, Timing& timing);
  /// Behind `wanted` one window does, uncorrected and of the fewest samples.
  Reply timed(const TrialRequest& request, const Resources& resources, std::optional<double> before,
              Deadline wanted);
  /// Behind a window: what its calls left, and up to `wanted` one more call on a poisoned output.
  std::optional<Fault> wrong_behind(int slot, Deadline wanted);
  /// The reference kernel's time now; nullopt when there is none or it is too slow to be of use.
  std::optional<double> reference_time(const std::optional<ReferenceKernel>& wanted);

  Runner& runner_;
  std::span<const ProblemKind> kinds_;
  std::string problem_path_;  ///< of the prepared problem
  std::string inputs_path_;   ///< of the problem whose inputs are in place
  double stored_s_ = 0;       ///< what storing the last problem that was made took
  bool device_checks_ = false;
  std::optional<Candidate> reference_;
  std::optional<Clock::time_point> fresh_at_;
  double fresh_us_ = 0;
  int restless_ = 0;  ///< candidates since the last calm window that had kAttempts disturbed ones
};

/// Receives requests on `in_fd` and answers on `out_fd`, beginning with `first`, a PrepareRequest, until the
/// parent hangs up or asks for another runner: then it returns that request; one without text at the end. A
/// candidate that lowers a limit of the process (getrlimit(2)) has failed, whatever became of its request.
Message serve(Runner& runner, std::span<const ProblemKind> kinds, int in_fd, int out_fd,
              const Message& first);

}  // namespace lehr
