"""REST doors of a person's own keys; thin: they read, call one service or query, and present."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.parameters import read_new_key
from accounts.presenting import key_body, new_key_body
from accounts.queries import key_in, keys_of
from accounts.schemas import Key, NewKey, NewKeyBody
from accounts.services import create_key, revoke_key
from trinity.rest import query
from trinity.rest.doors import Door

KEY_PREFIX = query.in_path("The prefix of a key.", "[0-9a-f]{10}")


class Keys(Door):
    tag = "Keys"
    parameters = {"limit": query.limit()}

    @extend_schema(operation_id="list_keys", responses=Key(many=True))
    def get(self, request: Request) -> Response:
        """List one's own keys. Newest first; revoked ones too."""
        return Response([key_body(key) for key in keys_of(self.viewer)[: self.asked["limit"]]])

    @extend_schema(operation_id="create_key", request=NewKeyBody, responses={201: NewKey})
    def post(self, request: Request) -> Response:
        """Create a key that acts as oneself. Its secret is in the answer, once."""
        keys_of(self.viewer)  # refuses agents
        new = create_key(user=self.viewer.user, by=self.viewer, **read_new_key(self.body()))
        return Response(new_key_body(new), status=201)


class OneKey(Door):
    tag = "Keys"
    path_parameters = {"prefix": KEY_PREFIX}

    @extend_schema(operation_id="revoke_key", request=None, responses={204: None})
    def delete(self, request: Request, prefix: str) -> Response:
        """Revoke one of one's own keys. It ends now; safe to repeat."""
        revoke_key(key_in(keys_of(self.viewer), prefix), by=self.viewer)
        return Response(status=204)
