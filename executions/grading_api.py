"""REST doors of grading: a trajectory that the caller brings, or one of an execution; thin."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

import graders
from executions import grading_schemas as schemas
from executions.grading_requests import graded, read_grading
from trinity.rest.doors import Door


class GraderCatalogue(Door):
    tag = "Graders"

    @extend_schema(operation_id="list_graders", responses=schemas.GraderShape(many=True))
    def get(self, request: Request) -> Response:
        """List the kinds of graders. Each with its options and its place in the taxonomy."""
        return Response(graders.catalogue())


class Grade(Door):
    tag = "Graders"

    @extend_schema(operation_id="grade", request=schemas.Grading, responses=schemas.Graded)
    def post(self, request: Request) -> Response:
        """Grade a trajectory. One that is sent along, or that of an ended execution; nothing is stored."""
        return Response(graded(self.viewer, read_grading(self.body())))
