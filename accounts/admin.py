"""Users, keys and the audit log in Django's admin; keys end through their service."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import ApiKey, AuditEvent, User
from accounts.pages import viewer_of_page
from accounts.services import revoke_key
from trinity.read_only_admin import ReadOnlyAdmin

admin.site.site_header = admin.site.site_title = "Trinity"
admin.site.unregister(Group)  # rights follow from a user's kind alone


@admin.register(User)
class TrinityUserAdmin(UserAdmin):  # type: ignore[type-arg]
    """People; their kind decides what the platform shows and lets them do."""

    list_display = ("username", "kind", "is_active", "last_login", "date_joined")
    list_filter = ("kind", "is_active")
    ordering = ("username",)
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password", "kind", "is_active")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Times", {"fields": ("last_login", "last_looked_at", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("username", "kind", "usable_password", "password1", "password2")}),)
    readonly_fields = ("last_login", "last_looked_at", "date_joined")


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    """Which keys there are; a secret is kept nowhere."""

    list_display = ("prefix", "name", "user", "agent_id", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_select_related = ("user",)
    search_fields = ("prefix", "name", "user__username")
    exclude = ("secret_hash",)
    actions = ("revoke",)

    @admin.action(description="Revoke these keys", permissions=["view"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset:
            revoke_key(key, by=viewer_of_page(request))


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    """Who did, or was refused, what."""

    list_display = ("at", "action", "refused", "target", "by_user", "by_agent_id")
    list_filter = ("action", "refused")
    list_select_related = ("by_user",)
    search_fields = ("target",)
