// Plays requests to one bank against the row policy: prints its statistics, and what the accesses were.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "adamb_timeout.cpp"

using namespace Ramulator;

namespace {

struct Bank {
  AdaMBTimeoutRowPolicy policy;
  IRowPolicy& hooks = policy;
  ControllerBase controller;
  DRAMSpec spec;
  Node channel{0, 0, nullptr}, bank{1, 0, &channel};
  int open = -1;
  long hits = 0, closed = 0, conflicts = 0;

  explicit Bank(int timeout) {
    controller.m_device.m_spec = &spec;
    controller.m_device.m_bank_nodes = {&bank};
    policy.parent = &controller;
    if (timeout >= 0) policy.given["timeout"] = timeout;
    hooks.init();
  }

  void issue(int command, int row, int type) {
    Request request({0, 0, row}, Request::Cmd, command);
    request.type_id = type;
    hooks.on_issue(request);
    open = command == 0 ? row : command == 1 ? -1 : open;
  }

  void wait(int cycles) {
    for (int i = 0; i < cycles; i++) {
      controller.m_clk++;
      hooks.pre_schedule();
      for (const Request& each : controller.sent) issue(each.command, -1, each.type_id);
      controller.sent.clear();
    }
  }

  void access(int row) {
    if (open == row) hits++;
    else if (open < 0) closed++;
    else conflicts++, issue(1, row, 0);
    if (open != row) issue(0, row, 0);
    issue(2, row, 0);
  }
};

}  // namespace

// Arguments: timeout (-1 for the controller), gap in cycles, 1 for a new row every time, accesses.
int main(int, char** argv) {
  Bank bank(std::atoi(argv[1]));
  const int gap = std::atoi(argv[2]), changing = std::atoi(argv[3]), accesses = std::atoi(argv[4]);
  for (int i = 0; i < accesses; i++) {
    bank.wait(gap);
    bank.access(changing ? i % 512 : 7);
  }
  std::printf("registered %s\nhits %ld\nclosed %ld\nconflicts %ld\n", AdaMBTimeoutRowPolicy::registered, bank.hits,
              bank.closed, bank.conflicts);
  for (const auto& [name, value] : bank.policy.m_stats.values) std::printf("%s %g\n", name.c_str(), value());
}
