// The answer to one request while it grows, token by token: where it ends, and which text is certain.
#pragma once

#include <string>
#include <vector>

#include "engine/request.h"
#include "engine/stop_strings.h"
#include "engine/token_choice.h"
#include "rung/timer.h"
#include "tokenizer/stream_decoder.h"
#include "tokenizer/tokenizer.h"

namespace rung {

class Answer {
 public:
  // context: tokens that the cache holds of it. Has ended at once if no token is wanted or the request cannot
  // be answered: a prompt that is empty, longer than the context, or holds an id that is no token, or a
  // sampling parameter or stop string that is none. Keeps the tokenizer by reference.
  Answer(const Tokenizer& tokenizer, GenerationRequest request, int64_t context);

  const GenerationRequest& request() const { return request_; }
  const std::vector<int32_t>& ids() const { return ids_; }  // prompt and output so far
  bool ended() const { return ended_; }
  bool cancelled() const { return request_.cancelled != nullptr && request_.cancelled->load(); }
  // What choosing the next token has to know. Valid until the next push().
  ChoiceRequest choice() const;

  // These return the text that has become certain. Precondition: !ended().
  std::string push(const TokenChoice& choice);
  std::string end(FinishReason reason, const std::string& error = "");

  Generation& result() { return result_; }

 private:
  const Tokenizer& tokenizer_;
  GenerationRequest request_;
  int64_t context_;
  std::vector<int32_t> ids_;
  StreamDecoder decoder_;
  StopStrings stop_;
  Generation result_;
  Timer timer_;
  bool ended_ = false;
};

}  // namespace rung
