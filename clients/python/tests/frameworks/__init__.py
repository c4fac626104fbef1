"""The frameworks themselves run agents with the shell; their models follow a script.

Each sees a success, a failure, a time limit, a cancellation and a lost shell, in the words that it has for them.
"""
