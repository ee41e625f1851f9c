"""Reads from a prompt what the practice agent is to show, and on which runs; shows nothing itself.

The words may stand anywhere in a sentence, several at once. What is quoted in backticks is not asked for (a
prompt may hold the agent's own last reply, which names the words), nor what is said with *not*, *if*, *when*.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from practice_patterns import (
    CARDINALS,
    CLAUSE_END,
    CONDITION,
    DECLINED,
    ON_BEFORE,
    ORDINALS,
    PATTERNS,
    SIGNAL,
    TOOLS,
    WHEN,
    Kind,
    N,
)

_VALUES = {word: n for words in (CARDINALS, ORDINALS) for n, word in enumerate(words, start=1)}
MOST_RUNS_LISTED = 200  # of a range such as "runs 1 to 90"
# Bounds that keep a slip of the pen from filling a disk or a week.
MOST = {Kind.COST: 1e6, Kind.SLOW: 86_400.0, Kind.SHOUT: 1024.0, Kind.REPEAT: 1000.0, Kind.ALTERNATE: 1000.0}
UNSAID = {Kind.SLOW: 5.0, Kind.SHOUT: 16.0, Kind.REPEAT: 5.0, Kind.ALTERNATE: 4.0, Kind.RATE_LIMIT: 30.0}
UNSAID[Kind.OVERLOAD] = 30.0


@dataclass(frozen=True, slots=True)
class When:
    """On which runs something is asked for; on every run unless it says less."""

    least: int = 1
    most: int | None = None
    only: frozenset[int] | None = None
    every: int = 1

    def holds(self, run: int) -> bool:
        if run < self.least or (self.most is not None and run > self.most):
            return False
        return run % self.every == 0 and (self.only is None or run in self.only)


ALWAYS = When()


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing asked for. `amount` is a count, dollars, seconds or megabytes, as its kind has it."""

    kind: Kind
    when: When = ALWAYS
    amount: float = 0.0
    names: tuple[str, ...] = ()  # tools, a stop signal, what to show
    manner: str = ""  # of repeating


def read_deeds(prompt: str) -> tuple[Deed, ...]:
    """Everything that the prompt asks for, in its order."""
    text = _plain(prompt)
    deeds = list(_deeds(text))
    signal = re.search(SIGNAL, text)
    for index, deed in enumerate(deeds):
        if deed.kind is Kind.COUNT and signal is not None:
            deeds[index] = replace(deed, names=(signal[0],))  # "count to 10 and reply [[DONE]]": at ten, not before
    counting = any(deed.kind is Kind.COUNT for deed in deeds)
    return tuple(deed for deed in deeds if not (counting and deed.kind is Kind.DONE and deed.when == ALWAYS))


def _plain(prompt: str) -> str:
    """The prompt without what it only quotes, on one line; a blank line or a list mark ends a clause."""
    text = re.sub(r"^(```|~~~).*?(^\1|\Z)", " ", prompt, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(rf"`({SIGNAL})`", r"\1", text)
    text = re.sub(r"`[^`]*`", " ", text)
    text = re.sub(r"\n\s*\n|\n\s*[-*•]\s", ". ", text).translate(str.maketrans("’‘“”–—", "''\"\"--"))
    return " ".join(text.split())


def _deeds(text: str) -> Iterator[Deed]:
    taken = 0  # up to here the text is used, by a deed or by its "on run 2"
    for kind, match in sorted(_matches(text), key=lambda found: (found[1].start(), -found[1].end())):
        if match.start() < taken or DECLINED.search(_clause_before(text, match.start())):
            continue
        when, end = _when(text, kind, match, taken)
        if end == match.end() and CONDITION.match(text, end):
            continue
        deed = _deed(kind, match, when)
        if deed is not None:
            taken = end
            yield deed


def _matches(text: str) -> Iterator[tuple[Kind, re.Match[str]]]:
    for kind, pattern in PATTERNS:
        for match in pattern.finditer(text):
            yield kind, match


def _clause_before(text: str, position: int) -> str:
    """What was said of a word before it, as far as it belongs to it."""
    clause = text[max(0, position - 200) : position]
    for end in CLAUSE_END.finditer(clause):
        last = end.end()
        clause = " " * last + clause[last:]
    return clause


def _when(text: str, kind: Kind, match: re.Match[str], taken: int) -> tuple[When, int]:
    """The runs that are named behind a deed, or in front of it; and where its words end."""
    found = WHEN.match(text, match.end())
    if found is not None:
        return _read_when(found, kind), found.end()
    ahead = ON_BEFORE.search(text[max(taken, match.start() - 120) : match.start()])
    if ahead is not None:
        return When(only=_numbers(ahead["on"] or ahead["on_the"])), match.end()
    return ALWAYS, match.end()


def _read_when(found: re.Match[str], kind: Kind) -> When:
    """What the one phrase about runs that was found says."""
    name, value = next((name, value) for name, value in found.groupdict().items() if value and name != "of_first")
    if name == "times" and found["of_first"] is None and _is_ordinal(value):
        return When(only=frozenset({_count(value)}))  # "the second time" is one run, "two times" are the first two
    if kind is Kind.DONE and name in ("after", "after_some"):
        return When(least=_count(value))  # "done after 3 runs": the third is the last
    return _READERS[name](value)


def _is_ordinal(word: str) -> bool:
    return word.lower() in ORDINALS or (word[0].isdecimal() and word[-1].lower() in "tdh")


def _deed(kind: Kind, match: re.Match[str], when: When) -> Deed | None:
    """The deed that a match spells; None when its words lack what it needs."""
    said = {name: value for name, value in match.groupdict().items() if value}
    amount = _amount(kind, said)
    if kind is Kind.DONE:
        if "names" not in said and when == ALWAYS:
            return None  # "when you are done" is no request
        when = _from_then_on(when)
        return Deed(kind, when, names=(said.get("names", "[[DONE]]"),))
    if kind is Kind.REPEAT and "amount" not in said and not said["names"].lower().endswith("tool"):
        return None  # "use bash" is no repetition
    return Deed(kind, when, amount, _names(kind, said.get("names", "")), said.get("manner", "").strip().lower())


def _from_then_on(when: When) -> When:
    """Done on run 3 is done on run 4 as well, should run 3 have failed."""
    if when.only:
        return When(least=min(when.only))
    return When(least=when.most) if when.most is not None else when  # "finish in 3 runs"


def _names(kind: Kind, said: str) -> tuple[str, ...]:
    if kind is Kind.REPEAT and said.lower() == "tool":
        return (TOOLS[0],)
    if kind is Kind.ALTERNATE and said.lower().endswith(" tools"):
        return TOOLS[: max(2, min(_count(said.split()[0]), len(TOOLS)))]
    return tuple(name for name in re.split(r", and | and |, ", said) if name)


def _amount(kind: Kind, said: dict[str, str]) -> float:
    if "amount" not in said:
        return UNSAID.get(kind, 0.0)
    word = said["amount"].lower()
    value = float(_VALUES[word]) if word in _VALUES else _number(word)
    unit = said.get("unit", "").lower()
    if kind is Kind.COST and unit:
        value /= 100
    elif unit.startswith("mi") and not unit.startswith("mil"):
        value *= 60
    elif unit.startswith(("ms", "mil")):
        value /= 1000
    return min(value, MOST.get(kind, 86_400.0))


def _number(word: str) -> float:
    """`0.4`, `.4`, `0,4`, `1,200.50` and `3rd`."""
    word = word.rstrip("stndrh")
    if "," in word and not re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", word):
        word = word.replace(",", ".", 1)
    return float(word.replace(",", ""))


def _count(word: str) -> int:
    return _VALUES.get(word.lower()) or int(_number(word.lower()))


def _numbers(words: str) -> frozenset[int]:
    """The runs of `2`, `2 and 4`, `2, 3 and 5`, `2 to 4`."""
    numbers: set[int] = set()
    for part in re.split(r", and | and |, | or ", words):
        ends = [_count(word) for word in re.findall(N, part, re.IGNORECASE)]
        numbers.update(range(ends[0], min(ends[-1], ends[0] + MOST_RUNS_LISTED) + 1))
    return frozenset(numbers)


_READERS: dict[str, Callable[[str], When]] = {
    "on": lambda words: When(only=_numbers(words)),
    "on_the": lambda words: When(only=_numbers(words)),
    "word": lambda word: When(most={"once": 1, "twice": 2, "thrice": 3}[word.lower()]),
    "times": lambda word: When(most=_count(word)),
    "every": lambda word: When(every=2 if word.lower() == "other" else max(1, _count(word))),
    "least": lambda word: When(least=_count(word)),
    "after": lambda word: When(least=_count(word) + 1),
    "after_some": lambda word: When(least=_count(word) + 1),
    "before": lambda word: When(most=_count(word) - 1),
    "most": lambda word: When(most=_count(word)),
}
