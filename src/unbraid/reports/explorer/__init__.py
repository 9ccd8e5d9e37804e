"""The explorer: a page with a model inside, whose latents are moved by hand."""
