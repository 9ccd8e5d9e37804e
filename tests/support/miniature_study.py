"""A study of one run that takes a tenth of a second."""

MINIATURE = {
    "name": "miniature",
    "data": "xy_squares:image_size=8,square_size=1,n_squares=1,rgb=false",
    "network": {"name": "dense", "widths": [8]},
    "training": {"steps": 20, "n_latents": 3, "batch_size": 8, "log_every": 5},
    "evaluation": {"metrics": ["mig"], "rows": 64},
}
