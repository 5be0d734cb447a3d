"""Stage two: latent groups inferred on top of the rows, and the mixture that reads pairs out of both."""
