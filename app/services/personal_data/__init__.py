"""Data about people: what is stored, exporting a subject, erasing a subject, retention.

`inventory` names every column. `subjects` identifies a person, `search_terms` finds them in texts.
`erasing` is the request and its progress; the worker's steps are in `subject_rows`, `copies`,
`sweep` and `history`. `preview` counts what an erasure would do.
"""
