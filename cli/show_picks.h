// `lehr show --as picks`: the first picks of a session without a log, as JSON and as a table.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "tune/first_picks.h"

namespace lehr {

/// Adds "picks" to `document`, and a table of the picks with an explanation to `text`.
void show_picks(std::span<const FirstPick> picks, nlohmann::json& document, std::string& text);

}  // namespace lehr
