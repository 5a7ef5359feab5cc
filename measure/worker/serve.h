// Inside a worker: answers requests with one runner. A template, so that runners need no base class.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "measure/core/problem_file.h"
#include "measure/core/runner.h"
#include "measure/core/stats.h"
#include "measure/worker/messages.h"
#include "workload/unread.h"

namespace lehr {

/// Slots of trials. Those of LoadRequest are counted from kFirstLoadSlot.
inline constexpr int kReferenceSlot = 0;
inline constexpr int kTrialSlot = 1;
inline constexpr int kFirstLoadSlot = 2;

/// The reference kernel is timed for about this long before and after each candidate.
inline constexpr SampleRequest kReferenceSampling = {500, 4, 5000, 20000, 1, 0};
/// A slower reference would cost more than it corrects: a few calls of it are noisier than the drift.
inline constexpr double kSlowestReferenceUs = 5000;
/// The window after one candidate also serves as the one before the next when it is this fresh.
inline constexpr double kReferenceFreshS = 0.03;

/// Clocks drift by some per cent; a reference that moved further met other work on the machine, which says
/// nothing of what the candidate met: the correction stops there. Measured beside four compilers on two
/// cores, 2026-11-21: without the limit single trials came out twice too fast.
inline constexpr double kLargestCorrection = 1.15;
/// A window is disturbed when the reference before and after it differ by more than this, or the candidate
/// got less of its CPUs than that (such a window says nothing of two per cent). It is timed again, so often
/// at most, if the candidate might be a contender without the disturbance; the least disturbed window counts.
inline constexpr double kSteady = 0.05;
inline constexpr double kLeastShare = 0.9;
inline constexpr int kAttempts = 3;
/// After so many candidates in a row without a calm window the machine is not going to be calm: each gets one
/// window, until one is calm.
inline constexpr int kRestless = 8;

/// One prepared runner. Replies are what the parent gets; a Fault with `worker_lost` ends the process
/// afterwards.
template <Runner R>
class Server {
 public:
  Reply answer(const PrepareRequest& request) {
    reference_.reset();
    const Problem problem = read_problem(request.problem_path);
    if constexpr (!runs_candidates)
      if (const auto unread = why_unread(problem.workload, fields_read_by<R>()))
        throw_user("{} cannot compute this: {}", request.runner, *unread);
    runner_.prepare(problem, request.settings);
    return Done{};
  }

  Reply answer(const LoadRequest& request) {
    auto loaded = runner_.load(request.slot, request.candidate);
    if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
    auto checked = runner_.check(request.slot);
    if (auto* fault = std::get_if<Fault>(&checked)) {
      if (!fault->worker_lost) runner_.unload(request.slot);
      return std::move(*fault);
    }
    return Done{std::move(std::get<Checked>(checked).note)};
  }

  Reply answer(const TimeRequest& request) {
    return std::visit([](auto&& result) -> Reply { return std::move(result); },
                      runner_.time(request.slot, request.sampling));
  }

  Reply answer(const RepeatRequest& request) {
    if constexpr (runs_candidates) {
      auto loaded = runner_.load(kTrialSlot, request.candidate);
      if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
      Reply reply = repeated();
      const auto* fault = std::get_if<Fault>(&reply);
      if (fault == nullptr || !fault->worker_lost) runner_.unload(kTrialSlot);
      return reply;
    } else {
      return Thrown{ErrorKind::kInternal, "a vendor library is not asked for its output"};
    }
  }

  Reply answer(const TrialRequest& request) {
    const auto start = std::chrono::steady_clock::now();
    std::optional<double> before = reference_time(request.reference);
    auto loaded = runner_.load(kTrialSlot, request.candidate);
    if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
    Reply reply = timed(request, std::get<Resources>(loaded), before);
    const auto* fault = std::get_if<Fault>(&reply);
    if (fault == nullptr || !fault->worker_lost) runner_.unload(kTrialSlot);
    if (auto* timing = std::get_if<Timing>(&reply)) timing->run_s = seconds_since(start);
    return reply;
  }

 private:
  static constexpr bool runs_candidates = requires(R& runner) { runner.output(); };
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  Reply repeated() {
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

  static Repetition compare(const RunOutput& a, const RunOutput& b) {
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

  Reply timed(const TrialRequest& request, const Resources& resources, std::optional<double> before) {
    auto checked = runner_.check(kTrialSlot);
    if (auto* fault = std::get_if<Fault>(&checked)) return std::move(*fault);
    Timing timing;
    timing.resources = resources;
    timing.max_error = std::get<Checked>(checked).max_error;
    double least = 0;
    const int attempts = restless_ < kRestless ? kAttempts : 1;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      auto sampled = runner_.time(kTrialSlot, request.sampling);
      if (auto* fault = std::get_if<Fault>(&sampled)) return std::move(*fault);
      const Samples& samples = std::get<Samples>(sampled);
      // A candidate that is four times too slow needs no correction by percents.
      const bool corrected = before && !samples.hopeless;
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
      const double disturbance = samples.hopeless ? 0
                                                  : std::max(moved / kSteady, (1 - samples.cpu_share) /
                                                                                  (1 - kLeastShare));
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
    }
    return timing;
  }

  /// The reference kernel's time now; nullopt when there is none or it is too slow to be of use.
  std::optional<double> reference_time(const std::optional<ReferenceKernel>& wanted) {
    if (!wanted || wanted->session_us > kSlowestReferenceUs) return std::nullopt;
    if (reference_ != wanted->candidate) {
      if (reference_) runner_.unload(kReferenceSlot);
      reference_.reset();
      fresh_at_.reset();
      if (std::holds_alternative<Fault>(runner_.load(kReferenceSlot, wanted->candidate))) return std::nullopt;
      reference_ = wanted->candidate;
    }
    if (fresh_at_ && seconds_since(*fresh_at_) < kReferenceFreshS) return fresh_us_;
    const auto sampled = runner_.time(kReferenceSlot, kReferenceSampling);
    const auto* samples = std::get_if<Samples>(&sampled);
    if (samples == nullptr) return std::nullopt;
    fresh_us_ = estimate(samples->us);
    fresh_at_ = Clock::now();
    return fresh_us_;
  }

  R runner_;
  std::optional<Candidate> reference_;
  std::optional<Clock::time_point> fresh_at_;
  double fresh_us_ = 0;
  int restless_ = 0;  ///< candidates since the last calm window that had kAttempts disturbed ones
};

}  // namespace lehr
