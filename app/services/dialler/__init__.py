"""Standing over the dialler: pauses, what is stuck, what a person or the carrier settles."""
