"""Formats that need a parser: from bytes to Markdown or plain text. They run in a process of their own."""
