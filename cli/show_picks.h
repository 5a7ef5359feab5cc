// `lehr show --as picks`: what a session without a log begins with, as JSON and as a table.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "tune/first_picks.h"

namespace lehr {

/// Adds "picks" to `document`, and a table of them with its reading to `text`.
void show_picks(std::span<const FirstPick> picks, nlohmann::json& document, std::string& text);

}  // namespace lehr
