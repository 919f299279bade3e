// Catch2's main: in a source of its own, because compiling it takes longer than everything else together.
#ifdef RUNG_CATCH2_3
#include <catch2/catch_session.hpp>
int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
