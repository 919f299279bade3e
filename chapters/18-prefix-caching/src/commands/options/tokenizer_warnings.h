// What a tokenizer's file left open, told on stderr.
#pragma once

namespace rung {

class Tokenizer;

void print_warnings(const Tokenizer& tokenizer);

}  // namespace rung
