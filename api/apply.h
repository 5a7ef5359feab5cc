// How networks are tried in the engine, as apply() and `lehr verify` do. For api/ and cli/ alone.
#pragma once

#include <future>
#include <nlohmann/json_fwd.hpp>

#include "api/lehr.h"
#include "apply/engine_trial.h"
#include "deploy/folder_files.h"

namespace lehr::api {

/// Of the options what is about the engine, `threads` as they are there; without `ask_engine` no library is
/// looked for. Throws lehr::Error.
EngineCheck engine_check(const Model& model, const ApplyOptions& options);
/// Reads ApplyOptions::feed, where there is one, into the check. Throws lehr::Error.
void feed(const OnnxModel& model, const ApplyOptions& options, EngineCheck& check);

/// Does what apply() promises (lehr.h); `document` is that of Applied::json, `plugin` ApplyRequest's. Throws
/// lehr::Error.
Applied applied_to(const Model& model, const ApplyOptions& options, nlohmann::json& document,
                   const std::shared_future<FolderFile>& plugin = {});

}  // namespace lehr::api
