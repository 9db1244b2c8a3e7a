"""What every response passes through: request IDs, headers, static files, compression, health."""
