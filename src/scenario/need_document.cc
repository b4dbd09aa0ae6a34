#include "scenario/need_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"
#include "scenario/reading.h"

namespace streamsim::scenario {
namespace {

constexpr double kMoneyMax = 1e15;
constexpr std::size_t kLevelsMax = 1000, kChoicesMax = 32, kOffersMax = 32;
constexpr std::int64_t kPlansMax = 20;
/// Short runs, which come before, have half of it.
constexpr Duration kVerifyLeast = seconds(20);
constexpr const char* kTargetOfNeed = "sim:need";

/// Entries of an array that holds at most so many.
template <typename Read>
void read_some(JsonObject& parent, const char* key, bool required, std::size_t most, Read&& read) {
    const Json* const value = parent.member(key, required);
    if (value == nullptr) return;
    if (!value->is_array() || value->empty() || value->size() > most) {
        parent.problem(key, fmt::format("expected an array of 1 to {} entries", most));
        return;
    }
    std::size_t i = 0;
    for (const Json& each : *value) read(each, fmt::format("{}/{}", parent.pointer_of(key), i++));
}

/// A number of the model's document.
struct ModelPlace {
    std::string pointer;
    enum class Takes {
        anything,  // there is no number, or its model is not known
        number,
        size,
        time,
    } takes = Takes::anything;
};

/// "a number (bits a second), as the model has at /node/front_end/bits_per_s"
std::string expected_at(const ModelPlace& place) {
    std::string what = "a number";
    switch (place.takes) {
        case ModelPlace::Takes::anything: return "a number, a size such as \"64GiB\" or a time such as \"1ms\"";
        case ModelPlace::Takes::number:
            if (place.pointer.ends_with("bits_per_s")) what += " (bits a second)";
            if (place.pointer.ends_with("bytes_per_s")) what += " (bytes a second)";
            break;
        case ModelPlace::Takes::size: what += " or a size such as \"64GiB\""; break;
        case ModelPlace::Takes::time: what = "a time such as \"1ms\""; break;
    }
    return fmt::format("{}, as the model has at {}", what, place.pointer);
}

/// A number, or a text with a unit: bytes, nanoseconds. Times have a unit; sizes may have one, and rates and
/// counts have none.
std::optional<double> read_value(const Json& value,
                                 const std::string& at,
                                 const ModelPlace& place,
                                 JsonProblems& problems) {
    using Takes = ModelPlace::Takes;
    const auto may_be = [&place](Takes kind) { return place.takes == kind || place.takes == Takes::anything; };
    if (value.is_number() && place.takes != Takes::time) return value.get<double>();
    if (value.is_string()) {
        const auto text = value.get<std::string>();
        const auto size = parse_size(text);
        if (size && may_be(Takes::size)) return static_cast<double>(*size);
        const auto time = parse_duration(text);
        if (time && may_be(Takes::time)) return static_cast<double>(time->ns);
    }
    problems.add(at, fmt::format("expected {}, found {}", expected_at(place), json_text(value)));
    return std::nullopt;
}

std::string shown(const Json& value) {
    return value.is_string() ? value.get<std::string>() : fmt::format("{:.15g}", value.get<double>());
}

class ChoiceReader {
public:
    ChoiceReader(const NeedWords& words,
                 JsonProblems& problems,
                 const Scenario& seats,
                 const PurchaseOffer& offer,
                 bool known)
        : words_(words), problems_(problems), seats_(seats), offer_(offer), known_(known) {}

    PurchaseChoice read(const Json& value, const std::string& pointer) {
        JsonObject object(value, pointer, problems_);
        PurchaseChoice choice;
        choice.pointer = pointer;
        choice.what = object.string("what").value_or("");
        const bool taken = std::ranges::any_of(
            offer_.choices, [&choice](const PurchaseChoice& other) { return other.what == choice.what; });
        if (taken || choice.what == "seats")
            object.problem("what", fmt::format("expected a name that nothing else of the offer has, found '{}'",
                                               choice.what));
        const int kinds = static_cast<int>(object.has("values")) + static_cast<int>(object.has("from")) +
                          static_cast<int>(object.has("alternatives"));
        if (kinds != 1) {
            problems_.add(pointer, "expected one of \"values\", \"from\" with \"to\", and \"alternatives\"");
            for (const char* key :
                 {"values", "from", "to", "step", "alternatives", "pointer", "price_each", "watts_each", "per"})
                object.member(key, false);
        } else if (object.has("alternatives")) {
            read_alternatives(object, choice);
        } else {
            read_counts(object, choice);
        }
        refuse_others(object);
        read_per(object, choice);
        object.finish();
        return choice;
    }

private:
    /// Members that another kind of levels has.
    static void refuse_others(JsonObject& object) {
        for (const char* key : {"to", "step"}) {
            if (object.has(key) && !object.has("from") && object.member(key) != nullptr)
                object.problem(key, "is for \"from\"");
        }
        for (const char* key : {"price_each", "watts_each"}) {
            if (object.has(key) && object.has("alternatives") && object.member(key) != nullptr)
                object.problem(key, "is for values: alternatives have prices of their own");
        }
    }

    /// Another choice would set the number again, and a seat's link takes the place of the model's.
    void check_effect(const std::string& at, const std::string& pointer) {
        const auto sets = [&pointer](const PurchaseLevel& level) {
            return std::ranges::count(level.numbers, pointer, &PurchaseNumber::pointer) > 0;
        };
        for (const PurchaseChoice& other : offer_.choices) {
            if (std::ranges::any_of(other.levels, sets))
                problems_.add(at, fmt::format("expected a number that no choice before sets: {} sets {}",
                                              other.pointer, pointer));
        }
        const auto own_link = [&pointer](const ScenarioSeats& seats) {
            return (pointer == "/client/link/bits_per_s" && seats.link_bits_per_s) ||
                   (pointer == "/client/link/efficiency" && seats.link_efficiency) ||
                   (pointer == "/client/link/latency" && seats.link_latency);
        };
        if (!seats_.seats.empty() && std::ranges::all_of(seats_.seats, own_link))
            problems_.add(at, fmt::format("expected a number that some seats take from the model: all set {} "
                                          "for themselves, as /seats/0/link does",
                                          pointer));
    }

    ModelPlace place_of(const std::string& at, const std::string& pointer) {
        check_effect(at, pointer);
        if (!known_) return {pointer};
        if (const auto number = words_.number(offer_.model, pointer); !number) {
            for (const std::string& problem : number.error().problems) problems_.add(at, problem);
            return {pointer};
        }
        if (words_.time(offer_.model, pointer)) return {pointer, ModelPlace::Takes::time};
        return {pointer,
                words_.size(offer_.model, pointer) ? ModelPlace::Takes::size : ModelPlace::Takes::number};
    }

    void check_whole(const std::string& at, const std::string& pointer, double value) {
        if (!known_ || value == std::floor(value) || !words_.whole(offer_.model, pointer)) return;
        problems_.add(
            at, fmt::format("expected a whole number, as the model has at {}, found {:.15g}", pointer, value));
    }

    ModelPlace read_pointer(JsonObject& object, bool required) {
        const auto pointer = object.string("pointer", required);
        return pointer ? place_of(object.pointer_of("pointer"), *pointer) : ModelPlace{};
    }

    void read_counts(JsonObject& object, PurchaseChoice& choice) {
        const ModelPlace place = read_pointer(object, true);
        const std::string& pointer = place.pointer;
        const double price = object.number("price_each", 0, kMoneyMax, false).value_or(0);
        const double watts = object.number("watts_each", 0, kMoneyMax, false).value_or(0);
        const auto add = [&](double value, std::string text) {
            choice.levels.push_back({std::move(text), {{pointer, value}}, value, value * price, value * watts});
        };
        if (object.has("from")) {
            const auto from = object.number("from", 0, 1e15);
            const auto to = object.number("to", 0, 1e15);
            const double step = object.number("step", 1e-9, 1e15, false).value_or(1);
            if (!from || !to) return;
            if (place.takes == ModelPlace::Takes::time)
                return object.problem("from", fmt::format("expected \"values\" such as \"1ms\": the model has "
                                                          "a time at {}",
                                                          pointer));
            if (*to < *from) return object.problem("to", fmt::format("expected {:g} or more", *from));
            const double count = std::floor((*to - *from) / step + 1e-9) + 1;
            if (count > kLevelsMax)
                return object.problem("step", fmt::format("expected at most {} values", kLevelsMax));
            for (int i = 0; i < static_cast<int>(count); ++i)
                add(*from + i * step, fmt::format("{:.15g}", *from + i * step));
            check_whole(object.pointer_of("from"), pointer, *from);
            if (object.has("step")) check_whole(object.pointer_of("step"), pointer, step);
            return;
        }
        read_some(object, "values", true, kLevelsMax, [&](const Json& each, const std::string& at) {
            const auto value = read_value(each, at, place, problems_);
            if (!value) return;
            if (*value < 0 || (!choice.levels.empty() && *value <= choice.levels.back().count))
                return problems_.add(at, "expected values from 0 that ascend, from the least to the most");
            check_whole(at, pointer, *value);
            add(*value, shown(each));
        });
    }

    void read_alternatives(JsonObject& object, PurchaseChoice& choice) {
        const ModelPlace place = read_pointer(object, false);
        const std::string& pointer = place.pointer;
        read_some(object, "alternatives", true, kLevelsMax, [&](const Json& each, const std::string& at) {
            JsonObject one(each, at, problems_);
            PurchaseLevel level;
            level.text = one.string("name").value_or("");
            level.price = one.number("price", 0, kMoneyMax, false).value_or(0);
            level.watts = one.number("watts", 0, kMoneyMax, false).value_or(0);
            if (const Json* const value = one.member("value", pointer != "" && !one.has("set"))) {
                if (pointer.empty()) one.problem("value", "has no \"pointer\": give one beside alternatives");
                if (const auto number = read_value(*value, at + "/value", place, problems_)) {
                    check_whole(at + "/value", pointer, *number);
                    level.numbers.push_back({pointer, *number});
                }
            }
            read_set(one, level);
            if (!choice.levels.empty() && level.price < choice.levels.back().price)
                one.problem("price",
                            fmt::format("expected no less than {:g}, the price before: alternatives go "
                                        "from the least to the most",
                                        choice.levels.back().price));
            if (!choice.levels.empty() && level.watts < choice.levels.back().watts)
                one.problem("watts",
                            fmt::format("expected no less than {:g}, the power before: alternatives go "
                                        "from the least to the most",
                                        choice.levels.back().watts));
            one.finish();
            choice.levels.push_back(std::move(level));
        });
    }

    /// Numbers by their pointers, that change together.
    void read_set(JsonObject& one, PurchaseLevel& level) {
        const Json* const set = one.member("set", false);
        if (set == nullptr) return;
        if (!set->is_object()) return one.problem("set", "expected an object: pointers and their values");
        for (const auto& [key, value] : set->items()) {
            const std::string at = one.pointer_of("set") + "/" + key;
            if (const auto number = read_value(value, at, place_of(at, key), problems_)) {
                check_whole(at, key, *number);
                level.numbers.push_back({key, *number});
            }
        }
    }

    void read_per(JsonObject& object, PurchaseChoice& choice) {
        const auto per = object.string("per", false);
        if (!per) return;
        choice.per_text = *per;
        if (*per == "seats") return;  // read_need knows how many
        for (std::size_t i = 0; i < offer_.choices.size(); ++i) {
            const PurchaseChoice& other = offer_.choices[i];
            if (other.what != *per || other.levels.empty() || other.levels.back().count <= 0) continue;
            choice.per_choice = i;
            return;
        }
        object.problem("per", fmt::format("expected \"seats\" or the name of a choice before this that has "
                                          "values, found '{}'",
                                          *per));
    }

    const NeedWords& words_;
    JsonProblems& problems_;
    const Scenario& seats_;  // of the need
    const PurchaseOffer& offer_;
    const bool known_;  // the model is
};

PurchaseOffer read_offer(const NeedWords& words,
                         JsonProblems& problems,
                         const Scenario& seats,
                         const Json& value,
                         const std::string& pointer) {
    JsonObject object(value, pointer, problems);
    PurchaseOffer offer;
    offer.model = object.string("model").value_or("");
    offer.name = object.string("name", false).value_or(offer.model);
    bool known = false;
    if (!offer.model.empty()) {
        const auto model = words.model(offer.model);
        known = static_cast<bool>(model);
        note_problems(object, "model", model);
    }
    offer.price = object.number("price", 0, kMoneyMax, false).value_or(0);
    offer.watts = object.number("watts", 0, kMoneyMax, false).value_or(0);
    read_some(object, "choices", false, kChoicesMax, [&](const Json& each, const std::string& at) {
        PurchaseChoice choice = ChoiceReader(words, problems, seats, offer, known).read(each, at);
        offer.choices.push_back(std::move(choice));
    });
    object.finish();
    return offer;
}

void read_demands(JsonObject& object, JsonProblems& problems, const NeedWords& words, PurchaseNeed& need) {
    constexpr double kHoursMax = 24;
    need.headroom_percent = object.number("headroom", 0, 99, false).value_or(0);
    need.hours_together = object.number("hours_together", 0, kHoursMax, false).value_or(0);
    if (const auto claim = object.string("claim", false)) {
        need.claim = *claim;
        const auto drops = words.claim(*claim);
        note_problems(object, "claim", drops);
        if (drops) need.claim_drops_per_day = *drops;
    }
    need.currency = object.string("currency", false).value_or("");
    need.plans = static_cast<std::size_t>(object.integer("plans", 1, kPlansMax, false).value_or(4));
    const Json* const limits = object.member("limits", false);
    if (limits == nullptr) return;
    JsonObject at_most(*limits, "/limits", problems);
    need.price_max = at_most.number("price", 0, kMoneyMax, false);
    need.watts_max = at_most.number("watts", 0, kMoneyMax, false);
    at_most.finish();
}

/// The seats as a scenario of their own, so that they say what a scenario's say. Problems have the pointers of
/// the need.
void read_seats_of_need(JsonObject& object,
                        const NeedWords& words,
                        PurchaseNeed& need,
                        std::vector<std::string>& problems) {
    Json scenario = {{"schema", "streamsim.scenario"}, {"version", 1}};
    scenario["duration"] = "60s";
    for (const char* key : {"seed", "seats", "preroll_timeout"}) {
        if (const Json* const value = object.member(key, std::string_view(key) == "seats"))
            scenario[key] = *value;
    }
    if (const Json* const verify = object.member("verify", false)) scenario["duration"] = *verify;
    if (!scenario.contains("seats")) return;
    if (scenario["seats"].is_array()) {
        std::size_t i = 0;
        for (Json& seats : scenario["seats"]) {
            const std::string at = fmt::format("{}: /seats/{}", need.source, i++);
            if (!seats.is_object()) continue;
            if (seats.erase("target") > 0)
                problems.push_back(at + "/target: the offers name the models: leave it out");
            if (seats.erase("node") > 0)
                problems.push_back(at + "/node: seats are assigned to the nodes in turn: leave it out");
        }
    }
    ScenarioWords own = words.scenario;
    own.target_of_command = kTargetOfNeed;
    own.target = [](const std::string&) -> Result<ScenarioTarget> {
        return ScenarioTarget{ScenarioTarget::Kind::model, "the models of the offers", 0, 0, ""};
    };
    auto read = read_scenario(scenario.dump(), need.source, own);
    if (read) {
        need.scenario = std::move(*read);
        if (need.scenario.duration < kVerifyLeast)
            problems.push_back(fmt::format("{}: /verify: expected at least {}, found {}", need.source,
                                           show_duration(kVerifyLeast), show_duration(need.scenario.duration)));
        return;
    }
    for (std::string problem : read.error().problems) {
        const std::string own_duration = need.source + ": /duration";
        if (problem.starts_with(own_duration))
            problem.replace(0, own_duration.size(), need.source + ": /verify");
        problems.push_back(std::move(problem));
    }
}

}  // namespace

Result<PurchaseNeed> read_need(std::string_view text, const std::string& source, const NeedWords& words) {
    const auto document = parse_json(text, source);
    if (!document) return document.error();
    JsonProblems problems(source);
    JsonObject object(*document, "", problems);
    check_schema(object, "streamsim.need", 1);
    PurchaseNeed need;
    need.source = source;
    need.description = object.string("description", false).value_or("");
    std::vector<std::string> of_seats;
    if (document->is_object()) read_seats_of_need(object, words, need, of_seats);
    read_demands(object, problems, words, need);
    read_some(object, "offers", true, kOffersMax, [&](const Json& each, const std::string& at) {
        need.offers.push_back(read_offer(words, problems, need.scenario, each, at));
    });
    object.finish();
    if (!problems.empty() || !of_seats.empty()) {
        ProblemList all(source);
        for (const std::string& problem : of_seats) all.add(problem);
        if (!problems.empty()) all.add(problems.error());
        return all.error();
    }
    for (PurchaseOffer& offer : need.offers) {
        for (PurchaseChoice& choice : offer.choices) {
            if (choice.per_text == "seats") choice.per = static_cast<double>(need.seats());
        }
    }
    return need;
}

}  // namespace streamsim::scenario
