// oneDNN's convolution through its C API, version 2, found at run time and declared by hand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workload/conv2d.h"

namespace lehr::onednn {

/// The ways in which oneDNN can compute one f32 convolution, each ready to be called. The filter is laid out
/// as each way likes it beforehand, outside of call(), as the library means it to be used.
class OneDnnConv2d {
 public:
  /// `library` is dlopen's. `x`, `f` and `y` outlive this. Throws Error(kEnvironment) when the library has no
  /// such API (versions before and after 2), Error(kUser) when it refuses the convolution.
  OneDnnConv2d(void* library, const Conv2d& conv, float* x, float* f, float* y);
  ~OneDnnConv2d();
  OneDnnConv2d(const OneDnnConv2d&) = delete;
  OneDnnConv2d& operator=(const OneDnnConv2d&) = delete;

  /// "plain direct": input and output as they are; "blocked direct": copied to and from the layout that the
  /// library prefers, inside of call(); "... winograd" where it has that.
  const std::vector<std::string>& ways() const { return names_; }
  /// Computes y. A failed call leaves y as it was.
  void call(std::size_t way) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::vector<std::string> names_;
};

}  // namespace lehr::onednn
