"""Parts of every response: request IDs, headers, static files, compression, health."""
