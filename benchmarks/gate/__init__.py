"""The grounding gate, measured: true sentences dropped, false ones released, and the time a sentence takes."""
