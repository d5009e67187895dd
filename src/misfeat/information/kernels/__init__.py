"""Compiled kernels. Arrays go in and are written to; nothing here knows what they mean to users."""
