#include "load/meter_plan.h"

#include <fmt/format.h>

namespace streamsim::load {
namespace {

/// The directories below `base` over which files are spread: directory d, or `base` itself where it is the only
/// one.
struct Tree {
    std::string base;
    std::uint32_t directories;

    std::string directory(std::uint64_t d) const {
        return directories == 1 ? base : fmt::format("{}/d{}", base, d % directories);
    }
};

void name_tree(const MeterSpec& spec, const Tree& tree, WorkingSetNames& names) {
    if (tree.directories > 1) names.parents.push_back(tree.base);
    for (std::uint32_t d = 0; d < tree.directories; ++d) names.directories.push_back(tree.directory(d));
    for (std::uint32_t f = 0; f < spec.set.files; ++f)
        names.files.push_back(fmt::format("{}/f{}.load", tree.directory(f), f));
}

}  // namespace

WorkingSetNames working_set(const MeterSpec& spec, const std::string& root, std::uint32_t seat) {
    WorkingSetNames names;
    names.parents.push_back(root);
    const bool of_all = spec.set.of == WorkingSet::Of::all;
    const std::string base = of_all ? root + "/shared" : fmt::format("{}/s{}", root, seat);
    if (!of_all) names.parents.push_back(base);
    if (spec.set.shared()) {
        name_tree(spec, {base, spec.set.directories}, names);
    }
    for (std::uint32_t u = 0; u < spec.users; ++u) {
        const Tree tree{spec.set.shared() ? base : fmt::format("{}/u{}", base, u), spec.set.directories};
        if (!spec.set.shared()) name_tree(spec, tree, names);
        for (std::uint32_t k = 0; k < spec.set.spare_files; ++k)
            names.spare.push_back(fmt::format("{}/e{}-{}-{}.load", tree.directory(k), seat, u, k));
    }
    return names;
}

}  // namespace streamsim::load
