#include "cli/show_picks.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "measure/core/format.h"

namespace lehr {

using nlohmann::json;

void show_picks(std::span<const FirstPick> picks, json& document, std::string& text) {
  document["picks"] = json::array();
  std::vector<std::vector<std::string>> rows;
  for (const FirstPick& pick : picks) {
    document["picks"].push_back(
        {{"config", to_text(pick.config)}, {"picked_as", pick.picked_as}, {"prior_us", pick.prior_us}});
    rows.push_back({std::to_string(rows.size() + 1), pick.picked_as, format_time_us(pick.prior_us),
                    to_text(pick.config)});
  }
  text += "\n" + format_table({"trial", "<picked as", "estimate", "<config"}, rows);
  text +=
      "\nWhat lehr tune measures of a workload that no log knows, before its first model: what the analytic "
      "prior "
      "estimates to\nbe fastest, and on a CPU in turn with it what is far from all that was measured. lehr "
      "show "
      "--config '...' --as features\nsays what an estimate is made of.\n";
}

}  // namespace lehr
