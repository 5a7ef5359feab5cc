// Sets the process up, greets, and chooses a runner or the compiler.
#include "measure/worker/worker_main.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <variant>

#include "base/version.h"
#include "measure/worker/backends.h"
#include "measure/worker/baselines.h"
#include "measure/worker/compile_server.h"
#include "measure/worker/serve.h"
#include "measure/worker/wire.h"

namespace lehr {
namespace {

/// Returns a copy of `fd` with a number that candidates are unlikely to hit. Child processes of candidates do
/// not inherit it.
int hidden(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, 200);
  return high >= 0 ? high : fd;
}

/// Restores the default signal handlers, so that the parent sees a candidate's crash as its signal. The
/// handlers of a run-time library (a sanitizer) would turn it into an exit.
void die_of_faults() {
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP}) signal(fault, SIG_DFL);
}

/// Returns the runner with this name, or nullptr if no runner has it.
std::unique_ptr<Runner> make_runner(const std::string& name) {
  if (const std::optional<Target> target = target_named(name)) return backend_of(*target).make_runner();
  const Baseline* baseline = find_baseline(name).baseline;
  return baseline != nullptr ? baseline->make_runner() : nullptr;
}

}  // namespace

int worker_main(std::span<const ProblemKind> kinds, int in_fd, int out_fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  die_of_faults();
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int in = hidden(in_fd);
  const int out = out_fd == in_fd ? in : hidden(out_fd);
  if (in != in_fd) close(in_fd);
  if (out != out_fd && out_fd != in_fd) close(out_fd);

  if (!send_message(out, {to_text(Reply(Hello{kProtocolVersion, kVersion}))})) return 1;
  Message message;
  if (receive_message(in, message) != Received::kMessage) return 0;
  if (const std::optional<CompileWork> work = parse_compile_work(message.text)) {
    const auto* compiler = std::get_if<CompilerRequest>(&*work);
    if (compiler == nullptr) return 1;
    serve_compiler(in, out, *compiler, message.tag);
    return 0;
  }
  while (!message.text.empty()) {
    const std::optional<Request> request = parse_request(message.text);
    const auto* prepare = request ? std::get_if<PrepareRequest>(&*request) : nullptr;
    if (prepare == nullptr) return 1;
    const std::unique_ptr<Runner> runner = make_runner(prepare->runner);
    if (runner == nullptr) {
      const Thrown thrown = {ErrorKind::kInternal, "no runner named " + prepare->runner};
      send_message(out, {to_text(Reply(thrown)), message.tag});
      return 1;
    }
    message = serve(*runner, kinds, in, out, message);
  }
  return 0;
}

}  // namespace lehr
