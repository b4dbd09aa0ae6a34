// The schemas that ship, held to the field lists beside the structs (streamsim/fields.h): the same members, the
// same types, and required is what every document has. A schema may bound a value more closely than its type
// does.
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/document/json.h"
#include "base/time.h"
#include "streamsim/calibration.h"
#include "streamsim/load_result.h"
#include "streamsim/max_result.h"
#include "streamsim/prediction_result.h"
#include "streamsim/purchase_plan.h"
#include "streamsim/run_result.h"
#include "unit/report/golden.h"
#include "unit/report/schema_check.h"

namespace streamsim::report {
namespace {

using testing::IsEmpty;

/// Visits the field list of an object and holds the object's schema to it.
class SchemaCheck {
public:
    SchemaCheck(const Json& root, const Json& schema, const std::string& at, std::vector<std::string>& problems)
        : root_(root), schema_(merged(root, schema)), at_(at), problems_(problems) {}

    template <class Value>
    void operator()(const char* key, const Value& value, Presence presence = kAlways) {
        null_where_empty_ = presence.always;
        if (const Json* const rules = member(key, presence)) check(*rules, at_ + "/" + key, value);
    }
    template <class Value>
    void derived(const char* key, const Value& value, Presence presence = kAlways) {
        (*this)(key, value, presence);
    }
    template <class List>
    void object(const char* key, const List& list, Presence presence = kAlways) {
        if (const Json* const rules = member(key, presence)) members(*rules, at_ + "/" + key, list);
    }
    template <class Row, class List>
    void rows(const char* key, const std::vector<Row>&, const List& list) {
        const Json* const rules = member(key, kAlways);
        if (rules == nullptr) return;
        types(*rules, at_ + "/" + key, {"array"});
        const Row row{};
        members(resolved((*rules)["items"]), at_ + "/" + key + "/0",
                [&](SchemaCheck& check) { list(row, check); });
    }
    template <class Row>
    void columns(const std::vector<Row>&) {
        Row row;
        auto column = [this](const char* key, const auto& value) {
            const Json* const rules = member(key, kAlways);
            if (rules == nullptr) return;
            types(*rules, at_ + "/" + key, {"array"});
            check(resolved((*rules)["items"]), at_ + "/" + key + "/0", value);
        };
        fields(row, column);
    }
    /// A member that no field list has. `required`: every document has it.
    void known(const char* key) { member(key, kAlways); }

    /// All members were visited.
    void finish() {
        for (const auto& [key, rules] : schema_["properties"].items()) {
            expect(seen_.contains(key), "/" + key, "is in no field list");
        }
        std::set<std::string> required;
        for (const Json& key : schema_.value("required", Json::array()))
            required.insert(key.get<std::string>());
        for (const std::string& key : required)
            expect(always_.contains(key), "/" + key, "is required, but not in every document");
        for (const std::string& key : always_)
            expect(required.contains(key), "/" + key, "is in every document, but not required");
    }

private:
    /// Rules beside a $ref, and those that it names.
    static Json merged(const Json& root, const Json& schema) {
        if (!schema.contains("$ref")) return schema;
        Json out = merged(root, root.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))));
        for (const auto& [keyword, rule] : schema.items()) {
            if (keyword == "required") {
                for (const Json& key : rule) out[keyword].push_back(key);
            } else if (keyword == "properties") {
                out[keyword].update(rule);
            } else if (keyword != "$ref") {
                out[keyword] = rule;
            }
        }
        return out;
    }
    Json resolved(const Json& schema) const { return merged(root_, schema); }

    void expect(bool good, const std::string& where, const std::string& what) {
        if (!good) problems_.push_back(at_ + where + ": " + what);
    }

    const Json* member(const char* key, Presence presence) {
        seen_.insert(key);
        if (presence.always) always_.insert(key);
        if (!schema_["properties"].contains(key)) {
            expect(false, std::string("/") + key, "is not in the schema");
            return nullptr;
        }
        rules_ = resolved(schema_["properties"][key]);
        return &rules_;
    }
    template <class List>
    void members(const Json& rules, const std::string& at, const List& list) {
        types(rules, at, {"object"});
        SchemaCheck inner(root_, rules, at, problems_);
        list(inner);
        inner.finish();
    }

    /// The schema names just these types; those in `perhaps` it may.
    void types(const Json& rules,
               const std::string& at,
               const std::set<std::string>& named,
               const std::set<std::string>& perhaps = {}) {
        std::set<std::string> found;
        if (rules.contains("enum")) found.insert("string");
        const Json type = rules.value("type", Json::array());
        for (const Json& each : type.is_array() ? type : Json::array({type}))
            found.insert(each.get<std::string>());
        const auto missing = std::find_if(named.begin(), named.end(),
                                          [&](const std::string& each) { return !found.contains(each); });
        if (missing != named.end()) problems_.push_back(at + ": can be " + *missing);
        for (const std::string& each : found) {
            if (!named.contains(each) && !perhaps.contains(each) && each != "null")
                problems_.push_back(at + ": is never " + each);
        }
        const bool null = named.contains("null") || perhaps.contains("null") || nullable_;
        if (found.contains("null") && !null) problems_.push_back(at + ": is never null");
        if (nullable_ && !found.contains("null")) problems_.push_back(at + ": can be null");
        nullable_ = false;
    }

    template <class Value>
    void check(const Json& rules, const std::string& at, const std::optional<Value>&) {
        nullable_ = null_where_empty_;
        check(Json(rules), at, Value{});
    }
    template <class Value>
    void check(const Json& rules, const std::string& at, const std::vector<Value>&) {
        types(rules, at, {"array"});
        check(resolved(rules["items"]), at + "/0", Value{});
    }
    template <class Number>
    void check(const Json& rules, const std::string& at, Whole<Number>) {
        types(rules, at, {"integer"}, {"null"});  // null: not finite
    }
    template <class Numbers>
    void check(const Json& rules, const std::string& at, FourDecimals<Numbers> numbers) {
        check(rules, at, numbers.value);
    }
    template <class Code>
    void check(const Json& rules, const std::string& at, ErrorName<Code>) {
        types(rules, at, {"integer", "string"});
    }
    template <class Flag>
    void check(const Json& rules, const std::string& at, Worded<Flag> flag) {
        words(rules, at, {flag.when_false, flag.when_true});
    }
    template <class Word>
    void check(const Json& rules, const std::string& at, const Among<Word>& word) {
        std::set<std::string> names;
        for (const auto each : word.allowed) names.insert(to_string(each));
        words(rules, at, names);
    }
    template <class First, class Second>
    void check(const Json& rules, const std::string& at, const std::variant<First, Second>&) {
        types(rules, at, {std::is_same_v<First, double> ? "number" : "integer", "string"});
    }
    void check(const Json& rules, const std::string& at, const FrameRate&) {
        types(rules, at, {"array"});
        check(resolved(rules["items"]), at + "/0", std::int64_t{});
    }
    void check(const Json& rules, const std::string& at, const std::string&) { types(rules, at, {"string"}); }
    void check(const Json& rules, const std::string& at, bool) { types(rules, at, {"boolean"}); }
    void check(const Json& rules, const std::string& at, double) { types(rules, at, {"number"}, {"null"}); }
    template <class Value>
    void check(const Json& rules, const std::string& at, const Value& value) {
        if constexpr (std::is_enum_v<Value>) {
            std::set<std::string> names;
            for (const Value each : all_words<Value>()) names.insert(to_string(each));
            words(rules, at, names);
        } else if constexpr (std::is_integral_v<Value>) {
            types(rules, at, {"integer"});
            const bool least = rules.contains("minimum") || rules.contains("exclusiveMinimum");
            if (std::is_unsigned_v<Value> && !least) problems_.push_back(at + ": is never below 0");
        } else {
            nullable_ = nullable_ || requires {
                value.empty();
            };
            const Json own = rules;
            members(own, at, [&value](SchemaCheck& check) { fields(value, check); });
        }
    }
    void words(const Json& rules, const std::string& at, const std::set<std::string>& names) {
        std::set<std::string> found;
        for (const Json& each : rules.value("enum", Json::array())) found.insert(each.get<std::string>());
        if (found != names) problems_.push_back(at + ": has words " + testing::PrintToString(names));
        nullable_ = false;
    }

    const Json& root_;
    const Json schema_;
    const std::string at_;
    std::vector<std::string>& problems_;
    std::set<std::string> seen_, always_;
    Json rules_;                    // of the member that was visited last
    bool null_where_empty_ = true;  // an optional member is left out or null
    bool nullable_ = false;         // the next value may be null
};

template <class Document>
std::vector<std::string> differences(const Json& rules, const Document& document) {
    std::vector<std::string> problems;
    SchemaCheck check(rules, rules, "", problems);
    check.known("schema");
    check.known("version");
    if constexpr (std::is_same_v<Document, LoadResult>) check.known("steps");
    fields(document, check);
    check.finish();
    return problems;
}

TEST(FieldLists, SchemaOfResultsAgrees) {
    EXPECT_THAT(differences(schema("result.json"), RunResult{}), IsEmpty());
}

TEST(FieldLists, SchemaOfMaxAgrees) {
    EXPECT_THAT(differences(schema("max.json"), MaxResult{}), IsEmpty());
}

TEST(FieldLists, SchemaOfPredictionsAgrees) {
    EXPECT_THAT(differences(schema("prediction.json"), PredictionResult{}), IsEmpty());
}

TEST(FieldLists, SchemaOfPlansAgrees) {
    EXPECT_THAT(differences(schema("plan.json"), PurchaseResult{}), IsEmpty());
}

TEST(FieldLists, SchemaOfMeasurementsAgrees) {
    EXPECT_THAT(differences(schema("measurement.json"), Measurement{}), IsEmpty());
}

TEST(FieldLists, SchemaOfCalibrationsAgrees) {
    EXPECT_THAT(differences(schema("calibration.json"), Calibration{}), IsEmpty());
}

TEST(FieldLists, SchemaOfLoadAgrees) {
    EXPECT_THAT(differences(schema("load.json"), LoadResult{}), IsEmpty());
    const Json rules = schema("load.json");
    std::vector<std::string> problems;
    SchemaCheck step(rules, rules["$defs"]["step"], "/steps/0", problems);
    step.known("result");
    fields(LoadStep{}, Sweep::Over::none, step);
    step.finish();
    EXPECT_THAT(problems, IsEmpty());
}

TEST(FieldLists, DifferencesOfASchemaAreFound) {
    Json other = schema("result.json");
    other["properties"]["seed"]["type"] = "number";
    other["properties"]["mood"] = {{"type", "string"}};
    other["properties"]["target"]["properties"].erase("io");
    other["properties"]["model"]["properties"]["cache"]["enum"].push_back("tepid");
    other["properties"]["host"]["required"].erase(0);
    other["properties"]["timing_digest"]["type"] = "string";
    EXPECT_THAT(differences(other, RunResult{}),
                testing::UnorderedElementsAre("/seed: can be integer", "/seed: is never number",
                                              "/mood: is in no field list", "/target/io: is not in the schema",
                                              testing::StartsWith("/model/cache: has words"),
                                              "/host/name: is in every document, but not required",
                                              "/seats/0/host/name: is in every document, but not required",
                                              "/timing_digest: can be null"));
}

}  // namespace
}  // namespace streamsim::report
