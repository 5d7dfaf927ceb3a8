#include "store/thoonk/job_lease_store.hpp"

#include "store/scripts.hpp"
#include "store/store_error.hpp"

namespace w8y::store::thoonk {

void JobLeaseStore::renew(const Batch& leases, Answer answer) {
  const LeaseTerms& common = leases.front()->terms;
  const std::string life = ms_text(common.expiry);
  redis::Command keys{keys_.slots, keys_.taken, keys_.claimed};
  redis::Command arguments{life, common.fleet ? "1" : "0"};
  for (const auto& lease : leases) {
    const LeaseTerms& terms = lease->terms;
    keys.push_back(terms.key);
    arguments.insert(arguments.end(), {terms.item, terms.value, terms.retake ? "t" : "n"});
  }
  client_.run(scripts::job_renew, keys, arguments,
              [answer = std::move(answer)](const redis::Answer& got) {
                if (!got.ok()) return answer(nullptr);
                std::vector<Renewed> states;
                for (std::size_t i = 0; i < got.reply.size(); ++i)
                  states.push_back(static_cast<Renewed>(got.reply[i].integer()));
                answer(&states);
              });
}

}  // namespace w8y::store::thoonk
