#pragma once

// Where a process can be reached: what the kernel says of its sockets.

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace spnn::testing {

struct Reached {
  std::set<std::string> loopback, beyond;   // own addresses of sockets, as /proc/net has them
  void add(const Reached& other) {
    loopback.insert(other.loopback.begin(), other.loopback.end());
    beyond.insert(other.beyond.begin(), other.beyond.end());
  }
};

// The TCP sockets of a process, those that wait for connections and those that have one, and its UDP sockets.
inline Reached reached(pid_t process) {
  std::set<std::string> sockets;   // "socket:[12345]"
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", gone)) {
    const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.starts_with("socket:[")) sockets.insert(target);
  }
  Reached found;
  for (const std::string protocol : {"tcp", "tcp6", "udp", "udp6"}) {
    std::ifstream table("/proc/net/" + protocol);
    std::string line;
    std::getline(table, line);   // the names of the columns
    while (std::getline(table, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, queues, timer, retransmitted, user, timeout, inode;
      words >> number >> local >> remote >> state >> queues >> timer >> retransmitted >> user >> timeout >> inode;
      if (!sockets.contains("socket:[" + inode + "]")) continue;
      const auto address = local.substr(0, local.find(':'));
      // 127.x.x.x (the first byte comes last) and ::1.
      const bool inside = address.size() == 8 ? address.ends_with("7F") : address == "00000000000000000000000001000000";
      (inside ? found.loopback : found.beyond).insert(protocol + " " + local);
    }
  }
  return found;
}

}  // namespace spnn::testing
