// `lehr tune --trials 0`: chooses a config for a workload without measuring. Only for the program; not part
// of the public interface (lehr.h) yet.
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

/// Returns, within about a second, the config that looks best according to the log, to its other tasks, or to
/// an analytic estimate. No kernel runs and nothing is written, so the config is not a winner. `log` is the
/// log's file, which need not exist. The only options that have an effect are fresh, transfer, winograd and
/// seed. Throws an Error: kNothingFound if no family serves the workload, kWrongInput for a range of rows.
Untuned untuned(const Workload& workload, const DeviceOptions& device, const std::string& log,
                const TuneOptions& options, nlohmann::json& document);

}  // namespace lehr::api
