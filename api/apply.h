// The part of apply() that `lehr verify` and optimize() share. Only for api/ and cli/.
#pragma once

#include <future>
#include <nlohmann/json_fwd.hpp>

#include "api/lehr.h"
#include "apply/engine_trial.h"
#include "deploy/folder_files.h"

namespace lehr::api {

/// Returns how networks are to be tried in the engine, according to the options. `threads` is copied, even if
/// it is 0. Without `ask_engine` no library of an engine is searched for. Throws lehr::Error.
EngineCheck engine_check(const NetworkFile& model, const ApplyOptions& options);
/// Adds the inputs in the file of ApplyOptions::feed to the check, if the options name a file. Throws
/// lehr::Error.
void feed(const OnnxModel& model, const ApplyOptions& options, EngineCheck& check);

/// Does what apply() promises (lehr.h). Fills `document` with the document of Applied::json. `plugin` becomes
/// ApplyRequest::plugin. Throws lehr::Error.
Applied applied_to(const NetworkFile& model, const ApplyOptions& options, nlohmann::json& document,
                   const std::shared_future<FolderFile>& plugin = {});

}  // namespace lehr::api
