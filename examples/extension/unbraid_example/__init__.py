"""An objective, a metric and a dataset that unbraid finds by their entry points."""
