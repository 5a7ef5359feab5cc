// A stand-in for libnvrtc.so.13, built as a shared object for tests. It "compiles" any text into a file that
// names the entry and the process, and misbehaves where the text, or the environment variable
// LEHR_FAKE_NVRTC, says "fake:WORD". Only what measure/cuda/nvrtc.cpp calls exists; there is no flow
// callback, as before NVRTC 12.8.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kOutOfMemory = 1;
constexpr int kInvalidOption = 5;
constexpr int kCompilation = 6;

constexpr int kArchs[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};  // NVRTC 13.0's

struct Program {
  std::string text, entry, log, cubin;
};

Program& program(void* handle) {
  return *static_cast<Program*>(handle);
}

/// Takes memory until no more is left.
bool devour() {
  constexpr std::size_t kStep = 16 << 20;
  while (void* more = std::malloc(kStep)) std::memset(more, 1, kStep);
  return true;
}

void hang() {
  if (const char* path = std::getenv("LEHR_FAKE_NVRTC_PIDS")) {
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "%d\n", getpid());
      std::fclose(file);
    }
  }
  for (;;) pause();
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(int code) {
  return code == kCompilation ? "NVRTC_ERROR_COMPILATION" : "an error of the fake";
}

int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}

int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(sizeof kArchs / sizeof *kArchs);
  return 0;
}

int nvrtcGetSupportedArchs(int* archs) {
  std::memcpy(archs, kArchs, sizeof kArchs);
  return 0;
}

int nvrtcCreateProgram(void** handle, const char* text, const char* name, int, const char* const*,
                       const char* const*) {
  const std::string file = name;
  *handle = new Program{text, file.substr(0, file.rfind(".cu")), "", ""};
  return 0;
}

int nvrtcDestroyProgram(void** handle) {
  delete &program(*handle);
  *handle = nullptr;
  return 0;
}

int nvrtcCompileProgram(void* handle, int, const char* const*) {
  Program& p = program(handle);
  const char* always = std::getenv("LEHR_FAKE_NVRTC");
  const std::string words = p.text + (always ? always : "");
  const auto told = [&](const char* word) {
    return words.find(std::string("fake:") + word + ";") != std::string::npos;
  };
  if (told("crash")) raise(SIGSEGV);
  if (told("abort")) std::abort();
  if (told("exit")) _exit(3);
  if (told("hang")) hang();
  if (told("slow")) usleep(100'000);
  if (told("devour") && devour()) return kOutOfMemory;
  if (told("starve") && devour()) std::abort();  // as C++ code that does not catch std::bad_alloc
  if (told("option")) return kInvalidOption;
  if (told("refuse")) {
    p.log = p.entry + ".cu(7): error: identifier \"x\" is undefined\n";
    return kCompilation;
  }
  p.log = "ptxas info    : Compiling entry function '" + p.entry + "' for 'sm_90a'\n";
  if (told("advise")) p.log += "ptxas info    : (C7510) Potential Performance Loss: wgmma is serialized\n";
  p.log += "ptxas info    : Function properties for " + p.entry + "\n    ";
  p.log += told("spill") ? "16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
                         : "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
  p.log += "ptxas info    : Used 40 registers, used 1 barriers\n";
  p.cubin = p.entry + " " + std::to_string(getpid());
  return 0;
}

int nvrtcGetPTXSize(void*, std::size_t* size) {
  *size = 1;
  return 0;
}
int nvrtcGetPTX(void*, char* text) {
  *text = '\0';
  return 0;
}
int nvrtcGetCUBINSize(void* handle, std::size_t* size) {
  *size = program(handle).cubin.size();
  return 0;
}

int nvrtcGetCUBIN(void* handle, char* cubin) {
  std::memcpy(cubin, program(handle).cubin.data(), program(handle).cubin.size());
  return 0;
}

int nvrtcGetProgramLogSize(void* handle, std::size_t* size) {
  *size = program(handle).log.size() + 1;
  return 0;
}

int nvrtcGetProgramLog(void* handle, char* log) {
  std::memcpy(log, program(handle).log.c_str(), program(handle).log.size() + 1);
  return 0;
}
}
