// Messages between parent and worker, as values; messages.cpp has the JSON.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/error.h"
#include "measure/core/compiler.h"
#include "measure/core/runner.h"
#include "measure/core/time_left.h"
#include "record/outcome.h"

namespace lehr {

/// Version of the protocol. It changes with every change of the messages below, except for Hello, which never
/// changes.
inline constexpr int kProtocolVersion = 13;

/// Chooses a runner by name and gives it the problem. Without a path it only opens the runner. The reply is
/// Done, with Runner::checked_by().
struct PrepareRequest {
  std::string runner;
  std::string problem_path;  ///< path of a problem file (measure/core/problem_file.h)
  RunSettings settings;
  friend bool operator==(const PrepareRequest&, const PrepareRequest&) = default;
};
/// The kernel that a session's times are corrected with.
struct ReferenceKernel {
  Candidate candidate;
  double session_us = 0;  ///< its usual time in this session (Measurer::reference_us)
  friend bool operator==(const ReferenceKernel&, const ReferenceKernel&) = default;
};
/// Loads, checks, times and unloads one candidate. The reply is Timing or Fault.
struct TrialRequest {
  Candidate candidate;
  SampleRequest sampling;
  std::optional<ReferenceKernel> reference;
  double best_us = 0;           ///< a time below it must be confirmed by a second window; 0: no time must
  double wanted_s = kNoLimitS;  ///< TimeLeft::wanted_s
  friend bool operator==(const TrialRequest&, const TrialRequest&) = default;
};
/// Loads and checks a candidate, and keeps it in a slot. The reply is Done or Fault.
struct LoadRequest {
  int slot = 0;
  Candidate candidate;
  friend bool operator==(const LoadRequest&, const LoadRequest&) = default;
};
/// Samples the kernel in a slot. The reply is Samples or Fault.
struct TimeRequest {
  int slot = 0;
  SampleRequest sampling;
  friend bool operator==(const TimeRequest&, const TimeRequest&) = default;
};
/// Loads one candidate, calls it twice, and compares the two outputs. The reply is Repetition or Fault.
struct RepeatRequest {
  Candidate candidate;
  friend bool operator==(const RepeatRequest&, const RepeatRequest&) = default;
};
/// Puts the inputs of another problem in place. The problem has the same tensors as the prepared one. The
/// reply is Done.
struct InputsRequest {
  std::string problem_path;
  friend bool operator==(const InputsRequest&, const InputsRequest&) = default;
};
/// Checks the kernel in a slot repeatedly within the loaded image, on the inputs that are in place. The reply
/// is Done or Fault.
struct ProveRequest {
  int slot = 0;
  int calls = 0;
  int least_calls = 0;   ///< minimum number of calls, however long they take
  double seconds = 0;    ///< if exceeded, no more than `least_calls` calls are made
  bool by_host = false;  ///< whether to call Runner::check_by_host(), too
  friend bool operator==(const ProveRequest&, const ProveRequest&) = default;
};
using Request = std::variant<PrepareRequest, TrialRequest, LoadRequest, TimeRequest, RepeatRequest,
                             InputsRequest, ProveRequest>;

/// Makes the process a compile worker, which loads the target's compiler (Backend::worker_compiler). The
/// reply is Identity.
struct CompilerRequest {
  std::string target;  ///< its name
  WorkerCompilerOptions options;
  std::int64_t memory_bytes = 0;  ///< limit of the worker's private memory (measure/system/memory_limit.h)
  friend bool operator==(const CompilerRequest&, const CompilerRequest&) = default;
};
/// Compiles one source. The reply is Binary or Fault.
struct CompileRequest {
  std::string entry;
  std::string text;
  std::int64_t shared_bytes = 0;  ///< dynamic shared memory, as in Source::launch
  std::string path;               ///< path of the binary
  friend bool operator==(const CompileRequest&, const CompileRequest&) = default;
};
/// A request to a compile worker. The kind of a worker's first request decides what kind of worker it
/// becomes.
using CompileWork = std::variant<CompilerRequest, CompileRequest>;

/// The worker's first message. Both sides must come from the same build.
struct Hello {
  int version = 0;   ///< kProtocolVersion of the worker
  std::string lehr;  ///< kVersion of the worker
};
struct Done {
  std::string note = {};  ///< Checked::note of the loaded kernel, or Runner::checked_by()
  std::optional<LibraryFinding> finding = std::nullopt;  ///< Runner::finding()
  /// Seconds of prepare(): Problem::inputs_s, Problem::expected_s, and the seconds for storing the problem in
  /// its file.
  double inputs_s = 0, expected_s = 0, stored_s = 0;
  double overhead_us = 0;  ///< Checked::overhead_us
};
/// Says that the compile worker is ready.
struct Identity {
  std::string text;  ///< Compiler::identity()
};
/// An Error that was thrown in the worker. It is thrown again in the parent.
struct Thrown {
  ErrorKind error = ErrorKind::kEnvironment;
  std::string text;
};
using Reply = std::variant<Hello, Done, Timing, Samples, Fault, Thrown, Identity, Binary, Repetition>;

std::string to_text(const Request& request);
std::string to_text(const CompileWork& work);
std::string to_text(const Reply& reply);
/// Return nullopt if the message is not well-formed. It may not be: a candidate may have written to the wrong
/// descriptor.
std::optional<Request> parse_request(const std::string& text);
std::optional<CompileWork> parse_compile_work(const std::string& text);
std::optional<Reply> parse_reply(const std::string& text);

}  // namespace lehr
