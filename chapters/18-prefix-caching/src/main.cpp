// Runs whichever of the commands in src/commands the first argument names.
#include "rung/command_line.h"

int main(int argc, char** argv) {
  return rung::run_commands(argc, argv);
}
