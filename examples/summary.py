"""Chooses the sentences that carry a text (an extractive summary); reads and writes no file."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from english import (
    ASIDE,
    BACKWARD,
    CUE,
    DANGLING,
    EXPLETIVE,
    LABEL,
    LINKING,
    NOUN_SIGNS,
    PALE_WORDS,
    STOP_WORDS,
    SUMMARY_HEADING,
    TOKEN,
    stem,
)
from sentences import Reading, Sentence, count_words, read

MOST_SHOWN = 600  # characters of one sentence; what goes on without a full stop is cut
MOST_RANKED = 250  # sentences that are compared pairwise; a longer text is thinned out first
SAME_AGAIN = 0.95  # likeness from which a sentence says nothing new
DAMPING = 0.85
SETTLED = 0.001  # a rank that moves less has found its place


@dataclass(frozen=True, slots=True)
class Summary:
    """The chosen sentences in the order of the text, and what the text is about."""

    title: str
    sentences: tuple[str, ...]
    key_terms: tuple[str, ...]
    words_in: int
    words_out: int
    sentences_in: int


def summarise(text: str, *, keep: int | None = None) -> Summary:
    """Keep the `keep` sentences that say most (3 to 5, by the text's length, when None).

    A text with no more sentences than that is kept whole.
    """
    reading = read(text)
    terms = [_terms(sentence.text) for sentence in reading.sentences]
    wanted = keep if keep is not None else _wanted(reading.words)
    chosen = _chosen(reading, terms, wanted)
    kept = tuple(_shown(reading.sentences[index].text) for index in chosen)
    return Summary(
        title=_shown(reading.title),
        sentences=kept,
        key_terms=tuple(_key_terms(reading)),
        words_in=reading.words,
        words_out=sum(count_words(sentence) for sentence in kept),
        sentences_in=len(reading.sentences),
    )


def _shown(text: str) -> str:
    """One line without control characters, cut at a word when it is too long to be read."""
    line = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text).split())
    if len(line) <= MOST_SHOWN:
        return line
    return line[:MOST_SHOWN].rsplit(" ", 1)[0] + " …"


def _wanted(words: int) -> int:
    if words < 300:
        return 3
    return 4 if words < 550 else 5


def _terms(text: str) -> Counter[str]:
    found = (token.lower() for token in TOKEN.findall(text))
    return Counter(stem(word) for word in found if len(word) > 1 and word not in STOP_WORDS)


def _chosen(reading: Reading, terms: list[Counter[str]], wanted: int) -> list[int]:
    """The indexes of the chosen sentences, ascending."""
    count = len(reading.sentences)
    if count <= wanted:
        return list(range(count))
    weights = _weights(terms)
    vectors = [_unit({term: n * weights[term] for term, n in bag.items()}) for bag in terms]
    worth = _worth(reading, vectors)
    return sorted(_spread(reading.sentences, vectors, worth, wanted))


def _weights(terms: Sequence[Counter[str]]) -> dict[str, float]:
    """TF-IDF with sentences as documents; a term said once in the whole text is worth little."""
    holders = Counter(term for bag in terms for term in bag)
    total = len(terms)
    return {term: math.log(1 + held) * math.log(1 + total / held) for term, held in holders.items()}


def _unit(vector: dict[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(value * value for value in vector.values()))
    return {term: value / length for term, value in vector.items()} if length else {}


def _likeness(one: dict[str, float], other: dict[str, float]) -> float:
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    return sum(value * large[term] for term, value in small.items() if term in large)


def _worth(reading: Reading, vectors: list[dict[str, float]]) -> dict[int, float]:
    """How much each sentence is worth: what it says (rank, centre, title) times how and where it says it."""
    centre: dict[str, float] = defaultdict(float)
    for vector in vectors:
        for term, value in vector.items():
            centre[term] += value
    centre = _unit(centre)
    central = [_likeness(vector, centre) for vector in vectors]
    title = _terms(reading.title)
    fitness = [_fitness(sentence, reading) for sentence in reading.sentences]
    candidates = sorted(range(len(vectors)), key=lambda i: -central[i] * fitness[i])[:MOST_RANKED]
    rank = _ranks([vectors[index] for index in candidates])
    highest = max(central) or 1.0
    return {
        index: (0.5 * rank[n] + 0.3 * central[index] / highest + 0.2 * _share(title, vectors[index])) * fitness[index]
        for n, index in enumerate(candidates)
    }


def _ranks(vectors: Sequence[dict[str, float]]) -> list[float]:
    """TextRank over the likeness of sentences, the highest scaled to 1."""
    links: list[dict[int, float]] = [{} for _ in vectors]
    for i, vector in enumerate(vectors):
        for j in range(i):
            likeness = _likeness(vector, vectors[j])
            if likeness > 0.02:
                links[i][j] = links[j][i] = likeness
    given = [sum(row.values()) for row in links]
    rank, moved = [1.0] * len(vectors), 1.0
    while moved > SETTLED:  # each pass moves the ranks less than DAMPING times as much as the one before
        before = rank
        rank = [
            (1 - DAMPING) + DAMPING * sum(before[j] * likeness / given[j] for j, likeness in row.items())
            for row in links
        ]
        moved = max(abs(new - old) for new, old in zip(rank, before, strict=True))
    highest = max(rank)
    return [value / highest for value in rank]


def _share(title: Counter[str], vector: dict[str, float]) -> float:
    return sum(1 for term in title if term in vector) / len(title) if title else 0.0


def _fitness(sentence: Sentence, reading: Reading) -> float:
    """What place and form say: openings and announced results gain; fragments and dangling pronouns lose."""
    fitness = _place_factor(sentence, reading) * _length_factor(count_words(sentence.text))
    opening = [] if EXPLETIVE.match(sentence.text) else [word.lower() for word in TOKEN.findall(sentence.text)[:3]]
    if opening and opening[0] in DANGLING:
        fitness *= 0.55
    elif opening and (opening[0] in LINKING or not DANGLING.isdisjoint(opening)):
        fitness *= 0.7
    elif opening and count_words(sentence.text) < 14 and BACKWARD.search(sentence.text):
        fitness *= 0.8
    if sentence.text.endswith(("?", ":", "?”", '?"')):
        fitness *= 0.4
    if CUE.search(sentence.text):
        fitness *= 1.35
    if re.search(r"\d", sentence.text):
        fitness *= 1.08
    if ASIDE.search(sentence.text) or LABEL.match(sentence.text):
        fitness *= 0.6
    return fitness


def _place_factor(sentence: Sentence, reading: Reading) -> float:
    factor = 1.0
    if sentence.paragraph == 0:
        factor = 1.5 if sentence.place == 0 else 1.2
    elif sentence.place == 0:
        factor = 1.15
    elif sentence.paragraph == reading.paragraphs - 1:
        factor = 1.05
    if SUMMARY_HEADING.search(sentence.heading):
        factor *= 1.25
    return factor


def _length_factor(words: int) -> float:
    if words < 6:
        return 0.3
    if words < 10:
        return 0.75
    if words <= 34:
        return 1.0
    return 0.8 if words <= 50 else 0.5


def _spread(
    sentences: Sequence[Sentence], vectors: list[dict[str, float]], worth: dict[int, float], wanted: int
) -> list[int]:
    """The worthiest first; what says the same again or stands in the same paragraph is discounted."""
    chosen: list[int] = []
    left = dict(worth)
    while left and len(chosen) < wanted:
        best = max(left, key=lambda index: (left[index], -index))
        chosen.append(best)
        del left[best]
        for index in list(left):
            likeness = _likeness(vectors[index], vectors[best])
            if likeness > SAME_AGAIN:
                del left[index]
                continue
            left[index] *= 1 - 0.7 * likeness
            if sentences[index].paragraph == sentences[best].paragraph > 0:
                left[index] *= 0.75
    return chosen


def _key_terms(reading: Reading, most: int = 6) -> list[str]:
    """The words and pairs of words that the text keeps coming back to, in the form it uses most."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in reading.sentences:
        for phrase in re.split(r"[^\w'’ -]+", sentence.text):
            _count_forms(phrase, forms)
    scores = {key: sum(found.values()) * (1.6 if " " in key else 1.0) for key, found in forms.items()}
    terms: list[str] = []
    taken: set[str] = set()
    for key in sorted(scores, key=lambda key: (-scores[key], key)):
        if sum(forms[key].values()) < 4 and reading.words > 150:
            continue
        if taken.isdisjoint(key.split()):
            terms.append(forms[key].most_common(1)[0][0])
            taken.update(key.split())
        if len(terms) == most:
            break
    return terms


def _count_forms(phrase: str, forms: dict[str, Counter[str]]) -> None:
    """Count the words of a phrase; one after an article or preposition, likely a noun, counts double."""
    before, pair = "", ""
    for position, token in enumerate(TOKEN.findall(phrase)):
        word = re.sub(r"['’]s$", "", token)
        lower = word.lower()
        if len(word) < 3 or lower in STOP_WORDS or lower in PALE_WORDS:
            before, pair = lower, ""
            continue
        shown = lower if position == 0 or not word[0].isupper() else word
        forms[stem(lower)][shown] += 2 if pair or before in NOUN_SIGNS else 1
        if pair:
            forms[f"{stem(pair.lower())} {stem(lower)}"][f"{pair} {shown}"] += 2
        before, pair = lower, shown
