#include "engine/answer.h"

#include <utility>

#include "rung/error.h"

namespace rung {

Answer::Answer(const Tokenizer& tokenizer, GenerationRequest request, int64_t context)
    : tokenizer_(tokenizer), request_(std::move(request)), context_(context), ids_(request_.prompt_ids) {
  try {
    check_sampling(request_.sampling);
    stop_ = StopStrings(request_.stop);
    check_prompt(ids_, context);
    for (const int32_t id : ids_) {
      if (id < 0 || id >= tokenizer.vocabulary())
        fail("the prompt holds token ", id, ", and ids run from 0 to ", tokenizer.vocabulary() - 1);
    }
  } catch (const Error& error) {
    end(FinishReason::error, error.what());
    return;
  }
  if (request_.max_tokens <= 0) end(FinishReason::length);
}

ChoiceRequest Answer::choice() const {
  return {ids_, request_.sampling, result_.output_ids.size(), request_.log_probabilities};
}

std::string Answer::push(const TokenChoice& choice) {
  if (!choice.error.empty()) return end(FinishReason::error, choice.error);
  if (result_.output_ids.empty()) result_.prompt_seconds = timer_.seconds();
  result_.output_ids.push_back(choice.id);
  if (request_.log_probabilities) result_.log_probabilities.push_back(choice.log_probability);
  ids_.push_back(choice.id);
  if (tokenizer_.is_end(choice.id) && !request_.ignore_eos) return end(FinishReason::stop);
  std::string text;
  if (!tokenizer_.is_special(choice.id)) text = stop_.push(decoder_.push(tokenizer_.piece(choice.id)));
  result_.text += text;
  if (stop_.matched()) return text + end(FinishReason::stop);
  const bool full = static_cast<int64_t>(ids_.size()) > context_;
  if (full || static_cast<int64_t>(result_.output_ids.size()) >= request_.max_tokens) {
    return text + end(FinishReason::length);
  }
  return text;
}

std::string Answer::end(FinishReason reason, const std::string& error) {
  ended_ = true;
  result_.finish_reason = reason;
  result_.error = error;
  std::string text = stop_.push(decoder_.finish());
  text += stop_.finish();
  result_.text += text;
  result_.decode_seconds = timer_.seconds() - result_.prompt_seconds;
  return text;
}

}  // namespace rung
