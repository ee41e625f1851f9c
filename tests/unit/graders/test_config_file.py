"""YAML as users write it, and the traps of its versions."""

import textwrap

import pytest

from graders.config_file import MOST_BYTES, ConfigFile, read_config
from tests.unit.graders.making import DATA
from trinity.kernel.errors import Refused


def read(text: str) -> ConfigFile:
    return read_config(textwrap.dedent(text).encode())


def fault(text: str | bytes) -> tuple[str, str]:
    """The path and the sentence of the one fault."""
    with pytest.raises(Refused) as refused:
        read_config(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
    [(path, [sentence])] = refused.value.errors.items()
    return path, sentence


def with_config(config: str) -> str:
    return f"graders:\n  - type: loop-outcome\n    config: {{{config}}}\n"


def test_the_form_of_the_design_is_read() -> None:
    config = read("""
        graders:
          - type: loop-outcome
            name: environment-loop check      # optional, any text
            config: {should_loop: false, max_acceptable_retries: 3, match: name-args, tools: ["^bash$"]}
        stimulus:
          prompt: Fix the build.
          simulation: {max_iterations: 12, tools: []}
    """)

    [setting] = config.graders
    assert (setting.kind.type, setting.name, setting.options["tools"]) == (
        "loop-outcome",
        "environment-loop check",
        ["^bash$"],
    )
    assert config.max_iterations == 12


def test_the_example_is_a_good_config() -> None:
    example = (DATA.parents[1] / "examples" / "graders.yaml").read_bytes()

    assert len(read_config(example).graders) == 2


def test_json_is_yaml_too() -> None:
    assert read('{"graders": [{"type": "loop-outcome", "config": {"max_acceptable_retries": 3}}]}').graders


def test_a_whole_float_is_a_whole_number() -> None:
    [setting] = read(with_config("max_acceptable_retries: 3.0")).graders

    assert setting.options["max_acceptable_retries"] == 3


def test_anchors_that_stay_small_may_be_used() -> None:
    config = read("""
        graders:
          - {type: loop-outcome, config: &mine {max_acceptable_retries: 3}}
          - {type: loop-outcome, config: *mine}
    """)

    assert [setting.options["max_acceptable_retries"] for setting in config.graders] == [3, 3]


@pytest.mark.parametrize("word", ["no", "No", "off", "yes", "ON", "y", "N"])
def test_a_word_that_only_some_yaml_takes_for_a_boolean_is_refused(word: str) -> None:
    path, said = fault(with_config(f"max_acceptable_retries: 3, should_loop: {word}"))

    assert path == "graders[0].config.should_loop"
    assert said.startswith(f'line 3: "{word}" without quotes is a boolean in YAML 1.1 and text in YAML 1.2')
    assert "true or false" in said


@pytest.mark.parametrize("number", ["010", "0x10", "0o7", "0b1", "1_000", "1:30", "-012"])
def test_a_number_that_yamls_versions_read_differently_is_refused(number: str) -> None:
    path, said = fault(with_config(f"max_acceptable_retries: {number}"))

    assert path == "graders[0].config.max_acceptable_retries"
    assert f'"{number}" without quotes is not the same in YAML 1.1 and YAML 1.2' in said


@pytest.mark.parametrize("text", ["no", "2024-01-01", "<<", "="])
def test_ambiguous_words_are_refused_as_names_too_and_taken_in_quotes(text: str) -> None:
    form = "graders: [{{type: loop-outcome, name: {}, config: {{max_acceptable_retries: 1}}}}]"

    assert fault(form.format(text))[0] == "graders[0].name"
    assert read(form.format(f'"{text}"')).graders[0].name == text


@pytest.mark.parametrize(("text", "path"), [("on: 1", "config"), ("graders:\n  - no: x", "graders[0]")])
def test_ambiguous_words_are_refused_as_keys(text: str, path: str) -> None:
    where, said = fault(text)

    assert (where, "is no text; put it in quotes" in said) == (path, True)


@pytest.mark.parametrize("limit", ["true", '"3"', "2.5", "-1", "null", "~", "1e400", ".nan"])
def test_a_limit_that_is_no_whole_number_is_refused_at_its_path(limit: str) -> None:
    assert fault(with_config(f"max_acceptable_retries: {limit}"))[0] == "graders[0].config.max_acceptable_retries"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must be a mapping"),
        ("# only a comment\n", "must be a mapping"),
        ("- type: loop-outcome\n", "found a list of 1"),
        ("loop-outcome", 'found "loop-outcome" (text)'),
        ("graders:\n\t- type: loop-outcome\n", "line 2: a tab stands where YAML allows only blanks"),
        ("graders: [\n", "line 2:"),
        ("a: 1\n---\nb: 2\n", "line 2:"),
        ("a: {b: c: d}", "line 1:"),
        ("[" * 600, "nested too deeply"),
        ("a: " + "[" * 150 + "]" * 150, "nested too deeply"),
        ("a: \x01", "unacceptable character"),
        (b"\xff\xfea", "is no UTF-8 text"),
        (b"#" * (MOST_BYTES + 1), "must be at most 262,144 bytes"),
        (with_config("max_acceptable_retries: " + "9" * 5000), "cannot be read"),
    ],
)
def test_what_is_no_yaml_mapping_is_refused_with_line_and_reason(text: str | bytes, said: str) -> None:
    _, sentence = fault(text)

    assert said in sentence


def test_aliases_that_explode_are_refused_before_anything_is_built() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]

    _, said = fault("\n".join(lines))

    assert "aliases make it stand for more than 10,000 values" in said


def test_an_alias_inside_what_it_names_is_refused() -> None:
    assert "inside what it names" in fault("graders: &a [*a]")[1]


def test_a_key_that_stands_twice_is_refused() -> None:
    path, said = fault(with_config("max_acceptable_retries: 3, max_acceptable_retries: 4"))

    assert (path, said) == ("graders[0].config", 'line 3: the key "max_acceptable_retries" stands twice in one mapping')


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system [x]", "!mine 3", "!!binary aGk=", "!!set {a}"])
def test_tags_are_refused(tag: str) -> None:
    path, said = fault(f"graders: {tag}")

    assert (path, "is not allowed" in said) == ("graders", True)


@pytest.mark.parametrize("graders", ["", "[]", "null"])
def test_a_file_without_graders_is_refused(graders: str) -> None:
    assert fault(f"graders: {graders}")[0] == "graders"


def test_an_unknown_key_of_the_file_is_named_with_the_nearest_known_one() -> None:
    path, said = fault("grader: []")

    assert (path, 'the nearest known key is "graders"' in said) == ("grader", True)


@pytest.mark.parametrize(
    ("stimulus", "path"),
    [
        ("3", "stimulus"),
        ("{simulation: 3}", "stimulus.simulation"),
        ("{simulation: {max_iterations: 0}}", "stimulus.simulation.max_iterations"),
        ("{simulation: {max_iterations: true}}", "stimulus.simulation.max_iterations"),
        ('{simulation: {max_iterations: "5"}}', "stimulus.simulation.max_iterations"),
        ("{simulation: {max_iteration: 5}}", "stimulus.simulation.max_iteration"),
        ("{simulations: {max_iterations: 5}}", "stimulus.simulations"),
    ],
)
def test_a_stimulus_that_says_it_wrongly_is_refused(stimulus: str, path: str) -> None:
    assert fault(with_config("max_acceptable_retries: 1") + f"stimulus: {stimulus}")[0] == path


@pytest.mark.parametrize("stimulus", ["", "{}", "{simulation: null}", "{simulation: {}}", "{prompt: x, name: z}"])
def test_a_stimulus_need_not_say_how_many_iterations(stimulus: str) -> None:
    assert read(with_config("max_acceptable_retries: 1") + f"stimulus: {stimulus}\n").max_iterations is None
