// Flags and arguments of a command. A thin face over CLI11, so that only one source pays for including it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rung/registry.h"

namespace rung {

class CommandLine {
 public:
  // names as CLI11 spells them: "-m,--model" for an option, "file" for a positional argument. help is one
  // sentence. The target's value when option() is called is its default and is shown in --help.
  void option(const std::string& names, std::string& target, const std::string& help);
  void option(const std::string& names, int64_t& target, const std::string& help);
  void option(const std::string& names, int& target, const std::string& help);
  void option(const std::string& names, uint64_t& target, const std::string& help);
  void option(const std::string& names, float& target, const std::string& help);
  void option(const std::string& names, std::vector<std::string>& target, const std::string& help);
  void flag(const std::string& names, bool& target, const std::string& help);

  // These concern the option or flag that was added last.
  void required();
  void choices(const std::vector<std::string>& allowed);
  void range(double lowest, double highest);
  void excludes(const std::string& other);  // other: a name of an option added before

  // True once parsing is over if the option with this name was given.
  bool given(const std::string& name) const;

  struct State;
  explicit CommandLine(State& state) : state_(state) {}

 private:
  State& state_;
};

// One command of the program: `rung NAME …`.
class Command {
 public:
  virtual ~Command() = default;
  virtual const char* name() const = 0;
  virtual const char* summary() const = 0;
  virtual void options(CommandLine& line) = 0;
  // Exit status: 0 for success. Errors are thrown.
  virtual int run() = 0;
};

// Parses argv, runs the registered command that it names and returns the exit status: an Error becomes one
// line on stderr and status 1, --help prints to stdout and gives 0.
int run_commands(int argc, char** argv);

}  // namespace rung

// Registers a class derived from rung::Command; stands once at the end of a file in src/commands.
#define RUNG_COMMAND(Class) \
  static const ::rung::Registered<::rung::Command> registered_command(std::make_unique<Class>())
