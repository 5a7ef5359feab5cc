// Each call of compile() has its own workers while it lasts: poll() reports which of them have replied.
#include "measure/worker/compile_workers.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "measure/system/affinity.h"
#include "measure/system/patience.h"
#include "measure/system/temp_dir.h"

namespace lehr {
namespace {

/// Seconds of grace. A compiler checks its limit between passes. A compiler that has not stopped this long
/// after the limit will not stop.
constexpr double kGraceS = 1;

/// A worker and its work.
struct Seat {
  std::unique_ptr<WorkerProcess> process;
  bool taken = false;  ///< taken by a call of compile(); only that call uses the other members
  bool ready = false;  ///< whether its library is loaded
  /// Position of the source that it compiles, or will compile once it is ready.
  std::optional<std::size_t> source;
  std::string path;
  Deadline deadline{};
  Deadline begun{};
};

Failure compile_failure_of(const Death& death, double limit_s) {
  if (death.timed_out) {
    return {FailureKind::kCompileTimeout, fmt::format("the compiler was killed after {:g} s", limit_s), {}};
  }
  if (death.garbage) return {FailureKind::kCompile, "the compiler wrote into the worker's connection", {}};
  // Only the kernel's out-of-memory killer sends SIGKILL to a worker (our own kills are handled above).
  const bool memory = WIFSIGNALED(death.status) && WTERMSIG(death.status) == SIGKILL;
  const bool ended = ended_from_outside(death.status);
  return {memory  ? FailureKind::kOutOfMemory
          : ended ? FailureKind::kInterrupted
                  : FailureKind::kCompile,
          fmt::format("the compiler crashed: {}", describe_exit(death.status)),
          {}};
}

}  // namespace

struct CompileWorkers::State {
  CompileWorkersOptions options;
  TempDir directory;
  std::vector<Seat> seats;
  std::atomic<std::uint64_t> compiled = 0;
  std::mutex mutex;  // guards `taken` and the identity
  std::condition_variable left;
  std::string identity;

  explicit State(CompileWorkersOptions given) : options(std::move(given)), directory(options.temp_base) {
    if (options.workers < 0) throw_user("the number of compile workers must be 0 (one per CPU) or more");
    if (options.workers == 0) options.workers = static_cast<int>(allowed_cpus().size());
    seats.resize(static_cast<std::size_t>(options.workers));
  }

  /// Returns a seat that is not taken. If all are taken, waits for one if `waits`, else returns nullptr.
  Seat* take(bool waits) {
    std::unique_lock lock(mutex);
    const auto free = [this] { return std::ranges::find(seats, false, &Seat::taken); };
    if (waits) left.wait(lock, [&] { return free() != seats.end(); });
    const auto seat = free();
    if (seat == seats.end()) return nullptr;
    seat->taken = true;
    return &*seat;
  }

  void leave(Seat& seat) {
    seat.source.reset();
    seat.path.clear();
    {
      const std::lock_guard lock(mutex);
      seat.taken = false;
    }
    left.notify_one();
  }

  void start(Seat& seat) {
    seat.process.reset();
    seat.process = std::make_unique<WorkerProcess>(options.worker);
    seat.process->send(to_text(CompileWork(
        CompilerRequest{std::string(name_of(options.target)), options.compiler, options.memory_bytes})));
    seat.ready = false;
    seat.deadline = deadline_in(options.worker.start_timeout_s);
  }

  void give(Seat& seat, const Source& source, Deadline end) {
    seat.path = fmt::format("{}/{}.binary", directory.path(), compiled++);
    seat.begun = std::chrono::steady_clock::now();
    seat.deadline = std::min(end, deadline_in(options.compiler.time_limit_s + kGraceS));
    seat.process->send(to_text(
        CompileWork(CompileRequest{source.entry, source.text, source.launch.shared_bytes, seat.path})));
  }

  /// Receives the reply to CompilerRequest.
  void finish_start(Seat& seat) {
    std::variant<Reply, Death> answer = seat.process->receive(seat.deadline);
    if (const auto* death = std::get_if<Death>(&answer)) {
      seat.process.reset();
      throw_environment("the compile worker failed while it loaded its library: {}",
                        death->timed_out
                            ? fmt::format("no answer within {:g} s", options.worker.start_timeout_s)
                            : describe_exit(death->status));
    }
    const Reply& reply = std::get<Reply>(answer);
    if (const auto* thrown = std::get_if<Thrown>(&reply)) {
      seat.process.reset();
      throw Error(thrown->error, thrown->text);
    }
    const auto* reported = std::get_if<Identity>(&reply);
    CHECK(reported != nullptr, "the compile worker's first reply is of kind {}", reply.index());
    seat.ready = true;
    const std::lock_guard lock(mutex);
    identity = reported->text;
  }

  /// Receives the reply to CompileRequest.
  Compiled finish(Seat& seat) {
    std::variant<Reply, Death> answer = seat.process->receive(seat.deadline);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - seat.begun).count();
    if (const auto* death = std::get_if<Death>(&answer)) {
      seat.process.reset();
      unlink(seat.path.c_str());
      const double limit_s = options.compiler.time_limit_s + kGraceS;
      Failure failure = compile_failure_of(*death, limit_s);
      if (death->timed_out && took < limit_s) failure = {FailureKind::kInterrupted, kCompiledTooLate, {}};
      failure.resources.compile_s = took;
      return failure;
    }
    Reply& reply = std::get<Reply>(answer);
    if (const auto* thrown = std::get_if<Thrown>(&reply)) throw Error(thrown->error, thrown->text);
    if (auto* fault = std::get_if<Fault>(&reply)) {
      if (fault->worker_lost) seat.process.reset();
      return std::move(fault->failure);
    }
    auto* binary = std::get_if<Binary>(&reply);
    CHECK(binary != nullptr, "the compile worker's reply is of kind {}", reply.index());
    return std::move(*binary);
  }

  /// Waits until at least one seat of `busy` has replied, died, or passed its deadline, and returns these
  /// seats. Returns an empty list if the user wants to stop.
  std::vector<Seat*> wait(const std::vector<Seat*>& busy) {
    std::vector<pollfd> wanted;
    Deadline first = Deadline::max();
    for (const Seat* seat : busy) {
      wanted.push_back({seat->process->socket(), POLLIN, 0});
      first = std::min(first, seat->deadline);
    }
    CHECK(!busy.empty(), "nothing is being compiled");
    const Patience patience(first, options.worker.stop);
    while (true) {
      const int ready = poll(wanted.data(), wanted.size(), patience.poll_ms());
      if (ready < 0 && errno != EINTR)
        throw_environment("cannot wait for the compile workers: {}", std::strerror(errno));
      if (ready > 0 || patience.timed_out()) break;
      if (patience.gives_up()) return {};
    }
    std::vector<Seat*> due;
    for (std::size_t i = 0; i < busy.size(); ++i) {
      if (wanted[i].revents != 0 || milliseconds_left(busy[i]->deadline) == 0) due.push_back(busy[i]);
    }
    return due;
  }

  /// Ends the workers that are still busy when compile() returns or throws: their replies must not go to the
  /// next call.
  void abandon(const std::vector<Seat*>& busy) {
    for (Seat* seat : busy) {
      seat->process.reset();
      unlink(seat->path.c_str());
      leave(*seat);
    }
  }

  /// Returns the results; sources that were not compiled in time are kInterrupted. On return, `busy` holds
  /// the workers that are still busy.
  std::vector<Compiled> compile(std::span<const Source> sources, Deadline end, std::vector<Seat*>& busy) {
    const Failure interrupted = {
        FailureKind::kInterrupted, "the session was ended while it was compiled", {}};
    std::vector<Compiled> results(sources.size(), interrupted);
    std::size_t next = 0;
    for (std::size_t done = 0; done < sources.size();) {
      while (next < sources.size()) {
        Seat* const seat = take(busy.empty());
        if (seat == nullptr) break;
        busy.push_back(seat);
        seat->source = next++;
        if (seat->process == nullptr || seat->process->ended()) start(*seat);
        if (seat->ready) give(*seat, sources[*seat->source], end);
      }
      const std::vector<Seat*> due = wait(busy);
      if (due.empty()) return results;
      for (Seat* seat : due) {
        const std::size_t i = *seat->source;
        if (seat->ready) {
          results[i] = finish(*seat);
          std::erase(busy, seat);
          leave(*seat);
          ++done;
        } else {
          finish_start(*seat);
          give(*seat, sources[i], end);
        }
      }
    }
    return results;
  }
};

CompileWorkers::CompileWorkers(CompileWorkersOptions options)
    : state_(std::make_unique<State>(std::move(options))) {
  state_->start(state_->seats[0]);
  state_->finish_start(state_->seats[0]);
}

CompileWorkers::~CompileWorkers() = default;

std::vector<Compiled> CompileWorkers::compile(std::span<const Source> sources, double most_s) {
  std::vector<Seat*> busy;
  try {
    std::vector<Compiled> results = state_->compile(sources, deadline_in(most_s), busy);
    state_->abandon(busy);
    return results;
  } catch (...) {
    state_->abandon(busy);
    throw;
  }
}

std::string CompileWorkers::identity() const {
  const std::lock_guard lock(state_->mutex);
  return state_->identity;
}

int CompileWorkers::workers() const {
  return state_->options.workers;
}

}  // namespace lehr
