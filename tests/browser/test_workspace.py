"""Two people, two agents and a client in one room: what one does appears before the others, without a reload."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import Agents, Open, Witness
from tests.browser.rooms import add, lines, mark, never_reloaded, open_a_room, path_of, say, share
from tests.browser.test_loops_live import COMPARABLE
from tests.hostile import HOSTILE_REPLIES
from tests.journeys.server import EmbeddedServer, wait_for


def comparable(page: Page, selector: str) -> list[str]:
    """What a part of the page is and shows, line by line, without what differs at each rendering."""
    drawn = page.locator(selector).evaluate(COMPARABLE)
    varies = re.compile(r"\s?(?:data-since|style|id=code-\d+|data-copy)=?\S*")
    return [varies.sub("", one) for one in drawn]


def test_two_people_and_two_agents_in_one_room(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, people: dict[str, Any]
) -> None:
    one = make_agent([{"response": "I am **the first**.", "seconds": 0.3, "cost_usd": 0.1}], title="The first")
    other = make_agent([{"response": "And I the second.", "seconds": 0.3}])
    share(server, other, "bob")
    alices = open_a_room(open_page, "Four of us", one, other, people=("bob",))
    bobs = open_page(path_of(alices), storage_state=people["bob"])
    mark(alices)
    mark(bobs)

    say(alices, f"@{one} who are you?")
    expect(lines(bobs).last).to_contain_text("I am the first.")
    say(bobs, f"And you, @{other}?")
    expect(lines(alices).last).to_contain_text("And I the second.")

    assert lines(alices).count() == lines(bobs).count()
    expect(alices.locator(".message.is-mine")).to_have_count(1)
    expect(bobs.locator(".message.is-mine")).to_have_text(re.compile("And you"))
    assert never_reloaded(alices)
    assert never_reloaded(bobs)


def test_an_old_room_that_heard_all_events_is_the_freshly_loaded_room(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"response": "```\ncode\n```", "cost_usd": 0.1, "seconds": 0.3}])
    failing = make_agent([{"error": "no network", "seconds": 0.3}])
    page = open_a_room(open_page, "Old and new", agent, failing)
    mark(page)
    say(page, f"@{agent} first")
    expect(lines(page).last).to_contain_text("code")
    say(page, f"@{failing} second")
    expect(lines(page).last).to_contain_text("no network")
    page.click("button:text-is('Try again')")
    expect(page.locator(".message.is-failed")).to_have_count(2)
    expect(page.locator("button:text-is('Try again')")).to_have_count(1)
    page.click("#rail-tab-loops")
    start_from_the_rail(page, "In a loop", runs="2", agent=agent)
    expect(page.locator("#rail-loops .badge")).to_have_text("Done")
    add(page, "inbox")
    page.click("#room-menu > summary")
    page.fill("#new-title", "Renamed")
    page.press("#new-title", "Enter")
    expect(page.locator(".room-head h1")).to_have_text("Renamed")
    page.click("#room-menu > summary")
    expect(page.locator("#rooms a[aria-current]")).to_contain_text("Renamed")
    page.click("#rail-tab-work")  # what is news is for each browser to say: here nothing is
    page.wait_for_timeout(1500)  # whatever was coalesced has come

    assert never_reloaded(page)
    fresh = open_page(path_of(page))
    fresh.wait_for_timeout(1500)
    for part in ("#messages", "#turns", "#room-head", "#foot", "#rooms", "#rail-live"):
        old, new = comparable(page, part), comparable(fresh, part)
        ignored = {"INPUT name=key", "DETAILS"}
        assert [one for one in old if not any(word in one for word in ignored)] == [
            one for one in new if not any(word in one for word in ignored)
        ], part


def start_from_the_rail(page: Page, task: str, *, runs: str = "10", budget: str = "", agent: str = "") -> None:
    page.click("#rail-start")
    if agent:
        page.select_option("#start_agent", agent)
    page.fill("#start_message", task)
    page.fill("#start_max_runs", runs)
    if budget:
        page.fill("#start_max_cost_usd", budget)
    page.click("#start-loop button.primary")


def test_a_loop_started_from_the_rail_is_watched_to_its_end_there_and_by_the_operator_and_not_by_a_client(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, people: dict[str, Any]
) -> None:
    agent = make_agent(
        [
            {"error": "no network", "seconds": 0.8},
            {"error": "no network", "seconds": 0.8},
            {"response": "three", "seconds": 0.8, "cost_usd": 0.02},
        ]
    )
    room = open_a_room(open_page, "Watched", agent, people=("carol",))
    operators = open_page(f"/agents/{agent}/loops/")
    carols = open_page(path_of(room), storage_state=people["carol"])
    heard: list[str] = []
    carols.on("websocket", lambda socket: socket.on("framereceived", lambda frame: heard.append(str(frame))))
    carols.reload()
    carols.wait_for_selector("#connection[data-state=live]")
    asked: list[str] = []
    carols.on("request", lambda request: asked.append(request.url))
    for page in (room, operators, carols):
        mark(page)
    room.click("#rail-tab-loops")
    start_from_the_rail(room, "Try three times", runs="3", budget="1")

    rail, card = room.locator("#rail-loops article"), room.locator("#messages article")
    expect(rail.locator(".badge")).to_have_text("Running")
    expect(room.locator("#rail-tab-loops .signal")).to_have_text("1 running")
    expect(rail.locator(".bar")).to_contain_text(["Runs", "Budget"])
    expect(rail.locator(".badge")).to_have_text("Done, with errors")
    expect(rail.locator(".of")).to_contain_text("Run 3 of 3 · 2 failed")
    expect(rail.locator(".bar")).to_have_count(0)
    expect(card.locator(".badge")).to_have_text("Done, with errors")
    expect(operators.locator("article.loop .badge")).to_have_text("completed with errors")
    expect(operators.locator("article.loop .facts")).to_contain_text("Run 3 / 3")
    expect(room.locator("#rail-tab-loops .signal")).to_have_count(0)
    expect(room.locator("#rail-of-" + agent)).to_contain_text("nothing in flight")
    expect(room.locator("#announcer")).to_contain_text("Done, with errors")
    say(room, "See you")
    expect(lines(carols).last).to_contain_text("See you")
    for page in (room, operators, carols):
        assert never_reloaded(page)
    source = carols.content().replace(agent, "")
    assert re.findall(r"loop|Try three times|rail|\$\d|exec_", source, re.IGNORECASE) == []
    assert not any("loop" in one.lower() or "exec_" in one for one in heard + asked)


def test_stop_in_the_rail_says_after_which_run_and_then_by_whom(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, people: dict[str, Any]
) -> None:
    agent = make_agent([{"response": f"reply {number}", "seconds": 1.5} for number in range(9)])
    alices = open_a_room(open_page, "Stopped", agent, people=("bob",))
    bobs = open_page(path_of(alices), storage_state=people["bob"])
    for page in (alices, bobs):
        page.click("#rail-tab-loops")
    start_from_the_rail(alices, "Go on", runs="50")
    expect(bobs.locator("#rail-loops .of")).to_contain_text("Run 1 of 50")

    bobs.click("#rail-loops button:text-is('Stop')")

    expect(bobs.locator("#rail-loops button", has_text="Stopping after run")).to_be_disabled()
    expect(bobs.locator("#rail-loops .badge")).to_have_text("Running")
    expect(bobs.locator("#rail-loops .badge")).to_have_text("Stopped by you")
    expect(alices.locator("#rail-loops .badge")).to_have_text("Stopped by bob")


def test_a_refused_start_keeps_what_was_typed_through_later_events(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, witness: Witness
) -> None:
    agent = make_agent([{"response": "x"}])
    page = open_a_room(open_page, "Refused", agent)
    page.click("#rail-tab-loops")
    start_from_the_rail(page, "Keep <this> & that", runs="101")
    expect(page.locator("#start_max_runs-refused")).to_contain_text("from 1 to 100")
    expect(page.locator("#start_max_runs")).to_be_focused()

    server.ended_loop(server.start_loop(agent, message="beside", max_runs=1))
    expect(page.locator("#rail-loops article")).to_contain_text("beside")

    expect(page.locator("#start_message")).to_have_value("Keep <this> & that")
    expect(page.locator("#start_max_runs")).to_have_value("101")
    witness.forget("400")
    page.click("#start-loop a:text-is('Cancel')")
    expect(page.locator("#start-loop form")).to_have_count(0)


def test_a_turn_that_waits_can_be_cancelled_by_who_asked(open_page: Open, make_agent: Agents) -> None:
    agent = make_agent([{"response": "slow", "seconds": 30}], max_parallel_tasks=1)
    page = open_a_room(open_page, "Busy", agent)
    say(page, "one")
    expect(page.locator(".turn")).to_contain_text("working")
    say(page, "two")
    expect(page.locator(".turn")).to_have_count(2)

    page.click(".turn button:text-is('Cancel')")

    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator(".message.is-notice")).to_contain_text("cancelled the turn")


def test_unread_marks_come_and_go_without_a_reload(open_page: Open, make_agent: Agents, people: dict[str, Any]) -> None:
    agent = make_agent([{"response": "x"}])
    alices = open_a_room(open_page, "Far away", agent, people=("bob",))
    bobs = open_page("/workspace/", storage_state=people["bob"])
    mark(bobs)

    say(alices, "Are you there?")

    row = bobs.locator("#rooms li", has_text="Far away")
    expect(row.locator(".unread")).to_contain_text("unread")
    assert never_reloaded(bobs)
    row.locator("a").click()
    bobs.wait_for_selector("#connection[data-state=live]")
    expect(bobs.locator("#rooms li", has_text="Far away").locator(".unread")).to_have_count(0)


def test_hostile_replies_and_messages_make_no_request_and_run_nothing(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, witness: Witness
) -> None:
    agents = [make_agent([{"response": HOSTILE_REPLIES[name]}]) for name in ("script", "image", "htmx", "long word")]
    page = open_a_room(open_page, "<img src=x onerror=1>", *agents)
    said = [text for text in HOSTILE_REPLIES.values() if text.strip()]
    for text in said:
        status, answer = server.post(
            f"/api{path_of(page).removeprefix('/workspace').rstrip('/')}/messages", {"text": text}
        )
        assert status == 201, answer
    expect(lines(page)).to_have_count(len(said))
    for agent in agents:
        say(page, f"@{agent}")
    expect(page.locator(".message.is-agent")).to_have_count(len(agents))

    page.wait_for_timeout(500)
    assert "caught" not in page.title()
    assert page.locator("main :is(img, iframe, object, embed, script, style, svg image)").count() == 0
    assert page.locator("#messages :is([onerror], [onload], [onclick], [style], .reply [hx-get])").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_somebody_who_is_removed_is_told_and_hears_no_more(
    open_page: Open, make_agent: Agents, people: dict[str, Any], witness: Witness
) -> None:
    alices = open_a_room(open_page, "Not for Bob", make_agent([{"response": "x"}]), people=("bob",))
    bobs = open_page(path_of(alices), storage_state=people["bob"])

    alices.click("#people-menu > summary")
    alices.click("[aria-label='Remove bob']")

    expect(bobs.locator("#connection")).to_have_text(re.compile("no access any more"))
    say(alices, "between us")
    bobs.wait_for_timeout(500)
    assert "between us" not in bobs.content()
    witness.forget("404")


def test_a_loop_that_an_agent_starts_in_its_turn_has_its_card_and_its_rail(
    open_page: Open, server: EmbeddedServer
) -> None:
    page = open_a_room(open_page, "Asked to loop", "practice")
    page.click("#rail-tab-loops")

    say(page, "do this 3 times: say a number")

    expect(page.locator("#messages article .badge")).to_have_text("Done")
    expect(page.locator("#rail-loops article .of").first).to_contain_text("Run 3 of 3")
    wait_for(lambda: page.locator(".turn").count() == 0, what="the turn to end")
