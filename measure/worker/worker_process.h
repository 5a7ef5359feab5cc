// A running worker process, seen from the parent: start, ask, stop and continue, kill.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "measure/system/process.h"
#include "measure/worker/messages.h"

namespace lehr {

struct WorkerOptions {
  std::string program;                      ///< ToolPaths::program
  std::vector<std::string> environment;     ///< "NAME=value", in addition to ours
  const std::atomic<bool>* stop = nullptr;  ///< once it is true no candidate is waited for; nullptr: never
  // Seconds that a candidate may have to wait for a worker. Exceeding them is the environment's fault.
  double start_timeout_s = 30;       ///< until its first message
  double prepare_timeout_s = 120;    ///< for a CUDA context and a large problem's inputs, on a busy machine
  bool prepare_may_give_up = false;  ///< whether `stop` ends that wait, and the process
};

/// How a worker ended.
struct Death {
  int status = 0;          ///< as from waitpid
  bool timed_out = false;  ///< whether it was killed at the deadline
  bool given_up = false;   ///< whether it was killed because the user wants to stop (WorkerOptions::stop)
  /// Whether it was killed because it sent something else than an answer to the last request.
  bool garbage = false;
};

/// The process, its group and its socket. It is killed at destruction. Without a supervisor it dies with the
/// *thread* that made it (PR_SET_PDEATHSIG): workers that a short-lived thread starts are replaced.
class WorkerProcess {
 public:
  /// Starts a process. Throws Error(kEnvironment) with one sentence if it does not come up.
  explicit WorkerProcess(const WorkerOptions& options);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Sends a request and waits for the answer. After a Death the object is useless.
  std::variant<Reply, Death> ask(const Request& request, Deadline deadline, bool may_give_up = false);
  /// The two halves of ask(), for waiting for several workers at once: socket() is readable when there is an
  /// answer, or an end, to receive.
  void send(const std::string& text);
  std::variant<Reply, Death> receive(Deadline deadline, bool may_give_up = false);
  int socket() const { return socket_.get(); }
  /// Stops all threads of the group (SIGSTOP) and waits until they have stopped; resume() continues them.
  void stop();
  void resume();
  /// Whether it ended by itself since the last request.
  bool ended();
  pid_t pid() const { return child_.pid; }

 private:
  /// Kills it. `death` has what is known of the reason; the status is added.
  Death die(Death death);

  const std::atomic<bool>* stop_flag_;
  Child child_;  ///< without a number once it has ended
  Fd socket_;
  std::uint64_t tag_ = 0;  ///< of the last request; the greeting has none
};

}  // namespace lehr
