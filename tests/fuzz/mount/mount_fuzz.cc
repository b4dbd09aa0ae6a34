// Texts of the kernel: the table of mounts, files of "key: number", and the options of network mounts.
#include <string>

#include "base/system/proc_text.h"
#include "fuzz/fuzz.h"
#include "host/mount.h"
#include "host/network_mount.h"

STREAMSIM_FUZZ(mount) {
    using namespace streamsim;
    using fuzz::require;
    fuzz::Taker taker(input);
    const std::string path = "/" + std::string(taker.line());
    const std::string_view table = fuzz::text_of(taker.rest());
    (void)number_after(table, "read_bytes:");
    (void)number_after(table, "");
    std::string device;
    auto mount = host::mount_in(table, path, &device);
    if (!mount) return;
    require(path.starts_with(mount->point), "a path is below its mount");
    require(!mount->type.empty(), "a mount has a type");
    host::describe_share(*mount);
    host::hint_at(*mount, {});
    host::hint_at(*mount, {std::uint64_t{1} << 25, std::uint64_t{100'000'000'000}, true});
    (void)host::mount_option(*mount, "vers");
}
