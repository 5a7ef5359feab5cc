// A worker that outlives its processes. After a crash, a hang or a lost device it starts a new process and
// prepares it again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "measure/worker/worker_process.h"

namespace lehr {

/// Returns the fate of a process as a value. Throws Error(kEnvironment) only if a worker cannot be started or
/// prepared at all, or if kMostThrown requests in a row made a new process throw.
class Worker {
 public:
  static constexpr int kMostThrown = 8;

  explicit Worker(WorkerOptions options);

  /// Starts a process if none is running, and lets its runner do the work that does not depend on a problem.
  /// Failures are reported by prepare().
  void open(const PrepareRequest& request);
  /// Starts a process if none is running, and prepares it. The request is sent again to every replacement.
  void prepare(const PrepareRequest& request);
  /// Returns Runner::checked_by() of the process that was prepared last.
  const std::string& checked_by() const { return done_.note; }
  /// Returns the reply of the process that was prepared last.
  const Done& prepared() const { return done_; }
  /// Returns Timing, with times as the worker measured them, or Failure.
  Outcome trial(const TrialRequest& request, double timeout_s);
  /// Returns the reply about the loaded kernel, or the failure to load it.
  std::variant<Done, Failure> load(const LoadRequest& request, double timeout_s);
  std::variant<Samples, Failure> time(const TimeRequest& request, double timeout_s);
  std::variant<Repetition, Failure> repeat(const RepeatRequest& request, double timeout_s);
  /// Replaces the inputs. Loaded kernels stay loaded, and use the new inputs until the process is replaced.
  std::optional<Failure> put_inputs(const InputsRequest& request, double timeout_s);
  /// Returns nullopt if the kernel in the slot was right in each call.
  std::optional<Failure> prove(const ProveRequest& request, double timeout_s);

  /// Stop the process, so that it uses no CPU, and let it continue. A request also lets it continue.
  void stop();
  void resume();
  /// Returns the number of the current process. Slots that were loaded under another number are gone.
  int generation() const { return generation_; }

 private:
  /// Sends a request. If the worker throws an Error, a new process gets the request once more. If that
  /// process throws, too, it is the candidate's failure: the candidate may have closed or limited something
  /// that the process needs.
  std::variant<Reply, Failure> ask(const Request& request, double timeout_s);
  /// Does the same for requests whose only successful reply is Done.
  std::optional<Failure> ask_for_done(const Request& request, double timeout_s);
  std::variant<Reply, Failure> ask_once(const Request& request, double timeout_s);
  /// Sends a request. If another candidate's damage has spoilt the request, a new process gets it once more.
  std::variant<Reply, Failure> ask_undamaged(const Request& request, double timeout_s);
  void start();
  void take_prepared(Reply& reply);

  WorkerOptions options_;
  std::optional<PrepareRequest> prepared_;
  std::unique_ptr<WorkerProcess> process_;
  Done done_;
  int generation_ = 0;
  bool stopped_ = false;
  bool damaged_ = false;  ///< whether the last request's fault was of_another
  int thrown_ = 0;        ///< number of requests in a row that ended in an Error
};

}  // namespace lehr
