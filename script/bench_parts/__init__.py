"""What script/bench measures and how; imports nothing itself, since peers load it in environments of their own."""
