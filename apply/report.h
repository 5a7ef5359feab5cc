// What is told of an applied network: sentences for people, a document for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apply/apply.h"

namespace lehr {

/// "outputs within 3e-07 of their ranges", and what was not compared, in lines of its own.
std::string agreement_text(const EngineVerdict& verdict);
/// Lines: "output 'logits': within 0.0031 of its range, the same class first in 7 of 7 rows".
std::string outputs_text(const EngineVerdict& verdict);
nlohmann::json outputs_json(const EngineVerdict& verdict);
/// "original 5.32 ms, rewritten 3.01 ms: 1.77x".
std::string speedup_text(const EngineVerdict& verdict);
/// "kernels cover 61.3 % of the original's time; not covered: LSTM 35.0 %, Softmax 2.4 %, others 1.3 %".
/// Where time was not measured "not counted: 2 x LSTM, 1 x Softmax"; "" where all is counted.
std::string coverage_text(const Applied& applied);

/// Lines: how much is replaced, what stays the engine's and why, how far off and how much faster it is, which
/// share of the time is covered.
std::string report_text(const Applied& applied);
/// The same, all of it, by the keys of `lehr apply --json`.
nlohmann::json to_json(const Applied& applied);

}  // namespace lehr
