// How networks are tried in the engine, as apply() and `lehr verify` do. For api/ and cli/ alone.
#pragma once

#include <future>
#include <nlohmann/json_fwd.hpp>

#include "api/lehr.h"
#include "apply/engine_trial.h"
#include "deploy/folder_files.h"

namespace lehr::api {

/// Returns the engine's part of the options. `threads` is taken as the options have it. Without `ask_engine`
/// no library is looked for. Throws lehr::Error.
EngineCheck engine_check(const NetworkFile& model, const ApplyOptions& options);
/// Reads the file of ApplyOptions::feed, if one is named, into the check. Throws lehr::Error.
void feed(const OnnxModel& model, const ApplyOptions& options, EngineCheck& check);

/// Does what apply() promises (lehr.h). Fills `document` with the document of Applied::json. `plugin` is
/// ApplyRequest's. Throws lehr::Error.
Applied applied_to(const NetworkFile& model, const ApplyOptions& options, nlohmann::json& document,
                   const std::shared_future<FolderFile>& plugin = {});

}  // namespace lehr::api
