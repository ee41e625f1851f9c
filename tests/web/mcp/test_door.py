"""Who gets through the MCP door at all, before any tool is asked."""

import json

import pytest
from mcp.shared.exceptions import MCPError

from accounts.models import ApiKey
from accounts.services import revoke_key
from tests.web.mcp.conftest import McpCaller


def test_without_a_key_it_says_what_is_missing(people):
    response = people["nobody"].send()

    assert (response.status_code, response.headers["www-authenticate"]) == (401, 'Bearer realm="trinity"')
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == "unauthenticated"


@pytest.mark.parametrize("secret", ["trk_unknown_key", "", "x" * 5_000, "trk_é"])
def test_a_key_that_is_none_is_refused(people, secret):
    assert McpCaller(None).send(authorization=b"Bearer " + secret.encode()).status_code == 401


def test_a_key_that_is_revoked_ends_at_once(people):
    assert people["alice"].send().status_code == 200
    revoke_key(ApiKey.objects.get(user__username="alice"))

    assert people["alice"].send().status_code == 401


def test_to_a_client_the_door_does_not_exist(people):
    response = people["carol"].send()

    assert response.status_code == 404
    assert "loop" not in json.dumps(response.json()).lower()
    with pytest.raises((MCPError, ExceptionGroup, BaseExceptionGroup)):
        people["carol"].tools()


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_it_stands_with_and_without_a_slash(people, path):
    assert people["alice"].send(path=path).status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_only_post_is_answered(people, method):
    response = people["alice"].send(method)

    assert (response.status_code, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://testserver"}, 200),
        ({"host": "evil.example"}, 400),
    ],
)
def test_strange_hosts_and_origins_are_kept_out(people, headers, status):
    assert people["alice"].send(**headers).status_code == status


def test_what_is_no_json_is_refused_in_the_protocols_own_words(people):
    import asyncio

    import httpx2

    async def send() -> httpx2.Response:
        async with people["alice"]._http(people["alice"].headers) as http:
            return await http.post("http://testserver/mcp", content=b"{", headers={"content-type": "application/json"})

    from tests.web.mcp.conftest import _then_close

    assert asyncio.run(_then_close(send)).status_code in (400, 406)


def test_everything_else_is_djangos(people):
    assert people["alice"].send(path="/mcp/more").status_code == 404
    assert people["alice"].send("GET", path="/healthz").status_code == 200
