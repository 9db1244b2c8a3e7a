"""Contact files: upload, check, apply, undo."""

from app.portal.uploads import file_views, repair_views, step_views, undo_views, views

__all__ = ["file_views", "repair_views", "step_views", "undo_views", "views"]
