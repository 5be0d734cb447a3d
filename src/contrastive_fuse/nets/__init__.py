"""What torch heads and torch baselines share: edges as graph layers want them, devices, randomness."""
