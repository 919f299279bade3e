// One step: what the scheduler has chosen as a batch, a forward pass, a token for each request that is due.
#include "engine/engine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rung/error.h"

namespace rung {

template <class Device>
Engine<Device>::Engine(Transformer<Device>& transformer, KvCache& cache, const Tokenizer& tokenizer,
                       PrefixIndex::Hash hash)
    : transformer_(transformer),
      cache_(cache),
      tokenizer_(tokenizer),
      scheduler_(
          {transformer.max_tokens(), transformer.max_sequences(), {cache.blocks(), cache.block_size()}},
          hash),
      chooser_(transformer.device(), transformer.max_sequences()) {}

template <class Device>
RequestId Engine<Device>::add(GenerationRequest request) {
  const RequestId id = next_id_;
  std::vector<Answer> answers;
  for (int64_t i = 0; i < std::max<int64_t>(request.answers, 1); ++i, ++request.sampling.seed)
    answers.emplace_back(tokenizer_, request, cache_.context());
  if (!answers[0].ended()) {
    try {
      scheduler_.add(id, request.prompt_ids, request.answers);
    } catch (const Error& error) {
      for (Answer& answer : answers) answer.end(FinishReason::error, error.what());
    }
  }
  for (Answer& answer : answers) {
    if (answer.ended()) {
      ended_.push_back({id, next_id_ - id, "", true, std::move(answer.result())});
    } else {
      answers_.emplace(next_id_, Growing{id, std::move(answer)});
    }
    ++next_id_;
  }
  return id;
}

template <class Device>
void Engine<Device>::abort(RequestId id) {
  auto next = answers_.lower_bound(id);
  while (next != answers_.end() && next->second.request == id) {
    auto& [answer_id, growing] = *next++;
    leave(answer_id, growing.answer.end(FinishReason::aborted));
  }
}

// The answer has ended with this text.
template <class Device>
void Engine<Device>::leave(RequestId id, const std::string& text) {
  const auto found = answers_.find(id);
  const RequestId request = found->second.request;
  scheduler_.remove(id);
  ended_.push_back({request, id - request, text, true, std::move(found->second.answer.result())});
  answers_.erase(found);
}

template <class Device>
Batch Engine<Device>::batch_of(const std::vector<ScheduledTokens>& step) const {
  Batch batch;
  batch.block_size = cache_.block_size();
  // BEGIN SOLUTION 15.3
  for (const ScheduledTokens& tokens : step) {
    const Scheduler::Sequence& sequence = scheduler_.sequence(tokens.id);
    const Span<const int32_t> ids = sequence.ids;
    batch.add(ids.subspan(static_cast<size_t>(tokens.begin), static_cast<size_t>(tokens.count)), tokens.begin,
              sequence.blocks);
    if (!tokens.wants_token) continue;
    for (int64_t answer = 0; answer <= tokens.forks; ++answer) batch.want_logits();
  }
  // STUB: (void)step;
  // STUB: not_done("15.3");
  // END SOLUTION
  return batch;
}

template <class Device>
std::vector<RequestOutput> Engine<Device>::step() {
  std::vector<RequestId> cancelled;
  for (const auto& [id, growing] : answers_) {
    if (growing.answer.cancelled()) cancelled.push_back(growing.request);
  }
  for (const RequestId id : cancelled) abort(id);

  std::vector<RequestOutput> outputs;
  const std::vector<ScheduledTokens> step = scheduler_.schedule();
  if (!step.empty()) {
    if (observer_) observer_(scheduler_, step);
    const Batch batch = batch_of(step);
    for (const BlockCopy& copy : scheduler_.copies())
      cache_.copy_block(transformer_.device(), copy.from, copy.to);
    const Tensor logits = transformer_.forward(batch, cache_);
    scheduler_.computed(step);
    ++figures_.steps;
    figures_.computed += batch.tokens();
    figures_.cached = scheduler_.cached();
    figures_.preemptions = scheduler_.preemptions();

    std::vector<RequestId> due;
    std::vector<ChoiceRequest> choices;
    for (const ScheduledTokens& tokens : step) {
      if (!tokens.wants_token) continue;
      for (RequestId id = tokens.id; id <= tokens.id + tokens.forks; ++id) {
        due.push_back(id);
        choices.push_back(answers_.at(id).answer.choice());
      }
    }
    std::vector<TokenChoice> chosen;
    if (!due.empty()) chosen = chooser_.choose(logits, choices);
    for (size_t i = 0; i < due.size(); ++i) {
      auto& [request, answer] = answers_.at(due[i]);
      answer.result().cached_tokens = scheduler_.sequence(due[i]).cached;
      std::string text = answer.push(chosen[i]);
      if (answer.ended()) {
        leave(due[i], text);
      } else {
        scheduler_.append(due[i], chosen[i].id);
        if (!text.empty()) outputs.push_back({request, due[i] - request, std::move(text), false, {}});
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
