// Prints a tokenizer's warnings.
#include "commands/options/tokenizer_warnings.h"

#include <iostream>

#include "tokenizer/tokenizer.h"

namespace rung {

void print_warnings(const Tokenizer& tokenizer) {
  for (const std::string& warning : tokenizer.warnings()) std::cerr << "rung: warning: " << warning << "\n";
}

}  // namespace rung
