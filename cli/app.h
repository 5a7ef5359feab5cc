// The command line as a whole: subcommands, help, and what is wrong with an invocation.
#pragma once

namespace lehr {

/// Parses, runs the chosen command and returns the exit code (design, section 5). Throws Error.
int run_command_line(int argc, char** argv);

/// The hidden command that runs candidates: `lehr worker --fd N` with a socket to its parent. Returns the
/// exit code.
int run_worker(int argc, char** argv);

}  // namespace lehr
