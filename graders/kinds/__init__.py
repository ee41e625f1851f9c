"""One module per grader: whatever stands here with a `KIND` is in the registry; no list is kept by hand."""
