// Joins added tokens, normalization, pre-tokenizer and BPE into one tokenizer.
#include "tokenizer/tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rung/error.h"
#include "tokenizer/bpe.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/normalize.h"
#include "tokenizer/token_index.h"
#include "tokenizer/vocabulary.h"

namespace rung {

namespace {

// Merges as ids. Throws Error if one names, or makes, a token that there is not, or a pair stands there
// twice.
std::vector<Merge> resolve_merges(const Tokenizer::Vocabulary& vocabulary, const TokenIndex& ids) {
  std::vector<Merge> merges;
  merges.reserve(vocabulary.merges.size());
  std::string joined;
  for (size_t rank = 0; rank < vocabulary.merges.size(); ++rank) {
    const auto& [left, right] = vocabulary.merges[rank];
    const auto find = [&](std::string_view text) {
      const int32_t id = text.empty() ? -1 : ids.find(text);
      if (id < 0) {
        fail(vocabulary.source, ": ", vocabulary.merges_key, "[", rank, "] names the token ", quoted(text),
             ", which is not in ", vocabulary.tokens_key);
      }
      return id;
    };
    joined.assign(left).append(right);
    const int32_t left_id = find(left), right_id = find(right);
    merges.push_back({left_id, right_id, find(joined)});
  }
  return merges;
}

std::array<int32_t, 256> find_byte_tokens(const Tokenizer::Vocabulary& vocabulary, const TokenIndex& ids) {
  std::array<int32_t, 256> tokens;
  for (int byte = 0; byte < 256; ++byte) {
    const int32_t id = ids.find(bytes_to_letters(std::string(1, static_cast<char>(byte))));
    tokens[byte] = id >= 0 && vocabulary.types[id] == TokenType::normal ? id : -1;
  }
  if (std::all_of(tokens.begin(), tokens.end(), [](int32_t id) { return id < 0; })) {
    fail(vocabulary.source, ": ", vocabulary.tokens_key,
         " holds no token of a single byte, expected a byte-level BPE vocabulary");
  }
  return tokens;
}

// The texts of all tokens. Throws Error if two are the same; unused ones may be.
TokenIndex index_texts(const Tokenizer::Vocabulary& vocabulary) {
  TokenIndex ids(vocabulary.tokens);
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (vocabulary.types[id] == TokenType::unused) continue;
    const int32_t first = ids.insert(static_cast<int32_t>(id));
    if (first != static_cast<int32_t>(id)) {
      fail(vocabulary.source, ": ", vocabulary.tokens_key, ": tokens ", first, " and ", id, " are both ",
           quoted(vocabulary.tokens[id]), ", expected each token once");
    }
  }
  return ids;
}

void check_id(const Tokenizer::Vocabulary& vocabulary, int32_t id, const char* what) {
  if (id < -1 || id >= static_cast<int64_t>(vocabulary.tokens.size())) {
    fail(vocabulary.source, ": ", what, " is token ", id, ", expected an id below ",
         vocabulary.tokens.size());
  }
}

}  // namespace

struct Tokenizer::State {
  std::string source;
  std::string bytes;                     // of all tokens, one after the other
  std::vector<std::string_view> pieces;  // by id, in `bytes`
  std::vector<TokenType> types;
  std::vector<bool> ends;
  std::array<int32_t, 256> byte_tokens;
  Bpe bpe;
  PreTokenizer pre_tokenizer;
  TokenIndex words;                // pieces of normal tokens: filled only if merges are ignored for them
  AddedTokenMatcher added;         // found before the text is normalized
  AddedTokenMatcher added_normal;  // and after
  TokenIndex added_ids;            // by text
  bool normalize, add_bos, add_eos;
  int32_t bos, eos;
  std::string chat_template;
  std::vector<std::string> warnings;

  State(const Vocabulary& vocabulary, const TokenIndex& ids);
  void store_pieces(const Vocabulary& vocabulary);
  void build_matchers(const Vocabulary& vocabulary);
  void encode_text(std::string_view text, bool parse_special, std::vector<int32_t>& result) const;
  void encode_words(std::string_view text, std::vector<int32_t>& result) const;
};

Tokenizer::State::State(const Vocabulary& vocabulary, const TokenIndex& ids)
    : source(vocabulary.source),
      types(vocabulary.types),
      ends(vocabulary.tokens.size()),
      byte_tokens(find_byte_tokens(vocabulary, ids)),
      bpe(byte_tokens, resolve_merges(vocabulary, ids), vocabulary.source + ": " + vocabulary.merges_key),
      pre_tokenizer(vocabulary.pre_tokenizer),
      normalize(vocabulary.normalize),
      add_bos(vocabulary.add_bos),
      add_eos(vocabulary.add_eos),
      bos(vocabulary.bos),
      eos(vocabulary.eos),
      chat_template(vocabulary.chat_template),
      warnings(vocabulary.warnings) {
  check_id(vocabulary, bos, "BOS");
  check_id(vocabulary, eos, "EOS");
  if (add_bos && bos < 0) fail(source, ": asks for BOS in front of every text but names no BOS token");
  if (add_eos && eos < 0) fail(source, ": asks for EOS behind every text but names no EOS token");
  for (const int32_t id : vocabulary.ends) {
    check_id(vocabulary, id, "a token that ends a generation");
    if (id >= 0) ends[id] = true;
  }
  if (eos >= 0) ends[eos] = true;
  store_pieces(vocabulary);
  build_matchers(vocabulary);
}

void Tokenizer::State::store_pieces(const Vocabulary& vocabulary) {
  size_t total = 0;
  for (const std::string_view token : vocabulary.tokens) total += token.size();
  bytes.reserve(
      total);  // letters are at least as long as the bytes they stand for, so that pieces stay where they are
  pieces.reserve(vocabulary.tokens.size());
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const size_t begin = bytes.size();
    const std::string_view text = vocabulary.tokens[id];
    // A normal token with a character that stands for no byte (no published vocabulary has one) means its own
    // text.
    if (types[id] != TokenType::normal || !letters_to_bytes(text, bytes)) bytes += text;
    pieces.emplace_back(bytes.data() + begin, bytes.size() - begin);
  }
  if (!vocabulary.ignore_merges) return;
  words = TokenIndex(pieces);
  for (size_t id = 0; id < pieces.size(); ++id) {
    if (types[id] == TokenType::normal && !pieces[id].empty()) words.insert(static_cast<int32_t>(id));
  }
}

void Tokenizer::State::build_matchers(const Vocabulary& vocabulary) {
  std::vector<AddedToken> plain, normal;
  std::vector<bool> listed(pieces.size());
  for (const AddedToken& token : vocabulary.added) {
    listed[token.id] = true;
    (token.normalized ? normal : plain).push_back(token);
  }
  added_ids = TokenIndex(pieces);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int32_t id = static_cast<int32_t>(i);
    if ((types[i] != TokenType::control && types[i] != TokenType::added) || pieces[i].empty()) continue;
    added_ids.insert(id);
    if (!listed[i]) {
      AddedToken token;
      token.text = std::string(pieces[i]);
      token.id = id;
      plain.push_back(std::move(token));
    }
  }
  if (normalize) {
    for (AddedToken& token : normal) token.text = normalized(token.text);
  }
  added = AddedTokenMatcher(std::move(plain));
  added_normal = AddedTokenMatcher(std::move(normal));
}

void Tokenizer::State::encode_words(std::string_view text, std::vector<int32_t>& result) const {
  pre_tokenizer.split(text, [&](std::string_view word) {
    const int32_t whole = words.find(word);
    if (whole >= 0) {
      result.push_back(whole);
    } else {
      bpe.encode(word, result);
    }
  });
}

void Tokenizer::State::encode_text(std::string_view text, bool parse_special,
                                   std::vector<int32_t>& result) const {
  std::string storage;
  if (normalize && may_need_normalizing(text)) {
    storage = normalized(text);
    text = storage;
  }
  if (!parse_special || added_normal.empty()) return encode_words(text, result);
  added_normal.split(
      text, [&](std::string_view plain) { encode_words(plain, result); },
      [&](const AddedToken& token) { result.push_back(token.id); });
}

Tokenizer::Tokenizer(Vocabulary vocabulary) {
  const TokenIndex ids = index_texts(vocabulary);
  state_ = std::make_unique<State>(vocabulary, ids);
}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool parse_special, bool add_bos) const {
  if (text.size() > INT32_MAX) fail("a text of ", text.size(), " bytes, expected at most ", INT32_MAX);
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 3 + 2);
  const bool front = add_bos && state_->add_bos;
  if (front) ids.push_back(state_->bos);
  if (parse_special && !state_->added.empty()) {
    state_->added.split(
        text, [&](std::string_view plain) { state_->encode_text(plain, parse_special, ids); },
        [&](const AddedToken& token) { ids.push_back(token.id); });
  } else {
    state_->encode_text(text, parse_special, ids);
  }
  if (front && ids.size() > 1 && ids[1] == state_->bos) ids.erase(ids.begin());
  if (add_bos && state_->add_eos && (ids.empty() || ids.back() != state_->eos)) ids.push_back(state_->eos);
  return ids;
}

std::string_view Tokenizer::piece(int32_t id) const {
  if (id < 0 || id >= vocabulary()) {
    fail(state_->source, ": there is no token ", id, ", expected an id from 0 to ", vocabulary() - 1);
  }
  return state_->pieces[id];
}

std::string Tokenizer::decode(const std::vector<int32_t>& ids, bool with_special) const {
  std::string text;
  for (const int32_t id : ids) {
    const std::string_view bytes = piece(id);
    if (with_special || !is_special(id)) text += bytes;
  }
  return text;
}

size_t Tokenizer::bytes_without_token(std::string_view text) const {
  return std::count_if(text.begin(), text.end(),
                       [&](char byte) { return state_->byte_tokens[static_cast<unsigned char>(byte)] < 0; });
}

int Tokenizer::vocabulary() const {
  return static_cast<int>(state_->pieces.size());
}
bool Tokenizer::is_special(int32_t id) const {
  piece(id);
  return state_->types[id] == TokenType::control || state_->types[id] == TokenType::unused;
}
bool Tokenizer::is_end(int32_t id) const {
  piece(id);
  return state_->ends[id];
}
int32_t Tokenizer::bos() const {
  return state_->bos;
}
int32_t Tokenizer::eos() const {
  return state_->eos;
}
int32_t Tokenizer::find(std::string_view special_token) const {
  return state_->added_ids.find(special_token);
}
const std::string& Tokenizer::chat_template() const {
  return state_->chat_template;
}
const std::vector<std::string>& Tokenizer::warnings() const {
  return state_->warnings;
}

}  // namespace rung
