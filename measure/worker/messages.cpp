// A message is a JSON object. Its keys are the names of the members, and "kind", which names the alternative
// of the variant.
#include "measure/worker/messages.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/describe_json.h"
#include "codegen/source_fields.h"

namespace lehr {

using nlohmann::json;

static void to_json(json& j, DType type) {
  j = name_of(type);
}
static void from_json(const json& j, DType& type) {
  const std::optional<DType> found = parse_dtype(j.get<std::string>());
  if (!found) throw json::other_error::create(501, "no such element type", &j);
  type = *found;
}
static void to_json(json& j, FailureKind kind) {
  j = name_of(kind);
}
static void from_json(const json& j, FailureKind& kind) {
  const std::optional<FailureKind> found = parse_failure_kind(j.get<std::string>());
  if (!found) throw json::other_error::create(501, "no such kind of failure", &j);
  kind = *found;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TensorMapArgument, tensor, type, map)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Candidate, path, entry, launch, scratch_bytes, workspace_bytes,
                                   prepacked_bytes, tensor_maps, most_rows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SampleRequest, sample_us, min_samples, min_total_us, max_total_us,
                                   few_samples, hopeless_us, tolerance, tight_total_us, contender_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FoundAlgorithm, algorithm, mark, tried, offered)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryFinding, library, lists)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibrarySearch, seconds, known)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceCheck, kernels, plain, bands)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunSettings, threads, cold, device, memory_bytes, bundle, onnxruntime,
                                   search, check)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PrepareRequest, runner, problem_path, settings)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReferenceKernel, candidate, session_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrialRequest, candidate, sampling, reference, best_us, wanted_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoadRequest, slot, candidate)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeRequest, slot, sampling)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RepeatRequest, candidate)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InputsRequest, problem_path)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProveRequest, slot, calls, least_calls, seconds, by_host)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WorkerCompilerOptions, arch, library_directories, time_limit_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompilerRequest, target, options, memory_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompileRequest, entry, text, shared_bytes, path)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Hello, version, lehr)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Done, note, finding, inputs_s, expected_s, stored_s, overhead_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Samples, us, hopeless, cpu_share, gpu)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Failure, kind, text, resources)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Fault, failure, worker_lost, of_another)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Thrown, error, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Identity, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Binary, path, log, resources)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Repetition, elements, different, first)

namespace {

/// The values of "kind", in the order of the alternatives.
template <typename Message>
constexpr std::array<std::string_view, std::variant_size_v<Message>> kKinds;
template <>
constexpr std::array<std::string_view, 7> kKinds<Request> = {"prepare", "trial",  "load", "time",
                                                             "repeat",  "inputs", "prove"};
template <>
constexpr std::array<std::string_view, 2> kKinds<CompileWork> = {"compiler", "compile"};
template <>
constexpr std::array<std::string_view, 9> kKinds<Reply> = {
    "hello", "done", "timing", "samples", "fault", "thrown", "identity", "binary", "repetition"};

template <typename Message>
std::string text_of(const Message& message) {
  json j = std::visit([](const auto& alternative) { return json(alternative); }, message);
  j["kind"] = kKinds<Message>[message.index()];
  // Texts of devices and loaders may contain any bytes, but JSON needs UTF-8.
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <typename Message, std::size_t kAt = 0>
std::optional<Message> message_of(const json& j, const std::string& kind) {
  if constexpr (kAt == std::variant_size_v<Message>)
    return std::nullopt;
  else if (kind == kKinds<Message>[kAt])
    return Message(std::in_place_index<kAt>, j.get<std::variant_alternative_t<kAt, Message>>());
  else
    return message_of<Message, kAt + 1>(j, kind);
}

template <typename Message>
std::optional<Message> parsed(const std::string& text) {
  try {
    const json j = json::parse(text);
    return message_of<Message>(j, j.at("kind"));
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string to_text(const Request& request) {
  return text_of(request);
}
std::string to_text(const CompileWork& work) {
  return text_of(work);
}
std::string to_text(const Reply& reply) {
  return text_of(reply);
}
std::optional<Request> parse_request(const std::string& text) {
  return parsed<Request>(text);
}
std::optional<CompileWork> parse_compile_work(const std::string& text) {
  return parsed<CompileWork>(text);
}
std::optional<Reply> parse_reply(const std::string& text) {
  return parsed<Reply>(text);
}

}  // namespace lehr
