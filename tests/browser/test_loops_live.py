"""Loops before one's eyes: what happens on the server appears on open pages, without a reload."""

import re

from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import PATIENCE, Agents, Open, Witness
from tests.journeys.server import EmbeddedServer

expect.set_options(timeout=PATIENCE)


def mark(page: Page) -> None:
    """A page that was loaded again would not have it."""
    page.evaluate("window.never_reloaded = true")


def never_reloaded(page: Page) -> bool:
    return bool(page.evaluate("window.never_reloaded === true"))


def start_from_the_form(page: Page, message: str, **fields: str) -> None:
    page.click("#run-loop-door > summary")
    page.fill("#id_message", message)
    for name, value in fields.items():
        if name == "on_failure":
            page.select_option("#id_on_failure", value)
        else:
            page.fill(f"#id_{name}", value)
    page.click("#run-loop form button.primary")


def loop_id_of(page: Page) -> str:
    return str(page.locator("article.loop").first.get_attribute("id"))


COMPARABLE = """element => {
  const lines = [];
  const told = (node, depth) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.textContent.replace(/\\s+/g, ' ').trim();
      if (text) lines.push(' '.repeat(depth) + text);
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    const kept = [...node.attributes]
      .map(({name, value}) => [name, name === 'class' ? value.replace(/htmx-\\w+/g, '').trim() : value])
      .filter(([name, value]) => value !== '' || name !== 'class')
      .filter(([name]) => !(node.name === 'csrfmiddlewaretoken' && name === 'value'));
    lines.push(' '.repeat(depth) + node.tagName + ' ' + kept.map(pair => pair.join('=')).sort().join(' '));
    node.childNodes.forEach(child => told(child, depth + 1));
  };
  told(element, 0);
  return lines;
}"""


def comparable(page: Page) -> list[str]:
    """What the list is and shows, line by line, without what differs at each rendering."""
    return list(page.locator("#loops").evaluate(COMPARABLE))


def test_a_loop_is_started_from_the_form_and_watched_to_its_end(open_page: Open, make_agent: Agents) -> None:
    agent = make_agent(
        [
            {"error": "no network", "seconds": 1},
            {"error": "no network", "seconds": 1},
            {"response": "done", "seconds": 1},
        ]
    )
    page = open_page(f"/agents/{agent}/loops/")
    mark(page)

    start_from_the_form(page, "Try three times", max_runs="3", on_failure="continue")

    card = page.locator("article.loop")
    expect(card).to_have_count(1)
    expect(card).to_have_class(re.compile("is-open"))
    expect(page.locator("#run-loop-door")).not_to_have_attribute("open", "")
    expect(card.locator(".facts")).to_contain_text("Run 2 / 3")
    expect(card.locator(".facts")).to_contain_text("2 failed")
    expect(card.locator(".badge").first).to_have_text("completed with errors")
    expect(card.locator(".facts")).to_contain_text("reached max runs")
    expect(card.locator(".why")).to_have_text("Reached max runs: 3 of 3; 2 failed and were tolerated.")
    expect(page.locator("#announcer")).to_contain_text("completed with errors")
    assert never_reloaded(page)


def test_an_old_page_that_heard_all_events_is_the_freshly_loaded_page(open_page: Open, make_agent: Agents) -> None:
    agent = make_agent([{"response": f"reply {number}", "seconds": 0.4, "cost_usd": 0.1} for number in range(1, 6)])
    page = open_page(f"/agents/{agent}/loops/")
    mark(page)
    start_from_the_form(page, "Five times", max_runs="5", max_cost_usd="9")
    expect(page.locator("article.loop .why")).to_contain_text("Reached max runs: 5 of 5")

    page.wait_for_timeout(1500)  # whatever was coalesced has come
    old = comparable(page)
    assert never_reloaded(page)
    fresh = open_page(f"/agents/{agent}/loops/?open={loop_id_of(page)}")

    assert old == comparable(fresh)


def test_two_tabs_agree(open_page: Open, make_agent: Agents) -> None:
    agent = make_agent([{"response": f"reply {number}", "seconds": 0.5} for number in range(1, 5)])
    first, second = open_page(f"/agents/{agent}/loops/"), open_page(f"/agents/{agent}/loops/")
    mark(second)

    start_from_the_form(first, "Seen twice", max_runs="4")

    expect(second.locator("article.loop .facts")).to_contain_text("Run 4 / 4")
    expect(second.locator("article.loop .badge")).to_have_text("completed")
    assert never_reloaded(second)


def test_a_refusal_keeps_what_was_typed_and_leads_to_its_field(
    open_page: Open, make_agent: Agents, witness: Witness
) -> None:
    page = open_page(f"/agents/{make_agent([{'response': 'x'}])}/loops/")
    mark(page)

    start_from_the_form(page, "Keep <this> & that\nand more", max_runs="101", stop_signal="[[END]]")

    expect(page.locator("#id_max_runs-refused")).to_contain_text("Must be from 1 to 100")
    expect(page.locator("#id_max_runs")).to_be_focused()
    expect(page.locator("#id_message")).to_have_value("Keep <this> & that\nand more")
    expect(page.locator("#id_stop_signal")).to_have_value("[[END]]")
    expect(page.locator("article.loop")).to_have_count(0)
    assert never_reloaded(page)
    witness.forget("400")


def test_the_form_says_what_it_may_come_to_while_it_is_typed(open_page: Open, make_agent: Agents) -> None:
    page = open_page(f"/agents/{make_agent([{'response': 'x'}])}/loops/")
    page.click("#run-loop-door > summary")

    page.fill("#id_max_runs", "20")
    page.fill("#id_stop_signal", "[[END]]")

    expect(page.locator("#foresight")).to_contain_text("20 runs × 15 m = 5 h 00 m; no budget set.")
    expect(page.locator("#foresight")).to_contain_text("never mentions the stop signal [[END]]")
    expect(page.locator("#id_max_consecutive_failures")).to_be_hidden()
    page.select_option("#id_on_failure", "continue")
    expect(page.locator("#id_max_consecutive_failures")).to_be_visible()


def test_stop_says_at_once_after_which_run(open_page: Open, make_agent: Agents) -> None:
    agent = make_agent([{"response": "slow", "seconds": 3}])
    page = open_page(f"/agents/{agent}/loops/")
    start_from_the_form(page, "Go on", max_runs="50", no_progress_threshold="0")
    expect(page.locator("article.loop .facts")).to_contain_text("Run 1 / 50")

    page.click("article.loop button:text-is('Stop')")

    shut = page.locator("article.loop button", has_text="Stopping after run")
    expect(shut).to_be_disabled()
    expect(page.locator("article.loop .facts")).to_contain_text("finishing run")
    expect(page.locator("article.loop .why")).to_contain_text("Stopped by admin after run")
    expect(page.locator("article.loop button", has_text="Stop")).to_have_count(0)


def test_what_the_reader_has_open_typed_focused_and_selected_survives_updates(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent(
        [{"response": f"A reply to select, number {number}.", "seconds": 0.6} for number in range(1, 13)]
    )
    loop = server.start_loop(agent, message="Twelve", max_runs=12)
    page = open_page(f"/agents/{agent}/loops/?open={loop}")
    expect(page.locator("tr[id^=run-] .badge", has_text="completed").first).to_be_visible()
    page.locator("tr[id^=run-]", has_text="number 1.").locator("a").click()
    page.locator(f"#parameters-{loop} summary").click()
    page.click("#run-loop-door > summary")
    page.fill("#id_message", "half a sent")
    page.evaluate("document.querySelector('#id_message').setSelectionRange(2, 5)")

    expect(page.locator(f"#{loop} .facts")).to_contain_text("Run 9 / 12")

    assert page.evaluate("document.activeElement.id") == "id_message"
    assert page.evaluate("[document.activeElement.selectionStart, document.activeElement.selectionEnd]") == [2, 5]
    expect(page.locator("#id_message")).to_have_value("half a sent")
    expect(page.locator(f"#parameters-{loop}")).to_have_attribute("open", "")
    expect(page.locator("tr.detail")).to_contain_text("number 1.")


def test_focus_in_a_card_and_its_scrolling_survive_updates(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"response": f"{number} " + "long " * 400, "seconds": 0.6} for number in range(1, 9)])
    loop = server.start_loop(agent, message="Eight", max_runs=8)
    page = open_page(f"/agents/{agent}/loops/?open={loop}", viewport={"width": 360, "height": 500})
    page.locator(f"#title-{loop}").focus()
    page.evaluate("window.scrollTo(0, 260)")
    before = page.evaluate("window.scrollY")

    expect(page.locator(f"#{loop} .facts")).to_contain_text("Run 6 / 8")

    assert page.evaluate("document.activeElement.id") == f"title-{loop}"
    assert page.evaluate("window.scrollY") == before


def test_a_loop_of_a_hundred_runs_is_watched_and_shown_whole(open_page: Open, make_agent: Agents) -> None:
    agent = make_agent([{"response": f"Chapter {number} translated.", "seconds": 0.02} for number in range(1, 101)])
    page = open_page(f"/agents/{agent}/loops/")

    start_from_the_form(page, "Translate chapter {{run}}", max_runs="100")

    expect(page.locator("article.loop .why")).to_have_text("Reached max runs: 100 of 100.")
    expect(page.locator("tr[id^=run-]")).to_have_count(10)
    page.click("text=Show all 100")
    expect(page.locator("tr[id^=run-]")).to_have_count(100)
    page.locator("tr[id^=run-]", has_text="Chapter 42 ").locator("a").click()
    expect(page.locator("tr.detail")).to_contain_text("What changed against run 41")
    expect(page.locator("tr.detail del")).to_have_text("41")
    expect(page.locator(".strip rect.run")).to_have_count(100)


def test_a_loop_that_another_process_starts_appears(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"response": "from a command"}])
    page = open_page(f"/agents/{agent}/loops/")
    expect(page.locator("#no-loops")).to_be_visible()

    finished = server.manage("loop", agent, "Started beside", "--max-runs", "1")

    assert finished.returncode == 0, finished.stderr
    expect(page.locator("article.loop .badge")).to_have_text("completed")


def test_a_page_in_the_background_rests_and_catches_up(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"response": "x", "seconds": 0.1}])
    page = open_page(f"/agents/{agent}/loops/")
    page.evaluate("Object.defineProperty(document, 'hidden', {configurable: true, get: () => window.is_away})")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("window.is_away = true; document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(1200)
    asked.clear()
    server.ended_loop(server.start_loop(agent, message="Unseen", max_runs=2))
    page.wait_for_timeout(500)
    assert asked == []

    page.evaluate("window.is_away = false; document.dispatchEvent(new Event('visibilitychange'))")

    expect(page.locator("article.loop .badge")).to_have_text("completed")


def test_the_dashboard_follows_a_loop_from_running_to_ended(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"error": "psql: connection refused", "seconds": 1.5}])
    page = open_page("/")
    mark(page)

    loop = server.start_loop(agent, message="Attempt it", max_runs=3)

    expect(page.locator(f"#running #{loop}")).to_contain_text("Run 1 for")
    expect(page.locator(f"#ended-{loop}")).to_contain_text("psql: connection refused")
    expect(page.locator(f"#running #{loop}")).to_have_count(0)
    expect(page.locator("#attention")).to_contain_text("Attempt it")
    assert never_reloaded(page)


def test_durations_tick_by_the_servers_clock(open_page: Open, make_agent: Agents, server: EmbeddedServer) -> None:
    agent = make_agent([{"response": "x", "seconds": 30}])
    loop = server.start_loop(agent, message="Tick", max_runs=1)
    page = open_page(f"/loops/{loop}/")
    shown = page.locator(".why [data-since]")
    first = shown.inner_text()

    page.wait_for_function("before => document.querySelector('.why [data-since]').textContent !== before", arg=first)

    assert int(shown.inner_text().split()[0]) > int(first.split()[0])


def test_a_fragment_that_was_asked_for_before_a_click_does_not_undo_it(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"response": "x", "seconds": 2}])
    loop = server.start_loop(agent, message="Slow line", max_runs=50, no_progress_threshold=0)
    page = open_page(f"/agents/{agent}/loops/")
    held: list[Route] = []
    while_closed = re.compile(rf"/loops/{loop}/card/$")
    page.route(while_closed, lambda route: held.append(route))
    while not held:
        page.wait_for_timeout(50)

    page.click(f"#title-{loop}")
    expect(page.locator(f"#{loop}")).to_have_class(re.compile("is-open"))
    held[0].continue_()
    page.unroute_all()
    page.wait_for_timeout(700)

    expect(page.locator(f"#{loop}")).to_have_class(re.compile("is-open"))
