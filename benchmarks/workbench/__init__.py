"""The workbench: answers and what they gain, a run in a real browser, and a server that is killed again and again."""
