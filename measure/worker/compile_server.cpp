// The request loop of a compile worker.
#include "measure/worker/compile_server.h"

#include <new>
#include <optional>
#include <utility>
#include <variant>

#include "measure/system/memory_limit.h"
#include "measure/worker/wire.h"

namespace lehr {
namespace {

Reply answer(NvrtcCompiler& compiler, const CompileRequest& request) {
  Source source;
  source.target = Target::kCuda;
  source.entry = request.entry;
  source.text = request.text;
  source.launch.shared_bytes = request.shared_bytes;
  try {
    Compiled compiled = compiler.compile_to(source, request.path);
    if (auto* binary = std::get_if<Binary>(&compiled)) return std::move(*binary);
    Failure& failure = std::get<Failure>(compiled);
    const bool lost = failure.kind == FailureKind::kOutOfMemory;
    return Fault{std::move(failure), lost};
  } catch (const Error& error) {
    return Thrown{error.kind(), error.what()};
  } catch (const std::bad_alloc&) {
    return Fault{{FailureKind::kOutOfMemory, "the compile worker is out of memory", {}}, true};
  }
}

}  // namespace

void serve_compiler(int in_fd, int out_fd, const CompilerRequest& first) {
  limit_memory(first.memory_bytes);
  std::optional<NvrtcCompiler> compiler;
  try {
    compiler.emplace(first.options);
  } catch (const Error& error) {
    send_message(out_fd, to_text(Reply(Thrown{error.kind(), error.what()})));
    return;
  }
  if (!send_message(out_fd, to_text(Reply(Identity{compiler->identity()})))) return;
  std::string text;
  while (receive_message(in_fd, std::nullopt, text) == Received::kMessage) {
    const std::optional<CompileWork> work = parse_compile_work(text);
    const auto* request = work ? std::get_if<CompileRequest>(&*work) : nullptr;
    if (request == nullptr) return;
    const Reply reply = answer(*compiler, *request);
    if (!send_message(out_fd, to_text(reply))) return;
    const auto* fault = std::get_if<Fault>(&reply);
    if (fault != nullptr && fault->worker_lost) return;
  }
}

}  // namespace lehr
