"""What every answer passes through: request IDs, headers, static files, compression, health."""
