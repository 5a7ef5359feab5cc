// The smallest program to start workers from, for tests that do not link the command line.
#include "measure/worker/served_process.h"

int main(int argc, char** argv) {
  return lehr::served_process(argc, argv).value_or(1);
}
