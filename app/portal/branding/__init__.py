"""The branding studio: draft, preview, checks, publish, versions."""
