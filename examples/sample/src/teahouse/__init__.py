"""A small web shop for tea."""
