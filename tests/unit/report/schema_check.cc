#include "unit/report/schema_check.h"

#include <set>

#include "unit/report/golden.h"

namespace streamsim::report {
namespace {

const std::set<std::string> kSilent = {"$schema", "$id", "$defs", "title", "description", "pattern"};

class Checker {
public:
    explicit Checker(const Json& root) : root_(root) {}

    void check(const Json& schema, const Json& value, const std::string& at) {
        for (const auto& [keyword, rule] : schema.items()) {
            if (kSilent.contains(keyword)) continue;
            if (keyword == "$ref") {
                check(root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), value, at);
            } else if (!values(keyword, rule, value, at) && !members(keyword, rule, schema, value, at)) {
                problems.push_back(at + ": the schema's keyword " + keyword + " is not known here");
            }
        }
    }

    std::vector<std::string> problems;

private:
    static bool is(const std::string& type, const Json& value) {
        if (type == "integer") return value.is_number_integer();
        if (type == "number") return value.is_number();
        return type == (value.is_number() ? "number" : value.type_name());
    }

    void expect(bool good, const std::string& at, const std::string& what) {
        if (!good) problems.push_back(at + ": " + what);
    }

    bool values(const std::string& keyword, const Json& rule, const Json& value, const std::string& at) {
        if (keyword == "type") {
            bool found = false;
            for (const Json& type : rule.is_array() ? rule : Json::array({rule})) {
                found = found || is(type.get<std::string>(), value);
            }
            expect(found, at, "is " + value.dump() + ", expected type " + rule.dump());
        } else if (keyword == "const") {
            expect(value == rule, at, "is " + value.dump() + ", expected " + rule.dump());
        } else if (keyword == "enum") {
            bool found = false;
            for (const Json& allowed : rule) found = found || allowed == value;
            expect(found, at, "is " + value.dump() + ", expected one of " + rule.dump());
        } else if (keyword == "minimum") {
            expect(!value.is_number() || value >= rule, at, "is below " + rule.dump());
        } else if (keyword == "exclusiveMinimum") {
            expect(!value.is_number() || value > rule, at, "is not above " + rule.dump());
        } else if (keyword == "minItems") {
            expect(!value.is_array() || value.size() >= rule, at, "has too few items");
        } else if (keyword == "maxItems") {
            expect(!value.is_array() || value.size() <= rule, at, "has too many items");
        } else {
            return false;
        }
        return true;
    }

    bool members(const std::string& keyword,
                 const Json& rule,
                 const Json& schema,
                 const Json& value,
                 const std::string& at) {
        if (keyword == "required") {
            for (const Json& key : rule) {
                expect(!value.is_object() || value.contains(key), at, "lacks " + key.dump());
            }
        } else if (keyword == "properties") {
            for (const auto& [key, of] : rule.items()) {
                if (value.is_object() && value.contains(key)) check(of, value[key], at + "/" + key);
            }
        } else if (keyword == "additionalProperties") {
            if (rule != false || !value.is_object()) return true;
            for (const auto& [key, of] : value.items()) {
                expect(schema.at("properties").contains(key), at, "has the unknown key " + key);
            }
        } else if (keyword == "items") {
            if (!value.is_array()) return true;
            for (std::size_t i = 0; i < value.size(); ++i) check(rule, value[i], at + "/" + std::to_string(i));
        } else {
            return false;
        }
        return true;
    }

    const Json& root_;
};

}  // namespace

Json schema(const std::string& name) {
    const std::string path = std::string(STREAMSIM_SOURCE_DIR) + "/formats/schema/" + name;
    return parse_json(read_whole(path), path).value();
}

std::vector<std::string> schema_problems(const Json& schema, const Json& document) {
    Checker checker(schema);
    checker.check(schema, document, "");
    return checker.problems;
}

}  // namespace streamsim::report
