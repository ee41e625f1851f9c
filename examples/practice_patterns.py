"""The words that the practice agent knows, a pattern for each thing that can be asked; reads no prompt.

The patterns are tried on a prompt whose blanks are single spaces, in any case. `docs/practice.md` shows the
words to people.
"""

import re
from enum import StrEnum


class Kind(StrEnum):
    """What can be asked for."""

    FAIL = "fail"
    CRASH = "crash"
    HANG = "hang"
    HANG_AFTER = "hang after the answer"
    DEAF = "ignore signals"
    SHOUT = "shout"
    NOTHING = "say nothing"
    NO_RESULT = "end without an answer"
    SAME = "say the same"
    NUMBER = "say a number"
    COST = "cost"
    COST_UNKNOWN = "unknown cost"
    SLOW = "take time"
    REPEAT = "repeat a tool"
    ALTERNATE = "alternate tools"
    REFUSE = "refuse tools"
    RATE_LIMIT = "rate limit"
    OVERLOAD = "overload"
    SHOW = "show"
    COUNT = "count"
    DONE = "done"
    COMMIT = "commit"


CARDINALS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
N = rf"(?:\d{{1,6}}(?:st|nd|rd|th)?|(?:{'|'.join(CARDINALS + ORDINALS)})\b)"
LIST = rf"{N}(?:(?:, and | and |, | or | to |-){N})*"
AMOUNT = rf"(?:\d+(?:,\d+)*(?:\.\d+)?|\.\d+|(?:{'|'.join(CARDINALS)})\b)"
TIME = r"(?:ms|milliseconds?|s|secs?|seconds?|mins?|minutes?)\b"
SPELL = rf"(?P<amount>{AMOUNT}) ?(?P<unit>{TIME})"
RUN = r"(?:runs?|turns?|iterations?)\b"
SAY = r"(?:says?|repl(?:y|ies)(?: with)?|answers?(?: with)?|responds? with)"
SIGNAL = r"\[\[[^\[\]]{1,60}\]\]"

TOOLS = ("bash", "read", "grep", "write", "edit", "glob")
_TOOL = (
    rf"(?:(?:{'|'.join(TOOLS)}|ls|list|shell|python|web_?fetch|web_?search)\b|"
    r"\w+_\w+|(?!(?:the|a|one|same|this|that|any)\b)\w+(?= tool\b))"
)
_TOOL_LIST = rf"{_TOOL}(?:(?:, and | and |, ){_TOOL})*"

_SPELLINGS: tuple[tuple[Kind, str], ...] = (
    (Kind.FAIL, r"(?:always )?fails?\b(?!-)"),
    (Kind.CRASH, r"(?<!the )crash(?:es)?\b(?! (?:report|log|dump))"),
    (Kind.HANG_AFTER, r"hangs? after (?:(?:the|its|your|an) )?(?:answer|reply|result)\b"),
    (Kind.HANG, rf"hangs?\b(?! (?:up|out|around)\b)(?! on\b(?! (?:the )?(?:{RUN}|{N})))"),
    (Kind.DEAF, r"ignor(?:e|es|ing) (?:all |every )?(?:signals?|interrupts?)\b"),
    (Kind.SHOUT, rf"shouts?\b(?: (?P<amount>{AMOUNT}) ?(?:mb|megabytes?)\b)?"),
    (Kind.NOTHING, rf"{SAY} nothing\b|(?:an? )?empty (?:reply|answer)\b|\bno (?:reply|answer)\b"),
    (Kind.NO_RESULT, r"(?:end|exit)s? without (?:an |any |a )?(?:answer|reply|result)\b"),
    (
        Kind.SAME,
        rf"{SAY} (?:exactly )?the same\b|(?:same|identical) (?:repl(?:y|ies)|answers?)\b|repeat yourself\b",
    ),
    (Kind.NUMBER, r"(?:say|tell|give|name|pick)s? (?:me )?(?:a|another|some|any) (?:random )?number\b"),
    (Kind.COST_UNKNOWN, r"(?:without (?:a |any )?|no |an unknown |unknown )costs?\b"),
    (
        Kind.COST,
        rf"cost(?:s|ing)?\b ?(?:of|is|about|exactly|:|=)? ?(?:us|usd ?)?\$? ?(?P<amount>{AMOUNT})"
        r"(?: ?(?P<unit>cents?\b|¢))?",
    ),
    (Kind.SLOW, rf"(?:take|wait|sleep|last)s? (?:for )?(?:about |at least |up to )?{SPELL}"),
    (Kind.SLOW, r"(?<!the )slow(?:ly)?\b|take your time\b"),
    (
        Kind.ALTERNATE,
        rf"alternat(?:e|es|ing) (?:between )?(?:the )?(?P<names>{N} tools|{_TOOL_LIST})"
        rf"(?: tools)?(?: (?P<amount>{N}) ?(?:times|x)\b)?",
    ),
    (
        Kind.REPEAT,
        rf"(?:repeat|call|use)s? (?:the same |the |a |one )?(?:tool )?(?P<names>tool\b|{_TOOL})"
        r"(?: tool)?(?: calls?)?"
        rf"(?: (?P<amount>{N}) ?(?:times|x)\b)?"
        r"(?P<manner> (?:with different arguments|at once|in one step|in parallel)\b)?",
    ),
    (Kind.REFUSE, rf"(?:refus|den)(?:e|es|y|ies|ing) (?:the )?(?:tools? )?(?P<names>{_TOOL_LIST})"),
    (Kind.RATE_LIMIT, rf"rate[ -]?limit(?:ed|s|ing)?\b(?: (?:for|of) {SPELL})?"),
    (Kind.OVERLOAD, rf"overload(?:ed|s)?\b(?: for {SPELL})?"),
    (Kind.SHOW, r"show (?:me )?(?:some |an? )?(?P<names>markdown|hostile|huge|right[ -]to[ -]left|rtl)\b"),
    (Kind.COUNT, rf"count(?:s|ing)? (?:up )?to (?P<amount>{N})"),
    (Kind.DONE, rf"(?:{SAY}|prints?|ends? with) [\"']?(?P<names>{SIGNAL})[\"']?"),
    (Kind.DONE, r"(?:done|finish(?:ed|es)?)\b"),
    (
        Kind.COMMIT,
        r"(?:makes?|create) (?:a |one )?commits?\b|(?<!the )(?<!last )commit\b(?! (?:message|hash|log))",
    ),
)
PATTERNS = tuple((kind, re.compile(rf"\b{spelling}", re.IGNORECASE)) for kind, spelling in _SPELLINGS)

ON = rf"(?:on|in|at|during) (?:the )?(?:{RUN} ?(?:number |#)?(?P<on>{LIST})|(?P<on_the>{LIST}) {RUN})"
WHEN = re.compile(
    r" ?(?:but |only |just |exactly )*(?:"
    rf"{ON}"
    r"|(?P<word>twice|thrice|once(?! (?:all|it|you|we|they|i|the|this|that|there|nothing|everything)\b))\b"
    rf"|(?:(?:for|in|on|during) )?(?:the )?(?P<of_first>first (?={N}))?(?P<times>{N}) ?(?:times?|x|{RUN})"
    rf"|every (?P<every>other|{N}) (?:{RUN}|times?\b)"
    rf"|(?:from|since|starting (?:on|at|with|from)) run (?P<least>{N})"
    rf"|after (?:run (?P<after>{N})|(?P<after_some>{N}) {RUN})"
    rf"|(?:until|till|before) run (?P<before>{N})"
    rf"|(?:up to|through) run (?P<most>{N})"
    r")",
    re.IGNORECASE,
)
ON_BEFORE = re.compile(
    rf"(?:^|[.;:,!?] |\b(?:and|then|but) ){ON}[,:]? "
    r"(?:(?:please|then|you|it|must|should|to|the|agent|just) ){0,3}$",
    re.IGNORECASE,
)
# Said of something before it ...
DECLINED = re.compile(
    r"\b(?:not|never|cannot|without|no|if|when|whenever|unless|until|till|while)\b|n't\b", re.IGNORECASE
)
# ... or after it, these words mean that it is not asked for now.
CONDITION = re.compile(r" ?,? ?(?:only )?(?:if|when|whenever|once|unless|until|as soon as)\b", re.IGNORECASE)
CLAUSE_END = re.compile(r"[.;:!?,•] | - |\b(?:and|then|but)\b", re.IGNORECASE)
