// A file of requests, one JSON object a line, as `generate --prompts` reads it.
#pragma once

#include <string>
#include <vector>

#include "commands/options/chat_option.h"
#include "engine/request.h"
#include "tokenizer/tokenizer.h"

namespace rung {

constexpr int64_t kMostAnswers = 128;  // to one request

struct RequestLine {
  GenerationRequest request;
  std::vector<std::string> results;  // an output line for each of its answers, once there is one
  std::string error;  // file, line, field and what was expected, if it is no request; else empty
};

// Each line holds "prompt" (text) or "messages" (a list of {"role": …, "content": …}), and may hold
// n (answers), max_tokens, temperature, top_k, top_p, min_p, repetition_penalty, seed, stop (a text or a list
// of texts), ignore_eos and logprobs; what it leaves out is as in `defaults`. Empty lines are skipped. Throws
// Error if the file cannot be read or holds no request.
std::vector<RequestLine> read_request_lines(const std::string& path, const Tokenizer& tokenizer,
                                            const ChatOption& chat, const GenerationRequest& defaults);

// {"error": …}
std::string error_json(const std::string& error);

}  // namespace rung
