"""Scripts that maintainers run, and their package of tools."""
