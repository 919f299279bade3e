// rung_simt_translate: rewrites the parts of a .cu file that are not C++ so that a host compiler takes it.
//
//   kernel<T, 4><<<grid, block, shared, stream>>>(a, b)
//     → ::simt::launch("kernel<T, 4>", [=](auto&... simt_a) { kernel<T, 4>(simt_a...); },
//                      [=](auto simt_f) -> decltype(simt_f(kernel<T, 4>)) { return simt_f(kernel<T, 4>); },
//                      ::simt::LaunchConfig(grid, block, shared, stream), a, b)
//   __shared__ float tile[32][33];   → auto& tile = ::simt::static_shared<float[(32)][(33)]>([] {}, "tile");
//   extern __shared__ float row[];   → auto* row = ::simt::dynamic_shared<float>();
//   __launch_bounds__(n) … {         → { ::simt::check_launch_bounds(n);
//   __noinline__                     → __attribute__((noinline))
//   #include "x.cuh"                 → the translated text of that file, once
//
// Lines keep their numbers; comments, strings and preprocessor lines are left alone.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

enum class Kind { space, identifier, number, string, directive, punctuation };

struct Token {
  Kind kind;
  std::string text;
  int line;
};

struct Failure {
  int line;
  std::string message;
};

bool is_identifier_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}
bool is_identifier_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

int newlines(const std::string& text) {
  int n = 0;
  for (char c : text) n += c == '\n';
  return n;
}

// Splits a source file into tokens; together they are the file.
class Lexer {
 public:
  explicit Lexer(const std::string& source) : s_(source) {}

  std::vector<Token> run() {
    while (at_ < s_.size()) {
      const std::size_t begin = at_;
      const Kind kind = next();
      tokens_.push_back({kind, s_.substr(begin, at_ - begin), line_});
      line_ += newlines(tokens_.back().text);
      if (kind == Kind::space) {
        if (tokens_.back().text.find('\n') != std::string::npos) line_start_ = true;
      } else {
        line_start_ = kind == Kind::directive;
      }
    }
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < s_.size() ? s_[at_ + ahead] : '\0'; }
  bool starts(const char* text) const {
    return s_.compare(at_, std::char_traits<char>::length(text), text) == 0;
  }

  void skip_line_comment() {
    while (at_ < s_.size() && s_[at_] != '\n') at_ += s_[at_] == '\\' && peek(1) == '\n' ? 2 : 1;
  }
  void skip_block_comment() {
    const std::size_t end = s_.find("*/", at_ + 2);
    if (end == std::string::npos) throw Failure{line_, "a comment does not end"};
    at_ = end + 2;
  }
  void skip_quoted(char quote) {
    ++at_;
    while (at_ < s_.size() && s_[at_] != quote) {
      if (s_[at_] == '\n') throw Failure{line_, "a string or character literal does not end on its line"};
      at_ += s_[at_] == '\\' ? 2 : 1;
    }
    ++at_;
  }
  void skip_raw_string() {  // at the opening quote
    const std::size_t open = s_.find('(', at_);
    if (open == std::string::npos) throw Failure{line_, "a raw string has no ("};
    const std::string end = ")" + s_.substr(at_ + 1, open - at_ - 1) + "\"";
    const std::size_t close = s_.find(end, open);
    if (close == std::string::npos) throw Failure{line_, "a raw string does not end"};
    at_ = close + end.size();
  }
  void skip_directive() {
    while (at_ < s_.size() && s_[at_] != '\n') {
      if (starts("//")) {
        skip_line_comment();
      } else if (starts("/*")) {
        skip_block_comment();
      } else if (peek() == '"') {
        // A quote in #error text need not be closed.
        const std::size_t end = s_.find_first_of("\"\n", at_ + 1);
        at_ = end == std::string::npos || s_[end] == '\n' ? at_ + 1 : end + 1;
      } else {
        at_ += peek() == '\\' && peek(1) == '\n' ? 2 : 1;
      }
    }
  }

  Kind next() {
    const char c = peek();
    if (std::isspace(static_cast<unsigned char>(c)) || (c == '\\' && peek(1) == '\n')) {
      at_ += c == '\\' ? 2 : 1;
      return Kind::space;
    }
    if (starts("//")) {
      skip_line_comment();
      return Kind::space;
    }
    if (starts("/*")) {
      skip_block_comment();
      return Kind::space;
    }
    if (c == '#' && line_start_) {
      skip_directive();
      return Kind::directive;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) ||
        (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1))))) {
      while (at_ < s_.size()) {
        const char d = s_[at_];
        if ((d == 'e' || d == 'E' || d == 'p' || d == 'P') && (peek(1) == '+' || peek(1) == '-')) {
          at_ += 2;
        } else if (is_identifier_part(d) || d == '.' || (d == '\'' && is_identifier_part(peek(1)))) {
          ++at_;
        } else {
          break;
        }
      }
      return Kind::number;
    }
    if (is_identifier_start(c)) {
      const std::size_t begin = at_;
      while (at_ < s_.size() && is_identifier_part(s_[at_])) ++at_;
      const std::string word = s_.substr(begin, at_ - begin);
      if (peek() == '"' && (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R")) {
        skip_raw_string();
        return Kind::string;
      }
      if ((peek() == '"' || peek() == '\'') && (word == "L" || word == "u" || word == "U" || word == "u8")) {
        skip_quoted(peek());
        return Kind::string;
      }
      return Kind::identifier;
    }
    if (c == '"' || c == '\'') {
      skip_quoted(c);
      return Kind::string;
    }
    if (starts("<<<") && peek(3) != '<') {
      at_ += 3;
    } else if (starts("::") || starts("->")) {
      at_ += 2;
    } else {
      ++at_;
    }
    return Kind::punctuation;
  }

  const std::string& s_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  std::vector<Token> tokens_;
};

class Translator {
 public:
  explicit Translator(std::vector<fs::path> include_folders) : folders_(std::move(include_folders)) {}

  const std::set<std::string>& dependencies() const { return dependencies_; }

  /// The translated text of `path`, which #line calls `name`.
  std::string file(const fs::path& path, const std::string& name) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Failure{0, "cannot be read"};
    std::stringstream buffer;
    buffer << in.rdbuf();
    dependencies_.insert(path.lexically_normal().string());
    const std::vector<Token> saved_tokens = std::move(tokens_);
    const fs::path saved_path = path_;
    const std::string saved_name = name_;
    const std::vector<bool> saved_scopes = std::move(scopes_);
    const std::map<std::size_t, std::string> saved_bounds = std::move(bounds_of_body_);
    const std::string source = buffer.str();
    path_ = path;
    name_ = name;
    scopes_.clear();
    bounds_of_body_.clear();
    std::string out = "#line 1 \"" + name + "\"\n";
    try {
      tokens_ = Lexer(source).run();
      out += range(0, tokens_.size());
    } catch (const Failure& failure) {
      if (failure.line > 0 && failed_in_.empty()) failed_in_ = name;
      throw;
    }
    tokens_ = saved_tokens;
    path_ = saved_path;
    name_ = saved_name;
    scopes_ = saved_scopes;
    bounds_of_body_ = saved_bounds;
    return out;
  }

  std::string failed_in_;

 private:
  bool is(std::size_t i, const char* text) const { return i < tokens_.size() && tokens_[i].text == text; }
  bool significant(std::size_t i) const {
    return tokens_[i].kind != Kind::space && tokens_[i].kind != Kind::directive;
  }
  std::size_t after(std::size_t i) const {
    for (++i; i < tokens_.size() && !significant(i);) ++i;
    return i;
  }
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t before(std::size_t i) const {
    while (i-- > 0)
      if (significant(i)) return i;
    return none;
  }
  [[noreturn]] void fail(std::size_t i, const std::string& message) const {
    throw Failure{i < tokens_.size() ? tokens_[i].line : (tokens_.empty() ? 1 : tokens_.back().line),
                  message};
  }

  static char closing(const std::string& open) {
    if (open == "(") return ')';
    if (open == "[") return ']';
    if (open == "{") return '}';
    return '\0';
  }
  /// From an opening bracket to its partner.
  std::size_t match(std::size_t open, std::size_t end) const {
    int depth = 0;
    for (std::size_t i = open; i < end; ++i) {
      if (tokens_[i].kind != Kind::punctuation) continue;
      const std::string& t = tokens_[i].text;
      if (t == "(" || t == "[" || t == "{") ++depth;
      if (t == ")" || t == "]" || t == "}") {
        if (--depth == 0) return i;
      }
    }
    fail(open, "'" + tokens_[open].text + "' is not closed");
  }
  /// From a closing bracket back to its partner.
  std::size_t match_back(std::size_t close) const {
    int depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
      if (tokens_[i].kind != Kind::punctuation) continue;
      const std::string& t = tokens_[i].text;
      if (t == ")" || t == "]" || t == "}") ++depth;
      if (t == "(" || t == "[" || t == "{") {
        if (--depth == 0) return i;
      }
    }
    fail(close, "'" + tokens_[close].text + "' has no partner");
  }
  /// From the '>' that closes template arguments back to their '<'.
  std::size_t match_angle_back(std::size_t close) const {
    int depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
      if (tokens_[i].kind != Kind::punctuation) continue;
      const std::string& t = tokens_[i].text;
      if (t == ">") ++depth;
      if (t == "<" && --depth == 0) return i;
      if (t == ")" || t == "]" || t == "}") i = match_back(i);
      if (t == ";" || t == "{") break;
    }
    fail(close, "cannot find the '<' of the kernel's template arguments");
  }
  /// From the '<' of template arguments to their '>'.
  std::size_t match_angle(std::size_t open, std::size_t end) const {
    int depth = 0;
    for (std::size_t i = open; i < end; ++i) {
      if (tokens_[i].kind != Kind::punctuation) continue;
      const std::string& t = tokens_[i].text;
      if (t == "<") ++depth;
      if (t == ">" && --depth == 0) return i;
      if (closing(t) != '\0') i = match(i, end);
    }
    fail(open, "'<' is not closed");
  }

  std::string text(std::size_t begin, std::size_t end) const {
    std::string out;
    for (std::size_t i = begin; i < end; ++i) out += tokens_[i].text;
    return out;
  }
  /// On one line, for a string literal.
  std::string flat(std::size_t begin, std::size_t end) const {
    std::string out;
    for (std::size_t i = begin; i < end; ++i) {
      if (tokens_[i].kind == Kind::space) {
        if (!out.empty() && out.back() != ' ') out += ' ';
        continue;
      }
      for (char c : tokens_[i].text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
      }
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
  }

  // First token of the expression that is called, which ends before `end`.
  std::size_t callee_begin(std::size_t launch) const {
    std::size_t i = before(launch);
    for (;;) {
      if (i == none) fail(launch, "nothing is launched by <<<");
      if (is(i, ">")) {
        i = before(match_angle_back(i));
        continue;
      }
      if (is(i, ")") || is(i, "]")) {
        const std::size_t open = match_back(i);
        const std::size_t previous = before(open);
        const bool postfix =
            previous != none &&
            (tokens_[previous].kind == Kind::identifier || is(previous, ")") || is(previous, "]")) &&
            !is(previous, "return") && !is(previous, "else") && !is(previous, "do");
        // `if (x) (kernel)<<<…` is not supported: write the kernel's name.
        if (!postfix) return open;
        i = previous;
        continue;
      }
      if (tokens_[i].kind != Kind::identifier) fail(launch, "cannot tell what is launched by <<<");
      std::size_t previous = before(i);
      if (previous != none && is(previous, "template")) previous = before(previous);
      if (previous == none) return i;
      if (is(previous, "::")) {
        const std::size_t scope = before(previous);
        if (scope == none || !(tokens_[scope].kind == Kind::identifier || is(scope, ">")) ||
            is(scope, "return") || is(scope, "else"))
          return previous;
        i = scope;
        continue;
      }
      if (is(previous, ".") || is(previous, "->")) {
        i = before(previous);
        continue;
      }
      return i;
    }
  }

  /// Translates tokens [begin, end).
  std::string range(std::size_t begin, std::size_t end) {
    std::string out;
    std::vector<std::size_t> starts;  // where in `out` each token of this range begins
    const std::size_t first = begin;
    auto emitted = [&](std::size_t index) {
      return index - first < starts.size() ? starts[index - first] : out.size();
    };
    std::size_t i = begin;
    auto put = [&](std::size_t index, const std::string& translated) {
      starts.resize(index - first + 1, out.size());
      out += translated;
    };
    while (i < end) {
      const Token& token = tokens_[i];
      if (token.kind == Kind::directive) {
        put(i, directive(i));
        ++i;
        continue;
      }
      if (token.kind == Kind::punctuation) {
        if (token.text == "{") scopes_.push_back(opens_namespace(i));
        if (token.text == "}" && !scopes_.empty()) scopes_.pop_back();
        const auto bounds = bounds_of_body_.find(i);
        if (bounds != bounds_of_body_.end()) {
          put(i, "{ ::simt::check_launch_bounds(" + bounds->second + ");");
          ++i;
          continue;
        }
        if (token.text == "<<<" && !is(before(i), "operator")) {
          const std::size_t callee = callee_begin(i);
          if (callee < first) fail(i, "cannot tell what is launched by <<<");
          out.resize(emitted(callee));
          std::size_t next = 0;
          const std::string translated = launch(callee, i, end, next);
          starts.resize(next - first, out.size());
          out += translated;
          starts.resize(next - first, out.size());
          i = next;
          continue;
        }
      }
      if (token.kind == Kind::identifier && token.text == "__shared__") {
        std::size_t statement = i;
        bool is_extern = false;
        for (std::size_t p = before(i); p != none && p >= first; p = before(p)) {
          if (is(p, "extern") || is(p, "static") || is(p, "volatile") || is(p, "const")) {
            is_extern = is_extern || is(p, "extern");
            statement = p;
          } else if (is(p, ")") && before(match_back(p)) != none && is_align(before(match_back(p)))) {
            statement = p = before(match_back(p));
          } else if (is(p, ";") || is(p, "{") || is(p, "}") || is(p, ")") || is(p, ":")) {
            break;
          } else {
            fail(i, "write __shared__ before the type");
          }
        }
        out.resize(emitted(statement));
        std::size_t next = 0;
        const std::string translated = shared(statement, i, end, is_extern, next);
        starts.resize(next - first, out.size());
        out += translated;
        i = next;
        continue;
      }
      if (token.kind == Kind::identifier && token.text == "__launch_bounds__") note_bounds(i, end);
      if (token.kind == Kind::identifier && token.text == "__noinline__") {
        const std::size_t open = before(i);
        const bool in_attribute =
            open != none && is(open, "(") && before(open) != none && is(before(open), "(");
        put(i, in_attribute ? token.text : "__attribute__((noinline))");
        ++i;
        continue;
      }
      put(i, token.text);
      ++i;
    }
    return out;
  }

  /// Remembers the bounds at i, unless the kernel is only declared here, for the brace that opens its body.
  void note_bounds(std::size_t i, std::size_t end) {
    const std::size_t open = after(i);
    if (!is(open, "(")) return;
    const std::size_t close = match(open, end);
    std::size_t threads_end = open + 1;  // of the first argument; the others are about registers
    while (threads_end < close && !is(threads_end, ",")) {
      if (closing(tokens_[threads_end].text) != '\0') threads_end = match(threads_end, end);
      ++threads_end;
    }
    std::size_t p = after(close);
    while (p < end && !is(p, ";") && !is(p, "{")) p = is(p, "(") ? after(match(p, end)) : after(p);
    if (p < end && is(p, "{")) bounds_of_body_[p] = flat(open + 1, threads_end);
  }

  bool is_align(std::size_t i) const { return is(i, "__align__") || is(i, "alignas"); }

  /// Whether the brace at i opens a namespace or `extern "C"`.
  bool opens_namespace(std::size_t i) const {
    std::size_t p = before(i);
    if (p != none && tokens_[p].kind == Kind::string && before(p) != none && is(before(p), "extern"))
      return true;
    while (p != none && (tokens_[p].kind == Kind::identifier || is(p, "::"))) {
      if (is(p, "namespace")) return true;
      p = before(p);
    }
    return false;
  }

  std::string launch(std::size_t callee, std::size_t open, std::size_t end, std::size_t& next) {
    std::size_t close = none;
    for (std::size_t i = open + 1; i + 2 < end; ++i) {
      if (tokens_[i].kind != Kind::punctuation) continue;
      if (closing(tokens_[i].text) != '\0') {
        i = match(i, end);
      } else if (is(i, ">") && is(i + 1, ">") && is(i + 2, ">")) {
        close = i;
        break;
      } else if (is(i, ";")) {
        break;
      }
    }
    if (close == none) fail(open, "<<< has no >>>");
    const std::size_t arguments = after(close + 2);
    if (arguments >= end || !is(arguments, "(")) fail(open, "the kernel's arguments are missing after >>>");
    const std::size_t arguments_end = match(arguments, end);
    const std::string kernel = flat(callee, open);
    std::string out = "::simt::launch(\"" + kernel + "\", [=](auto&... simt_a) { " + text(callee, open) +
                      "(simt_a...); }, [=](auto simt_f) -> decltype(simt_f(" + kernel +
                      ")) { return simt_f(" + kernel + "); }, ::simt::LaunchConfig(" +
                      range(open + 1, close) + ")";
    bool empty = true;
    for (std::size_t i = arguments + 1; i < arguments_end; ++i) empty = empty && !significant(i);
    for (std::size_t i = close + 3; i < arguments; ++i) out += tokens_[i].text;
    if (!empty) out += ", ";
    out += range(arguments + 1, arguments_end) + ")";
    next = arguments_end + 1;
    return out;
  }

  std::string shared(std::size_t statement, std::size_t keyword, std::size_t end, bool is_extern,
                     std::size_t& next) {
    // The declaration's tokens without alignment (storage is aligned to 128 bytes) and storage class.
    std::size_t semicolon = keyword;
    std::vector<std::size_t> parts;
    for (std::size_t i = statement; i < end; i = after(i)) {
      if (is(i, ";")) {
        semicolon = i;
        break;
      }
      if (i == keyword || is(i, "extern") || is(i, "static")) continue;
      if (is_align(i)) {
        i = match(after(i), end);
        continue;
      }
      if (is(i, "{") || is(i, "="))
        fail(i, "a __shared__ variable of an unnamed type or with an initial value");
      if (is(i, "(") && !parts.empty() && !is(parts.back(), "decltype"))
        fail(i, "a __shared__ variable of this form is not supported");
      parts.push_back(i);
      if (is(i, "<")) {
        const std::size_t close = match_angle(i, end);
        for (i = after(i); i < close; i = after(i)) parts.push_back(i);
        parts.push_back(close);
        i = close;
      } else if (is(i, "[") || is(i, "(")) {
        const std::size_t close = match(i, end);
        for (i = after(i); i < close; i = after(i)) parts.push_back(i);
        parts.push_back(close);
        i = close;
      }
    }
    if (semicolon == keyword) fail(keyword, "the __shared__ declaration has no ';'");
    // Declarators, split at commas outside of brackets.
    std::vector<std::vector<std::size_t>> declarators(1);
    int angle = 0, bracket = 0;
    for (std::size_t i : parts) {
      if (is(i, "[") || is(i, "(")) ++bracket;
      if (is(i, "]") || is(i, ")")) --bracket;
      if (bracket == 0 && is(i, "<")) ++angle;
      if (bracket == 0 && is(i, ">")) --angle;
      if (bracket == 0 && angle == 0 && is(i, ",")) {
        declarators.emplace_back();
      } else {
        declarators.back().push_back(i);
      }
    }
    std::string base;
    std::string out;
    for (std::size_t d = 0; d < declarators.size(); ++d) {
      const auto& tokens = declarators[d];
      std::size_t dimension = tokens.size();
      int depth = 0;
      for (std::size_t k = 0; k < tokens.size(); ++k) {
        if (is(tokens[k], "<") || is(tokens[k], "(")) ++depth;
        if (is(tokens[k], ">") || is(tokens[k], ")")) --depth;
        if (depth == 0 && is(tokens[k], "[")) {
          dimension = k;
          break;
        }
      }
      if (dimension == 0 || tokens_[tokens[dimension - 1]].kind != Kind::identifier ||
          (d == 0 && dimension < 2))
        fail(keyword, "cannot find the name in this __shared__ declaration");
      const std::string name = tokens_[tokens[dimension - 1]].text;
      std::string type;
      for (std::size_t k = 0; k + 1 < dimension; ++k)
        type += (type.empty() ? "" : " ") + tokens_[tokens[k]].text;
      if (d == 0) {
        base = type;
        while (!base.empty() && (base.back() == '*' || base.back() == ' ')) base.pop_back();
      } else {
        type = base + type;
      }
      std::string dimensions;
      bool first_is_open = false;
      int count = 0;
      for (std::size_t k = dimension; k < tokens.size();) {
        if (!is(tokens[k], "[")) fail(keyword, "cannot read the dimensions of '" + name + "'");
        std::string inner;
        depth = 0;
        for (++k; k < tokens.size() && !(depth == 0 && is(tokens[k], "]")); ++k) {
          if (closing(tokens_[tokens[k]].text) != '\0') ++depth;
          if (is(tokens[k], ")") || is(tokens[k], "]") || is(tokens[k], "}")) --depth;
          inner += (inner.empty() ? "" : " ") + tokens_[tokens[k]].text;
        }
        ++k;
        if (inner.empty() && count == 0) first_is_open = true;
        if (!inner.empty()) dimensions += "[(" + inner + ")]";
        ++count;
      }
      if (!out.empty()) out += " ";
      if (is_extern) {
        if (!first_is_open)
          fail(keyword, "extern __shared__ needs an array without a size, '" + name + "[]'");
        bool in_function = false;
        for (bool is_namespace : scopes_) in_function = in_function || !is_namespace;
        out += in_function ? "auto* " + name + " = ::simt::dynamic_shared<" + type + dimensions + ">();"
                           : "[[maybe_unused]] static const ::simt::DynamicShared<" + type + dimensions +
                                 "> " + name + "{};";
      } else {
        if (first_is_open) fail(keyword, "'" + name + "[]' has no size: write extern __shared__");
        out +=
            "auto& " + name + " = ::simt::static_shared<" + type + dimensions + ">([] {}, \"" + name + "\");";
      }
    }
    out += std::string(static_cast<std::size_t>(newlines(text(statement, semicolon))), '\n');
    next = semicolon + 1;
    return out;
  }

  std::string directive(std::size_t i) {
    const std::string& t = tokens_[i].text;
    std::size_t at = 1;
    while (at < t.size() && (t[at] == ' ' || t[at] == '\t')) ++at;
    if (t.compare(at, 6, "define") == 0 &&
        (t.find("<<<") != std::string::npos || t.find("__shared__") != std::string::npos))
      fail(i,
           "a launch or a __shared__ variable inside a macro is not supported by the emulator: write a "
           "function template");
    if (depth_ > 0 && t.compare(at, 6, "pragma") == 0 && t.find("once", at + 6) != std::string::npos)
      return "";
    if (t.compare(at, 7, "include") != 0) return t;
    const std::size_t open = t.find('"', at);
    const std::size_t close = open == std::string::npos ? open : t.find('"', open + 1);
    if (close == std::string::npos) return t;
    const std::string name = t.substr(open + 1, close - open - 1);
    if (name.size() < 4 || name.compare(name.size() - 4, 4, ".cuh") != 0) return t;
    const fs::path found = find(name);
    if (found.empty()) fail(i, "#include \"" + name + "\" is not found");
    if (!included_.insert(fs::weakly_canonical(found).string()).second) return "";
    const int next_line = tokens_[i].line + newlines(t) + 1;  // `t` dangles below
    const std::string shown =
        found.is_absolute() ? found.lexically_proximate(fs::current_path()).string() : found.string();
    const std::string current = name_;
    ++depth_;
    const std::string included = file(found, shown);
    --depth_;
    return "\n" + included + "\n#line " + std::to_string(next_line) + " \"" + current + "\"";
  }

  fs::path find(const std::string& name) const {
    const fs::path here = path_.parent_path() / name;
    if (fs::exists(here)) return here;
    for (const fs::path& folder : folders_)
      if (fs::exists(folder / name)) return folder / name;
    for (fs::path folder = path_.parent_path(); !folder.empty(); folder = folder.parent_path()) {
      if (fs::exists(folder / name)) return folder / name;
      if (fs::exists(folder / "src" / name)) return folder / "src" / name;
      if (folder == folder.parent_path()) break;
    }
    return {};
  }

  std::vector<fs::path> folders_;
  std::vector<Token> tokens_;
  fs::path path_;
  std::string name_;
  int depth_ = 0;                                      // of included .cuh files
  std::vector<bool> scopes_;                           // of the open braces: true for namespaces
  std::map<std::size_t, std::string> bounds_of_body_;  // a kernel's opening brace, and its threads at most
  std::set<std::string> included_;
  std::set<std::string> dependencies_;
};

std::string make_escaped(const std::string& path) {
  std::string out;
  for (char c : path) {
    if (c == ' ' || c == '#') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::string input, output, depfile;
  std::vector<fs::path> folders;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--depfile" && i + 1 < argc) {
      depfile = argv[++i];
    } else if (argument.compare(0, 2, "-I") == 0) {
      if (argument.size() > 2) folders.emplace_back(argument.substr(2));
    } else if (input.empty()) {
      input = argument;
    } else if (output.empty()) {
      output = argument;
    } else {
      std::cerr << "rung_simt_translate: unknown argument " << argument << "\n";
      return 1;
    }
  }
  if (output.empty()) {
    std::cerr << "usage: rung_simt_translate INPUT.cu OUTPUT.cpp [--depfile FILE] [-IFOLDER]...\n";
    return 1;
  }
  Translator translator(folders);
  std::string text;
  try {
    text = translator.file(input, input);
  } catch (const Failure& failure) {
    const std::string& where = translator.failed_in_.empty() ? input : translator.failed_in_;
    std::cerr << where << ":" << failure.line << ": error: " << failure.message << "\n";
    return 1;
  }
  const fs::path folder = fs::path(output).parent_path();
  std::error_code ignored;
  if (!folder.empty()) fs::create_directories(folder, ignored);
  std::ofstream out(output, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    std::cerr << "rung_simt_translate: cannot write " << output << "\n";
    return 1;
  }
  if (!depfile.empty()) {
    std::ofstream deps(depfile);
    deps << make_escaped(output) << ":";
    for (const std::string& path : translator.dependencies()) deps << " " << make_escaped(path);
    deps << "\n";
  }
  return 0;
}
