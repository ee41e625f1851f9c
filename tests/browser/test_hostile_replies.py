"""What agents write is shown and does nothing: no request, no script, no way out of its frame."""

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Agents, Open, Witness
from tests.hostile import HOSTILE_REPLIES
from tests.journeys.server import EmbeddedServer

expect.set_options(timeout=PATIENCE)


def test_a_corpus_of_hostile_replies_makes_no_request_and_runs_nothing(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, witness: Witness
) -> None:
    replies = [{"response": text} for text in HOSTILE_REPLIES.values()]
    agent = make_agent(replies)
    loop = server.ended_loop(
        server.start_loop(
            agent, message="<img src=x onerror=1> {{run}}", max_runs=len(replies), no_progress_threshold=0
        )
    )
    runs = "&".join(f"run={run['execution_id']}" for run in loop["runs"])
    page = open_page(f"/loops/{loop['loop_id']}/?all={loop['loop_id']}&{runs}")

    expect(page.locator("tr.detail")).to_have_count(len(replies))
    page.wait_for_timeout(500)
    assert "caught" not in page.title()
    assert (
        page.locator("main img, main iframe, main object, main embed, main script, main style, main svg image").count()
        == 0
    )
    assert page.locator("main [onerror], main [onload], main [onclick], main [style], .reply [hx-get]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.locator("body > h1, main > h1:not(.visually-hidden)").count() == 0
    for run in loop["runs"]:
        answer = page.request.get(f"{server.address}/executions/{run['execution_id']}/response/")
        assert answer.headers["content-type"].startswith("text/plain")


def test_a_hostile_tool_call_and_activity_are_text(open_page: Open, make_agent: Agents, server: EmbeddedServer) -> None:
    nasty = "<img src=http://trap.invalid/t.png onerror=document.title='caught'>"
    agent = make_agent([{"response": "x", "tools": [{"tool": nasty, "args": {nasty: nasty}, "result": nasty}]}])
    loop = server.ended_loop(server.start_loop(agent, message="x", max_runs=1))
    page = open_page(f"/executions/{loop['runs'][0]['execution_id']}/")

    expect(page.locator(".calls summary")).to_contain_text("<img src=http")
    page.click(".calls summary")
    assert page.locator("main img").count() == 0
    assert "caught" not in page.title()


def test_right_to_left_replies_read_right_to_left_and_disturb_nothing_around(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"response": "مرحبا بالعالم"}])
    loop = server.ended_loop(server.start_loop(agent, message="\u202eevil title", max_runs=1))
    page = open_page(f"/loops/{loop['loop_id']}/")

    direction = page.locator(".inset .reply").evaluate("element => getComputedStyle(element).direction")

    assert direction == "rtl"
    expect(page.locator("h3.title bdi")).to_have_count(1)
