"""Procedures of Band of Brothers, a chapter a module."""
