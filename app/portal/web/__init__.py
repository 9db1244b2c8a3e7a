"""What all screens share: lists, editing, downloads, errors, navigation, page context."""
