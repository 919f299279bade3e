// The only source that includes CLI11, and the main loop of every program: parse, run, report one line.
#include "rung/command_line.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <iostream>
#include <limits>
#include <new>

#include <CLI/CLI.hpp>

#include "rung/error.h"
#include "rung/utf8.h"

namespace rung {

struct CommandLine::State {
  CLI::App* app;
  CLI::Option* last = nullptr;
};

namespace {

template <class T>
CLI::Option* add(CLI::App* app, const std::string& names, T& target, const std::string& help) {
  return app->add_option(names, target, help)->capture_default_str();
}

// CLI11 lets a number that does not fit wrap around or stop at the largest one.
template <class Integer>
CLI::Option* add_integer(CLI::App* app, const std::string& names, Integer& target, const std::string& help) {
  const auto fits = [](const std::string& text) -> std::string {
    Integer value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return "";
    return rung::quoted(text) + " is no whole number from " +
           std::to_string(std::numeric_limits<Integer>::min()) + " to " +
           std::to_string(std::numeric_limits<Integer>::max());
  };
  return add(app, names, target, help)->check(CLI::Validator(fits, ""));
}

// One line of at most a few hundred bytes, whatever the user typed.
std::string one_line(const std::string& text) {
  return escaped(text.substr(0, text.find_last_not_of("\r\n") + 1));
}

int report(const std::string& text) {
  std::cout.exceptions(std::ios::goodbit);
  std::cout.flush();
  std::cerr << "rung: " << text << "\n";
  return 1;
}

}  // namespace

void CommandLine::option(const std::string& names, std::string& target, const std::string& help) {
  state_.last = add(state_.app, names, target, help);
}
void CommandLine::option(const std::string& names, int64_t& target, const std::string& help) {
  state_.last = add_integer(state_.app, names, target, help);
}
void CommandLine::option(const std::string& names, int& target, const std::string& help) {
  state_.last = add_integer(state_.app, names, target, help);
}
void CommandLine::option(const std::string& names, uint64_t& target, const std::string& help) {
  state_.last = add_integer(state_.app, names, target, help);
}
void CommandLine::option(const std::string& names, float& target, const std::string& help) {
  state_.last = add(state_.app, names, target, help);
}
void CommandLine::option(const std::string& names, std::vector<std::string>& target,
                         const std::string& help) {
  state_.last = add(state_.app, names, target, help)->expected(1)->take_all();
}
void CommandLine::flag(const std::string& names, bool& target, const std::string& help) {
  state_.last = state_.app->add_flag(names, target, help);
}
void CommandLine::required() {
  state_.last->required();
}
void CommandLine::choices(const std::vector<std::string>& allowed) {
  state_.last->check(CLI::IsMember(allowed));
}
void CommandLine::range(double lowest, double highest) {
  state_.last->check(CLI::Range(lowest, highest));
}
void CommandLine::excludes(const std::string& other) {
  state_.last->excludes(state_.app->get_option(other));
}
bool CommandLine::given(const std::string& name) const {
  return state_.app->get_option(name)->count() > 0;
}

int run_commands(int argc, char** argv) {
  // A closed pipe ends the program at once and quietly, even if it was started with the signal ignored; any
  // other failed write ends it with an error.
  std::signal(SIGPIPE, SIG_DFL);
  std::cout.exceptions(std::ios::badbit);
  CLI::App app("Rung: a large language model inference engine", "rung");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  std::vector<std::unique_ptr<Command>>& commands = registry<Command>();
  std::sort(commands.begin(), commands.end(),
            [](const auto& a, const auto& b) { return std::string(a->name()) < b->name(); });
  std::vector<CommandLine::State> states(commands.size());
  std::vector<CommandLine> lines;
  lines.reserve(commands.size());
  for (size_t i = 0; i < commands.size(); ++i) {
    states[i].app = app.add_subcommand(commands[i]->name(), commands[i]->summary());
    lines.emplace_back(states[i]);
    commands[i]->options(lines[i]);
  }
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const size_t valid = utf8_valid_prefix(argument);
    if (valid != argument.size()) {
      return report("argument " + std::to_string(i) + ": byte " + std::to_string(valid) +
                    " is not valid UTF-8; for other bytes put the text into a file (see --help)");
    }
  }
  const std::string first = argc > 1 ? argv[1] : "";
  if (!first.empty() && first[0] != '-' &&
      std::none_of(commands.begin(), commands.end(),
                   [&](const auto& command) { return command->name() == first; })) {
    return report("there is no command " + rung::quoted(first) + "; rung --help lists what there is");
  }
  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() != 0) {
        return report(one_line(error.what()) + " (rung --help, or rung COMMAND --help, lists what there is)");
      }
      app.exit(error);  // prints the help
      std::cout.flush();
      return 0;
    }
    for (size_t i = 0; i < commands.size(); ++i) {
      if (!states[i].app->parsed()) continue;
      const int status = commands[i]->run();
      std::cout.flush();
      return status;
    }
  } catch (const std::ios_base::failure&) {
    return report("cannot write to standard output (closed pipe or full disk?)");
  } catch (const Error& error) {
    return report(error.what());
  } catch (const std::bad_alloc&) {
    return report("out of memory");
  } catch (const std::exception& error) {
    return report(one_line(error.what()));
  }
  return 0;
}

}  // namespace rung
