// What a row policy of Ramulator 2.1 meets, as its documentation declares it: enough to compile and to drive one.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace Ramulator {

using AddrVec_t = std::vector<int>;

struct Request {
  struct CmdTag {};
  static constexpr CmdTag Cmd{};
  AddrVec_t addr_vec;
  int type_id = -1, command = -1;
  Request(AddrVec_t address, CmdTag, int command) : addr_vec(std::move(address)), command(command) {}
};

struct CommandMeta {
  bool is_opening, is_closing, is_accessing, is_refreshing;
};

struct DRAMSpec {
  int level_count = 3;  // channel, bank, row
  std::vector<CommandMeta> command_meta = {{true, false, false, false}, {false, true, false, false}, {false, false, true, false}};
  int get_command_id(const std::string& name) const { return name == "ACT" ? 0 : name == "PREpb" ? 1 : 2; }
};

struct Node {
  int m_level, m_node_id;
  Node* m_parent_node;
};

struct Device {
  const DRAMSpec* m_spec = nullptr;
  std::vector<Node*> m_bank_nodes;
  int get_flat_bank_id(const AddrVec_t& address) const { return address[1]; }
  void for_each_target_bank(int, const AddrVec_t& address, const std::function<void(int)>& call) { call(address[1]); }
};

struct ControllerBase {
  Device m_device;
  long m_clk = 0;
  std::vector<Request> sent;
  bool check_timing(int, const AddrVec_t&) const { return true; }
  bool priority_send(const Request& request) {
    sent.push_back(request);
    return true;
  }
};

struct Stats {
  std::map<std::string, std::function<double()>> values;
  template <class T> void add(const std::string& name, T& value) {
    values[name] = [&value] { return double(value); };
  }
};

template <class T> struct Parameter {
  T& into;
  const int* given;
  void default_val(T usual) { into = given ? T(*given) : usual; }
};

struct Implementation {
  ControllerBase* parent = nullptr;
  std::map<std::string, int> given;
  Stats m_stats;
  template <class T> T* cast_parent() { return parent; }
  template <class T> Parameter<T> param(T& into, const std::string& name) {
    auto found = given.find(name);
    return {into, found == given.end() ? nullptr : &found->second};
  }
};

struct IRowPolicy {
  virtual ~IRowPolicy() = default;
  virtual void init() = 0;
  virtual void pre_schedule() {}
  virtual void on_issue(const Request&) {}
};

}  // namespace Ramulator

#define RAMULATOR_REGISTER_IMPLEMENTATION(interface, type, name) \
 public:                                                         \
  static constexpr const char* registered = name;                \
                                                                 \
 private:
#define RAMULATOR_PARSE_PARAM(into, type, name) param<type>(into, name)
