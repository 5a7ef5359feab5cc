// The report on an applied network: sentences for people, a document for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apply/apply.h"
#include "base/describe.h"

namespace lehr {

/// Returns "outputs within 3e-07 of their ranges", and a line for each output that was not compared.
std::string agreement_text(const EngineVerdict& verdict);
/// Returns lines like "output 'logits': within 0.0031 of its range, the same class first in 7 of 7 rows".
std::string outputs_text(const EngineVerdict& verdict);
/// Returns "original 5.32 ms, rewritten 3.01 ms: 1.77x".
std::string speedup_text(const EngineVerdict& verdict);
/// Returns "kernels cover 61.3 % of the original's time; not covered: LSTM 35.0 %, Softmax 2.4 %, others 1.3
/// %". Without measured times it returns "not counted: 2 x LSTM, 1 x Softmax", or "" if all is counted.
std::string coverage_text(const Applied& applied);
/// Returns a table of the layers that took longest in the original, and a line for all other layers. Returns
/// "" if there are no layers.
std::string layers_text(const std::vector<Layer>& layers);

/// Returns the report as lines: how many matches are replaced, which stay the engine's and why, the
/// differences of the outputs, the speedup, the share of the time that kernels cover, and the times of
/// layers.
std::string report_text(const Applied& applied);

void describe(auto& field, const OperatorShare& share) {
  field("operator", share.name);
  field("share", share.share);
}
/// Describes the engine's answer, for both `lehr apply --json` and `lehr verify --json`.
void describe_agreement(auto& field, const EngineVerdict& verdict) {
  field("engine", verdict.engine);
  field("original_us", verdict.original_us);
  field("rewritten_us", verdict.rewritten_us);
  describe_speedup(field, verdict.speedup);
  field("worst_difference", verdict.worst);
  field("own_difference", verdict.own);
  field("kernels_compared", verdict.matches.compared);
  field("worst_kernel_difference", verdict.matches.worst);
  field("outputs", verdict.outputs);
  field("not_compared", verdict.uncompared);
  field("notes", verdict.notes);
}
/// Describes the document of `lehr apply --json`.
void describe(auto& field, const Applied& applied) {
  describe_agreement(field, applied.verdict);
  field("threads", applied.threads);
  field("places", applied.matches);
  field("with_kernels", applied.with_kernels);
  field("replaced", applied.replaced);
  field("in_bf16", applied.narrow);
  field("channels_last", applied.channels_last);
  field("share_of_flops", applied.share_of_flops);
  field("not_counted", applied.not_counted);
  field("covered_share", applied.covered_share);
  field("not_covered", applied.not_covered);
  field("layers", applied.layers);
  field("expected_us", applied.expected_us);
  field("prepacked_bytes", applied.prepacked_bytes);
  field("reasons", applied.reasons);
  field("without_winograd_us", applied.without_saving_us);
  field("sizes", applied.sizes);
  field("other_sizes", applied.other_sizes);
  field("original_session", applied.original_session);
  field("session", applied.session);
  field("tolerance", Known{applied.tolerance});
  field("not_verified", applied.verdict.failure);
}
nlohmann::json to_json(const Applied& applied);

}  // namespace lehr
