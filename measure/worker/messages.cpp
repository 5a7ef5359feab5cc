// JSON in and out, one pair of functions per value; the field names are the members' names.
#include "measure/worker/messages.h"

#include <nlohmann/json.hpp>

#include "base/overloaded.h"

namespace lehr {
namespace {

using nlohmann::json;

json write(const TensorMapArgument& a) {
  json im2col;
  if (const auto& i = a.map.im2col)
    im2col = {{"pixels", i->pixels}, {"lower", i->lower}, {"upper", i->upper}, {"step", i->step}};
  return {{"tensor", a.tensor},       {"type", name_of(a.type)},  {"rank", a.map.rank},
          {"dims", a.map.dims},       {"strides", a.map.strides}, {"box", a.map.box},
          {"swizzle", a.map.swizzle}, {"tf32", a.map.tf32},       {"im2col", std::move(im2col)}};
}
TensorMapArgument read_tensor_map(const json& j) {
  TensorMapArgument a;
  a.tensor = j.at("tensor");
  const std::optional<DType> type = parse_dtype(j.at("type").get<std::string>());
  if (!type) throw json::other_error::create(501, "no such element type", &j);
  a.type = *type;
  a.map.rank = j.at("rank");
  a.map.dims = j.at("dims");
  a.map.strides = j.at("strides");
  a.map.box = j.at("box");
  a.map.swizzle = j.at("swizzle");
  a.map.tf32 = j.at("tf32");
  if (const json& i = j.at("im2col"); !i.is_null())
    a.map.im2col = {i.at("pixels"), i.at("lower"), i.at("upper"), i.at("step")};
  return a;
}

json write(const Candidate& c) {
  json maps = json::array();
  for (const TensorMapArgument& each : c.tensor_maps) maps.push_back(write(each));
  json then = json::array();
  for (const SourceStep& step : c.then) then.push_back({{"entry", step.entry}, {"tasks", step.tasks}});
  return {{"path", c.path},
          {"entry", c.entry},
          {"grid", c.launch.grid},
          {"block", c.launch.block},
          {"cluster", c.launch.cluster},
          {"programmatic", c.launch.programmatic},
          {"shared_bytes", c.launch.shared_bytes},
          {"tasks", c.launch.tasks},
          {"scratch_bytes", c.scratch_bytes},
          {"prepack_tasks", c.launch.prepack_tasks},
          {"workspace_bytes", c.workspace_bytes},
          {"prepacked_bytes", c.prepacked_bytes},
          {"tensor_maps", std::move(maps)},
          {"then", std::move(then)}};
}
Candidate read_candidate(const json& j) {
  Candidate c;
  c.path = j.at("path");
  c.entry = j.at("entry");
  c.launch.grid = j.at("grid");
  c.launch.block = j.at("block");
  c.launch.cluster = j.at("cluster");
  c.launch.programmatic = j.at("programmatic");
  c.launch.shared_bytes = j.at("shared_bytes");
  c.launch.tasks = j.at("tasks");
  c.scratch_bytes = j.at("scratch_bytes");
  c.launch.prepack_tasks = j.at("prepack_tasks");
  c.workspace_bytes = j.at("workspace_bytes").get<std::vector<std::int64_t>>();
  c.prepacked_bytes = j.at("prepacked_bytes").get<std::vector<std::int64_t>>();
  for (const json& each : j.at("tensor_maps")) c.tensor_maps.push_back(read_tensor_map(each));
  for (const json& step : j.at("then")) c.then.push_back({step.at("entry"), step.at("tasks")});
  return c;
}

json write(const SampleRequest& r) {
  return {{"sample_us", r.sample_us},
          {"min_samples", r.min_samples},
          {"min_total_us", r.min_total_us},
          {"max_total_us", r.max_total_us},
          {"few_samples", r.few_samples},
          {"hopeless_us", r.hopeless_us},
          {"tolerance", r.tolerance},
          {"tight_total_us", r.tight_total_us},
          {"contender_us", r.contender_us}};
}
SampleRequest read_sampling(const json& j) {
  return {j.at("sample_us"),   j.at("min_samples"), j.at("min_total_us"),
          j.at("max_total_us"), j.at("few_samples"), j.at("hopeless_us"),
          j.at("tolerance"),   j.at("tight_total_us"), j.at("contender_us")};
}

json write(const Resources& r) {
  json j = {{"compile_s", r.compile_s}};
  const auto put = [&j](const char* name, const std::optional<int>& value) {
    if (value) j[name] = *value;
  };
  put("registers", r.registers);
  put("spill_bytes", r.spill_bytes);
  put("shared_bytes", r.shared_bytes);
  put("stack_bytes", r.stack_bytes);
  if (!r.advisories.empty()) j["advisories"] = r.advisories;
  return j;
}
Resources read_resources(const json& j) {
  Resources r;
  r.compile_s = j.at("compile_s");
  const auto get = [&j](const char* name, std::optional<int>& value) {
    if (j.contains(name)) value = j.at(name).get<int>();
  };
  get("registers", r.registers);
  get("spill_bytes", r.spill_bytes);
  get("shared_bytes", r.shared_bytes);
  get("stack_bytes", r.stack_bytes);
  r.advisories = j.value("advisories", "");
  return r;
}

json write(const Timing& t) {
  return {{"time_us", t.time_us},           {"samples_us", t.samples_us}, {"spread", t.spread},
          {"reference_us", t.reference_us}, {"max_error", t.max_error},   {"run_s", t.run_s},
          {"resources", write(t.resources)}, {"windows", t.windows}, {"disturbed", t.disturbed}};
}
Timing read_timing(const json& j) {
  return {j.at("time_us"),
          j.at("samples_us"),
          j.at("spread"),
          j.at("reference_us"),
          j.at("max_error"),
          j.at("run_s"),
          read_resources(j.at("resources")),
          j.at("windows"),
          j.at("disturbed")};
}

json write(const Samples& s) {
  json j = {{"kind", "samples"}, {"us", s.us}, {"hopeless", s.hopeless}, {"cpu_share", s.cpu_share}};
  if (s.gpu) j["gpu"] = {s.gpu->sm_mhz, s.gpu->power_w, s.gpu->temperature_c};
  return j;
}
Samples read_samples(const json& j) {
  Samples s{j.at("us"), j.at("hopeless"), j.at("cpu_share")};
  if (j.contains("gpu")) s.gpu = GpuState{j["gpu"].at(0), j["gpu"].at(1), j["gpu"].at(2)};
  return s;
}

/// Device and loader texts may hold any bytes; JSON wants UTF-8.
std::string dump(const json& j) {
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <typename Result, typename Parse>
std::optional<Result> parsed(const std::string& text, Parse parse) {
  try {
    return parse(json::parse(text));
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string to_text(const Request& request) {
  return dump(std::visit(
      overloaded{
          [](const PrepareRequest& r) {
            return json{{"kind", "prepare"},
                        {"runner", r.runner},
                        {"problem_path", r.problem_path},
                        {"threads", r.settings.threads},
                        {"cold", r.settings.cold},
                        {"device", r.settings.device},
                        {"memory_bytes", r.settings.memory_bytes}};
          },
          [](const TrialRequest& r) {
            json j = {{"kind", "trial"}, {"candidate", write(r.candidate)}, {"sampling", write(r.sampling)}};
            if (r.reference) {
              j["reference"] = {{"candidate", write(r.reference->candidate)},
                                {"session_us", r.reference->session_us}};
            }
            return j;
          },
          [](const LoadRequest& r) {
            return json{{"kind", "load"}, {"slot", r.slot}, {"candidate", write(r.candidate)}};
          },
          [](const TimeRequest& r) {
            return json{{"kind", "time"}, {"slot", r.slot}, {"sampling", write(r.sampling)}};
          },
          [](const RepeatRequest& r) {
            return json{{"kind", "repeat"}, {"candidate", write(r.candidate)}};
          }},
      request));
}

std::optional<Request> parse_request(const std::string& text) {
  return parsed<Request>(text, [](const json& j) -> std::optional<Request> {
    const std::string kind = j.at("kind");
    if (kind == "prepare") {
      return PrepareRequest{j.at("runner"),
                            j.at("problem_path"),
                            {j.at("threads"), j.at("cold"), j.at("device"), j.at("memory_bytes")}};
    }
    if (kind == "trial") {
      TrialRequest r{read_candidate(j.at("candidate")), read_sampling(j.at("sampling")), std::nullopt};
      if (j.contains("reference")) {
        const json& reference = j.at("reference");
        r.reference = {read_candidate(reference.at("candidate")), reference.at("session_us")};
      }
      return r;
    }
    if (kind == "load") return LoadRequest{j.at("slot"), read_candidate(j.at("candidate"))};
    if (kind == "time") return TimeRequest{j.at("slot"), read_sampling(j.at("sampling"))};
    if (kind == "repeat") return RepeatRequest{read_candidate(j.at("candidate"))};
    return std::nullopt;
  });
}

std::string to_text(const CompileWork& work) {
  return dump(std::visit(overloaded{[](const CompilerRequest& r) {
                                      const NvrtcOptions& o = r.options;
                                      return json{{"kind", "compiler"},
                                                  {"arch", o.arch},
                                                  {"library_directories", o.library_directories},
                                                  {"time_limit_s", o.time_limit_s},
                                                  {"max_spill_bytes", o.reject.max_spill_bytes},
                                                  {"reject_advisories", o.reject.reject_advisories},
                                                  {"memory_bytes", r.memory_bytes}};
                                    },
                                    [](const CompileRequest& r) {
                                      return json{{"kind", "compile"},
                                                  {"entry", r.entry},
                                                  {"text", r.text},
                                                  {"shared_bytes", r.shared_bytes},
                                                  {"path", r.path}};
                                    }},
                         work));
}

std::optional<CompileWork> parse_compile_work(const std::string& text) {
  return parsed<CompileWork>(text, [](const json& j) -> std::optional<CompileWork> {
    const std::string kind = j.at("kind");
    if (kind == "compiler") {
      return CompilerRequest{{j.at("arch"),
                              j.at("library_directories"),
                              j.at("time_limit_s"),
                              {j.at("max_spill_bytes"), j.at("reject_advisories")}},
                             j.at("memory_bytes")};
    }
    if (kind == "compile")
      return CompileRequest{j.at("entry"), j.at("text"), j.at("shared_bytes"), j.at("path")};
    return std::nullopt;
  });
}

std::string to_text(const Reply& reply) {
  return dump(std::visit(
      overloaded{[](const Hello& r) {
                   return json{{"kind", "hello"}, {"version", r.version}};
                 },
                 [](const Done& r) {
                   return json{{"kind", "done"}, {"note", r.note}};
                 },
                 [](const Timing& r) {
                   return json{{"kind", "timing"}, {"timing", write(r)}};
                 },
                 [](const Samples& r) { return write(r); },
                 [](const Fault& r) {
                   return json{{"kind", "fault"},
                               {"failure", name_of(r.failure.kind)},
                               {"text", r.failure.text},
                               {"resources", write(r.failure.resources)},
                               {"worker_lost", r.worker_lost}};
                 },
                 [](const Thrown& r) {
                   return json{{"kind", "thrown"}, {"error", static_cast<int>(r.kind)}, {"text", r.text}};
                 },
                 [](const Identity& r) {
                   return json{{"kind", "identity"}, {"text", r.text}};
                 },
                 [](const Binary& r) {
                   return json{{"kind", "binary"},
                               {"path", r.path},
                               {"log", r.log},
                               {"resources", write(r.resources)}};
                 },
                 [](const Repetition& r) {
                   return json{{"kind", "repetition"},
                               {"elements", r.elements},
                               {"different", r.different},
                               {"first", r.first}};
                 }},
      reply));
}

std::optional<Reply> parse_reply(const std::string& text) {
  return parsed<Reply>(text, [](const json& j) -> std::optional<Reply> {
    const std::string kind = j.at("kind");
    if (kind == "hello") return Hello{j.at("version")};
    if (kind == "done") return Done{j.at("note")};
    if (kind == "timing") return read_timing(j.at("timing"));
    if (kind == "samples") return read_samples(j);
    if (kind == "repetition") return Repetition{j.at("elements"), j.at("different"), j.at("first")};
    if (kind == "fault") {
      const std::optional<FailureKind> failure = parse_failure_kind(j.at("failure").get<std::string>());
      if (!failure) return std::nullopt;
      return Fault{{*failure, j.at("text"), read_resources(j.at("resources"))}, j.at("worker_lost")};
    }
    if (kind == "thrown") return Thrown{static_cast<ErrorKind>(j.at("error").get<int>()), j.at("text")};
    if (kind == "identity") return Identity{j.at("text")};
    if (kind == "binary") return Binary{j.at("path"), j.at("log"), read_resources(j.at("resources"))};
    return std::nullopt;
  });
}

}  // namespace lehr
