"""Second factors: authenticator apps, passkeys and recovery codes, and what they prove."""
