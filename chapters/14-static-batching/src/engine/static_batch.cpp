// Padded prefill, then decode in lock-step.
#include "engine/static_batch.h"

#include <algorithm>

#include "engine/answer.h"
#include "engine/token_choice.h"
#include "rung/error.h"

namespace rung {

namespace {

// A request's place in the batch: a row of the cache, and of every pass.
struct Row {
  size_t request;
  int64_t first_slot;
  Answer answer;
};

int64_t length(const Row& row) {
  return static_cast<int64_t>(row.answer.ids().size());
}

int64_t longest_prompt(const std::vector<Row>& rows) {
  int64_t longest = 0;
  for (const Row& row : rows) longest = std::max(longest, length(row));
  return longest;
}

// Columns [begin, end) of the prompts, which stand one below the other and end in the same column, `columns`.
// What is missing at a prompt's beginning is padding.
Batch prefill_columns(const std::vector<Row>& rows, int64_t columns, int64_t begin, int64_t end) {
  Batch batch;
  // BEGIN SOLUTION 14.4
  for (const Row& row : rows) {
    const int64_t missing = columns - length(row);
    const int64_t first = std::clamp(missing, begin, end);  // the first column that is not padding
    const Span<const int32_t> ids = row.answer.ids();
    const int64_t position = std::max<int64_t>(first - missing, 0);
    batch.add(ids.subspan(static_cast<size_t>(position), static_cast<size_t>(end - first)), position,
              row.first_slot, first - begin);
    if (end == columns) batch.want_logits();
  }
  // STUB: (void)rows, (void)columns, (void)begin, (void)end;
  // STUB: not_done("14.4");
  // END SOLUTION
  return batch;
}

// The newest token of each row; padding for a row whose answer has ended.
Batch decode_step(const std::vector<Row>& rows) {
  Batch batch;
  // BEGIN SOLUTION 14.5
  for (const Row& row : rows) {
    if (row.answer.ended()) {
      batch.add({}, 0, row.first_slot, 1);
    } else {
      batch.add({&row.answer.ids().back(), 1}, length(row) - 1, row.first_slot);
      batch.want_logits();
    }
  }
  // STUB: (void)rows;
  // STUB: not_done("14.5");
  // END SOLUTION
  return batch;
}

void end_cancelled(std::vector<Row>& rows) {
  for (Row& row : rows) {
    if (!row.answer.ended() && row.answer.cancelled()) row.answer.end(FinishReason::aborted);
  }
}

bool all_ended(const std::vector<Row>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.answer.ended(); });
}

template <class Device>
Tensor forward(Transformer<Device>& transformer, KvCache& cache, const Batch& batch, BatchFigures& figures) {
  ++figures.passes;
  figures.computed += batch.tokens();
  figures.useful += batch.tokens() - std::count(batch.slot_mapping.begin(), batch.slot_mapping.end(), -1);
  return transformer.forward(batch, cache);
}

// Logits of every row's last prompt token. Passes of as many columns as the transformer has space for.
template <class Device>
Tensor prefill(Transformer<Device>& transformer, KvCache& cache, std::vector<Row>& rows,
               BatchFigures& figures) {
  const int64_t columns = longest_prompt(rows);
  const int64_t step = transformer.max_tokens() / static_cast<int64_t>(rows.size());
  if (step == 0) {
    fail("a batch of ", rows.size(), " requests: a pass has space for ", transformer.max_tokens(), " tokens");
  }
  Tensor logits;
  for (int64_t begin = 0; begin < columns && !all_ended(rows); begin += step) {
    logits = forward(transformer, cache,
                     prefill_columns(rows, columns, begin, std::min(begin + step, columns)), figures);
    end_cancelled(rows);
  }
  return logits;
}

}  // namespace

template <class Device>
std::vector<Generation> generate_batch(Transformer<Device>& transformer, KvCache& cache,
                                       const Tokenizer& tokenizer, Span<const GenerationRequest> requests,
                                       BatchFigures& figures) {
  if (static_cast<int64_t>(requests.size()) > cache.rows()) {
    fail("a batch of ", requests.size(), " requests: the KV cache has ", cache.rows(), " rows");
  }
  std::vector<Generation> results(requests.size());
  std::vector<Row> rows;
  for (size_t i = 0; i < requests.size(); ++i) {
    Answer answer(tokenizer, requests[i], cache.context());
    if (!answer.ended() && answer.cancelled()) answer.end(FinishReason::aborted);
    if (answer.ended()) {
      results[i] = answer.result();
    } else {
      rows.push_back({i, cache.slot(static_cast<int64_t>(i), 0), std::move(answer)});
    }
  }
  if (rows.empty()) return results;

  TokenChooser<Device> chooser(transformer.device(), static_cast<int64_t>(rows.size()));
  std::vector<Row*> asked;  // whose logits the last pass gave
  for (Row& row : rows) asked.push_back(&row);
  Tensor logits = prefill(transformer, cache, rows, figures);
  while (!all_ended(rows)) {
    std::vector<ChoiceRequest> choices;
    for (const Row* row : asked) choices.push_back(row->answer.choice());
    const std::vector<TokenChoice> chosen = chooser.choose(logits, choices);
    for (size_t i = 0; i < asked.size(); ++i) {
      if (!asked[i]->answer.ended()) asked[i]->answer.push(chosen[i]);
    }
    end_cancelled(rows);
    if (all_ended(rows)) break;
    asked.clear();
    for (Row& row : rows) {
      if (!row.answer.ended()) asked.push_back(&row);
    }
    logits = forward(transformer, cache, decode_step(rows), figures);
  }
  for (Row& row : rows) results[row.request] = std::move(row.answer.result());
  return results;
}

template std::vector<Generation> generate_batch(Transformer<Cpu>&, KvCache&, const Tokenizer&,
                                                Span<const GenerationRequest>, BatchFigures&);
template std::vector<Generation> generate_batch(Transformer<Cuda>&, KvCache&, const Tokenizer&,
                                                Span<const GenerationRequest>, BatchFigures&);

}  // namespace rung
