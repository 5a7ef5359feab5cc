// The parent's end of the socket, and the signals.
#include "measure/worker/worker_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <random>

#include "base/error.h"
#include "base/version.h"
#include "measure/worker/wire.h"

namespace lehr {

WorkerProcess::WorkerProcess(const WorkerOptions& options) : stop_flag_(options.stop) {
  auto [ours, theirs] = make_socket_pair();
  SpawnOptions command;
  command.command = {options.program, "worker", "--fd", "3"};
  command.environment = options.environment;
  command.descriptors = {{theirs.get(), 3}};
  child_ = spawn(command);
  theirs.close();
  socket_ = std::move(ours);
  const std::variant<Reply, Death> first = receive(deadline_in(options.start_timeout_s));
  if (const auto* death = std::get_if<Death>(&first)) {
    throw_environment("the worker process {} worker did not start: {}", options.program,
                      death->timed_out ? fmt::format("no answer within {:g} s", options.start_timeout_s)
                      : death->garbage ? std::string("it is not a worker of this program")
                                       : describe_exit(death->status));
  }
  const auto* hello = std::get_if<Hello>(&std::get<Reply>(first));
  const Hello reported = hello != nullptr ? *hello : Hello{};
  const auto text = [](const Hello& one) {
    return fmt::format("{} (protocol {})", one.lehr.empty() ? "an unknown version" : one.lehr, one.version);
  };
  try {
    require_version(options.program, text(reported), text({kProtocolVersion, kVersion}));
  } catch (...) {
    die({.garbage = true});
    throw;
  }
}

WorkerProcess::~WorkerProcess() {
  if (pid() > 0) kill_group(child_);
}

Death WorkerProcess::die(Death death) {
  if (pid() > 0) death.status = kill_group(child_);
  child_ = {};
  socket_.close();
  return death;
}

std::variant<Reply, Death> WorkerProcess::receive(Deadline deadline, bool may_give_up) {
  Message message;
  switch (receive_message(socket_.get(), deadline, may_give_up ? stop_flag_ : nullptr, message)) {
    case Received::kTimedOut:
      return die({.timed_out = true});
    case Received::kGivenUp:
      return die({.given_up = true});
    case Received::kGarbage:
      return die({.garbage = true});
    case Received::kClosed:
      // The socket closes while the process is still dying, so its end is awaited before it is killed.
      while (milliseconds_left(deadline) > 0) {
        if (has_ended(child_)) return die({});
        usleep(200);
      }
      return die({.timed_out = true});
    case Received::kMessage:
      break;
  }
  if (message.tag != tag_) return die({.garbage = true});
  std::optional<Reply> reply = parse_reply(message.text);
  if (!reply) return die({.garbage = true});
  return *std::move(reply);
}

void WorkerProcess::send(const std::string& text) {
  thread_local std::random_device random;
  tag_ = std::uint64_t{random()} << 32 | random();
  // If sending fails, the process has died. receive() finds out how.
  send_message(socket_.get(), {text, tag_});
}

std::variant<Reply, Death> WorkerProcess::ask(const Request& request, Deadline deadline, bool may_give_up) {
  send(to_text(request));
  return receive(deadline, may_give_up);
}

void WorkerProcess::stop() {
  stop_group(child_);
}

void WorkerProcess::resume() {
  kill(-pid(), SIGCONT);
}

bool WorkerProcess::ended() {
  return pid() <= 0 || has_ended(child_);
}

}  // namespace lehr
