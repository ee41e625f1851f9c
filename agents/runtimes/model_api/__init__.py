"""The program of the runtime `model`: talks to a model API and lets the model use tools in one folder.

It runs as a process of its own and imports nothing of Trinity's but this package: neither settings nor Django.
"""
