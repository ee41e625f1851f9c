"""The addresses of the pages; ids and names are matched by pattern, so rubbish never reaches a query."""

from django.contrib.auth.views import LogoutView
from django.urls import path, register_converter

from accounts import views as accounts
from agents import views as agents
from agents.models import NAME_PATTERN
from executions import views as executions
from executions.adding import views as adding
from loops.pages import agent, agent_tabs, dashboard, loop
from workspace.pages import acts, rail_doors, room


class _Text:
    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return str(value)


class AgentName(_Text):
    regex = NAME_PATTERN


class LoopId(_Text):
    regex = "loop_[A-Za-z0-9_-]{16}"


class ExecutionId(_Text):
    regex = "exec_[A-Za-z0-9_-]{16}"


class RoomId(_Text):
    regex = "room_[A-Za-z0-9_-]{16}"


class Number(_Text):
    """A number that fits every column."""

    regex = "[0-9]{1,9}"

    def to_python(self, value: str) -> int:  # type: ignore[override]
        return int(value)


register_converter(AgentName, "agent")
register_converter(LoopId, "loop")
register_converter(ExecutionId, "execution")
register_converter(RoomId, "room")
register_converter(Number, "number")

urlpatterns = [
    path("", dashboard.dashboard, name="dashboard"),
    path("dashboard/board/", dashboard.board, name="dashboard-board"),
    path("dashboard/seen/", dashboard.seen, name="dashboard-seen"),
    path("login/", accounts.LogIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("account/password/", accounts.ChangePassword.as_view(), name="password_change"),
    path("account/keys/", accounts.api_keys, name="api-keys"),
    path("account/keys/<slug:prefix>/revoke/", accounts.revoke_api_key, name="revoke-api-key"),
    path("add-agent/", adding.add_agent, name="add-agent"),
    path("add-agent/<execution:execution_id>/", adding.agent_check, name="agent-check"),
    path("add-agent/<execution:execution_id>/card/", adding.agent_check_card, name="agent-check-card"),
    path("agents/<agent:name>/", agent_tabs.overview_tab, name="agent"),
    path("agents/<agent:name>/overview/", agent_tabs.overview, name="agent-overview"),
    path("agents/<agent:name>/head/", agent.agent_head, name="agent-head"),
    path("agents/<agent:name>/loops/", agent.loops_tab, name="agent-loops"),
    path("agents/<agent:name>/loops/rows/", agent.loop_rows, name="agent-loops-rows"),
    path("agents/<agent:name>/loops/door/", agent.form_door, name="agent-loops-door"),
    path("agents/<agent:name>/loops/form/", agent.empty_form, name="agent-loops-form"),
    path("agents/<agent:name>/loops/foresight/", agent.foresight, name="agent-loops-foresight"),
    path("agents/<agent:name>/executions/", agent_tabs.executions_tab, name="agent-executions"),
    path("agents/<agent:name>/executions/rows/", agent_tabs.executions_rows, name="agent-execution-rows"),
    path("agents/<agent:name>/settings/", agent_tabs.settings_tab, name="agent-settings"),
    path("agents/<agent:name>/settings/shown/", agent_tabs.settings, name="agent-settings-shown"),
    path("agents/<agent:name>/settings/form/", agent_tabs.settings_form, name="agent-settings-form"),
    path("agents/<agent:name>/start/", agents.start_agent, name="start-agent"),
    path("agents/<agent:name>/stop/", agents.stop_agent, name="stop-agent"),
    path("agents/<agent:name>/share/", agents.share_agent, name="share-agent"),
    path("agents/<agent:name>/unshare/", agents.unshare_agent, name="unshare-agent"),
    path("loops/<loop:loop_id>/", loop.loop_page, name="loop"),
    path("loops/<loop:loop_id>/card/", loop.loop_card, name="loop-card"),
    path("loops/<loop:loop_id>/response/", loop.loop_response, name="loop-response"),
    path("loops/<loop:loop_id>/stop/", loop.stop_loop, name="stop-loop"),
    path("executions/", executions.executions, name="executions"),
    path("executions/rows/", executions.execution_rows, name="execution-rows"),
    path("executions/<execution:execution_id>/", executions.execution, name="execution"),
    path("executions/<execution:execution_id>/card/", executions.execution_card, name="execution-card"),
    path("executions/<execution:execution_id>/response/", executions.execution_response, name="execution-response"),
    path(
        "executions/<execution:execution_id>/trajectory/",
        executions.execution_trajectory,
        name="execution-trajectory",
    ),
    path("executions/<execution:execution_id>/abandon/", executions.abandon_execution, name="abandon-execution"),
    path("workspace/", acts.workspace, name="workspace"),
    path("workspace/list/", room.rooms, name="rooms"),
    path("workspace/rooms/<room:room_id>/", room.room, name="room"),
    path("workspace/rooms/<room:room_id>/head/", room.room_head, name="room-head"),
    path("workspace/rooms/<room:room_id>/foot/", room.room_foot, name="room-foot"),
    path("workspace/rooms/<room:room_id>/lines/", room.lines, name="room-lines"),
    path("workspace/rooms/<room:room_id>/tail/", room.tail, name="room-tail"),
    path("workspace/rooms/<room:room_id>/lines/<number:number>/", room.line, name="room-line"),
    path("workspace/rooms/<room:room_id>/lines/<number:number>/text/", room.line_text, name="room-line-text"),
    path("workspace/rooms/<room:room_id>/lines/<number:number>/again/", acts.retry_turn, name="retry-turn"),
    path("workspace/rooms/<room:room_id>/post/", acts.post_message, name="post-message"),
    path("workspace/rooms/<room:room_id>/turns/<number:turn_id>/cancel/", acts.cancel_turn, name="cancel-turn"),
    path("workspace/rooms/<room:room_id>/star/", acts.star_room, name="star-room"),
    path("workspace/rooms/<room:room_id>/title/", acts.rename_room, name="rename-room"),
    path("workspace/rooms/<room:room_id>/close/", acts.close_room, name="close-room"),
    path("workspace/rooms/<room:room_id>/people/", acts.add_to_room, name="add-to-room"),
    path(
        "workspace/rooms/<room:room_id>/people/<number:participant_id>/remove/",
        acts.remove_from_room,
        name="remove-from-room",
    ),
    path("workspace/rooms/<room:room_id>/rail/", rail_doors.rail, name="rail"),
    path("workspace/rooms/<room:room_id>/loops/", rail_doors.start, name="start-room-loop"),
    path("workspace/rooms/<room:room_id>/loops/<loop:loop_id>/", rail_doors.loop_card, name="room-loop"),
    path("workspace/rooms/<room:room_id>/loops/<loop:loop_id>/stop/", rail_doors.stop, name="stop-room-loop"),
]
