"""The Workspace's page under one's hands: the composer, the rail, long rooms, small screens, no script at all."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import PATIENCE, Agents, Open, Witness, log_in
from tests.browser.rooms import lines, mark, never_reloaded, open_a_room, path_of, say
from tests.browser.test_accessible import faults
from tests.browser.test_when_things_break import RECONNECTS, mortal  # noqa: F401 — a server that a test may end
from tests.journeys.server import EmbeddedServer

LONG = """# A plan

""" + "\n\n".join(f"{number}. Step {number}, in some words that say what is done." for number in range(1, 60))


# --- the composer -------------------------------------------------------------------------------------------


def test_enter_sends_and_shift_with_enter_breaks_the_line(open_page: Open, make_agent: Agents) -> None:
    page = open_a_room(open_page, "Keys", make_agent([{"response": "x"}]))
    page.focus("#composer-text")

    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    page.keyboard.press("Enter")

    expect(page.locator(".message.is-mine .reply")).to_have_text(re.compile(r"one\s*two"))
    assert page.locator(".message.is-mine br").count() == 1
    expect(page.locator("#composer-text")).to_be_focused()


def test_a_draft_is_kept_per_room_until_it_is_sent(open_page: Open, make_agent: Agents, server: EmbeddedServer) -> None:
    agent = make_agent([{"response": "x"}])
    page = open_a_room(open_page, "First room", agent)
    first = page.url
    page.fill("#composer-text", "half a sent")
    page.goto(f"{server.address}/workspace/")
    page.check(f'input[name="agents"][value="{agent}"]')
    page.fill("#id_title", "Second room")
    page.click(".open-room button.primary")

    expect(page.locator("#composer-text")).to_have_value("")
    page.goto(first)
    expect(page.locator("#composer-text")).to_have_value("half a sent")
    page.press("#composer-text", "Enter")
    expect(page.locator(".message.is-mine")).to_have_count(1)
    page.reload()
    expect(page.locator("#composer-text")).to_have_value("")


def test_a_message_whose_answer_is_lost_and_that_is_sent_again_is_one(
    open_page: Open, make_agent: Agents, witness: Witness
) -> None:
    page = open_a_room(open_page, "A bad line", make_agent([{"response": "x"}]))
    witness.forget("ERR_", "htmx:")

    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/post/", lose_the_answer, times=1)
    page.fill("#composer-text", "Only once")
    page.press("#composer-text", "Enter")
    expect(lines(page)).to_have_count(2)
    expect(page.locator("#composer-text")).to_have_value("Only once")
    page.reload()
    page.press("#composer-text", "Enter")
    expect(page.locator("#composer-text")).to_have_value("")
    page.wait_for_timeout(500)

    expect(page.locator(".message.is-mine")).to_have_count(1)


def test_names_are_completed_behind_an_at(open_page: Open, make_agent: Agents) -> None:
    agent = make_agent([{"response": "Here."}], title="Keeps the books")
    other = make_agent([{"response": "x"}])
    page = open_a_room(open_page, "Names", agent, other)
    page.focus("#composer-text")

    page.keyboard.type(f"Ask @{agent[:5]}")
    expect(page.locator("#mentions [role=option]").first).to_be_visible()
    page.keyboard.type(agent[5:-2])
    expect(page.locator("#mentions [role=option]")).to_contain_text(["Keeps the books"])
    page.keyboard.press("Enter")

    expect(page.locator("#composer-text")).to_have_value(f"Ask @{agent} ")
    expect(page.locator("#mentions")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(lines(page).last).to_contain_text("Here.")


def test_typed_text_focus_and_scrolling_survive_what_happens_meanwhile(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, people: dict[str, Any]
) -> None:
    agent = make_agent([{"response": LONG}])
    alices = open_a_room(open_page, "Meanwhile", agent, people=("bob",))
    bobs = open_page(path_of(alices), storage_state=people["bob"])
    for number in range(4):
        say(alices, f"one more {number}")
        expect(lines(bobs)).to_have_count(2 * number + 3)
    bobs.click(".unfold >> nth=0")
    bobs.fill("#composer-text", "half a sent")
    bobs.evaluate("document.querySelector('#composer-text').setSelectionRange(2, 5)")
    bobs.evaluate("document.querySelector('.transcript').scrollBy(0, -400)")
    seen = "document.querySelector('#m-3').getBoundingClientRect().top"
    before = bobs.evaluate(seen)

    say(alices, "the last")
    expect(lines(bobs).last).to_contain_text("A plan")
    bobs.wait_for_timeout(300)

    assert abs(bobs.evaluate(seen) - before) < 2
    assert bobs.evaluate("[document.activeElement.id, document.activeElement.selectionStart]") == ["composer-text", 2]
    expect(bobs.locator("#composer-text")).to_have_value("half a sent")
    expect(bobs.locator(".unfold").first).to_have_text("Fold")


def test_a_new_message_comes_into_sight_when_one_is_at_the_end(open_page: Open, make_agent: Agents) -> None:
    page = open_a_room(
        open_page, "At the end", make_agent([{"response": LONG}]), viewport={"width": 1160, "height": 500}
    )
    for number in range(3):
        say(page, f"one more {number}")
        expect(lines(page)).to_have_count(2 * number + 2)

    page.wait_for_timeout(200)
    expect(lines(page).last).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollHeight") <= 500


def test_long_replies_fold_and_code_is_copied(open_page: Open, make_agent: Agents) -> None:
    agent = make_agent([{"response": LONG + "\n\n```sh\nscript/server\n```"}])
    page = open_a_room(open_page, "Long", agent, permissions=["clipboard-read", "clipboard-write"])
    say(page, "Tell me all")
    folded = page.locator(".message.is-agent .reply")
    expect(folded).to_have_class(re.compile("is-folded"))

    page.click(".unfold")
    expect(folded).not_to_have_class(re.compile("is-folded"))
    page.hover(".code")
    page.click(".copies")

    expect(page.locator(".copies")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "script/server\n"


# --- the rail -----------------------------------------------------------------------------------------------


def test_the_rail_remembers_its_width_its_tab_and_whether_it_is_open(open_page: Open, make_agent: Agents) -> None:
    page = open_a_room(open_page, "Remembered", make_agent([{"response": "x"}]))
    width = "document.getElementById('rail').getBoundingClientRect().width"
    assert page.evaluate(width) == 384
    edge = page.locator("#rail-edge").bounding_box()
    assert edge is not None
    page.mouse.move(edge["x"] + 4, edge["y"] + 200)
    page.mouse.down()
    page.mouse.move(edge["x"] - 76, edge["y"] + 200, steps=4)
    page.mouse.up()
    assert page.evaluate(width) == pytest.approx(460, abs=6)
    page.focus("#rail-edge")
    page.keyboard.press("ArrowRight")
    page.click("#rail-tab-loops")
    wide = page.evaluate(width)

    page.reload()

    assert page.evaluate(width) == wide
    expect(page.locator("#rail-loops")).to_be_visible()
    expect(page.locator("#rail-work")).to_be_hidden()
    page.click("[data-rail-shut]")
    page.reload()
    expect(page.locator("#rail-loops")).to_be_hidden()
    assert page.evaluate(width) < 60


def test_a_shut_rail_signals_what_runs_and_then_that_there_is_news(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"response": "x", "seconds": 1.5}])
    page = open_a_room(open_page, "Shut", agent)
    page.click("#rail-tab-loops")
    page.click("[data-rail-shut]")
    mark(page)
    signal, news = page.locator("#rail-tab-loops .signal"), page.locator("#rail-tab-loops .news")
    expect(news).to_be_hidden()

    loop = server.start_loop(agent, message="Away", max_runs=1)
    expect(signal).to_have_text("1 running")
    expect(news).to_be_hidden()
    server.ended_loop(loop)
    expect(signal).to_have_count(0)
    expect(news).to_be_visible()

    page.click("#rail-tab-loops")
    expect(news).to_be_hidden()
    page.click("[data-rail-shut]")
    expect(news).to_be_hidden()
    assert never_reloaded(page)


def test_the_page_asks_by_itself_only_while_something_is_active(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"response": "x", "seconds": 60}])
    page = open_a_room(open_page, "Quiet", agent)
    assert page.locator("[data-active]").count() == 0

    server.start_loop(agent, message="Long", max_runs=1)

    expect(page.locator("#rail-live[data-active]")).to_have_count(1)


# --- rooms --------------------------------------------------------------------------------------------------


def test_keys_go_from_room_to_room_and_to_the_composer(open_page: Open, make_agent: Agents) -> None:
    agent = make_agent([{"response": "x"}])
    open_a_room(open_page, "Room below", agent)
    page = open_a_room(open_page, "Room above", agent)
    here = page.url

    page.keyboard.press("Alt+ArrowDown")
    page.wait_for_url(lambda address: address != here)
    expect(page.locator(".room-head h1")).to_have_text("Room below")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")

    expect(page.locator("#composer-text")).to_be_focused()
    expect(page.locator("#composer-text")).to_have_value("")
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator(".room-head h1")).to_have_text("Room above")


def test_a_search_narrows_the_list_while_it_is_typed(open_page: Open, make_agent: Agents) -> None:
    agent = make_agent([{"response": "x"}])
    page = open_a_room(open_page, "Quinces", agent)
    say(page, "about rhubarb")

    page.fill("#find", "rhubar")
    expect(page.locator("#rooms li")).to_have_count(1)
    page.fill("#find", "nothing like it")
    expect(page.locator("#rooms")).to_contain_text("Nothing found.")


FILL = """
from workspace.models import Message, Room
room = Room.objects.get(title={title!r})
Message.objects.bulk_create(Message(room=room, seq=number, public_seq=number, kind="said", user=room.opened_by,
    text=f"message **{{number}}** of many", at=room.created_at) for number in range(1, 2001))
Room.objects.filter(pk=room.pk).update(last_seq=2000, last_public_seq=2000, max_messages=5000)
"""


def test_a_room_of_2000_messages_opens_at_its_end_and_scrolls_back_by_pages(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    page = open_a_room(open_page, "Many messages", make_agent([{"response": "and one more"}]))
    filled = server.manage("shell", "-c", FILL.format(title="Many messages"))
    assert filled.returncode == 0, filled.stderr
    page.reload()
    page.wait_for_selector("#connection[data-state=live]")
    expect(lines(page)).to_have_count(50)
    expect(page.locator("#m-2000")).to_be_in_viewport()

    for pages in range(2, 5):
        stood = page.locator(f"#m-{2000 - 50 * (pages - 1) + 1}")
        page.evaluate("document.querySelector('.transcript').scrollTo(0, -1e9)")
        expect(lines(page)).to_have_count(50 * pages)
        expect(stood).to_be_in_viewport()
    say(page, "hello")

    expect(lines(page).last).to_contain_text("and one more")
    assert page.locator("#messages .message").evaluate_all("all => new Set(all.map(one => one.id)).size") == 202
    assert page.evaluate(
        "[...document.querySelectorAll('#messages .message')].every((one, at, all) => "
        "!at || Number(one.id.slice(2)) === Number(all[at - 1].id.slice(2)) + 1)"
    )


def test_a_room_recovers_when_the_server_is_started_again_under_it(
    chromium: Browser,
    mortal: EmbeddedServer,  # noqa: F811
) -> None:
    settings = {"replies": [{"response": "Back again.", "seconds": 0.2}]}
    status, _ = mortal.post("/api/agents", {"name": "patient", "runtime": "scripted", "runtime_settings": settings})
    assert status == 201
    status, room = mortal.post("/api/rooms", {"agents": ["patient"], "title": "Through a restart"})
    assert status == 201, room
    context = chromium.new_context(storage_state=log_in(chromium, mortal), viewport={"width": 1160, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{mortal.address}/workspace/")
    page.click("#rooms a")
    page.wait_for_selector("#connection[data-state=live]")
    mark(page)
    page.fill("#composer-text", "typed before")

    mortal.stop()
    expect(page.locator("#connection")).to_have_text(re.compile("Reconnecting|Offline"))
    mortal.start()
    expect(page.locator("#connection")).to_have_text("Live", timeout=RECONNECTS)
    page.press("#composer-text", "Enter")

    expect(lines(page).last).to_contain_text("Back again.")
    expect(page.locator(".message.is-mine")).to_contain_text("typed before")
    assert never_reloaded(page)
    context.close()


# --- for everybody ------------------------------------------------------------------------------------------


def test_reading_posting_and_starting_a_loop_need_no_script(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"response": "I hear you."}])
    page = open_page("/workspace/", live=False, java_script_enabled=False)
    page.check(f'input[name="agents"][value="{agent}"]')
    page.fill("#id_text", "Hello?")
    page.click(".open-room button.primary")
    expect(page.locator(".message.is-mine")).to_contain_text("Hello?")
    page.fill("#composer-text", "Anybody?")
    page.click("#composer button.primary")
    page.click("text=Start a loop")
    page.fill("#start_message", "Say something")
    page.fill("#start_max_runs", "1")
    page.click("#start-loop button.primary")
    server.ended_loop(page.locator("#rail-loops article").get_attribute("data-loop") or "")
    page.reload()

    expect(page.locator("#rail-loops .badge")).to_have_text("Done")
    expect(page.locator("#rail-work")).to_contain_text("You asked")
    expect(page.locator(".message.is-agent").last).to_contain_text("I hear you.")


def full_room(open_page: Open, make_agent: Agents, server: EmbeddedServer, **profile: Any) -> Page:
    """A room with everything on it: code and tables, a failed turn, one that goes on, loops, notices."""
    reply = (
        f"{LONG}\n\n```sh\nls -la /a/rather/long/path/that/does/not/fit/on/a/phone/at/all\n```\n\n|a|b|\n|-|-|\n|1|2|"
    )
    talks = make_agent([{"response": reply, "cost_usd": 0.4}], title="An agent with a title that is rather long")
    fails, slow = make_agent([{"error": "no network " * 30}]), make_agent([{"response": "x", "seconds": 60}])
    page = open_a_room(
        open_page, "A room with a name that goes on " * 3, talks, fails, slow, people=("carol",), **profile
    )
    for agent in (talks, fails):
        say(page, f"@{agent} " + "word " * 30)
        expect(page.locator(".turn")).to_have_count(0)
    say(page, f"@{slow} go")
    server.ended_loop(server.start_loop(talks, message="ended " * 30, max_runs=1))
    server.start_loop(slow, message="running " * 30, max_runs=3, max_cost_usd=1, max_duration_seconds=3600)
    expect(page.locator("#rail article")).to_have_count(2)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_room(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, people: dict[str, Any], axe: str, scheme: str
) -> None:
    page = full_room(open_page, make_agent, server, color_scheme=scheme)
    found = {"work": faults(page, axe)}
    page.click("#rail-tab-loops")
    page.click("#rail-start")
    page.wait_for_selector("#start-loop form")
    page.click("#people-menu > summary")
    found["loops"] = faults(page, axe)
    page.click("[data-rail-shut]")
    found["shut"] = faults(page, axe)
    carols = open_page(path_of(page), storage_state=people["carol"], color_scheme=scheme)
    found["client"] = faults(carols, axe)
    page.goto(f"{server.address}/workspace/")
    found["rooms"] = faults(page, axe)

    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_a_room_fits_a_phone(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, people: dict[str, Any]
) -> None:
    path = path_of(full_room(open_page, make_agent, server))
    page = open_page(path, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    wide = "document.documentElement.scrollWidth > 360 || document.documentElement.scrollHeight > 740"
    small = (
        "[...document.querySelectorAll('button, summary, input:not([type=hidden], [type=checkbox]), select, textarea')]"
        ".filter(one => one.checkVisibility())"
        ".map(one => [one.getBoundingClientRect().height, one.outerHTML.slice(0, 90)])"
        ".filter(([height]) => height < 24 && height > 0)"
    )
    found = {}
    for name, act in {
        "shut": lambda: None,
        "people": lambda: page.click("#people-menu > summary"),
        "loops": lambda: (page.click("#people-menu > summary"), page.click("#rail-tab-loops")),
        "form": lambda: (page.click("#rail-start"), page.wait_for_selector("#start-loop form")),
        "work": lambda: page.click("#rail-tab-work"),
    }.items():
        act()
        page.wait_for_timeout(200)
        found[name] = (page.evaluate(wide), page.evaluate(small))

    assert found == dict.fromkeys(found, (False, []))
    page.click("[data-rail-shut]")
    say_by_its_button(page, "from a phone")
    page.click(".room-head .back")
    expect(page.locator("#rooms")).to_be_visible()
    assert page.evaluate(wide.split(" ||")[0]) is False


def say_by_its_button(page: Page, text: str) -> None:
    """A phone's Enter breaks the line."""
    page.fill("#composer-text", text)
    page.click("#composer button.primary")
    expect(page.locator(".message.is-mine").last).to_contain_text(text)
