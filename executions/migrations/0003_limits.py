
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('executions', '0002_notes'),
    ]

    operations = [
        migrations.AlterField(
            model_name='execution',
            name='error_kind',
            field=models.CharField(blank=True, choices=[('agent_error', 'agent error'), ('crashed', 'crashed'), ('not_started', 'not started'), ('no_answer', 'no answer'), ('timeout', 'timeout'), ('lost', 'lost'), ('abandoned', 'abandoned'), ('auth', 'auth'), ('rate_limited', 'rate limited'), ('overloaded', 'overloaded'), ('usage_limit', 'usage limit'), ('turn_limit', 'turn limit'), ('budget', 'budget'), ('mcp_unavailable', 'mcp unavailable'), ('memory_limit', 'memory limit'), ('process_limit', 'process limit'), ('disk_full', 'disk full'), ('broken', 'broken')], default='', max_length=20),
        ),
    ]
