"""A runtime's settings are checked as one, each error at its own key."""

import pytest

from agents.runtimes.registry import RuntimeName, runtime
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode


def errors_of(settings, name="command") -> dict[str, list[str]]:
    with pytest.raises(Refused) as refusal:
        runtime(name).clean_settings(settings)
    assert refusal.value.code is RefusalCode.INVALID
    assert all(key in refusal.value.detail for key in refusal.value.errors)
    return refusal.value.errors


def clean(**settings):
    return runtime("command").clean_settings({"argv": ["agent"], **settings})


def test_defaults_are_filled_in():
    assert clean() == {
        "argv": ["agent"],
        "output": "text",
        "prompt": "stdin",
        "home": "own",
        "env": [],
        "unavailable_patience_seconds": 0,
        "isolation": None,
    }


def test_null_means_the_default():
    assert clean(output=None, env=None, home=None) == clean()


def test_what_was_cleaned_can_be_cleaned_again():
    settings = clean(env=["OPENAI_API_KEY"], home="operator", output="json", unavailable_patience_seconds=60.0)

    assert runtime("command").clean_settings(settings) == settings


def test_two_agents_do_not_share_a_default():
    claude = runtime("claude-code")
    claude.clean_settings({"permission_mode": "plan"})["approved_tools"].append("Bash")

    assert claude.clean_settings({"permission_mode": "plan"})["approved_tools"] == []


@pytest.mark.parametrize(("key", "near"), [("argvs", "argv"), ("ouput", "output"), ("Home", "home"), ("envs", "env")])
def test_an_unknown_setting_is_refused_with_the_nearest_known_one(key, near):
    errors = errors_of({"argv": ["agent"], key: 1})

    assert list(errors) == [f"runtime_settings.{key}"]
    assert f"Did you mean {near}?" in errors[f"runtime_settings.{key}"][0]


def test_an_unknown_setting_without_a_near_one_lists_the_known_ones():
    (sentence,) = errors_of({"argv": ["agent"], "zzz": 1})["runtime_settings.zzz"]

    assert "Did you mean" not in sentence
    assert "argv, output, prompt, home, env, unavailable_patience_seconds" in sentence


def test_every_wrong_setting_is_named_at_once():
    errors = errors_of({"output": "xml", "home": "mine", "env": "PATH", "colour": "red"})

    assert set(errors) == {
        "runtime_settings.argv",
        "runtime_settings.output",
        "runtime_settings.home",
        "runtime_settings.env",
        "runtime_settings.colour",
    }


@pytest.mark.parametrize("settings", [None, [], "argv", 3])
def test_settings_that_are_no_object_are_refused(settings):
    assert list(errors_of(settings)) == ["runtime_settings"]


@pytest.mark.parametrize(
    ("argv", "where"),
    [
        (None, ""),
        ([], ""),
        ("agent --fast", ""),
        ({"0": "agent"}, ""),
        ([""], ".0"),
        (["  "], ".0"),
        (["agent", 5], ".1"),
        (["agent", None], ".1"),
        (["agent", True], ".1"),
        (["agent", "a\0b"], ".1"),
        (["agent", "a\ud800b"], ".1"),
        (["agent", "x" * 131_072], ".1"),
        (["agent"] * 1001, ""),
        (["{model}"], ".0"),
    ],
)
def test_an_argv_that_cannot_be_started_is_refused(argv, where):
    assert list(errors_of({"argv": argv})) == [f"runtime_settings.argv{where}"]


@pytest.mark.parametrize("argv", [["agent", ""], ["agent"] * 1000, ["agent", "é" * 60_000], ("agent", "tuple")])
def test_an_argv_that_can_be_started_is_kept(argv):
    assert clean(argv=argv)["argv"] == list(argv)


def test_a_prompt_by_argument_needs_a_place():
    assert list(errors_of({"argv": ["agent"], "prompt": "argument"})) == ["runtime_settings.argv"]
    assert clean(argv=["agent", "--task={prompt}"], prompt="argument")["prompt"] == "argument"


def test_a_place_for_the_prompt_needs_a_prompt_by_argument():
    assert list(errors_of({"argv": ["agent", "{prompt}"]})) == ["runtime_settings.prompt"]


def test_the_prompt_never_chooses_the_program():
    assert list(errors_of({"argv": ["{prompt}"], "prompt": "argument"})) == ["runtime_settings.argv.0"]


@pytest.mark.parametrize("value", ["Stdin", "file", 1, ["stdin"], True, {}])
def test_a_word_that_is_not_known_is_refused_with_the_known_ones(value):
    (sentence,) = errors_of({"argv": ["agent"], "prompt": value})["runtime_settings.prompt"]

    assert sentence.startswith("Must be one of stdin, argument.")


@pytest.mark.parametrize(
    ("names", "where"),
    [
        ("PATH", ""),
        ([1], ".0"),
        (["A=B"], ".0"),
        (["OK", "1X"], ".1"),
        (["a b"], ".0"),
        ([""], ".0"),
        (["TRINITY_API_KEY"], ".0"),
        (["DJANGO_SETTINGS_MODULE"], ".0"),
        (["SECRET_KEY"], ".0"),
        (["DATABASE_URL"], ".0"),
        (["REDIS_URL"], ".0"),
        (["HOME"], ".0"),
        ([f"N{n}" for n in range(101)], ""),
    ],
)
def test_variables_that_are_not_passed_on_are_refused(names, where):
    assert list(errors_of({"argv": ["agent"], "env": names})) == [f"runtime_settings.env{where}"]


def test_variables_are_named_once_each():
    assert clean(env=["A", "B_2", "A"])["env"] == ["A", "B_2"]


@pytest.mark.parametrize("seconds", [-1, 604_801, 1.5, "60", True, [], 10**400])
def test_a_patience_that_is_no_time_is_refused(seconds):
    errors = errors_of({"argv": ["agent"], "unavailable_patience_seconds": seconds})

    assert list(errors) == ["runtime_settings.unavailable_patience_seconds"]


@pytest.mark.parametrize(("seconds", "kept"), [(0, 0), (60.0, 60), (604_800, 604_800)])
def test_a_patience_is_a_whole_number_of_seconds(seconds, kept):
    patience = clean(unavailable_patience_seconds=seconds)["unavailable_patience_seconds"]

    assert (patience, type(patience)) == (kept, int)


class TestTheRegistry:
    def test_every_name_has_a_runtime_of_that_name(self):
        assert [runtime(name).name for name in RuntimeName] == list(RuntimeName)

    @pytest.mark.parametrize("name", ["", "comand", "claude", None, 5])
    def test_an_unknown_name_is_refused_with_the_known_ones(self, name):
        with pytest.raises(Refused) as refusal:
            runtime(name)

        (sentence,) = refusal.value.errors["runtime"]
        assert all(known in sentence for known in RuntimeName)
        assert ("Did you mean command?" in sentence) is (name == "comand")

    def test_only_scripted_answers_in_the_worker(self):
        assert [name for name in RuntimeName if runtime(name).answers_in_worker] == ["scripted"]
