"""Programs that carry out the same chains of runs, each in its own way; each speaks `protocol` with the benchmark."""
