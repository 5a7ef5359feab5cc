// Functions of the fake driver for fake libraries that put their work on its stream.
#pragma once

#include <functional>

/// Runs `work`, which takes `us`, now or, during a capture, whenever the graph is launched.
void fake_cuda_submit(std::function<void()> work, double us);
bool fake_cuda_capturing();
/// Appends to the calls that fake_cuda_calls() returns.
void fake_cuda_note(const char* call);
