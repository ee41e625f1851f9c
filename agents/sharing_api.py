"""REST doors of who may use an agent: shares, permissions, keys; for its owner and admins. Thin."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import KEY_PREFIX
from accounts.parameters import read_new_key
from accounts.presenting import key_body, new_key_body
from accounts.queries import key_in, keys_of_agent
from accounts.schemas import Key, NewKey, NewKeyBody
from accounts.services import create_key, revoke_key
from agents import schemas
from agents.api import AGENT_NAME, AgentDoor, created_or_found
from agents.models import Agent
from agents.parameters import read_agent_to_call, read_user_to_share_with
from agents.presenting import permission_body, share_body
from agents.services import refuse_unless_owner
from agents.sharing import forbid, permit, share, unshare
from trinity.rest import query


class OwnedAgentDoor(AgentDoor):
    """Who may only use the agent is refused."""

    def agent(self) -> Agent:
        agent = super().agent()
        refuse_unless_owner(self.viewer, agent)
        return agent


class Shares(OwnedAgentDoor):
    @extend_schema(operation_id="list_shares", responses=schemas.Share(many=True))
    def get(self, request: Request, name: str) -> Response:
        """List who may use an agent. Besides its owner and admins."""
        shares = self.agent().shares.select_related("user").order_by("user__username")
        return Response([share_body(one) for one in shares])

    @extend_schema(
        operation_id="add_share", request=schemas.NewShare, responses={201: schemas.Share, 200: schemas.Share}
    )
    def post(self, request: Request, name: str) -> Response:
        """Share an agent with a member. 200 when it was shared already."""
        agent = self.agent()
        found, made = share(self.viewer, agent, read_user_to_share_with(self.body()))
        return created_or_found(share_body(found), made)


class OneShare(OwnedAgentDoor):
    path_parameters = {"name": AGENT_NAME, "username": query.in_path("The member.", r"[\w.@+-]+")}

    @extend_schema(operation_id="remove_share", request=None, responses={204: None})
    def delete(self, request: Request, name: str, username: str) -> Response:
        """End a share. What it let that member's own agents call ends with it."""
        unshare(self.viewer, self.agent(), username)
        return Response(status=204)


class Permissions(OwnedAgentDoor):
    @extend_schema(operation_id="list_permissions", responses=schemas.Permission(many=True))
    def get(self, request: Request, name: str) -> Response:
        """List which other agents an agent may call."""
        permissions = self.agent().permissions.select_related("target").order_by("target__name")
        return Response([permission_body(one) for one in permissions])

    @extend_schema(
        operation_id="add_permission",
        request=schemas.NewPermission,
        responses={201: schemas.Permission, 200: schemas.Permission},
    )
    def post(self, request: Request, name: str) -> Response:
        """Let an agent call another. One that the caller may use; 200 when it may already."""
        agent = self.agent()
        found, made = permit(self.viewer, agent, read_agent_to_call(self.body()))
        return created_or_found(permission_body(found), made)


class OnePermission(OwnedAgentDoor):
    path_parameters = {"name": AGENT_NAME, "target": AGENT_NAME}

    @extend_schema(operation_id="remove_permission", request=None, responses={204: None})
    def delete(self, request: Request, name: str, target: str) -> Response:
        """End a permission. From then on the agent neither reads nor stops what it started there."""
        forbid(self.viewer, self.agent(), target)
        return Response(status=204)


class AgentKeys(OwnedAgentDoor):
    parameters = {"limit": query.limit()}

    @extend_schema(operation_id="list_agent_keys", responses=Key(many=True))
    def get(self, request: Request, name: str) -> Response:
        """List an agent's keys. Newest first; revoked ones too."""
        return Response([key_body(key) for key in keys_of_agent(self.agent().pk)[: self.asked["limit"]]])

    @extend_schema(operation_id="create_agent_key", request=NewKeyBody, responses={201: NewKey})
    def post(self, request: Request, name: str) -> Response:
        """Create a key that acts as an agent. Its secret is in the answer, once."""
        agent = self.agent()
        new = create_key(agent_id=agent.pk, by=self.viewer, **read_new_key(self.body()))
        return Response(new_key_body(new), status=201)


class OneAgentKey(OwnedAgentDoor):
    path_parameters = {"name": AGENT_NAME, "prefix": KEY_PREFIX}

    @extend_schema(operation_id="revoke_agent_key", request=None, responses={204: None})
    def delete(self, request: Request, name: str, prefix: str) -> Response:
        """Revoke a key of an agent. It ends now; safe to repeat."""
        revoke_key(key_in(keys_of_agent(self.agent().pk), prefix), by=self.viewer)
        return Response(status=204)
