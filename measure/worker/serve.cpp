// One trial, and the loop of requests.
#include "measure/worker/serve.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>
#include <variant>

#include "measure/core/problem_file.h"
#include "measure/core/stats.h"
#include "measure/system/affinity.h"

namespace lehr {
namespace {

/// The reference kernel is timed for about this long before and after each candidate.
constexpr SampleRequest kReferenceSampling = {500, 4, 5000, 20000, 1, 0};
/// A slower reference would cost more than it corrects: a few calls of it are noisier than the drift.
constexpr double kSlowestReferenceUs = 5000;
/// The window after one candidate also serves as the one before the next when it is this fresh.
constexpr double kReferenceFreshS = 0.03;

/// A window is disturbed when the reference before and after it differ by more than this, or the candidate
/// got less of its CPUs than that (such a window says nothing of two per cent).
constexpr double kSteady = 0.05;
constexpr double kLeastShare = 0.9;

double elapsed_s(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool passed(Deadline deadline) {
  return seconds_left(deadline) <= 0;
}

Repetition compare(const RunOutput& a, const RunOutput& b) {
  const auto step = static_cast<std::size_t>(a.element_bytes);
  Repetition result;
  result.elements = static_cast<std::int64_t>(a.bytes.size() / step);
  for (std::int64_t i = 0; i < result.elements; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * step;
    if (std::memcmp(a.bytes.data() + at, b.bytes.data() + at, step) == 0) continue;
    if (result.different++ == 0) result.first = i;
  }
  return result;
}

using ResourceLimits = std::array<rlimit, RLIM_NLIMITS>;

ResourceLimits current_limits() {
  ResourceLimits limits{};
  for (std::size_t i = 0; i < limits.size(); ++i) getrlimit(static_cast<__rlimit_resource_t>(i), &limits[i]);
  return limits;
}

/// Later candidates, and this program, would fail in such a process for no fault of theirs.
std::optional<Fault> lowered(const ResourceLimits& before) {
  const ResourceLimits now = current_limits();
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i].rlim_cur < before[i].rlim_cur || now[i].rlim_max < before[i].rlim_max)
      return Fault{{FailureKind::kCrash, "lowered a limit of the process that ran it (setrlimit)", {}}, true};
  return std::nullopt;
}

Reply guarded_answer(Server& server, const Request& request) {
  try {
    return std::visit([&server](const auto& one) { return server.answer(one); }, request);
  } catch (const Error& error) {
    return Thrown{error.kind(), error.what()};
  } catch (const std::bad_alloc&) {
    return Fault{{FailureKind::kOutOfMemory, "the worker is out of memory", {}}, true};
  }
}

}  // namespace

Reply Server::answer(const PrepareRequest& request) {
  reference_.reset();
  if (request.problem_path.empty()) {
    runner_.open(request.settings);
    return Done{};
  }
  problem_path_ = request.problem_path;
  device_checks_ = !request.settings.check.kernels.empty();
  runner_.prepare(problem_at(problem_path_), request.settings);
  return Done{runner_.checked_by()};
}

/// Made, and kept for those who ask next, where the runner does not leave that to its device.
Problem Server::problem_at(const std::string& path) const {
  const auto threads = static_cast<int>(allowed_cpus().size());
  Problem problem = read_problem(path, threads);
  if (problem.made() || device_checks_) return problem;
  make(problem, threads);
  write_problem(path, problem);
  return problem;
}

Reply Server::answer(const LoadRequest& request) {
  if (auto damaged = runner_.damage_by_another()) return *std::move(damaged);
  auto loaded = runner_.load(request.slot, request.candidate);
  if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
  auto checked = runner_.check(request.slot);
  if (auto* fault = std::get_if<Fault>(&checked)) {
    if (!fault->worker_lost) runner_.unload(request.slot);
    return std::move(*fault);
  }
  return Done{std::move(std::get<Checked>(checked).note), runner_.finding()};
}

Reply Server::answer(const TimeRequest& request) {
  return std::visit([](auto&& result) -> Reply { return std::move(result); },
                    runner_.time(request.slot, request.sampling));
}

Reply Server::answer(const ProveRequest& request) {
  const auto start = Clock::now();
  const auto behind = [&](double share) {
    return start + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(share * request.seconds));
  };
  int calls = request.calls;
  if (!request.other_path.empty()) {
    runner_.replace_inputs(request.slot, problem_at(request.other_path));
    const int others = std::min(calls, kMostOtherProofs);
    if (auto fault = proven(request.slot, others, behind(0.25), "other inputs")) {
      if (!fault->worker_lost) runner_.replace_inputs(request.slot, problem_at(problem_path_));
      return *std::move(fault);
    }
    calls -= others;
    runner_.replace_inputs(request.slot, problem_at(problem_path_));
  }
  if (auto fault = proven(request.slot, calls, behind(1), "the same inputs")) return *std::move(fault);
  auto checked = runner_.check_by_host(request.slot);
  if (auto* fault = std::get_if<Fault>(&checked)) {
    fault->failure.text = fmt::format("right to the device, but not to the host: {}", fault->failure.text);
    return std::move(*fault);
  }
  return Done{};
}

std::optional<Fault> Server::proven(int slot, int calls, Clock::time_point until, const char* inputs) {
  for (int call = 1; call <= calls && (call <= kLeastProofs || Clock::now() < until); ++call) {
    auto checked = runner_.check(slot);
    auto* fault = std::get_if<Fault>(&checked);
    if (fault == nullptr) continue;
    fault->failure.text =
        fmt::format("right before, but wrong in call {} on {}: {}", call, inputs, fault->failure.text);
    return std::move(*fault);
  }
  return std::nullopt;
}

Reply Server::answer(const RepeatRequest& request) {
  if (auto damaged = runner_.damage_by_another()) return *std::move(damaged);
  auto loaded = runner_.load(kTrialSlot, request.candidate);
  if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
  Reply reply = repeated();
  const auto* fault = std::get_if<Fault>(&reply);
  if (fault == nullptr || !fault->worker_lost) runner_.unload(kTrialSlot);
  return reply;
}

Reply Server::answer(const TrialRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const Deadline wanted = deadline_in(request.wanted_s);
  std::optional<double> before;
  if (!passed(wanted)) before = reference_time(request.reference);
  if (auto damaged = runner_.damage_by_another()) return *std::move(damaged);
  auto loaded = runner_.load(kTrialSlot, request.candidate);
  if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
  Reply reply = timed(request, std::get<Resources>(loaded), before, wanted);
  const auto* fault = std::get_if<Fault>(&reply);
  if (fault == nullptr || !fault->worker_lost) runner_.unload(kTrialSlot);
  if (auto* timing = std::get_if<Timing>(&reply)) timing->run_s = elapsed_s(start);
  return reply;
}

Reply Server::repeated() {
  std::optional<RunOutput> first;
  while (true) {
    auto checked = runner_.check(kTrialSlot);
    if (auto* fault = std::get_if<Fault>(&checked)) return std::move(*fault);
    auto output = runner_.output();
    if (auto* fault = std::get_if<Fault>(&output)) return std::move(*fault);
    RunOutput& now = std::get<RunOutput>(output);
    if (first) return compare(*first, now);
    first = std::move(now);
  }
}

std::optional<Fault> Server::wrong_behind(int slot, Deadline wanted) {
  auto again = runner_.check_left(slot);
  if (std::holds_alternative<Checked>(again) && !passed(wanted)) again = runner_.check(slot);
  auto* fault = std::get_if<Fault>(&again);
  if (fault == nullptr) return std::nullopt;
  fault->failure.text = "right in its first call, but not when it was timed: " + fault->failure.text;
  return std::move(*fault);
}

Reply Server::timed(const TrialRequest& request, const Resources& resources, std::optional<double> before,
                    Deadline wanted) {
  auto checked = runner_.check(kTrialSlot);
  if (auto* fault = std::get_if<Fault>(&checked)) return std::move(*fault);
  Timing timing;
  timing.resources = resources;
  timing.max_error = std::get<Checked>(checked).max_error;
  double least = 0;
  const int attempts = restless_ < kRestless ? kAttempts : 1;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    SampleRequest sampling = request.sampling;
    sampling.max_total_us = std::clamp(1e6 * seconds_left(wanted), 0.0, sampling.max_total_us);
    auto sampled = runner_.time(kTrialSlot, sampling);
    if (auto* fault = std::get_if<Fault>(&sampled)) return std::move(*fault);
    if (auto fault = wrong_behind(kTrialSlot, wanted)) return *std::move(fault);
    const Samples& samples = std::get<Samples>(sampled);
    // A candidate that is four times too slow needs no correction by percents.
    const bool corrected = before && !samples.hopeless && !passed(wanted);
    double reference_us = 0;
    double moved = 0;
    double slowed = std::min(1.0, samples.cpu_share);  // calm time / this time, at the least
    if (corrected) {
      fresh_at_.reset();
      const double after = reference_time(request.reference).value_or(*before);
      reference_us = (*before + after) / 2;
      moved = std::abs(*before - after) / reference_us;
      slowed *= std::min(1.0, request.reference->session_us / std::max(*before, after));
      before = after;
    }
    // In units of what is allowed. What is hopeless anyway is not worth a second window.
    const double disturbance =
        samples.hopeless ? 0 : std::max(moved / kSteady, (1 - samples.cpu_share) / (1 - kLeastShare));
    timing.windows = attempt + 1;
    if (attempt == 0 || disturbance < least) {
      least = disturbance;
      timing.spread = spread(samples.us);
      timing.time_us = estimate(samples.us);
      timing.samples_us = samples.us;
      timing.reference_us = reference_us;
      if (corrected) {
        timing.time_us *= std::clamp(request.reference->session_us / reference_us, 1 / kLargestCorrection,
                                     kLargestCorrection);
      }
    }
    timing.disturbed = least > 1;
    const double limit_us = request.sampling.contender_us;
    if (disturbance <= 1)
      restless_ = 0;
    else if (attempt + 1 == kAttempts)
      ++restless_;
    if (disturbance <= 1 || (limit_us > 0 && estimate(samples.us) * slowed > limit_us)) break;
    if (passed(wanted)) break;
  }
  return timing;
}

std::optional<double> Server::reference_time(const std::optional<ReferenceKernel>& wanted) {
  if (!wanted || wanted->session_us > kSlowestReferenceUs) return std::nullopt;
  if (reference_ != wanted->candidate) {
    if (reference_) runner_.unload(kReferenceSlot);
    reference_.reset();
    fresh_at_.reset();
    if (std::holds_alternative<Fault>(runner_.load(kReferenceSlot, wanted->candidate))) return std::nullopt;
    reference_ = wanted->candidate;
  }
  if (fresh_at_ && elapsed_s(*fresh_at_) < kReferenceFreshS) return fresh_us_;
  const auto sampled = runner_.time(kReferenceSlot, kReferenceSampling);
  const auto* samples = std::get_if<Samples>(&sampled);
  if (samples == nullptr) return std::nullopt;
  fresh_us_ = estimate(samples->us);
  fresh_at_ = Clock::now();
  return fresh_us_;
}

Message serve(Runner& runner, int in_fd, int out_fd, const Message& first) {
  Server server(runner);
  Message message = first;
  ResourceLimits limits{};
  std::string runner_name;
  while (true) {
    const std::optional<Request> request = parse_request(message.text);
    if (!request) return {};
    const auto* prepare = std::get_if<PrepareRequest>(&*request);
    if (prepare != nullptr) {
      if (!runner_name.empty() && prepare->runner != runner_name) return message;
      runner_name = prepare->runner;
    }
    Reply reply = guarded_answer(server, *request);
    if (prepare != nullptr)
      limits = current_limits();
    else if (auto fault = lowered(limits))
      reply = *std::move(fault);
    if (!send_message(out_fd, {to_text(reply), message.tag})) return {};
    const auto* fault = std::get_if<Fault>(&reply);
    if (fault != nullptr && fault->worker_lost) return {};
    if (receive_message(in_fd, message) != Received::kMessage) return {};
  }
}

}  // namespace lehr
