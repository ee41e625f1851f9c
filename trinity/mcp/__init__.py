"""Trinity's MCP door: the same services as REST, as tools for agents and their programs (docs/how-to/mcp.md)."""
