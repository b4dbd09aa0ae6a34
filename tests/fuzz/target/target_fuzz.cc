// TARGET as it is typed: paths, URLs of file servers, models; and the address of --metrics and --web.
#include <string>

#include "fuzz/fuzz.h"
#include "target/target.h"
#include "view/http/http_server.h"

STREAMSIM_FUZZ(target) {
    using namespace streamsim;
    using fuzz::require;
    const std::string text(fuzz::text_of(input).substr(0, 4096));
    const auto target = target::parse_target(text);
    if (target) {
        require(target->url == text, "a target keeps what was typed");
        if (target->kind == target::Target::Kind::remote) {
            require(target->remote && !target->remote->host.empty(), "a server has a name");
            require(target->path.starts_with('/'), "a path on a server begins at its root");
            require(target->remote->connections > 0, "a server has a connection");
        }
        if (target->kind == target::Target::Kind::model) require(!target->path.empty(), "a model has a name");
        (void)target->name();
    } else {
        require(target.error().kind == ErrorKind::bad_input && !target.error().problems.empty(),
                "a refusal has a problem");
        for (const std::string& problem : target.error().problems)
            require(!problem.empty() && problem.size() < 3 * text.size() + 2000, "a problem is in proportion");
    }
    const auto address = view::parse_http_address(text);
    if (address) require(!address->host.empty() && !address->in_url().empty(), "an address has a host");
}
