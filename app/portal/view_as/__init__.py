"""View-as: operators see a portal as one of its users."""
