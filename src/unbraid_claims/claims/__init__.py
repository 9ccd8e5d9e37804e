"""Published claims, one file each: the claim, its source and how it is measured."""
