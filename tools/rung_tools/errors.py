"""The one exception that the tools turn into a single line on stderr and exit status 1."""


class ToolError(Exception):
    pass
