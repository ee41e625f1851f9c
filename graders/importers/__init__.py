"""One module per recorded format, told apart by content; none invents a result or guesses."""
