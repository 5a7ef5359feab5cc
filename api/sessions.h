// Functions for both tuning a list of workloads and tuning a network. Only for api/.
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

/// Seconds of search if the user gives no time: for a single workload, for each workload of a network, and
/// for each size of a range.
inline constexpr double kSecondsAlone = 60, kSecondsEach = 10, kSecondsASize = 10;

SessionOptions session_options(const TuneOptions& options, const Device::State& device);
/// Opens the other log from which hints come. Returns nullopt if hints come from the session's own log.
std::optional<Database> other_log(const TuneOptions& options);
bool is_stopped(const Device& device);
/// Returns the code of a session's result, with a sentence if the session has no result.
std::pair<Code, std::string> outcome_of(const Summary& summary);
inline const std::pair<Code, std::string> kStopped = {Code::kInterrupted,
                                                      "it was stopped; the log has what was measured"};
/// Returns the document as indented text. Its strings may hold any bytes.
std::string dumped(const nlohmann::json& document);

/// Throws Error(kUser) if an option that is only for single kernels is given for a range of rows, or an
/// option that is only for ranges is given without one.
void check_ranges(const std::vector<Workload>& workloads, const TuneOptions& options);
/// Tunes a range of rows within the session's limits. If the session has no limit, each size that is searched
/// gets kSecondsASize.
RangeSummary tune_one_range(const Workload& range, Device& device, Logs logs, const TuneOptions& options,
                            SessionOptions session, Reporter& reporter);
/// Does what tune() promises (lehr.h). Throws lehr::Error.
Results tune_workloads(const std::vector<Workload>& workloads, Device& device, Log& log,
                       const TuneOptions& options);
/// Tunes a network as tune() promises (lehr.h). Fills `document` with the document of NetworkResult::json.
/// `behind_s` becomes SharedOptions::behind_s.
NetworkResult tune_network(const NetworkFile& model, Device& device, Log& log, const TuneOptions& options,
                           Reporter& reporter, nlohmann::json& document,
                           const std::function<double(double, double)>& behind_s = {});
std::vector<Workload> workloads_of(const Matches& matches);
/// Returns the sizes that the user gives. A dimension with a range gets the size `within`; if it is 0, the
/// range's largest size.
ShapeBindings bindings_of(const NetworkFile& model, std::int64_t within = 0);
/// Reads the network's file, and finds its shapes and matches. If the file is newer than the known versions,
/// that becomes a note.
Network read_network(const NetworkFile& model, Reporter& reporter);
/// Returns GraphShapes::missing_sizes as flags for a shell; "" if no size is missing.
std::string missing_flags(const Network& network);
/// Returns a sentence with the flags that give the missing sizes of inputs; "" if no size is missing.
std::string missing_sizes_text(const Network& network);
/// Throws Error(kUser) if no part of the network could be tuned on any device.
void check_tunable(const NetworkFile& model, const Network& network);
/// Returns the file and its sizes as arguments for another command: "resnet18.onnx --dim batch=1".
std::string flags_of(const NetworkFile& model);

}  // namespace lehr::api
