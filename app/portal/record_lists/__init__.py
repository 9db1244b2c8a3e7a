"""What all lists of records share: files to download, and saved views."""
