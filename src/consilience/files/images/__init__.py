"""Pictures as views: a folder of image files, or a column of a table with their paths."""
