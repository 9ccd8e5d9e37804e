"""Published sweeps, one YAML file each.

Each file is the sweep as published, and under ``scales`` what the smaller ones change.
Files that begin with an underscore hold what several sweeps share.
"""
