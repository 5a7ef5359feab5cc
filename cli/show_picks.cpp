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
        {{"config", to_text(pick.config)}, {"batch", pick.batch}, {"prior_us", pick.prior_us}});
    rows.push_back({std::to_string(rows.size() + 1),
                    pick.batch == 0 ? "default" : fmt::format("batch {}", pick.batch),
                    format_time_us(pick.prior_us), to_text(pick.config)});
  }
  text += "\n" + format_table({"trial", "<picked as", "estimate", "<config"}, rows);
  text +=
      "\nWhat lehr tune measures of a workload that no log knows, before its first model: the analytic prior "
      "scores the\nannealing, and a share of each batch is chance. Batch 1 is certain if the defaults run; "
      "what follows depends on the\ntimes, for which the estimates stand here. lehr show --config '...' --as "
      "features says what an estimate is made of.\n";
}

}  // namespace lehr
