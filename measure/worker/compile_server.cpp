// The request loop of a compile worker.
#include "measure/worker/compile_server.h"

#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <variant>

#include "measure/system/memory_limit.h"
#include "measure/worker/backends.h"
#include "measure/worker/wire.h"

namespace lehr {
namespace {

Reply answer(WorkerCompiler& compiler, Target target, const CompileRequest& request) {
  Source source;
  source.target = target;
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

void serve_compiler(int in_fd, int out_fd, const CompilerRequest& first, std::uint64_t tag) {
  limit_memory(first.memory_bytes);
  const std::optional<Target> target = target_named(first.target);
  std::unique_ptr<WorkerCompiler> compiler;
  try {
    CHECK(target && backend_of(*target).worker_compiler != nullptr, "no compile worker for {}", first.target);
    compiler = backend_of(*target).worker_compiler(first.options);
  } catch (const Error& error) {
    send_message(out_fd, {to_text(Reply(Thrown{error.kind(), error.what()})), tag});
    return;
  }
  if (!send_message(out_fd, {to_text(Reply(Identity{compiler->identity()})), tag})) return;
  Message message;
  while (receive_message(in_fd, message) == Received::kMessage) {
    const std::optional<CompileWork> work = parse_compile_work(message.text);
    const auto* request = work ? std::get_if<CompileRequest>(&*work) : nullptr;
    if (request == nullptr) return;
    const Reply reply = answer(*compiler, *target, *request);
    if (!send_message(out_fd, {to_text(reply), message.tag})) return;
    const auto* fault = std::get_if<Fault>(&reply);
    if (fault != nullptr && fault->worker_lost) return;
  }
}

}  // namespace lehr
