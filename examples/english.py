"""What the summariser knows of English: its common words, abbreviations and turns of phrase; no logic."""

import re
from functools import cache


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP_WORDS = _set(
    """
    a about above after again against all almost alone along already also although always am among an
    and another any anybody anyone anything are aren't around as at away back be because been before
    being below between both but by can can't cannot could couldn't did didn't do does doesn't doing
    don't done down during each either else enough even ever every everybody everyone everything few
    first for from further get gets go goes going got had hadn't has hasn't have haven't having he her
    here hers herself him himself his how however i i'd i'll i'm i've if in indeed instead into is isn't
    it it's its itself just last least less let like made make makes many may me might more most much
    must my myself near nearly neither never next no nobody none nor not nothing now of off often on
    once one only or other others our ours ourselves out over own per perhaps put quite rather really
    said same say says see seem seems several shall she should shouldn't since so some somebody someone
    something still such than that that's the their theirs them themselves then there therefore these
    they they're this those though through thus till to together too took toward towards two twice under
    until up upon us use used uses using usually very was wasn't way we we're well went were weren't
    what when where whether which while who whole whom whose why will with within without won't would
    wouldn't yes yet you you're your yours yourself
    """
)
# Words that every text has; they may carry a sentence, but say nothing as a key term.
PALE_WORDS = _set(
    """
    able ago agree ask became become began begin best better big bring came case come cost costs day
    days different early eight end fact far feel felt fifteen find five found four full gave give given
    gone good great half hand hard help high hour hours hundred important keep kept kind knew know large
    late later leave left long look lot low main mean means meant minute minutes month months name need
    needs new nine note number old part people person place possible problem reason right second set
    seven short show sign simple six small soon stand start stay stop take taken ten thank thanks thing
    things think third thirty thought thousand three time times today told top try turn twelve twenty
    usual want week weeks word work worked works year years yesterday write wrote january february march
    april june july august september october november december monday tuesday wednesday thursday friday
    saturday sunday cent percent pound pounds euro euros dollar dollars telephone telephoned email
    """
)
# A sentence that opens with one of these leans on the one before it ...
DANGLING = _set(
    """
    he her his it its she such that their them these they this those both neither
    """
)
# ... and with one of these a little.
LINKING = _set(
    """
    also and but hence however instead nor or otherwise so still then therefore thus yet
    """
)
# What follows one of these is likelier a noun than a verb.
NOUN_SIGNS = _set(
    """
    a an any by each every for from her his in its my no of on our some the their this to with your
    """
)
# A full stop after one of these never ends a sentence ...
TITLES = _set(
    """
    mr mrs ms p v dr prof st rev gen col capt lt sgt hon fr no nos vol fig figs eq sec ch pp approx ca cf eg
    ie viz vs dept est min max tel art jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu
    fri
    """
)
# ... and after one of these it does if the next word looks like the start of one.
CLOSERS = _set(
    """
    etc inc ltd co corp jr sr am pm al bros ave rd
    """
)
STARTERS = _set(
    """
    a after all an and as at before but by each for from he how if in it its no on one our she since so
    some that the their then there these they this those to we what when where while who with you your
    """
)

# Phrases with which writers announce what matters (the "cue method") ...
CUE = re.compile(
    r"\b(main (?:result|point|reason|cause)|(?:the|deeper|real) cause|in (?:short|summary|conclusion)|"
    r"we (?:propose|recommend|conclude|found)|it was agreed|the (?:meeting|board|council) agreed|"
    r"(?:the|this is the) (?:reason|lesson|secret|result|question)|most (?:important|useful|of all)|"
    r"what matters|turned out|therefore|the largest|the only|confirmed|solved|as a result|overall)\b",
    re.IGNORECASE,
)
# ... and those that announce a formality, an example or an aside.
ASIDE = re.compile(
    r"\b(thank(?:s| you)|sorry|apologi[sz]ed?|pleased to|for (?:example|instance)|in addition|enclosed?|"
    r"attached|see (?:above|below)|ones below|minutes of the|next (?:annual )?meeting|meeting closed|"
    r"approved without|dear (?:sir|madam|all)|yours|best wishes|kind regards)\b",
    re.IGNORECASE,
)
LABEL = re.compile(r"[A-Z][\w ]{2,24}: ")  # "Earlier reports: …"
EXPLETIVE = re.compile(r"It (?:is|was|has been) \w+ (?:that|to)\b")  # this "it" stands for nothing before it
BACKWARD = re.compile(r"\b(?:he|she|it|they)\b", re.IGNORECASE)
SUMMARY_HEADING = re.compile(
    r"\b(summary|abstract|overview|in short|conclusions?|key points|results?)\b", re.IGNORECASE
)
TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@cache
def stem(word: str) -> str:
    """A rough stem, good enough to see that `lifts`, `lifted` and `lifting` are one word."""
    word = re.sub(r"['’]s?$", "", word.replace("’", "'"))
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and word[-2] not in "sui":
        word = word[:-1]
    for ending in ("ing", "ed"):
        bare = word.removesuffix(ending)
        if bare != word and len(bare) >= 3 and re.search("[aeiouy]", bare):
            word = bare[:-1] if bare[-1] == bare[-2] and bare[-1] not in "ls" else bare
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
