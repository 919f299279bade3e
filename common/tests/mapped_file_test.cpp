// Mapped files: their bytes, and one clear error for each thing that cannot be mapped.
#include "rung/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "rung/error.h"
#include "testing/catch.h"
#include "testing/fixture.h"

using Catch::Matchers::Message;
using rung::MappedFile;

TEST_CASE("a mapped file shows the file's bytes and its path") {
  const rung::testing::TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 10000; ++i) bytes += static_cast<char>(i * 7);
  const std::string path = folder.write("größe 1.bin", bytes);
  const MappedFile file(path);
  CHECK(file.path() == path);
  REQUIRE(file.bytes().size() == bytes.size());
  CHECK(std::string(reinterpret_cast<const char*>(file.bytes().data()), bytes.size()) == bytes);
}

TEST_CASE("an empty file is an empty view") {
  const rung::testing::TemporaryFolder folder;
  CHECK(MappedFile(folder.write("empty", "")).bytes().empty());
}

TEST_CASE("what cannot be mapped is an error that names it") {
  const rung::testing::TemporaryFolder folder;
  const std::string missing = folder.path() + "/missing.gguf";
  CHECK_THROWS_MATCHES(MappedFile(missing), rung::Error,
                       Message(missing + ": cannot open: No such file or directory"));
  CHECK_THROWS_MATCHES(MappedFile(""), rung::Error, Message(": cannot open: No such file or directory"));
  CHECK_THROWS_MATCHES(MappedFile(folder.path()), rung::Error,
                       Message(folder.path() + ": is a directory, expected a file"));
  CHECK_THROWS_MATCHES(MappedFile("/dev/null"), rung::Error, Message("/dev/null: is not a regular file"));
  const std::string below_a_file = folder.write("file", "x") + "/x";
  CHECK_THROWS_MATCHES(MappedFile(below_a_file), rung::Error,
                       Message(below_a_file + ": cannot open: Not a directory"));
}

TEST_CASE("a named pipe is refused and not waited for") {
  const rung::testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK_THROWS_MATCHES(MappedFile(path), rung::Error, Message(path + ": is not a regular file"));
}

TEST_CASE("a file without permission is an error") {
  if (geteuid() == 0) return;  // root may read everything
  const rung::testing::TemporaryFolder folder;
  const std::string path = folder.write("sealed", "x");
  REQUIRE(chmod(path.c_str(), 0) == 0);
  CHECK_THROWS_MATCHES(MappedFile(path), rung::Error, Message(path + ": cannot open: Permission denied"));
}

TEST_CASE("files are closed and unmapped again, after failures too") {
  const rung::testing::TemporaryFolder folder;
  const std::string path = folder.write("x", "x"), empty = folder.write("empty", "");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit few = before;
  few.rlim_cur = 100;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  for (int i = 0; i < 200; ++i) {
    CHECK_NOTHROW(MappedFile(path));
    CHECK_NOTHROW(MappedFile(empty));
    CHECK_THROWS(MappedFile(folder.path()));
  }
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(rung::testing::read_file("/proc/self/maps").find(path) == std::string::npos);
}

namespace {

struct Ended {
  int status;  // exit status, or 128 + signal number
  std::string err;
};

// Runs action in a process of its own.
template <class Action>
Ended in_a_process(const rung::testing::TemporaryFolder& folder, const Action& action) {
  const std::string err = folder.write("err", "");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(open(err.c_str(), O_WRONLY), STDERR_FILENO);
    const rlimit no_core{};
    setrlimit(RLIMIT_CORE, &no_core);
    action();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), rung::testing::read_file(err)};
}

volatile uint8_t sink;

}  // namespace

TEST_CASE("a file that is truncated while it is mapped ends the program with one line") {
  const rung::testing::TemporaryFolder folder;
  const std::string pages(size_t{1} << 16, 'x');
  const std::string other = folder.write("other", pages), path = folder.write("größe\n1.gguf", pages);
  const Ended ended = in_a_process(folder, [&] {
    { const MappedFile before(other); }  // its place in the handler's list is used again
    const MappedFile first(other), file(path), last(other);
    sink = file.bytes()[40000];
    if (truncate(path.c_str(), 100) != 0) _exit(9);
    sink = first.bytes()[40000];
    sink = file.bytes()[0];
    sink = file.bytes()[40000];
  });
  CHECK(ended.status == 1);
  CHECK(ended.err == "rung: " + folder.path() +
                         "/größe\\n1.gguf: a part of it can no longer be read: was the file truncated, or "
                         "does the disk fail?\n");
}

TEST_CASE("a SIGBUS from elsewhere does what it did before") {
  const rung::testing::TemporaryFolder folder;
  const std::string path = folder.write("mapped by others", std::string(8192, 'x'));
  const Ended ended = in_a_process(folder, [&] {
    const MappedFile file(path);
    const int descriptor = open(path.c_str(), O_RDONLY);
    const auto* memory =
        static_cast<const uint8_t*>(mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, descriptor, 0));
    if (truncate(path.c_str(), 0) != 0) _exit(9);
    sink = memory[0];
  });
  CHECK(ended.status != 0);  // 128 + SIGBUS; a sanitizer's handler has a status of its own
  CHECK(ended.err.find("rung: ") == std::string::npos);
}
