// A running worker process, seen from the parent: start, ask, stop, continue, kill.
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
  std::string program;                   ///< ToolPaths::program
  std::vector<std::string> environment;  ///< "NAME=value", in addition to ours
  /// Once true, no candidate is waited for any more; nullptr: never.
  const std::atomic<bool>* stop = nullptr;
  // Seconds that a candidate may have to wait for a worker. If they are exceeded, it is the environment's
  // fault.
  double start_timeout_s = 30;       ///< until its first message
  double prepare_timeout_s = 120;    ///< for a CUDA context and a large problem's inputs, on a busy machine
  bool prepare_may_give_up = false;  ///< whether `stop` also ends the wait for prepare(), and the process
};

/// How a worker ended.
struct Death {
  int status = 0;          ///< wait status, as waitpid() returns it
  bool timed_out = false;  ///< whether it was killed at the deadline
  bool given_up = false;   ///< whether it was killed because the user wants to stop (WorkerOptions::stop)
  /// Whether it was killed because it sent something other than a reply to the last request.
  bool garbage = false;
};

/// The process, its process group and its socket. The destructor kills the process. Without a supervisor the
/// process dies with the *thread* that made it (PR_SET_PDEATHSIG): workers that a short-lived thread starts
/// are replaced.
class WorkerProcess {
 public:
  /// Starts a process. Throws Error(kEnvironment) with one sentence if it does not come up.
  explicit WorkerProcess(const WorkerOptions& options);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Sends a request and waits for the reply. Once it has returned a Death, the object must not be used any
  /// more.
  std::variant<Reply, Death> ask(const Request& request, Deadline deadline, bool may_give_up = false);
  /// The two halves of ask(), for waiting for several workers at once. socket() is readable when there is a
  /// reply, or the end of the process, to receive.
  void send(const std::string& text);
  std::variant<Reply, Death> receive(Deadline deadline, bool may_give_up = false);
  int socket() const { return socket_.get(); }
  /// Stops all threads of the group (SIGSTOP) and waits until they have stopped; resume() continues them.
  void stop();
  void resume();
  /// Whether the process has ended by itself since the last request.
  bool ended();
  pid_t pid() const { return child_.pid; }

 private:
  /// Kills the process. Returns `death`, which has what is known of the reason, with the exit status added.
  Death die(Death death);

  const std::atomic<bool>* stop_flag_;
  Child child_;  ///< has no process id once the process has ended
  Fd socket_;
  std::uint64_t tag_ = 0;  ///< tag of the last request; the greeting has none
};

}  // namespace lehr
