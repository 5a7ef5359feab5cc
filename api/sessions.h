// Code that tuning a list of workloads and tuning a network share. For api/ alone.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "api/boundary.h"
#include "network/matches.h"
#include "tune/range.h"
#include "tune/session.h"

namespace lehr::api {

/// Value of `precision` that allows matches in bf16.
inline constexpr std::string_view kNarrow = "bf16";

/// Seconds of search if no time is given: for a workload by itself, for one of a network, for one size of a
/// range.
inline constexpr double kSecondsAlone = 60, kSecondsEach = 10, kSecondsASize = 10;

SessionOptions session_options(const TuneOptions& options, const Device::State& device);
/// Opens the log that hints come from; nullopt: the session's own log.
std::optional<Database> other_log(const TuneOptions& options);
bool is_stopped(const Device& device);
/// Returns the code of a session's result, with a sentence if the session has no result.
std::pair<Code, std::string> outcome_of(const Summary& summary);
inline const std::pair<Code, std::string> kStopped = {Code::kInterrupted,
                                                      "it was stopped; the log has what was measured"};
/// Returns the document, indented. Accepts any bytes in it.
std::string dumped(const nlohmann::json& document);

/// Throws Error(kUser) if an option for single kernels is given for a range, or the other way round.
void check_ranges(const std::vector<Workload>& workloads, const TuneOptions& options);
/// Tunes a range of rows within the session's limits. If it has no limit, each size that is searched gets 10
/// s.
RangeSummary tune_one_range(const Workload& range, Device& device, Logs logs, const TuneOptions& options,
                            SessionOptions session, Reporter& reporter);
/// Does what tune() promises (lehr.h). Throws lehr::Error.
Results tune_workloads(const std::vector<Workload>& workloads, Device& device, Log& log,
                       const TuneOptions& options);
/// Tunes a network in the same way. Fills `document` with the document of NetworkResult::json. `behind_s` is
/// that of SharedOptions.
NetworkResult tune_network(const NetworkFile& model, Device& device, Log& log, const TuneOptions& options,
                           Reporter& reporter, nlohmann::json& document,
                           const std::function<double(double, double)>& behind_s = {});
std::vector<Workload> workloads_of(const Matches& matches);
/// Returns the sizes that a user gives. A dimension with a range gets `within`; 0: its largest size.
ShapeBindings bindings_of(const NetworkFile& model, std::int64_t within = 0);
/// Reads the file with its shapes and matches. Operators newer than the known ones become a note.
Network read_network(const NetworkFile& model, Reporter& reporter);
/// Returns GraphShapes::missing_sizes as flags for a shell; "" if no size is missing.
std::string missing_flags(const Network& network);
/// Returns a sentence with the flags that give the missing sizes of inputs; "" if no size is missing.
std::string missing_sizes_text(const Network& network);
/// Throws Error(kUser) if no part of the network could be tuned on any device.
void check_tunable(const NetworkFile& model, const Network& network);
/// Returns the file and the sizes as flags of another command: "resnet18.onnx --dim batch=1".
std::string flags_of(const NetworkFile& model);

}  // namespace lehr::api
