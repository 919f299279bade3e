// One step: what the scheduler has chosen as a batch, a forward pass, a token for each request that is due.
#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include "rung/error.h"

namespace rung {

template <class Device>
Engine<Device>::Engine(Transformer<Device>& transformer, KvCache& cache, const Tokenizer& tokenizer)
    : transformer_(transformer),
      cache_(cache),
      tokenizer_(tokenizer),
      scheduler_({transformer.max_tokens(), cache.rows()}),
      chooser_(transformer.device(), cache.rows()) {}

template <class Device>
RequestId Engine<Device>::add(GenerationRequest request) {
  const RequestId id = next_id_++;
  Answer answer(tokenizer_, std::move(request), cache_.context());
  if (answer.ended()) {
    ended_.push_back({id, "", true, std::move(answer.result())});
  } else {
    scheduler_.add(id, answer.ids());
    answers_.emplace(id, std::move(answer));
  }
  return id;
}

template <class Device>
void Engine<Device>::abort(RequestId id) {
  const auto found = answers_.find(id);
  if (found != answers_.end()) leave(id, found->second.end(FinishReason::aborted));
}

// The answer has ended with this text.
template <class Device>
void Engine<Device>::leave(RequestId id, const std::string& text) {
  const auto found = answers_.find(id);
  scheduler_.remove(id);
  ended_.push_back({id, text, true, std::move(found->second.result())});
  answers_.erase(found);
}

template <class Device>
Batch Engine<Device>::batch_of(const std::vector<ScheduledTokens>& step) const {
  Batch batch;
  // BEGIN SOLUTION 15.3
  for (const ScheduledTokens& tokens : step) {
    const Span<const int32_t> ids = scheduler_.sequence(tokens.id).ids;
    batch.add(ids.subspan(static_cast<size_t>(tokens.begin), static_cast<size_t>(tokens.count)), tokens.begin,
              cache_.slot(tokens.row, 0));
    if (tokens.wants_token) batch.want_logits();
  }
  // STUB: (void)step;
  // STUB: not_done("15.3");
  // END SOLUTION
  return batch;
}

template <class Device>
std::vector<RequestOutput> Engine<Device>::step() {
  std::vector<RequestId> cancelled;
  for (const auto& [id, answer] : answers_) {
    if (answer.cancelled()) cancelled.push_back(id);
  }
  for (const RequestId id : cancelled) abort(id);

  std::vector<RequestOutput> outputs;
  const std::vector<ScheduledTokens> step = scheduler_.schedule();
  if (!step.empty()) {
    const Batch batch = batch_of(step);
    const Tensor logits = transformer_.forward(batch, cache_);
    scheduler_.computed(step);
    ++figures_.steps;
    figures_.computed += batch.tokens();

    std::vector<RequestId> due;
    std::vector<ChoiceRequest> choices;
    for (const ScheduledTokens& tokens : step) {
      if (!tokens.wants_token) continue;
      due.push_back(tokens.id);
      choices.push_back(answers_.at(tokens.id).choice());
    }
    std::vector<TokenChoice> chosen;
    if (!due.empty()) chosen = chooser_.choose(logits, choices);
    for (size_t i = 0; i < due.size(); ++i) {
      Answer& answer = answers_.at(due[i]);
      answer.result().cached_tokens = scheduler_.sequence(due[i]).cached;
      std::string text = answer.push(chosen[i]);
      if (answer.ended()) {
        leave(due[i], text);
      } else {
        scheduler_.append(due[i], chosen[i].id);
        if (!text.empty()) outputs.push_back({due[i], std::move(text), false, {}});
      }
    }
  }
  std::move(ended_.begin(), ended_.end(), std::back_inserter(outputs));
  ended_.clear();
  return outputs;
}

template class Engine<Cpu>;
template class Engine<Cuda>;

}  // namespace rung
