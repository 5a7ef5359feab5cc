// A worker that outlives its processes: after a crash, a hang or a lost device it gets a new process, which
// is prepared again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "measure/worker/worker_process.h"

namespace lehr {

/// Turns the fate of a process into values. Throws Error(kEnvironment) only if a worker cannot be started or
/// prepared at all, or if kMostThrown requests in a row made a new one throw.
class Worker {
 public:
  static constexpr int kMostThrown = 8;

  explicit Worker(WorkerOptions options);

  /// Starts a process if none runs, and lets its runner do the work that needs no problem. Failures are
  /// reported by prepare().
  void open(const PrepareRequest& request);
  /// Starts a process if none runs, and prepares it. The request is repeated for every replacement.
  void prepare(const PrepareRequest& request);
  /// Returns Runner::checked_by() of the process that was prepared last.
  const std::string& checked_by() const { return done_.note; }
  /// Returns that process's answer to the request.
  const Done& prepared() const { return done_; }
  /// Returns Timing (uncorrected fields as the worker measured them) or Failure.
  Outcome trial(const TrialRequest& request, double timeout_s);
  /// Returns the reply about the loaded kernel, or why it could not be loaded.
  std::variant<Done, Failure> load(const LoadRequest& request, double timeout_s);
  std::variant<Samples, Failure> time(const TimeRequest& request, double timeout_s);
  std::variant<Repetition, Failure> repeat(const RepeatRequest& request, double timeout_s);
  /// Replaces the inputs. Loaded kernels stay, and use these inputs until the process is replaced.
  std::optional<Failure> put_inputs(const InputsRequest& request, double timeout_s);
  /// Returns nullopt if the kernel in the slot was right in each call.
  std::optional<Failure> prove(const ProveRequest& request, double timeout_s);

  /// Stop the process, so that it uses no CPU, and continue it. A request continues it, too.
  void stop();
  void resume();
  /// Counts processes: slots that were loaded under another number are gone.
  int generation() const { return generation_; }

 private:
  /// Sends a request. If a worker throws an Error, a new process gets the request once more. If that throws,
  /// too, it is the candidate's failure: it may have closed or limited something that the process needs.
  std::variant<Reply, Failure> ask(const Request& request, double timeout_s);
  /// Does the same for requests whose only answer is Done.
  std::optional<Failure> ask_for_done(const Request& request, double timeout_s);
  std::variant<Reply, Failure> ask_once(const Request& request, double timeout_s);
  /// Does the same. A request that another candidate's damage has spoilt is sent once more to a new process.
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
