"""Many runs: what is varied, where it is kept, and what it shows."""
