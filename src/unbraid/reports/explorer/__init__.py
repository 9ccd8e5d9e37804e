"""The explorer, a page on which the latents of a model are moved by hand."""
