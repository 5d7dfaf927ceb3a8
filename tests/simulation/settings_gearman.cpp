// Config of a Gearman list, without the settings that would be config errors there.
#include "simulation/settings.hpp"

namespace w8y::sim {

void draw_gearman(ListSettings& list, Random& random) {
  list.name = gearman_name;
  list.function = random.one_of<std::string>({"grind", "grind", "grind", "sift"});
  list.gearmands = random.one_of<std::vector<std::string>>({{"gearman1"},
                                                            {"gearman1", "gearman2"},
                                                            {"gearman1", "gearman2"},
                                                            {"gearman2", "gearman1"},
                                                            {"gearman2"}});
}

std::string section_of_gearman(const ListSettings& list) {
  std::string servers;
  for (const std::string& each : list.gearmands)
    servers += (servers.empty() ? "\"" : ", \"") + each + '"';
  return "[gearman]\nservers = [" + servers + "]\nconnect_timeout = \"2s\"\n[lists." + list.name +
         "]\ncommand = [\"/bin/work\", \"{}\"]\nsource = \"gearman\"\nfunction = \"" +
         list.function + "\"\nconcurrency = " + std::to_string(list.concurrency) +
         "\non_lease_loss = " + (list.terminates ? "\"terminate\"" : "\"continue\"") +
         "\ntimeout = \"" + std::to_string(list.timeout) + "s\"\nkill_grace = \"" +
         std::to_string(list.kill_grace) + "s\"\nhistory = 20\n";
}

}  // namespace w8y::sim
