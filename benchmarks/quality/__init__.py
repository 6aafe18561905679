"""Quality, measured on public data: what is let through, what is dropped, what is obeyed, what is found."""
