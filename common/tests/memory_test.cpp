// Available memory from a made-up /proc and cgroup tree, and the limits of the real one.
#include "rung/memory.h"

#include <cstring>
#include <memory>

#include "rung/device.h"
#include "rung/error.h"
#include "testing/catch.h"
#include "testing/fixture.h"

namespace rung {

namespace {

constexpr uint64_t kKiB = 1024, kUnlimited = UINT64_MAX;

TEST_CASE("available memory: what the kernel says, without a cgroup") {
  const testing::TemporaryFolder root;
  CHECK(available_memory(root.path()) > kUnlimited / 2048);  // nothing says
  root.write("proc/meminfo",
             "MemTotal:  8000 kB\nMemFree:  100 kB\nMemAvailable:    6000 kB\nCached:  3 kB\n");
  CHECK(available_memory(root.path()) == 6000 * kKiB);
  root.write("proc/self/cgroup", "12:memory:/old\n0::/\n");
  CHECK(available_memory(root.path()) == 6000 * kKiB);
  root.write("sys/fs/cgroup/a/memory.max", "max\n");
  root.write("proc/self/cgroup", "0::/a\n");
  CHECK(available_memory(root.path()) == 6000 * kKiB);
}

TEST_CASE("available memory: the tightest of the cgroups, pages of files not counted as used") {
  const testing::TemporaryFolder root;
  root.write("proc/meminfo", "MemAvailable:    6000 kB\n");
  root.write("proc/self/cgroup", "0::/a/b\n");
  root.write("sys/fs/cgroup/a/b/memory.max", std::to_string(3000 * kKiB));
  root.write("sys/fs/cgroup/a/b/memory.current", std::to_string(1000 * kKiB));
  CHECK(available_memory(root.path()) == 2000 * kKiB);
  root.write("sys/fs/cgroup/a/b/memory.stat", "anon 1\nactive_file " + std::to_string(300 * kKiB) +
                                                  "\ninactive_file " + std::to_string(200 * kKiB) + "\n");
  CHECK(available_memory(root.path()) == 2500 * kKiB);
  root.write("sys/fs/cgroup/a/memory.max", std::to_string(700 * kKiB));
  root.write("sys/fs/cgroup/a/memory.current", std::to_string(500 * kKiB));
  CHECK(available_memory(root.path()) == 200 * kKiB);
  root.write("sys/fs/cgroup/a/memory.current", std::to_string(900 * kKiB));
  CHECK(available_memory(root.path()) == 0);
  root.write("sys/fs/cgroup/memory.max", "0\n");
  CHECK(available_memory(root.path()) == 0);
}

TEST_CASE("memory that is not there is an error with both numbers") {
  Cpu device(1);
  CHECK_NOTHROW(check_memory(device, "nothing", 0));
  try {
    check_memory(device, "a planet", uint64_t{1} << 60);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Catch::StartsWith("not enough memory: a planet: 1048576.0 TiB needed, ") &&
                                 Catch::EndsWith(" available on this machine"));
  }
}

TEST_CASE("peak memory counts what was touched, and stays") {
  const uint64_t before = peak_memory();
  CHECK(before > 1000 * kKiB);
  constexpr size_t kBytes = size_t{64} << 20;
  {
    const std::unique_ptr<char[]> memory(new char[kBytes]);
    std::memset(memory.get(), 1, kBytes);
    CHECK(memory[kBytes / 2] == 1);
  }
  CHECK(peak_memory() >= before + kBytes / 2);
}

}  // namespace

}  // namespace rung
