// Each line instantiates the request loop for one runner.
#include "measure/worker/runners.h"

#include <array>
#include <new>
#include <optional>
#include <variant>

#include "measure/cuda/cuda_runner.h"
#include "measure/host/host_runner.h"
#include "measure/vendor/cublaslt/baseline_cublaslt.h"
#include "measure/vendor/cudnn/baseline_cudnn.h"
#include "measure/vendor/onednn/baseline_onednn.h"
#include "measure/vendor/openblas/baseline_openblas.h"
#include "measure/worker/serve.h"
#include "measure/worker/wire.h"

namespace lehr {
namespace {

template <Runner R>
Reply answer(Server<R>& server, const Request& request) {
  try {
    return std::visit([&server](const auto& one) { return server.answer(one); }, request);
  } catch (const Error& error) {
    return Thrown{error.kind(), error.what()};
  } catch (const std::bad_alloc&) {
    return Fault{{FailureKind::kOutOfMemory, "the worker is out of memory", {}}, true};
  }
}

template <Runner R>
std::string serve(int in_fd, int out_fd, const PrepareRequest& first) {
  Server<R> server;
  Request request = first;
  while (true) {
    const Reply reply = answer(server, request);
    if (!send_message(out_fd, to_text(reply))) return "";
    const auto* fault = std::get_if<Fault>(&reply);
    if (fault != nullptr && fault->worker_lost) return "";
    std::string text;
    if (receive_message(in_fd, std::nullopt, text) != Received::kMessage) return "";
    std::optional<Request> next = parse_request(text);
    if (!next) return "";
    const auto* prepare = std::get_if<PrepareRequest>(&*next);
    if (prepare != nullptr && prepare->runner != first.runner) return text;
    request = *std::move(next);
  }
}

constexpr std::array kRunners = {
    RunnerEntry{"cpu", &serve<HostRunner>},
    RunnerEntry{"cuda", &serve<CudaRunner>},
    RunnerEntry{"cublaslt", &serve<CublasLtRunner>},
    RunnerEntry{"cublaslt-best", &serve<CublasLtBestRunner>},
    RunnerEntry{"cudnn", &serve<CudnnRunner>},
    RunnerEntry{"cudnn-best", &serve<CudnnBestRunner>},
    RunnerEntry{"cudnn-unfused", &serve<CudnnUnfusedRunner>},
    RunnerEntry{"openblas", &serve<OpenBlasRunner>},
    RunnerEntry{"onednn", &serve<OneDnnRunner>},
};

}  // namespace

std::span<const RunnerEntry> runners() {
  return kRunners;
}

}  // namespace lehr
