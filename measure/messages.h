// What parent and worker say to each other, as values; the JSON is in messages.cpp.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/error.h"
#include "measure/outcome.h"
#include "measure/runner.h"

namespace lehr {

/// The worker's first message. Both sides come from one build; the number guards against a wrong executable.
inline constexpr int kProtocolVersion = 1;

/// Choose a runner by name and give it the problem. Answered by Done.
struct PrepareRequest {
  std::string runner;
  std::string problem_path;  ///< measure/problem_file.h
  RunSettings settings;
  friend bool operator==(const PrepareRequest&, const PrepareRequest&) = default;
};
/// The kernel that times of a session are related to.
struct ReferenceKernel {
  Candidate candidate;
  double session_us = 0;  ///< its time when it was first measured
  friend bool operator==(const ReferenceKernel&, const ReferenceKernel&) = default;
};
/// Load, check, time and unload one candidate. Answered by Timing or Fault.
struct TrialRequest {
  Candidate candidate;
  SampleRequest sampling;
  std::optional<ReferenceKernel> reference;
  friend bool operator==(const TrialRequest&, const TrialRequest&) = default;
};
/// Load and check into a slot, and leave it there. Answered by Done or Fault.
struct LoadRequest {
  int slot = 0;
  Candidate candidate;
  friend bool operator==(const LoadRequest&, const LoadRequest&) = default;
};
/// Sample what a slot holds. Answered by Samples or Fault.
struct TimeRequest {
  int slot = 0;
  SampleRequest sampling;
  friend bool operator==(const TimeRequest&, const TimeRequest&) = default;
};
using Request = std::variant<PrepareRequest, TrialRequest, LoadRequest, TimeRequest>;

struct Hello {
  int version = kProtocolVersion;
};
struct Done {
  std::string note = {};  ///< Checked::note of what was loaded
};
/// An Error thrown in the worker: rethrown in the parent.
struct Thrown {
  ErrorKind kind = ErrorKind::kEnvironment;
  std::string text;
};
using Reply = std::variant<Hello, Done, Timing, Samples, Fault, Thrown>;

std::string to_text(const Request& request);
std::string to_text(const Reply& reply);
/// nullopt for what is not a well-formed message: a candidate may have written on the wrong descriptor.
std::optional<Request> parse_request(const std::string& text);
std::optional<Reply> parse_reply(const std::string& text);

}  // namespace lehr
