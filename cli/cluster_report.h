// Formats the shares and the progress of a run on several nodes as text.
#pragma once

#include <cstddef>
#include <string>

#include "cluster/plan.h"
#include "cluster/survey.h"

namespace lehr {

/// Returns a line for each shard, then the workloads of shard `own`. `width` is the maximum width of a line;
/// 0: no limit.
std::string plan_text(const cluster::Plan& plan, int own, std::size_t width);
/// Returns a line for each shard, a line with the sums, and the notes.
std::string survey_text(const cluster::Survey& survey, std::size_t width);

}  // namespace lehr
