"""What can be wrong with what a grader is given; says where and why, and knows no door."""


class OptionError(ValueError):
    """One option has a value that its kind does not take; the message names what was found."""


class UnreadableTrajectory(ValueError):
    """A trajectory that is damaged or of no known format; the message names the place and the reason."""


class BadRow(ValueError):
    """One row of a known format breaks the format; whoever knows the row's place names it."""
