// Replaces workers, and describes each kind of death.
#include "measure/worker/worker.h"

#include <signal.h>
#include <sys/wait.h>

#include <cmath>
#include <utility>

#include "base/error.h"

namespace lehr {
namespace {

Failure failure_of(const Death& death, double timeout_s) {
  Failure failure;
  if (death.timed_out) {
    failure.kind = FailureKind::kTimeout;
    failure.text = fmt::format("ran longer than {:.3g} s and was killed", timeout_s);
    return failure;
  }
  if (death.given_up) return {FailureKind::kInterrupted, "the session was ended while it ran", {}};
  // Only the kernel's out-of-memory killer sends SIGKILL to a worker (our own kills are handled above).
  const bool memory = !death.garbage && WIFSIGNALED(death.status) && WTERMSIG(death.status) == SIGKILL;
  failure.kind = memory ? FailureKind::kOutOfMemory : FailureKind::kCrash;
  failure.text =
      death.garbage ? "wrote into the connection of the process that ran it" : describe_exit(death.status);
  return failure;
}

template <typename T>
T& expected(Reply& reply) {
  T* value = std::get_if<T>(&reply);
  CHECK(value != nullptr, "the worker's reply is of kind {}", reply.index());
  return *value;
}

}  // namespace

Worker::Worker(WorkerOptions options) : options_(std::move(options)) {}

void Worker::start() {
  process_.reset();
  process_ = std::make_unique<WorkerProcess>(options_);
  ++generation_;
  if (!prepared_) return;
  std::variant<Reply, Death> answer =
      process_->ask(*prepared_, deadline_in(options_.prepare_timeout_s), options_.prepare_may_give_up);
  if (const auto* death = std::get_if<Death>(&answer)) {
    process_.reset();
    throw_environment("the worker process failed while it prepared the problem: {}",
                      failure_of(*death, options_.prepare_timeout_s).text);
  }
  take_prepared(std::get<Reply>(answer));
}

void Worker::take_prepared(Reply& reply) {
  if (const auto* thrown = std::get_if<Thrown>(&reply)) throw Error(thrown->error, thrown->text);
  done_ = std::move(expected<Done>(reply));
}

void Worker::open(const PrepareRequest& request) {
  PrepareRequest opening = request;
  opening.problem_path.clear();
  if (stopped_) resume();
  prepared_.reset();
  if (process_ == nullptr || process_->ended()) start();
  const std::variant<Reply, Death> answer = process_->ask(opening, deadline_in(options_.prepare_timeout_s));
  if (std::holds_alternative<Death>(answer)) process_.reset();
}

void Worker::prepare(const PrepareRequest& request) {
  prepared_ = request;
  if (stopped_) resume();
  if (process_ == nullptr || process_->ended()) return start();
  std::variant<Reply, Death> answer =
      process_->ask(request, deadline_in(options_.prepare_timeout_s), options_.prepare_may_give_up);
  if (std::holds_alternative<Death>(answer))
    return start();  // once more with a new process; if that fails, start() throws
  take_prepared(std::get<Reply>(answer));
}

std::variant<Reply, Failure> Worker::ask(const Request& request, double timeout_s) {
  // The content of a slot is lost with the process.
  const bool loads =
      !std::holds_alternative<TimeRequest>(request) && !std::holds_alternative<ProveRequest>(request);
  for (bool again = false;; again = true) {
    std::variant<Reply, Failure> answer = ask_once(request, timeout_s);
    const auto* reply = std::get_if<Reply>(&answer);
    const auto* thrown = reply != nullptr ? std::get_if<Thrown>(reply) : nullptr;
    if (thrown == nullptr) {
      thrown_ = 0;
      return answer;
    }
    process_.reset();
    if (loads && !again) continue;
    if (thrown->error == ErrorKind::kInternal || ++thrown_ >= kMostThrown)
      throw Error(thrown->error, thrown->text);
    return Failure{FailureKind::kCrash, "the process that ran it could not go on: " + thrown->text, {}};
  }
}

std::variant<Reply, Failure> Worker::ask_once(const Request& request, double timeout_s) {
  CHECK(prepared_.has_value(), "prepare() comes first");
  damaged_ = false;
  if (stopped_) resume();
  if (process_ == nullptr || process_->ended()) start();
  std::variant<Reply, Death> answer = process_->ask(request, deadline_in(timeout_s), true);
  if (const auto* death = std::get_if<Death>(&answer)) {
    process_.reset();
    return failure_of(*death, timeout_s);
  }
  Reply& reply = std::get<Reply>(answer);
  if (auto* fault = std::get_if<Fault>(&reply)) {
    if (fault->worker_lost) process_.reset();
    damaged_ = fault->of_another;
    return std::move(fault->failure);
  }
  return std::move(reply);
}

std::variant<Reply, Failure> Worker::ask_undamaged(const Request& request, double timeout_s) {
  std::variant<Reply, Failure> answer = ask(request, timeout_s);
  return damaged_ ? ask(request, timeout_s) : std::move(answer);
}

Outcome Worker::trial(const TrialRequest& request, double timeout_s) {
  std::variant<Reply, Failure> answer = ask(request, timeout_s);
  if (damaged_) {
    // The only other kernel in this process may be the reference kernel, so the request is sent again without
    // it.
    TrialRequest alone = request;
    alone.reference.reset();
    answer = ask(alone, timeout_s);
  }
  if (auto* failure = std::get_if<Failure>(&answer)) return std::move(*failure);
  Timing& timing = expected<Timing>(std::get<Reply>(answer));
  if (std::isfinite(timing.time_us) && timing.time_us > 0) return std::move(timing);
  process_.reset();
  return Failure{FailureKind::kCrash,
                 fmt::format("made the process that ran it report a time of {} us", timing.time_us),
                 {}};
}

std::variant<Done, Failure> Worker::load(const LoadRequest& request, double timeout_s) {
  std::variant<Reply, Failure> answer = ask_undamaged(request, timeout_s);
  if (auto* failure = std::get_if<Failure>(&answer)) return std::move(*failure);
  return std::move(expected<Done>(std::get<Reply>(answer)));
}

std::variant<Samples, Failure> Worker::time(const TimeRequest& request, double timeout_s) {
  std::variant<Reply, Failure> answer = ask(request, timeout_s);
  if (auto* failure = std::get_if<Failure>(&answer)) return std::move(*failure);
  return std::move(expected<Samples>(std::get<Reply>(answer)));
}

std::variant<Repetition, Failure> Worker::repeat(const RepeatRequest& request, double timeout_s) {
  std::variant<Reply, Failure> answer = ask_undamaged(request, timeout_s);
  if (auto* failure = std::get_if<Failure>(&answer)) return std::move(*failure);
  return expected<Repetition>(std::get<Reply>(answer));
}

std::optional<Failure> Worker::ask_for_done(const Request& request, double timeout_s) {
  std::variant<Reply, Failure> answer = ask(request, timeout_s);
  if (auto* failure = std::get_if<Failure>(&answer)) return std::move(*failure);
  expected<Done>(std::get<Reply>(answer));
  return std::nullopt;
}

std::optional<Failure> Worker::put_inputs(const InputsRequest& request, double timeout_s) {
  return ask_for_done(request, timeout_s);
}

std::optional<Failure> Worker::prove(const ProveRequest& request, double timeout_s) {
  return ask_for_done(request, timeout_s);
}

void Worker::stop() {
  if (process_ != nullptr) process_->stop();
  stopped_ = true;
}

void Worker::resume() {
  if (process_ != nullptr) process_->resume();
  stopped_ = false;
}

}  // namespace lehr
