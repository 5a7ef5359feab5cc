// Shares and progress of a run on several nodes, as text.
#pragma once

#include <cstddef>
#include <string>

#include "cluster/plan.h"
#include "cluster/survey.h"

namespace lehr {

/// A line for each shard, then the workloads of shard `own`. `width`: of a terminal; 0: any.
std::string plan_text(const cluster::Plan& plan, int own, std::size_t width);
/// A line for each shard, the sums, and what is worth a look.
std::string survey_text(const cluster::Survey& survey, std::size_t width);

}  // namespace lehr
