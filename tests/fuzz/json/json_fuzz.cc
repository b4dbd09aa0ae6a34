// The strict JSON reader, by which all documents are read.
#include "base/document/json.h"
#include "fuzz/fuzz.h"

STREAMSIM_FUZZ(json) {
    using namespace streamsim;
    const std::string source = "document.json";
    const auto read = parse_json(fuzz::text_of(input), source);
    if (!read) return fuzz::require_refusal(read.error(), source);
    for (const int indent : {-1, 2}) {
        const std::string text = json_text(*read, indent);
        const auto again = parse_json(text, source);
        fuzz::require(again.has_value(), "a document that was read is written as one that can be read");
        fuzz::require(*again == *read, "a document is equal when it was written and read");
        fuzz::require(json_text(*again, indent) == text, "a document is written as it was before");
    }
    // Every value read as an object of every kind of member: problems, and no more.
    JsonProblems problems(source);
    JsonObject object(*read, "", problems);
    for (const char* key : {"a", "b", "schema", "rate"}) {
        (void)object.string(key, false);
        (void)object.integer(key, -5, 1'000'000, false);
        (void)object.number(key, -1e9, 1e9, false);
        (void)object.boolean(key, false);
        (void)object.rate(key, false);
        (void)object.duration(key, false);
        (void)object.one_of(key, {"one", "two"}, false);
    }
    check_schema(object, "streamsim.result", 1);
    object.finish();
    if (!problems.empty()) fuzz::require_refusal(problems.error(), source);
}
