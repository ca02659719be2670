"""Tables that people bring: pages and histories, from files and from memory, checked."""
