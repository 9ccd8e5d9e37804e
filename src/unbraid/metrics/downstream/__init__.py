"""How useful a representation is to those who learn from it."""
