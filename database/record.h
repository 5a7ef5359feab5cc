// The contents of the log: trials, the devices that they were measured on, the verdicts of contests, the
// algorithms that libraries' searches found, and the origins of sessions that were run elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/describe.h"
#include "record/device.h"
#include "record/library_finding.h"
#include "record/trial.h"
#include "space/config.h"

namespace lehr {

/// A trial as stored, with its workload, device and session.
struct Record : Trial {
  std::string workload;  ///< canonical text
  std::string device;    ///< identity text (record/device.h)
  std::string target;    ///< "cpu" or "cuda"
  std::string arch;
  int template_version = 1;
  std::string session;  ///< id of the tuner run
  std::int64_t session_began_unix_ms = 0;
  std::uint64_t seed = 0;            ///< seed of the tuner run
  std::int64_t created_unix_ms = 0;  ///< if 0, the database sets it
  std::string tool_version;          ///< version of lehr
  /// Hash of the StoredDevice whose facts the kernel was lowered with; 0: not known.
  std::uint64_t device_hash = 0;
};
void describe(auto& field, Is<Record> auto& record) {
  field("id", record.id);
  field("workload", record.workload);
  field("device", record.device);
  field("target", record.target);
  field("arch", record.arch);
  field("family", record.config.family);
  field("config", record.config);
  field("template_version", record.template_version);
  field("outcome", record.outcome);
  field("predicted", record.predicted);
  field("picked_by", record.picked_by);
  field("session", record.session);
  field("session_began_unix_ms", record.session_began_unix_ms);
  field("seed", record.seed);
  field("created_unix_ms", record.created_unix_ms);
  field("tool_version", record.tool_version);
  field("device_hash", record.device_hash);
  field("source_hash", record.source_hash);
}

/// A device as stored. Its row never changes: if other facts are found under the same identity, they become
/// another row. Each trial names the row whose facts it was lowered with, by the row's checksum.
struct StoredDevice : Device {
  std::string identity;  ///< identity_of() the device, which is Record::device of its trials
};
void describe(auto& field, Is<StoredDevice> auto& device) {
  field("identity", device.identity);
  field("name", device.name);
  field("target", device.limits.target);
  field("arch", device.limits.arch);
  field("facts", device.limits);  // all other members, as JSON (base/limits_json.h)
  field("driver", device.driver);
  field("compiler", device.compiler);
  field("os", device.os);
  field("uuid", device.uuid);
  field("cold", device.cold);
}

/// The result of a contest: its winner, timed in turns with the default and the baselines.
struct Verdict {
  Time best;                 ///< time of the winner
  Time default_time;         ///< us 0: no default ran
  Ratio speedup_vs_default;  ///< 1: the default won; 0: no default ran
  std::string baseline;      ///< the fastest baseline's name; "": no baseline was available
  double baseline_us = 0;
  Ratio speedup_vs_baseline;
  std::int64_t algorithms_tried = 0;  ///< number of algorithms that the baseline's search tried
  /// Number of algorithms in the library's list; 0: the baseline does not search.
  std::int64_t algorithms = 0;
  /// Whether the winner was not yet proven in many calls and on other inputs, for lack of time. Its trial and
  /// each check in the contest were right.
  bool provisional = false;
  std::optional<bool>
      deterministic;  ///< the winner gave the same bits in two runs on one input; nullopt: not known
};

/// A verdict as stored.
struct StoredVerdict : Verdict {
  std::string workload;
  std::string device;
  std::string session;
  std::string record_id;  ///< id of the winner
  std::string json;       ///< the whole document that `tune --json` printed
  std::int64_t created_unix_ms = 0;
};
void describe(auto& field, Is<StoredVerdict> auto& verdict) {
  field("workload", verdict.workload);
  field("device", verdict.device);
  field("session", verdict.session);
  field("record_id", verdict.record_id);
  field("default_us", verdict.default_time.us);
  field("best_us", verdict.best.us);
  field("baseline", verdict.baseline);
  field("baseline_us", verdict.baseline_us);
  field("speedup_vs_default", verdict.speedup_vs_default.value);
  field("speedup_vs_baseline", verdict.speedup_vs_baseline.value);
  field("json", verdict.json);
  field("created_unix_ms", verdict.created_unix_ms);
  field("default_us_low", verdict.default_time.interval.low);
  field("default_us_high", verdict.default_time.interval.high);
  field("best_us_low", verdict.best.interval.low);
  field("best_us_high", verdict.best.interval.high);
  field("speedup_vs_default_low", verdict.speedup_vs_default.interval.low);
  field("speedup_vs_default_high", verdict.speedup_vs_default.interval.high);
  field("speedup_vs_baseline_low", verdict.speedup_vs_baseline.interval.low);
  field("speedup_vs_baseline_high", verdict.speedup_vs_baseline.interval.high);
  field("deterministic", verdict.deterministic);
  field("algorithms_tried", verdict.algorithms_tried);
  field("algorithms", verdict.algorithms);
  field("provisional", verdict.provisional);
}

/// The result of a baseline's search in one list of a library's algorithms. Its numbers find the algorithm
/// again in the list of the same version. Nothing stored here is ever run.
struct StoredAlgorithm : FoundAlgorithm {
  std::string workload;
  std::string device;                ///< identity text, with the driver's version
  std::string session;               ///< the session that searched
  std::string baseline;              ///< "cudnn-unfused"
  std::string library;               ///< LibraryFinding::library
  std::int64_t list = 0;             ///< position in LibraryFinding::lists
  std::int64_t created_unix_ms = 0;  ///< if 0, the database sets it
};
void describe(auto& field, Is<StoredAlgorithm> auto& algorithm) {
  field("workload", algorithm.workload);
  field("device", algorithm.device);
  field("session", algorithm.session);
  field("baseline", algorithm.baseline);
  field("library", algorithm.library);
  field("list", algorithm.list);
  field("algorithm", algorithm.algorithm);
  field("mark", algorithm.mark);
  field("tried", algorithm.tried);
  field("offered", algorithm.offered);
  field("created_unix_ms", algorithm.created_unix_ms);
}

/// The origin of a session that was not run here. The session's rows are evidence from another user.
struct StoredOrigin {
  std::string session;
  std::string merged_from;  ///< name of the log that its rows came from; not empty
  std::int64_t merged_unix_ms = 0;
};
void describe(auto& field, Is<StoredOrigin> auto& origin) {
  field("session", origin.session);
  field("merged_from", origin.merged_from);
  field("merged_unix_ms", origin.merged_unix_ms);
}

}  // namespace lehr
