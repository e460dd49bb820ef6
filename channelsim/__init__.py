"""The one name under which this project is installed: `clsp`, `games` and `channel` live in it.

In the repository the three packages are folders at the top; here are links to them. So a folder
of an author's own that is called `games`, `channel` or `clsp` never hides ours.

`plugins` finds what other packages add.
"""
