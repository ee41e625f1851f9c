"""Pages that show loops: the dashboard, an agent's page, one loop; they read through queries and write nothing."""
