"""The front: answers inside the request, by streaming."""
