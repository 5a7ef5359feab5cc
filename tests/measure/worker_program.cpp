// The smallest worker: what `lehr worker --fd N` does, for tests that do not link the command line.
#include <cstdlib>
#include <string>

#include "measure/worker/worker_main.h"

int main(int count, char** words) {
  for (int i = 1; i + 1 < count; ++i) {
    if (std::string(words[i]) == "--fd") {
      const int fd = std::atoi(words[i + 1]);
      return lehr::worker_main(fd, fd);
    }
  }
  return 1;
}
