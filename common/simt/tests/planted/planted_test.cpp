// Runs every planted bug whose means this build has; see planted.h.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "planted.h"
#include "testing/catch.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define HAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_TSAN 1
#endif
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif
#ifndef HAS_TSAN
#define HAS_TSAN 0
#endif

namespace planted {

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

void check_launch() {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::fflush(stderr);
  _exit(3);
}

namespace {

/// What a process that runs the case writes to stderr.
std::string report_of(const Case& c, bool wrong, int threads) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(stdout);
  std::fflush(stderr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(ends[0]);
    dup2(ends[1], 2);
    for (int signal_number : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGTERM})
      signal(signal_number, SIG_DFL);  // not Catch2's
    setenv("RUNG_SIMT_CHECK", c.check, 1);
    // Leaks and unread errors are told at exit, by handlers that the run registers after this one and that
    // therefore go first. What Catch2 would do at exit belongs to the parent.
    std::atexit([] { _exit(0); });
    c.run(wrong, threads);
    check_launch();
    std::fflush(stderr);
    std::exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(ends[0], buffer, sizeof(buffer));
    if (n <= 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return text;
}

/// "file:line" of each line of the case's source that holds `// BUG`.
std::vector<std::string> bug_lines(const Case& c) {
  const std::string path =
      std::string(PLANTED_SOURCES) + "/" + std::string(c.file).substr(std::string(c.file).rfind('/') + 1);
  std::ifstream in(path);
  REQUIRE(in.good());
  std::vector<std::string> places;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number)
    if (line.find("// BUG") != std::string::npos)
      places.push_back(path.substr(path.rfind('/') + 1) + ":" + std::to_string(number));
  return places;
}

void check_case(const Case& c, int threads) {
  INFO(c.name << " with " << threads << " threads");
  const std::string right = report_of(c, false, threads);
  CHECK(right == "");
  const std::string wrong = report_of(c, true, threads);
  if (std::getenv("RUNG_SHOW_REPORTS"))
    std::printf("---- %s, %d threads\n%s\n", c.name, threads, wrong.c_str());
  INFO("its report was:\n" << wrong);
  for (const std::string& part : c.report) {
    INFO("expected: " << part);
    if (part != "BUG") {
      CHECK(wrong.find(part) != std::string::npos);
      continue;
    }
    bool found = false;
    for (const std::string& place : bug_lines(c)) found = found || wrong.find(place) != std::string::npos;
    CHECK(found);
  }
}

void check_all(Means means, const std::vector<int>& sizes) {
  int seen = 0;
  for (const Case& c : cases()) {
    if (c.means != means) continue;
    ++seen;
    for (int threads : sizes) DYNAMIC_SECTION(c.name << " with " << threads << " threads") {
        check_case(c, threads);
      }
  }
  REQUIRE(seen > 0);
}

}  // namespace

TEST_CASE("planted bugs that every build reports", "[planted]") {
#if HAS_TSAN
  check_all(Means::always, {64});
#else
  check_all(Means::always, {64, 256});
#endif
}

#if !HAS_ASAN && !HAS_TSAN
TEST_CASE("planted bugs that the compiler's checks report", "[planted]") {
  check_all(Means::compiled, {64, 256});
}
#endif

#if HAS_ASAN
TEST_CASE("planted bugs that AddressSanitizer reports", "[planted]") {
  check_all(Means::address, {64, 256});
}
#endif

#if HAS_TSAN
// clang 14's ThreadSanitizer misses races in blocks of 256 threads and more.
TEST_CASE("planted bugs that ThreadSanitizer reports", "[planted]") {
#if defined(__clang__)
  check_all(Means::race, {64});
#else
  check_all(Means::race, {64, 256});
#endif
}
#endif

}  // namespace planted
