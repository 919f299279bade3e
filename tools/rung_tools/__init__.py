"""The modules behind tools/stage; each does one thing."""
