// One living worker process, seen from the parent: start, ask, stop and continue, kill.
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
  std::vector<std::string> environment;     ///< "NAME=value", on top of ours
  const std::atomic<bool>* stop = nullptr;  ///< once it is set no candidate is waited for; nullptr: never
  // How long a candidate may have to wait for a worker; what is later is the environment's fault.
  double start_timeout_s = 30;       ///< until its first message
  double prepare_timeout_s = 120;    ///< a CUDA context and a large problem's inputs, on a busy machine
  bool prepare_may_give_up = false;  ///< `stop` ends the waiting for that, and the process
};

/// How a worker ended.
struct Death {
  int status = 0;          ///< as from waitpid
  bool timed_out = false;  ///< it was killed at the deadline
  bool given_up = false;   ///< it was killed because the user wants to end (WorkerOptions::stop)
  bool garbage = false;    ///< it was killed because what it sent was no answer to the last request
};

/// The process, its group and its socket; killed at destruction. Without a supervisor it dies with the
/// *thread* that made it (PR_SET_PDEATHSIG): whoever starts workers from a short-lived thread sees them
/// replaced.
class WorkerProcess {
 public:
  /// Throws Error(kEnvironment), one sentence, when it does not come up.
  explicit WorkerProcess(const WorkerOptions& options);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Sends and waits. After a Death the object is of no use any more.
  std::variant<Reply, Death> ask(const Request& request, Deadline deadline, bool may_give_up = false);
  /// The two halves of ask(), for who waits for several workers at once: socket() is readable when there is
  /// an answer, or an end, to receive.
  void send(const std::string& text);
  std::variant<Reply, Death> receive(Deadline deadline, bool may_give_up = false);
  int socket() const { return socket_.get(); }
  /// Stops every thread of the group (SIGSTOP) and waits until they stand still; resume() undoes it.
  void stop();
  void resume();
  /// Whether it ended by itself since the last question.
  bool ended();
  pid_t pid() const { return child_.pid; }

 private:
  /// Kills it; what is known of the reason is in `death`, the status is added.
  Death die(Death death);

  const std::atomic<bool>* stop_flag_;
  Child child_;  ///< without a number once it has ended
  Fd socket_;
  std::uint64_t tag_ = 0;  ///< of the last request; the greeting has none
};

}  // namespace lehr
