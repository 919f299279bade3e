// Regular expressions by PCRE2.
#include "tokenizer/regex.h"

#include <cstdint>
#include <new>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "rung/error.h"

namespace rung {

namespace {

template <class T, void (*Free)(T*)>
struct Freer {
  void operator()(T* pointer) const { Free(pointer); }
};
using Code = std::unique_ptr<pcre2_code, Freer<pcre2_code, pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freer<pcre2_match_data, pcre2_match_data_free>>;
using MatchContext =
    std::unique_ptr<pcre2_match_context, Freer<pcre2_match_context, pcre2_match_context_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Freer<pcre2_jit_stack, pcre2_jit_stack_free>>;

// What a match needs besides the pattern, made once in each thread and used for all patterns.
struct Workspace {
  MatchData match{pcre2_match_data_create(1, nullptr)};  // one pair of ends: of the whole match
  MatchContext context{pcre2_match_context_create(nullptr)};
  JitStack stack{pcre2_jit_stack_create(32 << 10, 16 << 20, nullptr)};

  Workspace() {
    if (match == nullptr || context == nullptr || stack == nullptr) throw std::bad_alloc();
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    // The limit exists for patterns that backtrack without end; ours look at each character a bounded number
    // of times.
    pcre2_set_match_limit(context.get(), UINT32_MAX);
  }
};

Workspace& workspace() {
  static thread_local Workspace own;
  return own;
}

std::string message(int error) {
  unsigned char text[256] = "";
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

}  // namespace

struct Regex::Compiled {
  Code code;
};

Regex::Regex(const std::string& pattern) : compiled_(std::make_unique<Compiled>()) {
  int error = 0;
  size_t offset = 0;
  compiled_->code.reset(pcre2_compile(reinterpret_cast<const unsigned char*>(pattern.data()), pattern.size(),
                                      PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr));
  if (compiled_->code == nullptr) {
    fail("pattern ", quoted(pattern, 200), ": offset ", offset, ": ", message(error));
  }
  // Where there is no just-in-time compiler for this machine, matching is interpreted.
  pcre2_jit_compile(compiled_->code.get(), PCRE2_JIT_COMPLETE);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;

bool Regex::found_in(std::string_view text) const {
  Workspace& work = workspace();
  const int found = pcre2_match(compiled_->code.get(), reinterpret_cast<const unsigned char*>(text.data()),
                                text.size(), 0, PCRE2_NO_UTF_CHECK, work.match.get(), work.context.get());
  if (found < 0 && found != PCRE2_ERROR_NOMATCH) fail("matching text: ", message(found));
  return found >= 0;
}

void Regex::split(std::string_view text, const std::function<void(std::string_view)>& visit) const {
  Workspace& work = workspace();
  size_t done = 0;
  while (done < text.size()) {
    const int found =
        pcre2_match(compiled_->code.get(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                    done, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, work.match.get(), work.context.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) fail("splitting text into words: byte ", done, ": ", message(found));
    const size_t* ends = pcre2_get_ovector_pointer(work.match.get());
    const size_t begin = ends[0], end = ends[1];  // visit may use the workspace
    if (begin > done) visit(text.substr(done, begin - done));
    visit(text.substr(begin, end - begin));
    done = end;
  }
  if (done < text.size()) visit(text.substr(done));
}

}  // namespace rung
