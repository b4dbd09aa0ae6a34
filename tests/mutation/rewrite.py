"""Rewrites a C++ file so that each of many small faults can be switched on: mutants, by the syntax tree of clang.

    a < b          becomes   (STREAMSIM_MUTANT(7) ? (a <= b) : (a < b))
    call(x);       becomes   if (!STREAMSIM_MUTANT(8)) call(x);
    if (c)         becomes   if (STREAMSIM_MUTANT(9) ? !(c) : bool(c))

One build has all mutants of all files, and runs as the original as long as none is chosen.
"""
import clang.cindex as clang

Kind = clang.CursorKind
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/"}
ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=", "<<=", ">>=")
FUNCTIONS = (Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.FUNCTION_TEMPLATE, Kind.LAMBDA_EXPR)


class Mutant:
    def __init__(self, number, path, line, what):
        self.number, self.path, self.line, self.what = number, path, line, what

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}"


class Rewriter:
    """One file. `first`: the number of its first mutant; numbers in `without` are left as they were."""

    def __init__(self, path, shown, arguments, first, without=()):
        self.shown, self.next, self.without = shown, first, set(without)
        self.mutants = []
        self.bytes = path.read_bytes()
        index = clang.Index.create()
        self.unit = index.parse(str(path), args=arguments)
        self.path = str(path)

    def rewritten(self):
        text = self.inside(self.unit.cursor, 0, len(self.bytes), False)
        return b'#include "mutant.h"\n#line 1\n' + text

    def inside(self, cursor, begin, end, body):
        """The text from begin to end, which holds the cursor, with the mutants of its children."""
        out, at = b"", begin
        for child in cursor.get_children():
            place = self.place(child)
            if place is None or place[0] < at or place[1] > end:
                continue
            out += self.bytes[at:place[0]] + self.replaced(child, cursor, *place, body)
            at = place[1]
        return out + self.bytes[at:end]

    def place(self, cursor):
        """Begin and end in this file; None: it comes from elsewhere, or from a macro."""
        extent = cursor.extent
        if extent.start.file is None or extent.start.file.name != self.path or extent.end.file is None:
            return None
        if extent.end.file.name != self.path or extent.end.offset <= extent.start.offset:
            return None
        return extent.start.offset, extent.end.offset

    def replaced(self, cursor, parent, begin, end, body):
        if cursor.kind in FUNCTIONS:
            head = self.bytes[begin:end].split(b"{", 1)[0]
            if b"constexpr" in head or b"consteval" in head or b"= default" in head:
                return self.bytes[begin:end]
            body = True
        if cursor.kind in (Kind.STATIC_ASSERT, Kind.CASE_STMT) or (cursor.kind == Kind.VAR_DECL and self.is_constant(begin, end)):
            return self.bytes[begin:end]
        text = self.inside(cursor, begin, end, body)
        if not body:
            return text
        return self.mutated(cursor, parent, begin, end, text)

    def is_constant(self, begin, end):
        return b"constexpr" in self.bytes[begin:end].split(b"=", 1)[0]

    def mutated(self, cursor, parent, begin, end, text):
        original = self.bytes[begin:end]
        operator = self.operator_of(cursor, begin, end)
        if operator is not None:
            at, sign = operator
            other = RELATIONS.get(sign) or LOGIC.get(sign)
            if other is None and self.is_number(cursor):
                other = ARITHMETIC.get(sign)
            if other is not None:
                number = self.add(cursor, f"{sign} becomes {other}", original)
                if number:
                    changed = original[:at - begin] + other.encode() + original[at - begin + len(sign):]
                    return b"(STREAMSIM_MUTANT(%d) ? (%b) : (%b))" % (number, changed, text)
        if parent.kind == Kind.COMPOUND_STMT and self.bytes[end:end + 1] == b";" and self.is_action(cursor, operator):
            number = self.add(cursor, "is left out", original)
            if number:
                return b"if (!STREAMSIM_MUTANT(%d)) %b" % (number, text)
        if parent.kind == Kind.IF_STMT and self.is_condition(cursor, parent, begin):
            number = self.add(cursor, "is negated", original)
            if number:
                return b"STREAMSIM_MUTANT(%d) ? !(%b) : static_cast<bool>(%b)" % (number, original, text)
        return text

    def add(self, cursor, what, original):
        number, self.next = self.next, self.next + 1
        if number in self.without:
            return 0
        code = " ".join(original.decode(errors="replace").split())
        self.mutants.append(Mutant(number, self.shown, cursor.extent.start.line, f"`{code[:100]}` {what}"))
        return number

    def operator_of(self, cursor, begin, end):
        """Offset and text of the operator between the two operands of this expression; None: it has none."""
        if cursor.kind not in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.CALL_EXPR, Kind.UNEXPOSED_EXPR):
            return None
        places = [place for place in map(self.place, cursor.get_children()) if place is not None]
        if len(places) < 2 or places[0][0] != begin or places[-1][1] != end:
            return None
        left, right = places[0][1], places[-1][0]
        between = self.bytes[left:right].strip() if left < right else b""
        if len(places) == 3 and places[1][0] >= left:  # the operator's own function
            between = self.bytes[places[1][0]:places[1][1]].strip()
        sign = between.decode(errors="replace")
        known = sign in RELATIONS or sign in LOGIC or sign in ARITHMETIC or sign in ASSIGNMENTS
        return (self.bytes.index(between, left), sign) if known else None

    @staticmethod
    def is_number(cursor):
        kind = cursor.type.get_canonical().kind
        return clang.TypeKind.BOOL.value < kind.value <= clang.TypeKind.LONGDOUBLE.value

    def is_action(self, cursor, operator):
        """A statement that does something: a call, an assignment, a step."""
        if operator is not None and operator[1] in ASSIGNMENTS:
            return True
        if cursor.kind == Kind.UNARY_OPERATOR:
            return True
        return cursor.kind == Kind.CALL_EXPR and operator is None and b"STREAMSIM_CHECK" not in self.bytes[:0]

    def is_condition(self, cursor, parent, begin):
        """The condition of the if, which declares nothing."""
        head = self.bytes[parent.extent.start.offset:begin]
        if head.rstrip() not in (b"if (", b"if(") and not head.rstrip().endswith(b"if ("):
            return False
        return cursor.kind.is_expression() and head.count(b"(") == 1 and b";" not in head
