// What the translator of .cu files writes, and what it refuses.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "testing/catch.h"

namespace {

struct Result {
  int status;
  std::string text;    // the translation without its first line, which is #line 1 "…"
  std::string errors;  // standard error
};

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::stringstream buffer;
  buffer << in.rdbuf();
  return buffer.str();
}

Result translate(const std::string& source, const std::string& header = "") {
  char folder[] = "/tmp/rung_translator_XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string base = folder;
  std::ofstream(base + "/in.cu") << source;
  std::ofstream(base + "/part.cuh") << header;
  const std::string command =
      "cd " + base + " && '" RUNG_TRANSLATOR "' in.cu out.cpp --depfile out.d 2> errors";
  const int status = std::system(command.c_str());
  Result result{status, read(base + "/out.cpp"), read(base + "/errors")};
  result.text.erase(0, result.text.find('\n') + 1);
  for (const char* name : {"/in.cu", "/part.cuh", "/out.cpp", "/out.d", "/errors"})
    std::remove((base + name).c_str());
  rmdir(folder);
  return result;
}

std::size_t lines(const std::string& text) {
  std::size_t n = 0;
  for (char c : text) n += c == '\n';
  return n;
}

}  // namespace

TEST_CASE("what is plain C++ stays as it is", "[simt][translator]") {
  for (const std::string source : {
           "std::vector<std::vector<std::vector<int>>> x;\n",
           "const char* s = \"k<<<1, 2>>>(x); __shared__ int a[3];\";\n",
           "const char* s = R\"x(k<<<1, 2>>>(\")x\";\n",
           "// k<<<1, 2>>>(x)\n/* __shared__ int\n a[3]; */ int a = 1'000'000, b = a >> 3 << 2;\n",
           "#if defined(X) // it's\n#error don't <<<\n#endif\nchar c = '\"';\n",
           "int f() { return a < b && c >> 2 > d; }\n",
           "#define M(x) \\\n  x + 1\nint i = M(2);\n",
       })
    CHECK(translate(source).text == source);
}

TEST_CASE("launches become calls with the kernel's name", "[simt][translator]") {
  CHECK(translate("void f() { k<<<1, 2>>>(); }\n").text ==
        "void f() { ::simt::launch(\"k\", [=](auto&... simt_a) { k(simt_a...); }, "
        "[=](auto simt_f) -> decltype(simt_f(k)) { return simt_f(k); }, ::simt::LaunchConfig(1, 2)); }\n");
  CHECK(
      translate("void f() { ns::k<T, (a > b)><<<dim3(1, n), g(2, 3), 4 * sizeof(T), s>>>(x, y[1]); }\n")
          .text ==
      "void f() { ::simt::launch(\"ns::k<T, (a > b)>\", [=](auto&... simt_a) { ns::k<T, (a > b)>(simt_a...); "
      "}, [=](auto simt_f) -> decltype(simt_f(ns::k<T, (a > b)>)) { return simt_f(ns::k<T, (a > b)>); }, "
      "::simt::LaunchConfig(dim3(1, n), g(2, 3), 4 * sizeof(T), s), x, y[1]); }\n");
  CHECK(translate("void f() { if (n) table[i]<<<1, 2>>>(p); else ::k<<<1, 2>>>(p); }\n")
            .text.find("else ::simt::launch(\"::k\"") != std::string::npos);
  CHECK(translate("void f() { if (n) table[i]<<<1, 2>>>(p); }\n")
            .text.find("if (n) ::simt::launch(\"table[i]\"") != std::string::npos);
}

TEST_CASE("shared variables of any shape", "[simt][translator]") {
  CHECK(translate("void f() { __shared__ float a[8][N + 1]; }\n").text ==
        "void f() { auto& a = ::simt::static_shared<float[(8)][(N + 1)]>([] {}, \"a\"); }\n");
  CHECK(translate("void f() { static __shared__ __align__(16) Pair<int, 4> p; }\n").text ==
        "void f() { auto& p = ::simt::static_shared<Pair < int , 4 >>([] {}, \"p\"); }\n");
  CHECK(translate("void f() { __shared__ int a[4], b; }\n").text ==
        "void f() { auto& a = ::simt::static_shared<int[(4)]>([] {}, \"a\"); auto& b = "
        "::simt::static_shared<int>([] {}, "
        "\"b\"); }\n");
  CHECK(translate("void f() { extern __shared__ __align__(16) float row[]; }\n").text ==
        "void f() { auto* row = ::simt::dynamic_shared<float>(); }\n");
  CHECK(
      translate("namespace n { extern __shared__ float row[]; }\n").text.find("DynamicShared<float> row{}") !=
      std::string::npos);
}

TEST_CASE("launch bounds are checked where a kernel's body begins", "[simt][translator]") {
  CHECK(
      translate("__global__ void __launch_bounds__(f(2, N), 3)\nk(int (*g)(int), A a = {1}) { b; }\n").text ==
      "__global__ void __launch_bounds__(f(2, N), 3)\nk(int (*g)(int), A a = {1}) { "
      "::simt::check_launch_bounds(f(2, N)); b; }\n");
  CHECK(translate("__global__ void __launch_bounds__(8) k(int);\nvoid h() { }\n").text ==
        "__global__ void __launch_bounds__(8) k(int);\nvoid h() { }\n");
}

TEST_CASE("lines keep their numbers", "[simt][translator]") {
  const std::string source =
      "void f() {\n  __shared__\n    float a[2]\n      [3];\n  k<\n    4><<<1,\n  2>>>(\n  a,\n  b);\n}\nint "
      "last;\n";
  const std::string text = translate(source).text;
  CHECK(lines(text) == lines(source));
  CHECK(text.find("int last;\n") + std::string("int last;\n").size() == text.size());
}

TEST_CASE("a .cuh file is translated where it is included, once", "[simt][translator]") {
  const std::string text = translate("#include \"part.cuh\"\n#include \"part.cuh\"\nint after;\n",
                                     "#pragma once\nvoid g() { __shared__ int x; }\n")
                               .text;
  CHECK(text.find("#line 1 \"part.cuh\"\n\nvoid g() { auto& x = ::simt::static_shared<int>") !=
        std::string::npos);
  // Line 2 of in.cu is the second #include, line 3 the declaration.
  CHECK(text.find("#line 2 \"in.cu\"\n\nint after;\n") != std::string::npos);
  CHECK(text.find("void g()") == text.rfind("void g()"));
}

TEST_CASE("what cannot be translated is refused with its line", "[simt][translator]") {
  const struct {
    const char* source;
    const char* error;
  } cases[] = {
      {"\n#define LAUNCH k<<<1, 2>>>(x)\n",
       "in.cu:2: error: a launch or a __shared__ variable inside a macro"},
      {"void f() {\n\n  k<<<1, 2(x);\n}\n", "in.cu:3: error: "},
      {"void f() { k<<<1, 2>>>; }\n", "in.cu:1: error: the kernel's arguments are missing"},
      {"void f() {\n  __shared__ int x = 3; }\n",
       "in.cu:2: error: a __shared__ variable of an unnamed type or with an initial value"},
      {"void f() { __shared__ int x[]; }\n", "in.cu:1: error: 'x[]' has no size"},
      {"void f() { extern __shared__ int x[3]; }\n",
       "in.cu:1: error: extern __shared__ needs an array without a size"},
      {"#include \"missing.cuh\"\n", "in.cu:1: error: #include \"missing.cuh\" is not found"},
      {"/* open\n", "in.cu:1: error: a comment does not end"},
  };
  for (const auto& c : cases) {
    const Result result = translate(c.source);
    CHECK(result.status != 0);
    CHECK(result.errors.find(c.error) == 0);
  }
}
