// A worker that outlives its processes: replaced after a crash, hang or lost device, and prepared again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "measure/worker/worker_process.h"

namespace lehr {

/// Turns what happens to the process into values. Throws Error(kEnvironment) only when a worker cannot be
/// started or prepared at all, or kMostThrown requests in a row made a new one throw.
class Worker {
 public:
  static constexpr int kMostThrown = 8;

  explicit Worker(WorkerOptions options);

  /// Starts a process where none runs, and lets its runner make what needs no problem. What fails is told by
  /// prepare().
  void open(const PrepareRequest& request);
  /// Starts a process where none runs. The request is repeated for every replacement.
  void prepare(const PrepareRequest& request);
  /// Runner::checked_by() of the process that was prepared last.
  const std::string& checked_by() const { return done_.note; }
  /// That process's answer to the request.
  const Done& prepared() const { return done_; }
  /// Timing (uncorrected fields as the worker measured them) or Failure.
  Outcome trial(const TrialRequest& request, double timeout_s);
  /// What is told of what was loaded, or why it was not.
  std::variant<Done, Failure> load(const LoadRequest& request, double timeout_s);
  std::variant<Samples, Failure> time(const TimeRequest& request, double timeout_s);
  std::variant<Repetition, Failure> repeat(const RepeatRequest& request, double timeout_s);
  /// Replaces the inputs. Loaded kernels stay, and compute from these until the process is replaced.
  std::optional<Failure> put_inputs(const InputsRequest& request, double timeout_s);
  /// nullopt: what the slot holds was right in each call.
  std::optional<Failure> prove(const ProveRequest& request, double timeout_s);

  /// Between these two the process stands still and uses no CPU. A request continues it by itself.
  void stop();
  void resume();
  /// Counts processes: slots loaded under another number are gone.
  int generation() const { return generation_; }

 private:
  /// An Error that a worker throws over a candidate is asked for once more of a new process, and then the
  /// candidate's failure: it may have closed or bounded what the process needs.
  std::variant<Reply, Failure> ask(const Request& request, double timeout_s);
  /// The same where Done is all that is answered.
  std::optional<Failure> ask_for_done(const Request& request, double timeout_s);
  std::variant<Reply, Failure> ask_once(const Request& request, double timeout_s);
  /// The same; a request that another candidate's damage has spoilt is asked once more of a new process.
  std::variant<Reply, Failure> ask_undamaged(const Request& request, double timeout_s);
  void start();
  void take_prepared(Reply& reply);

  WorkerOptions options_;
  std::optional<PrepareRequest> prepared_;
  std::unique_ptr<WorkerProcess> process_;
  Done done_;
  int generation_ = 0;
  bool stopped_ = false;
  bool damaged_ = false;  ///< the last request's fault was of_another
  int thrown_ = 0;        ///< requests in a row that ended in an Error
};

}  // namespace lehr
