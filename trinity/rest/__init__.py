"""What all REST doors share: strict JSON, problem answers, idempotency, schema; no domain call stands here."""
