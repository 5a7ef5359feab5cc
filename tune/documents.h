// The fields of `lehr tune --json`, each with its description: docs/json.md is made from them (tests/api).
// Unknown numbers and texts are null.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "tune/many_tasks.h"
#include "tune/range.h"
#include "tune/summary.h"
#include "tune/untuned.h"

namespace lehr {

/// Replaces the kinds of failures by their names.
inline std::map<std::string, int> by_name(const std::map<FailureKind, int>& failed) {
  std::map<std::string, int> named;
  for (const auto& [kind, count] : failed) named[std::string(name_of(kind))] = count;
  return named;
}

/// A task's trial with its time in that task.
struct TrialDocument {
  Time time;
  double flops = 0;
  std::string config, family, record, picked_by;
};
inline TrialDocument reported(const Trial& trial, const Time& time, double flops) {
  return {time, flops, to_text(trial.config), trial.config.family, trial.id, trial.picked_by};
}
void describe(auto& field, const TrialDocument& trial) {
  field("time_us", trial.time.us, "");
  field("time_us_interval", trial.time.interval, "");
  field("gflops", gflops_of(trial.flops, trial.time.us), "");
  field("config", trial.config, "");
  field("template", trial.family, "its kernel family");
  field("record", trial.record, "its row in the log");
  field("picked_by", trial.picked_by, "what proposed it");
}

void describe(auto& field, const BaselineTime& library) {
  field("name", library.name, "");
  field("time_us", Known{library.time.us}, "");
  field("time_us_interval", library.time.interval, "");
  field("speedup", Known{library.speedup.value}, "how much faster the best kernel is");
  field("speedup_interval", library.speedup.interval, "");
  field("gpu", library.gpu, "as `gpu` above, while the library was timed");
  field("note", Known{library.note}, "how it was run");
  field("algorithms_tried", Known{library.algorithms_tried}, "of its algorithms so many were timed");
  field("algorithms", Known{library.algorithms}, "that it offers");
  field("overhead_us", Known{library.overhead_us},
        "of it is the call of an engine, which runs next to nothing");
  field("missing", Known{library.missing}, "why it has no time");
}

void describe(auto& field, const FinalistReport& finalist) {
  field("config", finalist.config, "");
  field("record", finalist.record, "its row in the log");
  field("shown_us", Known{finalist.shown_us}, "its time as the search had it");
  field("time_us", Known{finalist.time_us}, "its time in the finals");
  field("rounds", finalist.rounds, "so often it was timed there");
  field("dropped", finalist.dropped, "after these rounds, as one of the slower ones");
  field("turns_s", finalist.turns_s, "wall time of loading and rounds");
  field("proof", std::string(name_of(finalist.proof)), "whether its results were checked again, a word");
  field("proof_s", finalist.proof_s, "wall time of that check");
  field("missing", Known{finalist.missing}, "why it has no time");
}

void describe(auto& field, const Elapsed::Parts& parts) {
  field("setup", parts.setup_s, "as above");
  field("hints", parts.hints_s, "reading and learning what other tasks of the log tell");
  field("proposals", parts.proposals_s, "the rest of the search's own share");
  field("compile", parts.compile_s, "waiting for the compiler, but for the finals");
  field("trials", parts.trials_s, "checking and timing, but for the finals");
  field("finals", parts.finals_s, "contest, libraries, proofs, and what is compiled for them");
}
void describe(auto& field, const Elapsed& elapsed) {
  field("total", elapsed.total_s, "the sum of the next four, and of the phases");
  field("setup", elapsed.setup_s, "opening the device, inputs and the expected output");
  field("search", elapsed.search_s, "the tuner's own share");
  field("compile", elapsed.compile_s, "waiting for the compiler with the device idle, also for the finals");
  field("run", elapsed.run_s, "checking and timing, the finals included");
  field("phases", elapsed.parts, "what went on, one thing at a time");
}

void describe(auto& field, const Peaks& peaks) {
  field("gflops", Known{peaks.gflops}, "");
  field("gflops_f32", Known{peaks.units == kF32Units ? peaks.gflops : 0},
        "the same, where its units are f32");
  field("units", peaks.units, "what does the operations: `f32`, `bf16`, `tensor cores`");
  field("gbytes_per_s", Known{peaks.gbytes_per_s}, "");
}

/// Describes the task, its device and its search, for one size as for a range.
void describe_task(auto& field, const auto& s) {
  field("workload", s.workload, "its canonical text, as `lehr show` and other commands take it");
  field("device", s.device, "its name");
  field("identity", s.identity, "all that two times must have in common to be compared");
  field("target", s.target, "`cpu` or `cuda`");
  field("caches", s.caches,
        "what a timed call finds: `warm` on a CPU, `rotating` on a GPU (other inputs in turn), or `cold`: "
        "swept before, and on a CPU what a layer before has written read again");
  field("session", s.session, "this run's name in the log");
  field("strategy", s.strategy, "how the search picks");
  field("seed", s.seed, "with the same log: the same picks");
  field("first_failure", Known{s.first_failure}, "the text of the first failed trial");
}

void describe_trials(auto& field, const auto& s) {
  field("measured", s.measured, "by this run");
  field("timed", s.timed, "of these");
  field("failed", by_name(s.failed), "of these, for each kind of failure");
}

/// Describes how much faster the best kernel is than the default and the libraries.
void describe_verdict(auto& field, const Summary& s) {
  const Verdict& verdict = s.verdict;
  const auto fastest = [&](auto& f) {
    f("name", verdict.baseline, "");
    f("time_us", verdict.baseline_us, "");
  };
  field("baseline", verdict.baseline.empty() ? std::nullopt : std::optional(Fields{fastest}),
        "the fastest library");
  field("baselines", s.baselines, "all libraries that were asked for");
  field("speedup_vs_default", Known{verdict.speedup_vs_default.value}, "how much faster the best one is");
  field("speedup_vs_default_interval", verdict.speedup_vs_default.interval, "");
  field("speedup_vs_baseline", Known{verdict.speedup_vs_baseline.value}, "");
  field("speedup_vs_baseline_interval", verdict.speedup_vs_baseline.interval, "");
  field("deterministic", verdict.deterministic,
        "with `--deterministic-check`: whether the winner gave the same bits twice");
  field("determinism", Known{s.determinism}, "the same as a sentence");
}

void describe(auto& field, const Summary& s) {
  const Verdict& verdict = s.verdict;
  describe_task(field, s);
  const auto trial = [&](const std::optional<Trial>& one, const Time& time) {
    return one ? std::optional(reported(*one, time, s.flops)) : std::nullopt;
  };
  field("compiled_ahead", s.in_flight, "configs that are compiled while one is timed");
  field("default", trial(s.default_trial, verdict.default_time), "the schedule that needs no timing");
  field("best", trial(s.best, verdict.best), "the fastest proven one");
  field("gpu", s.gpu, "while the best one was timed: `sm_mhz`, `power_w`, `temperature_c`");
  field("contested", s.contested, "the times are of finals, in turn; else of single trials");
  field("provisional", verdict.provisional, "there was no time to prove the best one");
  field("shown_us", Known{s.shown_us}, "the best one's time as the search had it");
  field("finalists", s.finalists, "our kernels in the finals");
  field("earlier", Known{s.earlier},
        "the session whose verdict this is, where there was no time to time its winner again");
  describe_verdict(field, s);
  field("unproven", Known{s.unproven}, "why there is no best one, though some were timed");
  field("checked_by", Known{s.checked_by}, "who compared its results with the reference: `host` or `device`");
  field("roofline_fraction", s.roofline_fraction, "the best one's share of the peak");
  field("roofline_note", Known{std::string(why_above_all(s.roofline_fraction.value_or(0)))},
        "why that is above 1");
  field("peaks", s.peaks, "what it is a share of: the most that this session has seen");
  field("trials", Fields{[&](auto& f) {
          describe_trials(f, s);
          f("reused", s.reused, "of earlier runs");
          f("evidence", s.evidence, "of other tasks that hints come from");
        }},
        "counts of trials");
  field("windows", Fields{[&](auto& f) {
          f("timed_again", s.retimed, "because something disturbed them");
          f("left_disturbed", s.disturbed, "trials without a calm one");
        }},
        "in which kernels were timed");
  field("compile", Fields{[&](auto& f) {
          f("kernels", s.kernels, "that were compiled");
          f("seconds", s.compiling_s, "of the compiler's");
          f("kernels_per_s", Known{s.compiling_s > 0 ? s.kernels / s.compiling_s : 0}, "");
        }},
        "what the compiler did");
  field("model", Fields{[&](auto& f) {
          f("fits", s.fits, "of the cost model");
          f("scored", s.scored, "candidates");
        }},
        "what the cost model did");
  field("elapsed_s", s.elapsed, "wall seconds");
  field("device_idle_s", device_idle_s(s.elapsed),
        "the device waited so long for the compiler and the search");
  field("stop_reason", std::string(name_of(s.stop)), "why the search ended, a word");
  field("stop_text", s.stop_text, "the same as a sentence");
  field("resume", Known{s.resume_text}, "what was reused and where hints come from");
}

/// Describes the losses of a set at these sizes.
template <typename Size>
auto losses_document(const std::vector<Size>& sizes) {
  const auto fields = [count = sizes.size(), losses = losses_of(sizes)](auto& f) {
    f("sizes", count, "so many");
    f("mean", losses.mean, "0.02: 2 %");
    f("mean_interval", losses.mean_interval, "of four sizes and more");
    f("worst", losses.worst, "");
  };
  return sizes.empty() ? std::nullopt : std::optional(Fields{fields});
}

void describe(auto& field, const RangeSummary& s) {
  describe_task(field, s);
  const auto* const timing = s.record ? &std::get<Timing>(s.record->outcome) : nullptr;
  field("best",
        timing == nullptr ? std::nullopt
                          : std::optional(TrialDocument{{timing->time_us, interval_of(*timing)},
                                                        s.flops,
                                                        to_text(s.record->config),
                                                        s.record->config.family,
                                                        s.record->id,
                                                        s.record->picked_by}),
        "the kernel for the most rows");
  field(
      "set", s.set,
      "the kernels that serve the range: `workload`, `least` and `most` rows; `members`, each with the "
      "`workload` of its "
      "kernel, `config`, `source_hash`, `record`, and `to`: it serves the rows from behind the one before up "
      "to these; `times` at measured sizes: `rows`, `us` of the member that serves it, `best_us` of the "
      "fastest of all kernels; `held_out`, sizes that were not measured before: `rows`, `us`, `own_us` of "
      "the "
      "best that a short search found there, `default_us` of the default there, `loss` to the faster one, "
      "and "
      "its interval `loss_low`, `loss_high`; `held_out_seed`");
  const auto losses = [&](auto& f) {
    f("measured", losses_document(s.set->times), "at the sizes where all kernels were timed");
    f("held_out", losses_document(s.set->held_out), "at sizes that were not measured before");
  };
  field("losses", s.set ? std::optional(Fields{losses}) : std::nullopt,
        "what is lost to the fastest kernel of each size");
  field("compared", s.compared, "so many kernels the set was chosen from");
  field("missing", Known{s.missing}, "why there is no set");
  field("trials", Fields{[&](auto& f) { describe_trials(f, s); }}, "counts of trials");
  field("windows", Fields{[&](auto& f) { f("left_disturbed", s.disturbed, "trials without a calm one"); }},
        "");
  field("elapsed_s", Fields{[&](auto& f) {
          f("total", s.total_s, "");
          f("search", s.search_s, "");
          f("choice", s.choice_s, "");
          f("held_out", s.held_out_s, "");
        }},
        "wall seconds");
}

void describe(auto& field, const SharedResult& task) {
  field("workload", to_text(task.workload), "");
  field("occurrences", task.occurrences, "places of the network that compute it");
  field("uses", task.uses, "of these, where no other form of the same work is expected to be faster");
  field("log", std::string(name_of(task.knowledge)), "what the log knew of it: `known`, `near`, `new`");
  field("best_us", task.best_us, "of one place");
  field("default_us", task.default_us, "");
  field("baseline", task.baseline, "the fastest library");
  field("baseline_us", task.baseline_us, "");
  field("turns", task.turns, "that it got");
  field("trials", measured_of(task), "");
  field("summary", task.summary, "the object of a workload");
  field("range", task.range, "the object of a range of rows, in its place");
}

/// Several tasks that shared their time.
struct NetworkDocument {
  std::string model, database;
  const std::vector<SharedResult>& tasks;
};
void describe(auto& field, const NetworkDocument& reported) {
  const SharedTotals totals = totals_of(reported.tasks);
  field("model", reported.model, "the file");
  field("best_us", totals.best_us, "for all places");
  field("default_us", totals.default_us, "with the schedules that need no timing");
  field("baseline_us", totals.baseline_us, "of the libraries, where one was timed");
  field("best_where_baseline_us", totals.best_where_baseline_us, "ours for the same places");
  field("tasks", reported.tasks, "one for each workload");
  field("database", reported.database, "the log's file");
}

/// The belief about a task without any measurement.
struct UntunedDocument {
  const Untuned& found;
  const Task& task;
  std::string database;
};
void describe(auto& field, const UntunedDocument& reported) {
  const auto& [found, task, database] = reported;
  field("workload", task.problem.text, "its canonical text");
  field("device", task.device.name, "its name");
  field("identity", identity_of(task.device), "all that two times must have in common to be compared");
  field("target", std::string(name_of(task.device.limits.target)), "`cpu` or `cuda`");
  field("config", to_text(found.config), "");
  field("template", found.config.family, "its kernel family");
  field("from", std::string(name_of(found.belief)), "`log`, `other tasks` or `prior`");
  field("source", found.source, "the same as a sentence");
  field("trials", found.trials, "of the log that it goes by");
  field("record", Known{found.record}, "of a belief from the log its row");
  field("contested", found.contested, "of a belief from the log: it has won finals");
  field("expected_us", found.expected.us, "");
  field("expected_us_interval", found.expected.interval, "");
  field("gflops", gflops_of(task.problem.flops, found.expected.us), "");
  field("loss", found.loss, "that is expected at most, in nine of ten cases: 0.2 is 20 %");
  field("measured", 0, "trials, always");
  field("database", database, "the log's file");
}

}  // namespace lehr
