"""Makes the example recordings: a scripted provider, a demo project, stories, and a driver for the pi CLI."""
