// `lehr tune --trials 0`: what is thought of a workload while nothing is measured. For the program; no part
// of the face (lehr.h) yet.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "api/lehr.h"
#include "workload/workload.h"

namespace lehr::api {

struct Untuned {
  std::string note;  ///< why "auto" did not take the GPU; "" where there was nothing to choose
  std::string text;  ///< what `lehr tune --trials 0` prints
};

/// The config that the log, its other tasks or an analytic estimate would take, in about a second. Runs
/// nothing and writes nothing: it is no winner. `log`: its file, which need not be there. Of `options` those
/// count that say what answers: fresh, transfer, winograd, seed. Throws an Error of kNothingFound where no
/// family serves the workload, of kWrongInput for a range of rows.
Untuned untuned(const Workload& workload, const DeviceOptions& device, const std::string& log,
                const TuneOptions& options, nlohmann::json& document);

}  // namespace lehr::api
