"""Programs that work inside an installation of Trinity for a section of the benchmark."""
