// `lehr tune --trials 0`: what is believed of a workload without measuring. For the program; no part of the
// public interface (lehr.h) yet.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "api/lehr.h"
#include "workload/workload.h"

namespace lehr::api {

struct Untuned {
  std::string note;  ///< why "auto" did not take the GPU; "" if there was no choice to make
  std::string text;  ///< the text that `lehr tune --trials 0` prints
};

/// Returns the config that the log, its other tasks or an analytic estimate would take, in about a second.
/// Runs nothing and writes nothing: the config is not a winner. `log` is the log's file, which need not
/// exist. Only these of `options` count: fresh, transfer, winograd, seed. Throws an Error of kNothingFound if
/// no family serves the workload, of kWrongInput for a range of rows.
Untuned untuned(const Workload& workload, const DeviceOptions& device, const std::string& log,
                const TuneOptions& options, nlohmann::json& document);

}  // namespace lehr::api
